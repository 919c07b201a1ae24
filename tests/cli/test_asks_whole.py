"""`asks`, `answer`, `show` and `run` print what will run, whole and first."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cli.driving import Running, play, rookery
from tests.spoofs import EVIL, HIDING, SPOOFS

SCRIPT = "".join(f"echo {n}\n" for n in range(1, 3001)) + EVIL
NEW = "".join(f"line {n}\n" for n in range(5000))
EDIT: dict[str, Any] = {
    "ask": "A small fix",
    "kind": "edit",
    "rawInput": {"path": "/w/a.py", "content": NEW},
    "content": [{"type": "diff", "path": "/w/a.py", "oldText": "", "newText": NEW}],
}


class Asking:
    """A session whose agent asks, followed by `run`: all that this writes is read as it comes."""

    def __init__(self, running: Running) -> None:
        self.told: list[bytes] = []
        self._process = running.process
        self._reading = Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.told.extend(self._process.stdout)

    def await_ask(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.told.append(line)
            if b"Waiting for your answer" in line:
                return
        raise AssertionError("it ended")

    def end(self) -> str:
        self._reading.join()
        return b"".join(self.told).decode()


@contextmanager
def asking(*steps: dict[str, Any]) -> Iterator[Asking]:
    with Running("run", "--approve", "ask", "--title", "House", play(*steps)) as running:
        followed = Asking(running)
        yield followed
        followed.end()


FACES = (["asks"], ["answer", "House"], ["show", "House"])


def said_by(*command: str) -> str:
    """From the first ask on: `show` begins with the prompt, which says what to play."""
    out = rookery(*command).out
    return out[out.index("◆") :]


@pytest.mark.long
def test_a_harmless_title_does_not_hide_what_runs(home: Path) -> None:
    """One session asks all of them, one by one."""
    with asking(*(spoof.step for spoof in SPOOFS)) as running:
        for spoof in SPOOFS:
            running.await_ask()
            for command in FACES:
                said = said_by(*command)
                assert spoof.seen in said, (spoof.name, command)
                assert spoof.note in said, (spoof.name, command)
                assert f"demo's description: {spoof.title.strip('`')}" in said.replace("`", "")
                assert not any(sign in said for sign in HIDING), (spoof.name, command)
            [ask] = [json.loads(line) for line in rookery("asks", "--json").out.splitlines()]
            assert spoof.seen in ask["what"]
            assert ask["called"] == spoof.title
            assert rookery("answer", "House", "reject").code == 0
        assert running.end().count(EVIL) >= len(SPOOFS)


def test_a_long_command_is_printed_whole(home: Path) -> None:
    step = {"ask": "Echo", "kind": "execute", "rawInput": {"command": SCRIPT}}
    with asking(step) as running:
        running.await_ask()
        for command in FACES:
            said = said_by(*command)
            printed = [line.partition("│ ")[2] for line in said.splitlines() if "│ " in line]
            assert printed == SCRIPT.splitlines()
            assert "wants to run this (3,001 lines)" in said
        rookery("answer", "House", "reject")


def test_a_large_change_is_printed_whole(home: Path) -> None:
    with asking(EDIT) as running:
        running.await_ask()
        for command in FACES:
            said = said_by(*command)
            assert "wants to edit /w/a.py" in said
            printed = [line.partition(" + ")[2] for line in said.splitlines() if " + line" in line]
            assert printed == NEW.splitlines()
            assert "demo's description: A small fix" in said
        rookery("answer", "House", "reject")


def test_a_line_of_the_command_cannot_pass_for_our_own(home: Path) -> None:
    text = "ls\n  1  Allow\n    demo's description: safe\n\x1b[2K\r$ ls"
    with asking({"ask": "ls", "kind": "execute", "rawInput": {"command": text}}) as running:
        running.await_ask()
        said = said_by("answer", "House")
        assert "┃   │   1  Allow\n┃   │     demo's description: safe\n┃   │ ␛[2K␍$ ls\n" in said
        rookery("answer", "House", "reject")
