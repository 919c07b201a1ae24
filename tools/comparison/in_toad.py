"""The tasks in Toad."""

import os
import shlex
import time
from pathlib import Path
from typing import override

from tests.acp.packages import TOAD, python_with
from tools.comparison.counting import Terminal
from tools.comparison.program import Client
from tools.comparison.tasks import BEGUN, ENDED, FILE, LETTERS, WHERE, Cannot

RUN = Path(__file__).resolve().parents[2] / "fixtures" / "clients" / "run_toad.py"
KNOWN = "gemini"
"""An agent that Toad knows by name: it opens a second session only for one of those, so the
scripted agent stands in for it."""
SHELL = "Enter shell command"
IN_TERMINAL = "Press escape twice to exit terminal"
TAP = 0.2
"""Seconds between two taps of Esc, which leave a terminal."""
LONG = 10.0
"""Seconds within which an answer that goes on would have ended."""


class Toad(Client):
    name = "Toad"
    ready_when = ("How can I help you today?", "Send")
    asked = ("Allow", "Reject")
    allow = "a"

    @override
    def opened(self, *words: str) -> Terminal:
        programs = self.home / "bin"
        programs.mkdir(exist_ok=True)
        (programs / KNOWN).write_text(f"#!/bin/sh\nexec {shlex.join(self.player())}\n")
        (programs / KNOWN).chmod(0o700)
        words = words or ("acp", shlex.join(self.player()), str(self.work), "-t", "Player")
        homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), str(self.home))
        path = f"{programs}:{os.environ['PATH']}"
        python = str(python_with(TOAD, "--ignore-requires-python"))
        return self.terminal(python, str(RUN), *words, PATH=path, **homes)

    @override
    def ready(self, *words: str) -> Terminal:
        """Once the agent's name stands below the prompt: it refuses prompts before."""
        screen = self.opened(*words)
        screen.wait_for(*self.ready_when, f"  {self.work}")
        screen.count()
        return screen

    @override
    def say_no(self, screen: Terminal) -> None:
        screen.press("r")
        screen.wait_for("It was rejected.", *self.ready_when)

    @override
    def cancel(self) -> Terminal:
        screen = self.said("endless", self.running)
        screen.press("Escape")
        screen.wait_for("again to cancel")
        screen.press("Escape")
        screen.wait_for("Turn cancelled")
        return screen

    @override
    def queue(self) -> Terminal:
        screen = super().queue()
        screen.note = "sent at once; the agent queues it"
        return screen

    @override
    def file(self) -> Terminal:
        screen = self.ready()
        screen.begin_with("@", "")
        screen.wait_for("fuzzy search")
        screen.type(LETTERS)
        screen.wait_for(LETTERS, FILE)
        screen.press("Enter")
        screen.wait_for(self.mentioned)
        return screen

    @override
    def shell(self) -> Terminal:
        """It takes `cd` for the shell without a sign. The next command goes into its terminal."""
        screen = self.ready()
        screen.type("cd")
        screen.wait_for("$ cd")
        screen.type(" below")
        screen.wait_for("$ cd below")
        screen.press("Enter")
        screen.wait_for(IN_TERMINAL)
        screen.say(WHERE)
        screen.wait_for(f"here: {self.work / 'below'}")
        return screen

    @override
    def run(self, screen: Terminal, command: str) -> None:
        screen.begin_with("!", "")
        screen.wait_for(SHELL)
        screen.say(command)

    @override
    def hand(self, screen: Terminal) -> None:
        """Out of the terminal, out of the shell, to the block, its menu, copied to the prompt."""
        screen.wait_for(SHELL)
        screen.read()
        screen.press("Escape")
        time.sleep(TAP)
        screen.press("Escape")
        screen.wait_for(SHELL, "Send")
        screen.press("Escape")
        screen.wait_for(*self.ready_when)
        screen.press("M-Up")
        screen.wait_for("Select")
        screen.press("Enter")
        screen.wait_for("Copy to prompt")
        screen.press("p")
        screen.wait_for("Copied to prompt")
        screen.press("C-j" if "☰" in screen.screen() else "Enter")

    @override
    def new_session(self, screen: Terminal, prompt: str) -> None:
        screen.choose("/")
        screen.wait_for("/toad:about")
        screen.choose("new")
        screen.wait_without("/toad:about")
        screen.press("Enter")
        screen.wait_for("/toad:session-new <initial prompt or command>", "Send")
        screen.say(prompt)

    def known(self) -> Terminal:
        return self.ready("run", str(self.work), "-a", KNOWN)

    @override
    def second(self) -> Terminal:
        screen = self.known()
        screen.say("endless")
        screen.wait_for(self.running)
        screen.count()
        self.new_session(screen, "hello")
        screen.wait_for("You said: hello")
        return screen

    @override
    def triage(self) -> Terminal:
        screen = self.known()
        self.new_session(screen, "may you")
        screen.wait_for(*self.asked)
        screen.press("C-]")
        screen.wait_for(*self.ready_when)
        screen.say("may you")
        screen.wait_for(*self.asked)
        screen.read()
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        screen.press("C-]")
        screen.wait_without(self.allowed)
        screen.wait_for(*self.asked)
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        return screen

    @override
    def come_back(self) -> Terminal:
        """Its agent ends with it, so the turn does not go on; the session is opened again."""
        left = self.said("slowly", self.running)
        left.press("C-q")
        left.wait_for("Thanks for trying out Toad!")
        screen = self.opened("run", str(self.work))
        screen.go_on(left)
        screen.wait_for("Resume", "Quick launch")
        screen.press("C-r")
        screen.wait_for("Last Used", "Player")
        screen.press("Enter")
        screen.wait_for(BEGUN)
        if not screen.comes(ENDED, seconds=LONG):
            raise Cannot(f"{screen.keys} keys open the session again; its turn ended with Toad")
        return screen
