"""Commands that outlive a cancel: some agents end the turn and leave what it started running. And
processes of another user (sudo), which cannot be ended. The log names them: nothing else does."""

import asyncio
import os
from collections.abc import Iterable

from rookery.core.json import Draft, Json, notice
from rookery.processes import offspring, strays, tree
from rookery.worker.session import Session

SETTLE = 1.0
"""Seconds that a command has to end after the turn did."""


class SurvivingCommands:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun = 0
        """In ticks since boot; 0: not told."""
        self._there: list[tree.Process] = []

    def turn_begins(self) -> None:
        self._begun, self._there = offspring.now(), []

    def cancelled(self, *, commands: bool) -> None:
        """Note the commands that run now, since a cancel is on its way. `commands`: some call that
        runs one has not ended."""
        if commands and self._begun:
            self._there = [each for each in self._below() if offspring.begun(each) >= self._begun]

    def turn_ended(self) -> None:
        if self._there:
            asyncio.get_running_loop().call_later(SETTLE, self._look, self._there)
            self._there = []

    def _look(self, there: list[tree.Process]) -> None:
        below = {(each.pid, each.start) for each in self._below()}
        left = [each for each in there if (each.pid, each.start) in below]
        pids = {each.pid for each in left}
        tops = [each for each in left if each.parent not in pids]
        if tops:
            restart = f"rookery restart {self._session.header.id}"
            text = f"{_named(tops)}. The agent did not end it. To end it: {restart}"
            update = notice(text, title="Still running after the cancel")
            self._session.append(Draft(update))
            self._session.wake()

    def _below(self) -> list[tree.Process]:
        """List everything the agent started. Orphans are reparented to this worker."""
        return tree.descendants(os.getpid(), self._session.jobs)


def left_running(processes: Iterable[tree.Process]) -> Json:
    """Return a notice about processes of another user, which are left alone."""
    left = list(processes)
    pids = " ".join(str(each.pid) for each in left[:5])
    text = f"Still running as another user: {_named(left)}. To end it: sudo kill {pids}"
    title = "Some processes could not be ended"
    return notice(text, title=title, left=[each.pid for each in left])


def _named(processes: Iterable[tree.Process]) -> str:
    return strays.summary(strays.Stray("", each, strays.command_of(each.pid)) for each in processes)
