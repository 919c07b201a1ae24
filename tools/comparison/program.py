"""A program that does the tasks, and how most of them do most tasks."""

import json
import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Self, override

from rookery.agent.scripted.server import serving
from rookery.processes import tree
from tests.conftest import belonging_to
from tools.comparison.counting import Terminal
from tools.comparison.tasks import (
    BEGUN,
    ENDED,
    FILE,
    LETTERS,
    PLAYED,
    RESULT,
    SUM,
    WHERE,
    WHY,
    modelled,
)


class Program(ABC):
    """In a home and a directory of its own. Each task is a method with the keys of a practised
    user, and returns the terminal that counted them; it raises Cannot."""

    name: ClassVar[str]
    ready_when: ClassVar[tuple[str, ...]]
    """What the screen shows once it takes a prompt."""
    running: ClassVar[str] = BEGUN
    """What it shows while the agent works."""
    asked: ClassVar[tuple[str, ...]]
    allow: ClassVar[str]
    """The key."""
    allowed: ClassVar[str] = "It was allowed."
    cancelled: ClassVar[str] = ""
    queue_key: ClassVar[str] = "Enter"
    offered: ClassVar[str] = ""
    """What the list of files shows."""
    mentioned: ClassVar[str] = f"@{FILE}"
    ran: ClassVar[str] = ""
    """What it shows once a command of one's own has ended."""

    def __init__(self, home: Path, work: Path) -> None:
        self.home, self.work = home, work
        self._open = ExitStack()
        (work / "below").mkdir()
        (work / FILE).write_text("x")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        Terminal.close_all()
        while left := belonging_to(self.home):
            tree.kill(left)
        self._open.close()

    # --- the terminal ----------------------------------------------------------------------------

    @abstractmethod
    def opened(self, *words: str) -> Terminal:
        """The program with these arguments."""

    def terminal(self, *line: str, seconds: float = 40, **environment: str) -> Terminal:
        own = [f"{name}={value}" for name, value in environment.items()]
        return Terminal(self.home, "env", *own, *line, cwd=self.work, seconds=seconds)

    def ready(self) -> Terminal:
        screen = self.opened()
        screen.wait_for(*self.ready_when)
        screen.count()
        return screen

    def said(self, text: str, *until: str) -> Terminal:
        screen = self.ready()
        screen.say(text)
        screen.wait_for(*until)
        screen.count()
        return screen

    # --- tasks -----------------------------------------------------------------------------------

    def start(self) -> Terminal:
        """The second time: a first one may install something."""
        self.ready()
        Terminal.close_all()
        screen = self.opened()
        screen.wait_for(*self.ready_when)
        return screen

    def answer(self) -> Terminal:
        screen = self.ready()
        screen.say("hello")
        screen.wait_for("You said: hello")
        return screen

    def approve(self) -> Terminal:
        screen = self.said("may you", *self.asked)
        screen.read()
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        return screen

    def reject(self) -> Terminal:
        screen = self.said("may you", *self.asked)
        screen.read()
        self.say_no(screen)
        screen.say(WHY)
        screen.wait_for(f"You said: {WHY}")
        return screen

    @abstractmethod
    def say_no(self, screen: Terminal) -> None:
        """Until the reason can be typed."""

    def cancel(self) -> Terminal:
        screen = self.said("endless", self.running)
        screen.press("Escape")
        screen.wait_for(self.cancelled)
        return screen

    def queue(self) -> Terminal:
        screen = self.said("slowly", self.running)
        screen.type("hello")
        screen.wait_for("hello")
        screen.press(self.queue_key)
        screen.wait_for(ENDED, "You said: hello")
        return screen

    def file(self) -> Terminal:
        screen = self.ready()
        screen.begin_with("@", LETTERS)
        screen.wait_for(self.offered)
        screen.press("Tab")
        screen.wait_for(self.mentioned)
        return screen

    def run(self, screen: Terminal, command: str) -> None:
        screen.begin_with("!", "")
        screen.say(command)

    def shell(self) -> Terminal:
        screen = self.ready()
        self.run(screen, "cd below")
        screen.wait_for(self.ran)
        self.run(screen, WHERE)
        screen.wait_for(f"here: {self.work / 'below'}")
        return screen

    def hand_over(self) -> Terminal:
        screen = self.ready()
        self.run(screen, SUM)
        screen.wait_for(RESULT, self.ran)
        screen.count()
        self.hand(screen)
        screen.wait_for("You said:", RESULT)
        return screen

    @abstractmethod
    def hand(self, screen: Terminal) -> None:
        """What the command printed, to the agent."""

    def second(self) -> Terminal:
        screen = self.said("endless", self.running)
        self.new_session(screen, "hello")
        screen.wait_for("You said: hello")
        return screen

    @abstractmethod
    def new_session(self, screen: Terminal, prompt: str) -> None: ...

    @abstractmethod
    def triage(self) -> Terminal: ...

    @abstractmethod
    def come_back(self) -> Terminal: ...


class Client(Program):
    """Of agents that speak ACP."""

    def player(self) -> list[str]:
        """The command of an agent that plays the answers."""
        script = self.home / "script.json"
        script.write_text(json.dumps(PLAYED))
        return [sys.executable, "-P", "-m", "rookery", "play", str(script)]


class Agent(Program):
    """One with an agent of its own: a scripted model answers it."""

    call: ClassVar[dict[str, Any]]
    """Of a tool, about which it asks."""
    allowed = "It was answered."

    @override
    def __enter__(self) -> Self:
        self.model = self._open.enter_context(serving(modelled(self.call)))
        return self
