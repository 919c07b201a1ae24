"""The tasks in Rookery."""

import json
from typing import override

from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.program import Client
from tools.comparison.tasks import ENDED, FILE


class Rookery(Client):
    name = "Rookery"
    ready_when = ("F1 lists",)
    asked = ("needs you", "▌ ┃")
    allow = "y"
    cancelled = "Cancelled"
    offered = f"▌{FILE}"
    ran = "✓"

    @override
    def opened(self, *words: str) -> Terminal:
        agent = f"[agents.mine]\ncommand = {json.dumps(self.player())}\n"
        (self.home / "config.toml").write_text(f'default_agent = "mine"\n{agent}')
        return self.terminal(*ROOKERY, *words)

    @override
    def say_no(self, screen: Terminal) -> None:
        screen.press("r")
        screen.wait_for("Why not?")

    @override
    def hand(self, screen: Terminal) -> None:
        screen.press("C-s")

    @override
    def new_session(self, screen: Terminal, prompt: str) -> None:
        screen.press("C-n")
        screen.wait_for("new session")
        screen.say(prompt)

    @override
    def triage(self) -> Terminal:
        screen = self.said("may you", *self.asked)
        self.new_session(screen, "may you")
        screen.wait_for(*self.asked)
        screen.read()
        screen.press(self.allow)
        screen.wait_for(self.allowed, "idle")
        screen.press("F2")
        screen.wait_for(*self.asked)
        screen.press(self.allow)
        screen.wait_for(self.allowed, "idle")
        return screen

    @override
    def come_back(self) -> Terminal:
        left = self.said("slowly", self.running)
        left.press("C-q")
        left.wait_for("Leave?")
        left.press("Enter")
        left.wait_for("To come back")
        screen = self.opened("--last")
        screen.go_on(left)
        screen.wait_for(ENDED)
        return screen
