"""Toad, a terminal interface for ACP, drives the editor's door: what it shows is read off its
screen."""

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rookery.home import paths
from tests.acp.packages import TOAD, python_with
from tests.clients.programs import FIXTURES, Perch, cells_of
from tests.tui.tmux import Tmux

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
ASK = {"ask": "May I?", "allowed": [{"text": "allowed"}], "rejected": [{"text": "refused"}]}
ALLOW, REJECT = "a", "r"


class Nest(NamedTuple):
    perch: Perch
    toad: Tmux

    def second(self, *words: str) -> Tmux:
        return started(self.perch, *words)

    def sessions(self) -> list[str]:
        return [path.name for path in Path(paths.sessions(str(self.perch.home))).iterdir()]


def started(perch: Perch, *words: str) -> Tmux:
    python = python_with(TOAD, "--ignore-requires-python")
    home = perch.environment()["HOME"]
    command = (str(python), str(FIXTURES / "run_toad.py"), *words)
    line = ("env", f"HOME={home}", f"XDG_DATA_HOME={home}", f"XDG_STATE_HOME={home}", *command)
    return Tmux(perch.home, *line, size=(110, 50), cwd=perch.cwd, seconds=100)


def agent(perch: Perch) -> tuple[str, ...]:
    return ("acp", shlex.join(perch.door()), str(perch.cwd), "-t", "Rookery")


@pytest.fixture(scope="module")
def nest(perch: Perch) -> Iterator[Nest]:
    with started(perch, *agent(perch)) as toad:
        toad.wait_for("Ask first")
        yield Nest(perch, toad)


def say(toad: Tmux, text: str) -> None:
    """Once what is typed goes to the prompt; Enter sends what has been drawn."""
    toad.wait_for("How can I help you today?", "Send")
    toad.type(text)
    toad.wait_for(text[-30:])
    toad.press("Enter")


def play(*steps: dict[str, object]) -> str:
    return json.dumps({"play": steps})


def new(nest: Nest) -> None:
    nest.toad.wait_for("Rookery", "Ask first")


def approve(nest: Nest) -> None:
    """A change is shown as one before it is allowed; then the command, and that it failed."""
    say(nest.toad, "please change")
    nest.toad.wait_for("a.py", "x = 1", "x = 2", "Allow", "Always allow", "Reject")
    nest.toad.press(ALLOW)
    nest.toad.wait_for("echo one; echo two; exit 3", "It is changed.")


def reject(nest: Nest) -> None:
    say(nest.toad, play(ASK))
    nest.toad.wait_for("May I?", "Allow", "Always allow", "Reject")
    nest.toad.press(REJECT)
    nest.toad.wait_for("refused")


def cancel(nest: Nest) -> None:
    say(nest.toad, "go slowly")
    nest.toad.wait_for("It has begun.")
    nest.toad.press("Escape")
    nest.toad.wait_for("again to cancel")
    nest.toad.press("Escape")
    nest.toad.wait_for("Turn cancelled")  # an Escape right before a letter would be Alt
    say(nest.toad, "are you free?")
    nest.toad.wait_for("You said: are you free?")


def load(nest: Nest) -> None:
    """From its own list, after it has been closed and started again."""
    say(nest.toad, "remember me")
    nest.toad.wait_for("You said: remember me")
    with nest.second("run", str(nest.perch.cwd)) as again:
        again.wait_for("Resume")
        again.press("C-r")
        again.wait_for("Last Used")
        again.press("Enter")
        again.wait_for("You said: remember me")


def together(nest: Nest) -> None:
    """Each has a process of the bridge; both are Rookery's."""
    with nest.second(*agent(nest.perch)) as other:
        other.wait_for("Ask first")
        say(other, "go slowly")
        other.wait_for("It has begun.")
        say(nest.toad, "meanwhile here")
        nest.toad.wait_for("You said: meanwhile here")
    assert len(nest.sessions()) >= 2


def modes(nest: Nest) -> None:
    nest.toad.press("C-o")
    nest.toad.wait_for("Dismiss mode switcher")
    nest.toad.press("End")
    nest.toad.press("Enter")
    nest.toad.wait_without("Ask first")
    nest.toad.wait_for("Code", "Send")


def errors(nest: Nest) -> None:
    say(nest.toad, "now fail")
    nest.toad.wait_for("The model is away.", "send the prompt again", "`rookery")


CELLS: dict[str, Callable[[Nest], None]] = {
    "new": new,
    "approve": approve,
    "reject": reject,
    "cancel": cancel,
    "load": load,
    "together": together,
    "modes": modes,
    "errors": errors,
}


@cells_of("toad")
def test_toad(behaviour: str, nest: Nest) -> None:
    CELLS[behaviour](nest)
