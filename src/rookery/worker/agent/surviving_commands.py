"""Commands that outlive a cancel: some agents end the turn and leave what it started running. The
log names them, since nothing else shows it."""

import asyncio
import os
import time

from rookery.core.json.events import Draft, Json, notice
from rookery.processes import ancestry, tree
from rookery.worker.session import Session

SETTLE = 1.0
"""Seconds that a command has to end after the turn did."""

MOST = 3
LONGEST = 120


class SurvivingCommands:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun: int | None = None
        self._there: list[tree.Process] = []

    def turn_begins(self) -> None:
        self._begun, self._there = _ticks(), []

    def cancelled(self, *, commands: bool) -> None:
        """A cancel is on its way; `commands`: some call that runs one has not ended."""
        if commands and self._begun is not None:
            begun = self._begun
            self._there = [each for each in _below() if _started(each) >= begun]

    def turn_ended(self) -> None:
        if self._there:
            asyncio.get_running_loop().call_later(SETTLE, self._look, self._there)
            self._there = []

    def _look(self, there: list[tree.Process]) -> None:
        below = {(each.pid, each.start) for each in _below()}
        left = [each for each in there if (each.pid, each.start) in below]
        pids = {each.pid for each in left}
        tops = [each for each in left if each.parent not in pids]
        if tops:
            self._session.append(Draft(_notice(tops, self._session.header["id"])))
            self._session.wake()


def _notice(left: list[tree.Process], session: str) -> Json:
    said = [f"{_command(each.pid)} (process {each.pid})" for each in left[:MOST]]
    more = [f"and {len(left) - MOST} more"] if len(left) > MOST else []
    text = (
        f"{', '.join([*said, *more])}. The agent did not end it. To end it: rookery "
        f"restart {session}"
    )
    return notice(text, title="Still running after the cancel")


def _command(pid: int) -> str:
    return " ".join(ancestry.command_line(pid))[:LONGEST] or "a command"


def _below() -> list[tree.Process]:
    """All that the agent started: what its parent left falls to this worker."""
    return tree.descendants(os.getpid())


def _ticks() -> int | None:
    """Now, as Linux says when a process started; None elsewhere."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else int(time.clock_gettime(clock) * os.sysconf("SC_CLK_TCK"))


def _started(process: tree.Process) -> int:
    word = process.start.partition("@")[0]
    return int(word) if word.isdecimal() else 0
