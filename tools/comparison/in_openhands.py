"""The tasks in the OpenHands CLI, whose agent is its own: a scripted model answers it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.acp.packages import CACHE
from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.tasks import MODELLED, Cannot, Place, Task

PACKAGE = "openhands==1.16.0"
READY = ("/help for help",)


@cache
def program() -> Path:
    """In an environment of its own."""
    place = CACHE / f"uv-{PACKAGE.replace('==', '-')}"
    found = place / "bin" / "openhands"
    if not found.exists():
        uv = str(Path(__file__).resolve().parents[2] / "scripts" / "uv")
        subprocess.run([uv, "venv", "--clear", "--python", "3.12", str(place)], check=True)
        python = str(place / "bin" / "python")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, PACKAGE], check=True)
    return found


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
    return Terminal(place.home, "env", *own, str(program()), *flags, cwd=place.work)


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
        screen.count()
        screen.press("Enter")
        screen.wait_for("It was answered.")
        return screen


def reject(place: Place) -> Terminal:
    with model(place) as address:
        screen = ready(place, address)
        screen.say("may you")
        screen.wait_for("Yes", "No")
        screen.count()
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


def none(what: str) -> Task:
    def task(_: Place) -> Terminal:
        raise Cannot(what)

    return task


TASKS: dict[str, Task] = {
    "start": start,
    "answer": answer,
    "approve": approve,
    "reject": reject,
    "queue": queue,
    "cancel": cancel,
    "file": none("`@` completes the beginning of a path only"),
    "shell": none("no line for a shell"),
    "hand-over": none("no line for a shell"),
    "triage": none("one conversation is shown; no key goes to the next question"),
}
