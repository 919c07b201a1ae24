"""The tasks in Claude Code, in the mode that asks (its default judges by itself)."""

import json
from typing import Any, ClassVar, override

from tests.acp.packages import node_modules
from tools.comparison.counting import Terminal
from tools.comparison.program import Agent
from tools.comparison.tasks import ENDED, FILE

PACKAGE = "@anthropic-ai/claude-code@2.1.326"
KEY = "sk-ant-scripted"
VIEW = "describe a task for a new session"


class Claude(Agent):
    name = "Claude Code"
    ready_when = ("manual mode on",)
    asked = ("Do you want to proceed?", "Esc to cancel")
    allow = "1"
    cancelled = "What should Claude do instead?"
    offered = f"+ {FILE}"
    ran = "⎿"
    call: ClassVar[dict[str, Any]] = {
        "name": "Bash",
        "arguments": {"command": "touch ran", "description": "Scripted"},
    }

    @override
    def opened(self, *words: str) -> Terminal:
        seen = self.home / ".claude.json"
        if not seen.exists():
            known = {"approved": [KEY], "rejected": []}
            trusted = {str(self.work): {"hasTrustDialogAccepted": True}}
            first = {"hasCompletedOnboarding": True, "theme": "dark"}
            seen.write_text(
                json.dumps({**first, "customApiKeyResponses": known, "projects": trusted})
            )
        return self.terminal(
            str(node_modules(PACKAGE) / ".bin" / "claude"),
            *words,
            "--permission-mode",
            "manual",
            HOME=str(self.home),
            ANTHROPIC_BASE_URL=self.model.url.removesuffix("/v1"),
            ANTHROPIC_API_KEY=KEY,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )

    @override
    def say_no(self, screen: Terminal) -> None:
        screen.press("Escape")
        screen.wait_for(self.cancelled)

    @override
    def run(self, screen: Terminal, command: str) -> None:
        screen.begin_with("!", "")
        screen.wait_for("! for shell mode")
        screen.say(command)

    @override
    def hand(self, screen: Terminal) -> None:
        screen.note = "each command's output is sent by itself"

    @override
    def new_session(self, screen: Terminal, prompt: str) -> None:
        self.view(screen)
        screen.say(prompt)

    def view(self, screen: Terminal) -> None:
        """The list of sessions, with a prompt for another one."""
        screen.press("Left")
        screen.wait_for(VIEW)

    @override
    def triage(self) -> Terminal:
        """From the list a question can be read, but not answered."""
        screen = self.ready()
        self.view(screen)
        screen.say("may you")
        screen.wait_for("approve Bash: touch ran")
        screen.say("may you")
        screen.wait_for("3 awaiting input")
        self.open_first(screen)
        screen.read()
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        self.view(screen)
        screen.wait_for("2 awaiting input")
        self.open_first(screen)
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        return screen

    def open_first(self, screen: Terminal) -> None:
        screen.press("M-1")
        screen.wait_for(*self.asked)

    @override
    def come_back(self) -> Terminal:
        left = self.said("slowly", self.running)
        self.view(left)
        left.press("C-c", "C-c")
        left.wait_without(VIEW)
        screen = self.opened("agents")
        screen.go_on(left)
        screen.wait_for("enter to open")
        screen.press("Enter")
        screen.wait_for(ENDED)
        return screen
