"""Players that a worker starts, forked from the worker itself: it was forked from a process that
has loaded them (see `hatchery.py`). To load one takes 0.15 s of processor time.

`subprocess` forks as ever, and makes the child's files, directory, umask, session and fence; then,
instead of another program, the child runs the player.
"""

import asyncio
import atexit
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from rookery.acp.player import entry  # noqa: F401 - loaded here
from rookery.processes import child
from tests.rigs import (
    hatchery,
    rigged,  # noqa: F401
)
from tests.rigs.player import player

DEMO = [sys.executable, "-P", "-m", "rookery", "play"]


class Starting:
    """`subprocess`, for processes/child.py."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, argv: list[str], **given: Any) -> subprocess.Popen[bytes]:
        if _is_player(argv) and hatchery.fits_proc(argv, given["env"]):
            given["preexec_fn"] = _playing(argv, given["cwd"], given["env"], given["preexec_fn"])
        return subprocess.Popen(argv, **given)


def _is_player(argv: list[str]) -> bool:
    return any(argv[: len(words)] == words for words in (player(), DEMO))


def _playing(
    argv: list[str], cwd: str, environment: dict[str, str], first: Callable[[], None] | None
) -> Callable[[], None]:
    def play() -> None:
        if first is not None:
            first()
        os.closerange(3, 4096)  # one of them tells `subprocess` that all went well
        gc.freeze()  # what was the worker's is never collected: its files have other numbers now
        atexit._clear()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        hatchery.begin_anew(environment, cwd)
        hatchery.play(argv, environment)

    return play


assert asyncio  # as the player's own start loads it: without TLS
child.subprocess = Starting()  # type: ignore[attr-defined, assignment]
