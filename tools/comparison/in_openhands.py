"""The tasks in the OpenHands CLI, whose agent is its own: a scripted model answers it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peer import program
from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.tasks import MODELLED, WHERE, Cannot, Place, Task

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
    say(screen, text)
    screen.wait_for(*until)
    screen.count()
    return screen


def say(screen: Terminal, text: str) -> None:
    """Enter sends what has been drawn."""
    screen.type(text)
    screen.wait_for(text)
    screen.press("Enter")


def start(place: Place) -> Terminal:
    with model(place) as address:
        screen = opened(place, address)
        screen.wait_for(*READY)
        return screen


def answer(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        say(screen, "hello")
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
        where = "`confirmation_panel.py`"
        raise Cannot(f"{screen.keys} keys reject; no such function: looked for in {where}")


def queue(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "slowly", "Working")
        say(screen, "hello")
        screen.wait_for("It has ended.", "You said: hello")
        return screen


def cancel(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "endless", "Working")
        screen.press("Escape")
        screen.wait_for("Pausing conversation")
        if not screen.comes("User Paused", seconds=LONG):
            told = "Esc: “Pausing conversation”; it still worked"
            raise Cannot(f"{told} {LONG:.0f} s later, as the model's answer goes on")
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
        screen.note = "`@not`; `@notmi` offers nothing: it has to be a beginning"
        return screen


def shell(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.begin_with("!", WHERE)
        screen.press("Enter")
        screen.wait_for("You said: hello")
        where = "`input_field.py`, `/help`"
        raise Cannot(f"no such function: looked for in {where}; `!…` went to the agent")


def hand_over(place: Place) -> Terminal:  # noqa: ARG001 (a Task)
    raise Cannot("no such function: there is no shell to take it from")


def second(place: Place) -> Terminal:
    with model(place) as address:
        screen = said(place, address, "endless", "Working")
        screen.choose("/new")
        screen.wait_for("Start a new conversation")
        screen.press("Enter")  # chooses it
        screen.wait_without("Start a new conversation")
        screen.press("Enter")
        screen.wait_for("New Conversation Error")
        raise Cannot("`/new`: “Cannot start a new conversation while one is running”")


def triage(place: Place) -> Terminal:
    """While one asks, nothing can be typed, and its list of conversations switches, not adds."""
    with model(place) as address:
        screen = said(place, address, "may you", *ASKED)
        screen.choose("/new")
        if screen.comes("Start a new conversation", seconds=OFFERED):
            raise AssertionError("a command can be typed while a question is open")
        raise Cannot("no such function: nothing can be typed while a question is open")


def come_back(place: Place) -> Terminal:
    with model(place) as address:
        left = said(place, address, "slowly", "Working")
        left.press("C-q")
        left.wait_for("Terminate session?")
        left.press("C-q")
        left.wait_for("Goodbye!")
        screen = opened(place, address, "--resume", "--last")
        screen.go_on(left)
        screen.wait_for(*READY)
        if not screen.comes("It has ended.", seconds=OFFERED * 2):
            raise Cannot(f"{screen.keys} keys and `--resume --last`: no answer is shown")
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
