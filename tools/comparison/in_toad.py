"""The tasks in Toad."""

import shlex
from pathlib import Path

from tests.acp.packages import TOAD, python_with
from tools.comparison.counting import Terminal
from tools.comparison.tasks import Cannot, Place, Task, player

RUN = Path(__file__).resolve().parents[2] / "fixtures" / "clients" / "run_toad.py"
READY = ("How can I help you today?", "Send")


def opened(place: Place, *words: str) -> Terminal:
    python = python_with(TOAD, "--ignore-requires-python")
    home = place.home
    own = (f"HOME={home}", f"XDG_DATA_HOME={home}", f"XDG_STATE_HOME={home}")
    words = words or ("acp", shlex.join(player(place)), str(place.work), "-t", "Player")
    return Terminal(home, "env", *own, str(python), str(RUN), *words, cwd=place.work)


def ready(place: Place) -> Terminal:
    screen = opened(place)
    screen.wait_for(*READY)
    screen.count()
    return screen


def say(screen: Terminal, text: str) -> None:
    """Enter sends what has been drawn."""
    screen.type(text)
    screen.wait_for(text)
    screen.press("Enter")


def said(place: Place, text: str, *until: str) -> Terminal:
    screen = ready(place)
    say(screen, text)
    screen.wait_for(*until)
    screen.count()
    return screen


def start(place: Place) -> Terminal:
    screen = opened(place)
    screen.wait_for(*READY)
    return screen


def answer(place: Place) -> Terminal:
    screen = ready(place)
    say(screen, "hello")
    screen.wait_for("You said: hello")
    return screen


def approve(place: Place) -> Terminal:
    screen = said(place, "may you", "Allow", "Reject")
    screen.read()
    screen.press("a")
    screen.wait_for("It was allowed.")
    return screen


def reject(place: Place) -> Terminal:
    screen = said(place, "may you", "Allow", "Reject")
    screen.read()
    screen.press("r")
    screen.wait_for("It was rejected.")
    raise Cannot(f"{screen.keys} key rejected it; no reason was asked for")


def cancel(place: Place) -> Terminal:
    screen = said(place, "endless", "It has begun.")
    screen.press("Escape")
    screen.wait_for("again to cancel")
    screen.press("Escape")
    screen.wait_for("Turn cancelled")
    return screen


def queue(place: Place) -> Terminal:
    screen = said(place, "slowly", "It has begun.")
    say(screen, "hello")
    screen.wait_for("It has ended.", "You said: hello")
    return screen


def file(place: Place) -> Terminal:
    screen = ready(place)
    screen.begin_with("@", "notmi")
    screen.wait_for("notes-of-mine.md")
    screen.press("Enter")
    screen.wait_for("@notes-of-mine.md")
    return screen


def shell(place: Place) -> Terminal:
    screen = ready(place)
    screen.begin_with("!", "cd below")
    screen.press("Enter")
    screen.wait_for(*READY)
    screen.begin_with("!", "pwd")
    screen.press("Enter")
    screen.wait_for(str(place.work / "below"))
    return screen


def come_back(place: Place) -> Terminal:
    """Its agent ends with it, so the turn does not go on; the session is opened again."""
    left = said(place, "slowly", "It has begun.")
    left.press("C-q")
    screen = opened(place, "run", str(place.work))
    screen.keys = left.keys
    screen.wait_for("Resume")
    screen.press("C-r")
    screen.wait_for("Last Used")
    screen.press("Enter")
    screen.wait_for("It has ended.")
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
    "return": come_back,
}
