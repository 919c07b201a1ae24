"""Keeps what an agent and its worker say to each other, for fixtures/recordings.

A program of the agent's name stands before it on PATH: it starts the agent, hands every line on and
writes it down. Afterwards the file is freed of this machine's paths and addresses.

    recorder.py FILE PROGRAM [ARGUMENT…]     what stands there
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

LARGEST = 200_000
"""Bytes of a recording."""

LONGEST = 3_000
"""Characters of one text: OpenHands sends its whole system prompt."""

DESCRIPTION = 20
"""Characters of one."""

MOST = 12
"""Entries of a list: of models, of commands."""

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def recording(
    argv: list[str], environment: dict[str, str], root: Path, target: Path | None
) -> Iterator[dict[str, str]]:
    """The environment in which the agent is recorded; the recording is at `target` afterwards."""
    if target is None:
        yield environment
        return
    program = shutil.which(argv[0], path=environment["PATH"])
    assert program is not None, f"there is no {argv[0]}"
    shims, raw = root / "shims", root / "recorded.jsonl"
    shims.mkdir()
    stand_in = shims / argv[0]
    stand_in.write_text(
        f'#!/bin/sh\nexec {sys.executable} -P {__file__} {raw} {program} "$@"\n', encoding="utf-8"
    )
    stand_in.chmod(0o755)
    yield environment | {"PATH": f"{shims}{os.pathsep}{environment['PATH']}"}
    places = {
        str(root / "work"): "/home/dev/project",
        str(root / "person"): "/home/dev",
        str(root): "/home/dev/trial",
        str(Path(program).parent): "/home/dev/agents/.bin",
        str(Path(program).resolve().parent): "/home/dev/agents/lib",
    }
    recorded = raw.read_text(encoding="utf-8")
    for share in (1, 2, 4):  # of one that says much, less of each text and list is kept
        text = scrubbed(recorded, places, share)
        if len(text) <= LARGEST:
            target.write_text(text, encoding="utf-8")
            return
    print(f"{target.name}: {len(text)} bytes are too many to keep", file=sys.stderr)


def scrubbed(text: str, places: dict[str, str], share: int = 1) -> str:
    """Without what is this machine's. Times count from the first line."""
    named = [
        *places.items(),
        (sys.executable, "/usr/bin/python3"),
        (str(ROOT), "/home/dev/rookery"),
    ]
    named.append((str(Path.home()), "/home/dev"))
    for place, other in sorted(named, key=lambda each: -len(each[0])):
        text = text.replace(place, other).replace(place.replace("/", "-"), other.replace("/", "-"))
        text = text.replace(place[1:], other[1:])  # seen from the root
    host = socket.gethostname()
    text = text.replace(host, "host") if len(host) > 3 else text
    found = [json.loads(line) for line in text.splitlines()]
    begun = found[0]["t"] if found else 0.0
    lines = [json.dumps(_short(each, share) | {"t": round(each["t"] - begun, 4)}) for each in found]
    return "\n".join(lines) + "\n"


def _short(value: Any, share: int) -> Any:
    """The beginnings of what is long: agents list models and commands again and again."""
    match value:
        case {"description": str(words), **rest} if len(words) > DESCRIPTION:
            return {"description": words[:DESCRIPTION], **_short(rest, share)}
        case dict():
            return {key: _short(each, share) for key, each in value.items()}
        case list():
            return [_short(each, share) for each in value[: MOST // share]]
        case str() if len(value) > LONGEST // share:
            return f"{value[: LONGEST // share]}…"
    return value


# ---------------------------------------------------------------- the program itself


class Notes:
    """Both directions in one file, in the order in which they were handed on."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 # as long as the process
        self._lock = threading.Lock()

    def keep(self, direction: str, line: bytes) -> None:
        try:
            message: Any = json.loads(line)
        except ValueError:  # noise: the recording is of messages
            return
        entry = {"t": time.time(), "dir": direction, "msg": message}
        with self._lock:
            self._file.write(json.dumps(entry).encode() + b"\n")


def hand_on(source: BinaryIO, sink: BinaryIO, notes: Notes, direction: str) -> None:
    with suppress(OSError, ValueError):
        for line in iter(source.readline, b""):
            notes.keep(direction, line)
            sink.write(line)
            sink.flush()
    with suppress(OSError):
        sink.close()


def main(path: str, *argv: str) -> int:
    notes = Notes(path)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        signal.signal(signal.SIGTERM, lambda *_: agent.terminate())
        arguments = (sys.stdin.buffer, agent.stdin, notes, "send")
        threading.Thread(target=hand_on, args=arguments, daemon=True).start()
        hand_on(agent.stdout, sys.stdout.buffer, notes, "recv")
        return agent.wait()


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    os._exit(code if 0 <= code < 128 else 1)  # the other thread may wait for a line for ever
