"""The tasks in the OpenHands CLI, whose agent is its own: a scripted model answers it."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peer import program
from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.tasks import MODELLED, Cannot, Place, Task

READY = ("/help for help",)
OFFERED = 3.0
"""Seconds within which suggestions would have come."""


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
    own = [f"HOME={place.home}", "LLM_API_KEY=k", "LLM_MODEL=openai/scripted"]
    own.append(f"LLM_BASE_URL={address}")
    flags = ("--override-with-envs", "--exit-without-confirmation", *words)
    return Terminal(place.home, "env", *own, program(), *flags, cwd=place.work, seconds=120)


def ready(place: Place, address: str) -> Terminal:
    screen = opened(place, address)
    screen.wait_for(*READY)
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
        screen = ready(place, address)
        screen.say("may you")
        screen.wait_for("Yes", "No")
        screen.read()
        screen.press("Enter")
        screen.wait_for("It was answered.")
        return screen


def reject(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.say("may you")
        screen.wait_for("Yes", "No")
        screen.read()
        screen.press("Down", "Enter")
        screen.wait_for("rejected")
        screen.say("not today")
        screen.wait_for("It was answered.")
        return screen


def queue(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.say("slowly")
        screen.wait_for("Working")
        screen.count()
        screen.say("hello")
        screen.wait_for("It has ended.", "You said: hello")
        return screen


def cancel(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.say("endless")
        screen.wait_for("Working")
        screen.count()
        screen.press("Escape")
        screen.wait_for("paused")
        return screen


def file(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.begin_with("@", "notmi")
        time.sleep(OFFERED)
        if "notes-of-mine" not in screen.screen():
            raise Cannot("`@notmi` offered nothing")
        screen.press("Tab")
        screen.wait_for("@notes-of-mine.md")
        return screen


def shell(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.begin_with("!", "pwd")
        screen.press("Enter")
        screen.wait_for("You said: hello")
        raise Cannot("`!pwd` went to the agent as a prompt")


TASKS: dict[str, Task] = {
    "start": start,
    "answer": answer,
    "approve": approve,
    "reject": reject,
    "cancel": cancel,
    "queue": queue,
    "file": file,
    "shell": shell,
}
