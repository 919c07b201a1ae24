"""Entry point of the daemon process (`python -m rookery.daemon`), as started by `rookery serve`."""

import argparse
import asyncio
import gc
import json
import os
import sys

from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.daemon.options import from_json
from rookery.daemon.process import log_lines
from rookery.processes.search_path import leave_directory

MAX_OPTIONS_BYTES = 65536


def main(argv: list[str]) -> int:
    leave_directory()
    parser = argparse.ArgumentParser(prog="rookery.daemon")
    parser.add_argument("--home", required=True)
    parser.add_argument("--options", type=int, required=True)
    parser.add_argument("--background", action="store_true")
    given = parser.parse_args(argv)
    with os.fdopen(given.options, "rb") as file:
        startup: Json = json.loads(file.read(MAX_OPTIONS_BYTES))
    log_lines.install()
    gc.disable()  # what is imported is no garbage, and to look for it takes a tenth of the start
    from rookery.daemon.process import quick_start

    quick_start.prepare()
    from rookery.daemon.process.serving import serve

    gc.freeze()
    gc.enable()
    try:
        asyncio.run(
            serve(
                given.home,
                from_json(startup["options"]),
                background=given.background,
                say=startup.get("say") or {},
            )
        )
    except Refused as refusal:
        if given.background:
            line = json.dumps({"error": refusal.reason, "message": refusal.message})
            print(line, flush=True)
        else:
            print(f"rookery: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
