"""Entry point: `python -m rookery.worker`, or this file's path: no `site`, no sys.path."""

import gc
import sys

if not __package__:
    # Run by its path with -I and -S: nothing of the user's environment is on sys.path, nor are we.
    sys.path.insert(0, __file__.rsplit("/", 3)[0])

from rookery.worker.process import warden


def host(home: str, session: str, ready: int) -> int:
    gc.disable()  # what is imported is no garbage, and to look for it takes a tenth of the start
    from rookery.worker.process import cgroup  # in the worker alone: the warden stays small

    cgroup.begin(home)
    from rookery.processes import without_tls

    without_tls.load_asyncio()
    from rookery.worker.boot import main

    gc.freeze()
    gc.enable()
    return main(home, session, ready)


sys.exit(warden.main(sys.argv[1:], host))
