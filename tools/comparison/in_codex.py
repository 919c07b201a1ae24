"""The tasks in the Codex CLI."""

from typing import Any, ClassVar, override

from tests.acp.packages import node_modules
from tests.npm import npm
from tools.comparison.counting import Terminal
from tools.comparison.program import Agent
from tools.comparison.tasks import ENDED, FILE, WHERE

PACKAGE = "@openai/codex@0.169.0"


class Codex(Agent):
    name = "Codex CLI"
    ready_when = ("← for agents",)
    asked = ("Would you like to run the following command?", "Press enter to confirm")
    allow = "y"
    cancelled = "Conversation interrupted"
    queue_key = "Tab"
    offered = f"› {FILE}"
    mentioned = f"› {FILE}"
    ran = "Worked for"
    call: ClassVar[dict[str, Any]] = {
        "name": "exec_command",
        # It asks only about what wants to leave its sandbox.
        "arguments": {
            "cmd": "touch ran",
            "sandbox_permissions": "require_escalated",
            "justification": "Scripted",
        },
    }

    @override
    def opened(self, *words: str) -> Terminal:
        settings = self.home / ".codex"
        settings.mkdir(exist_ok=True)
        lines = [
            'model = "scripted"',
            'model_provider = "scripted"',
            "[model_providers.scripted]",
            'name = "Scripted"',
            f'base_url = "{self.model.url}"',
            'wire_api = "responses"',
            'env_key = "SCRIPTED_KEY"',
            "supports_websockets = false",
            f'[projects."{self.work}"]',
            'trust_level = "trusted"',
        ]
        (settings / "config.toml").write_text("\n".join(lines) + "\n")
        codex = str(node_modules(PACKAGE) / ".bin" / "codex")
        path = npm()[1]["PATH"]  # it is started by node
        return self.terminal(codex, *words, HOME=str(self.home), PATH=path, SCRIPTED_KEY="k")

    @override
    def say_no(self, screen: Terminal) -> None:
        screen.press("Escape")
        screen.wait_for(self.cancelled)

    @override
    def file(self) -> Terminal:
        screen = super().file()
        screen.wait_without("Mentions")
        return screen

    @override
    def shell(self) -> Terminal:
        """Each command begins where the session does, so both go into one line."""
        screen = self.ready()
        self.run(screen, f"cd below && {WHERE}")
        screen.wait_for(f"here: {self.work / 'below'}")
        screen.note = "both in one line; the next command is back in the old directory"
        return screen

    @override
    def hand(self, screen: Terminal) -> None:
        screen.say("so what")
        screen.note = "goes with your next prompt"

    @override
    def new_session(self, screen: Terminal, prompt: str) -> None:
        self.view(screen)
        screen.choose("n")
        screen.wait_for("Ask Codex to do anything", *self.ready_when)
        screen.say(prompt)

    def view(self, screen: Terminal) -> None:
        screen.press("Left")
        screen.wait_for("Agent command center")

    @override
    def triage(self) -> Terminal:
        """A question has to be answered before one can leave its session: the first comes later."""
        screen = self.said("later", "›")
        self.new_session(screen, "may you")
        screen.wait_for(*self.asked)
        screen.read()
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        self.view(screen)
        screen.wait_for("Needs you 1")
        screen.press("Down", "Enter")
        screen.wait_for(*self.asked)
        screen.press(self.allow)
        screen.wait_for(self.allowed)
        return screen

    @override
    def come_back(self) -> Terminal:
        left = self.said("slowly", self.running)
        left.press("C-c")
        left.wait_for("Run in background")
        left.choose("2")
        left.wait_for("Any running work continues")
        screen = self.opened("resume", "--last")
        screen.go_on(left)
        screen.wait_for(ENDED)
        return screen
