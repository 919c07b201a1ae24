"""The tasks in the OpenHands CLI, whose agent is its own: a scripted model answers it."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peer import program
from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.tasks import MODELLED, WHERE, WHY, Cannot, Place, Task

READY = ("/help for help",)
ASKED = ("Confirm 1 action(s)?", "Yes")
OFFERED = 3.0
"""Seconds within which suggestions would have come."""
LONG = 30.0
"""Seconds within which a turn that can be stopped would have stopped."""


@contextmanager
def model(place: Place) -> Iterator[str]:
    script = place.home / "model.json"
    script.write_text(json.dumps(MODELLED))
    line = [*ROOKERY, "model", str(script), "--quiet"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def opened(place: Place, address: str, *words: str) -> Terminal:
    """Without a look at the network for prices and news, as in `bench.peer`."""
    own = [f"HOME={place.home}", "LLM_API_KEY=k", "LLM_MODEL=openai/scripted"]
    own += [f"LLM_BASE_URL={address}", "LITELLM_LOCAL_MODEL_COST_MAP=True"]
    own.append("OPENHANDS_SUPPRESS_BANNER=1")
    line = (program(), "--override-with-envs", *words)
    return Terminal(place.home, "env", *own, *line, cwd=place.work, seconds=90)


def ready(place: Place, address: str) -> Terminal:
    screen = opened(place, address)
    screen.wait_for(*READY)
    screen.count()
    return screen


def said(place: Place, address: str, text: str, *until: str) -> Terminal:
    screen = ready(place, address)
    screen.say(text)
    screen.wait_for(*until)
    screen.count()
    return screen


def start(place: Place) -> Terminal:
    with model(place) as address:
        screen = opened(place, address)
        screen.wait_for(*READY)
        return screen


def answer(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.say("hello")
        screen.wait_for("You said: hello")
        return screen


def approve(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "may you", *ASKED)
        screen.read()
        screen.press("Enter")
        screen.wait_for("It was answered.")
        return screen


def reject(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "may you", *ASKED)
        screen.read()
        screen.press("Down")
        screen.wait_for("> No")
        screen.press("Enter")
        screen.wait_for("It was answered.")
        screen.say(WHY)
        screen.wait_for(f"You said: {WHY}")
        return screen


def queue(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "slowly", "Working")
        screen.say("hello")
        screen.wait_for("It has ended.", "You said: hello")
        return screen


def cancel(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "endless", "Working")
        screen.press("Escape")
        screen.wait_for("Pausing conversation")
        if not screen.comes("User Paused", seconds=LONG):
            told = "Esc: “Pausing conversation”; still “Working”"
            raise Cannot(f"{told} {LONG:.0f} s later, while the model answered")
        return screen


def file(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.begin_with("@", "notmi")
        if screen.comes("📄", seconds=OFFERED):
            screen.press("Tab")
            screen.wait_for("@notes-of-mine.md")
            return screen
        screen.press(*["BSpace"] * len("@notmi"))
        screen.wait_without("@notmi")
        screen.count()
        screen.begin_with("@", "not")
        screen.wait_for("📄")
        screen.press("Tab")
        screen.wait_without("📄")
        screen.wait_for("@notes-of-mine.md")
        screen.note = "`@not`: `@notmi` offers nothing"
        return screen


def shell(place: Place) -> Terminal:
    no_shell(place)
    raise Cannot("no shell: `/help` lists none, and `!echo …` went to the agent as a prompt")


def hand_over(place: Place) -> Terminal:
    no_shell(place)
    raise Cannot("no shell whose output could be handed over")


def no_shell(place: Place) -> None:
    """It has no command for one, and the sign of the others is none."""
    with model(place) as address:
        screen = ready(place, address)
        command(screen, "/help", "Display available commands")
        shown = screen.wait_for("Available commands:", "/exit - Exit the application")
        assert "shell" not in shown.lower(), f"/help speaks of a shell:\n{shown}"
        screen.say(f"!{WHERE}")
        screen.wait_for(f"> !{WHERE}", "You said: hello")


def command(screen: Terminal, name: str, offered: str) -> None:
    """The first Enter chooses it from the list, the second sends it."""
    screen.choose(name)
    screen.wait_for(offered)
    screen.press("Enter")
    screen.wait_without(offered)
    screen.press("Enter")


def new_conversation(screen: Terminal, until: str) -> None:
    command(screen, "/new", "Start a new conversation")
    screen.wait_for(until)


def second(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "endless", "Working")
        new_conversation(screen, "Cannot start a new conversation while one is")
        raise Cannot("`/new`: “Cannot start a new conversation while one is running”")


def triage(place: Place) -> Terminal:
    """Its list of conversations opens beside a question. Who leaves one for another conversation
    and comes back finds neither the question nor what was said."""
    with model(place) as address:
        screen = said(place, address, "hello", "You said: hello")
        new_conversation(screen, "Started a new conversation")
        screen.say("may you")
        screen.wait_for(*ASKED)
        asking = conversation(screen)
        switch(screen, "Down", asking)
        toggle_history(screen)
        screen.wait_without("Conversations")
        switch(screen, "Up", conversation(screen))
        assert conversation(screen) == asking, f"it is another conversation:\n{screen.screen()}"
        if screen.comes(*ASKED, seconds=OFFERED * 2):
            return screen
        raise Cannot("one question at a time: after a switch away and back it is not shown again")


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


def come_back(place: Place) -> Terminal:
    with model(place) as address:
        left = said(place, address, "slowly", "Working")
        asking = conversation(left)
        left.press("C-q")
        left.wait_for("Terminate session?")
        left.press("C-q")
        left.wait_for("Goodbye!")
        screen = opened(place, address, "--resume", "--last")
        screen.go_on(left)
        screen.wait_for(*READY, asking)
        if not screen.comes("It has ended.", seconds=OFFERED * 4):
            told = f"{screen.keys} keys and `--resume --last` open the conversation"
            raise Cannot(f"{told}; neither the prompt nor an answer is shown")
        return screen


TASKS: dict[str, Task] = {
    "start": start,
    "answer": answer,
    "approve": approve,
    "reject": reject,
    "cancel": cancel,
    "queue": queue,
    "file": file,
    "shell": shell,
    "hand-over": hand_over,
    "second": second,
    "triage": triage,
    "return": come_back,
}
