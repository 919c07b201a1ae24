"""The tasks in the OpenHands CLI."""

import time
from typing import Any, ClassVar, override

from bench.peer import program
from tools.comparison.counting import Terminal
from tools.comparison.program import Agent
from tools.comparison.tasks import ENDED, WHERE, Cannot

OFFERED = 3.0
"""Seconds within which suggestions would have come."""
LONG = 30.0
"""Seconds within which a turn that can be stopped would have stopped."""


class OpenHands(Agent):
    name = "OpenHands CLI"
    ready_when = ("/help for help",)
    running = "Working"
    asked = ("Confirm 1 action(s)?", "Yes")
    allow = "Enter"
    call: ClassVar[dict[str, Any]] = {
        "name": "terminal",
        "arguments": {"command": "echo ran", "security_risk": "LOW"},
    }

    @override
    def opened(self, *words: str) -> Terminal:
        """Without a look at the network for prices and news, as in `bench.peer`."""
        return self.terminal(
            program(),
            "--override-with-envs",
            *words,
            seconds=90,
            HOME=str(self.home),
            LLM_API_KEY="k",
            LLM_MODEL="openai/scripted",
            LLM_BASE_URL=self.model.url,
            LITELLM_LOCAL_MODEL_COST_MAP="True",
            OPENHANDS_SUPPRESS_BANNER="1",
        )

    @override
    def say_no(self, screen: Terminal) -> None:
        screen.press("Down")
        screen.wait_for("> No")
        screen.press("Enter")
        screen.wait_for("It was answered.")

    @override
    def cancel(self) -> Terminal:
        screen = self.said("endless", self.running)
        screen.press("Escape")
        screen.wait_for("Pausing conversation")
        if not screen.comes("User Paused", seconds=LONG):
            shown = "after Esc, “Pausing conversation”; still “Working”"
            raise Cannot(f"{shown} {LONG:.0f} s later, while the model answered")
        return screen

    @override
    def file(self) -> Terminal:
        screen = self.ready()
        screen.begin_with("@", "notmi")
        if screen.comes("📄", seconds=OFFERED):
            screen.press("Tab")
            screen.wait_for(self.mentioned)
            return screen
        screen.press(*["BSpace"] * len("@notmi"))
        screen.wait_without("@notmi")
        screen.count()
        screen.begin_with("@", "not")
        screen.wait_for("📄")
        screen.press("Tab")
        screen.wait_without("📄")
        screen.wait_for(self.mentioned)
        screen.note = "with `@not`; `@notmi` offers nothing"
        return screen

    @override
    def shell(self) -> Terminal:
        self.try_shell()
        raise Cannot("no shell; `/help` lists none, and `!echo …` went to the agent as a prompt")

    @override
    def hand_over(self) -> Terminal:
        self.try_shell()
        raise Cannot("no shell whose output could be handed over")

    def try_shell(self) -> None:
        """It has no command for one, and the sign of the others is none."""
        screen = self.ready()
        self.command(screen, "/help", "Display available commands")
        shown = screen.wait_for("Available commands:", "/exit - Exit the application")
        assert "shell" not in shown.lower(), f"/help speaks of a shell:\n{shown}"
        screen.say(f"!{WHERE}")
        screen.wait_for(f"> !{WHERE}", "You said: hello")

    @override
    def hand(self, screen: Terminal) -> None:
        raise NotImplementedError

    def command(self, screen: Terminal, name: str, offered: str) -> None:
        """The first Enter chooses it from the list, the second sends it."""
        screen.choose(name)
        screen.wait_for(offered)
        screen.press("Enter")
        screen.wait_without(offered)
        screen.press("Enter")

    @override
    def new_session(self, screen: Terminal, prompt: str) -> None:
        self.command(screen, "/new", "Start a new conversation")
        screen.wait_for("Started a new conversation")
        screen.say(prompt)

    @override
    def second(self) -> Terminal:
        screen = self.said("endless", self.running)
        self.command(screen, "/new", "Start a new conversation")
        screen.wait_for("Cannot start a new conversation while one is")
        raise Cannot("`/new` says “Cannot start a new conversation while one is running”")

    @override
    def triage(self) -> Terminal:
        """Its list of conversations opens beside a question. Who leaves one for another
        conversation and comes back finds neither the question nor what was said."""
        screen = self.said("hello", "You said: hello")
        self.new_session(screen, "may you")
        screen.wait_for(*self.asked)
        asking = conversation(screen)
        switch(screen, "Down", asking)
        toggle_history(screen)
        screen.wait_without("Conversations")
        switch(screen, "Up", conversation(screen))
        assert conversation(screen) == asking, f"it is another conversation:\n{screen.screen()}"
        if screen.comes(*self.asked, seconds=OFFERED * 2):
            return screen
        raise Cannot("one question at a time; after a switch away and back it is not shown again")

    @override
    def come_back(self) -> Terminal:
        left = self.said("slowly", self.running)
        asking = conversation(left)
        left.press("C-q")
        left.wait_for("Terminate session?")
        left.press("C-q")
        left.wait_for("Goodbye!")
        screen = self.opened("--resume", "--last")
        screen.go_on(left)
        screen.wait_for(*self.ready_when, asking)
        if not screen.comes(ENDED, seconds=OFFERED * 4):
            shown = f"{screen.keys} keys and `--resume --last` open the conversation"
            raise Cannot(f"{shown}; neither the prompt nor an answer is shown")
        return screen


def switch(screen: Terminal, key: str, left: str) -> None:
    toggle_history(screen)
    screen.wait_for("Conversations", "may you", "hello")
    time.sleep(OFFERED / 2)  # the list takes the focus a moment after it is drawn
    screen.press(key)
    screen.press("Enter")
    screen.wait_without(f"Initialized conversation {left}")
    screen.wait_for("Initialized conversation ")


def toggle_history(screen: Terminal) -> None:
    screen.press("C-p")
    screen.wait_for("Search for commands")
    screen.choose("history")
    screen.wait_for("Toggle conversation history panel")
    screen.wait_without("Save an SVG")
    screen.press("Enter")
    screen.wait_without("Toggle conversation history panel")


def conversation(screen: Terminal) -> str:
    return screen.screen().partition("Initialized conversation ")[2].split(maxsplit=1)[0]
