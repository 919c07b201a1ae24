"""The tasks in Rookery."""

import json
from pathlib import Path

from tests.cli.driving import ROOKERY
from tools.comparison.counting import Terminal
from tools.comparison.tasks import WHERE, WHY, Place, Task, player

ALLOW, REJECT = "y", "r"
"""Keys of an ask."""


def opened(place: Place, *words: str) -> Terminal:
    (place.home / "config.toml").write_text(
        f'default_agent = "mine"\n[agents.mine]\ncommand = {json.dumps(player(place))}\n'
    )
    return Terminal(place.home, *ROOKERY, *words, cwd=place.work)


def ready(place: Place) -> Terminal:
    screen = opened(place)
    screen.wait_for("F1 lists")
    screen.count()
    return screen


def said(place: Place, text: str, *until: str) -> Terminal:
    screen = ready(place)
    screen.say(text)
    screen.wait_for(*until)
    screen.count()
    return screen


def start(place: Place) -> Terminal:
    screen = opened(place)
    screen.wait_for("F1 lists")
    return screen


def answer(place: Place) -> Terminal:
    screen = ready(place)
    screen.say("hello")
    screen.wait_for("You said: hello")
    return screen


def approve(place: Place) -> Terminal:
    screen = said(place, "may you", "needs you", "▌ ┃")
    screen.read()
    screen.press(ALLOW)
    screen.wait_for("It was allowed.")
    return screen


def reject(place: Place) -> Terminal:
    screen = said(place, "may you", "needs you", "▌ ┃")
    screen.read()
    screen.press(REJECT)
    screen.wait_for("Why not?")
    screen.say(WHY)
    screen.wait_for("It was rejected.", f"You said: {WHY}")
    return screen


def cancel(place: Place) -> Terminal:
    screen = said(place, "endless", "It has begun.")
    screen.press("Escape")
    screen.wait_for("Cancelled")
    return screen


def queue(place: Place) -> Terminal:
    screen = said(place, "slowly", "It has begun.")
    screen.say("hello")
    screen.wait_for("It has ended.", "You said: hello")
    return screen


def file(place: Place) -> Terminal:
    screen = ready(place)
    screen.begin_with("@", "notmi")
    screen.wait_for("▌notes-of-mine.md")
    screen.press("Tab")
    screen.wait_for("@notes-of-mine.md")
    return screen


def shell(place: Place) -> Terminal:
    screen = ready(place)
    run(screen, "cd below")
    screen.wait_for("✓")
    run(screen, WHERE)
    screen.wait_for(f"here: {place.work / 'below'}")
    return screen


def run(screen: Terminal, command: str) -> None:
    screen.begin_with("!", "")
    screen.say(command)


def hand_over(place: Place) -> Terminal:
    screen = ready(place)
    run(screen, "echo it-is-$((6*7))")
    screen.wait_for("it-is-42", "✓")
    screen.count()
    screen.press("C-s")
    screen.wait_for("You said:", "it-is-42")
    return screen


def second(place: Place) -> Terminal:
    screen = said(place, "endless", "It has begun.")
    screen.press("C-n")
    screen.wait_for("new session")
    screen.say("hello")
    screen.wait_for("You said: hello")
    return screen


def triage(place: Place) -> Terminal:
    screen = said(place, "may you", "needs you")
    screen.press("C-n")
    screen.wait_for("new session")
    screen.say("may you")
    screen.wait_for("▌ ┃", "needs you")
    screen.read()
    screen.press(ALLOW)
    screen.wait_for("It was allowed.", "ready")
    screen.press("F2")
    screen.wait_for("▌ ┃", "needs you")
    screen.press(ALLOW)
    screen.wait_for("It was allowed.", "ready")
    return screen


def come_back(place: Place) -> Terminal:
    left = said(place, "slowly", "It has begun.")
    left.press("C-q")
    left.wait_for("Leave?")
    left.press("Enter")
    left.wait_for("To come back")
    screen = opened(place)
    screen.go_on(left)
    screen.wait_for("F1 lists", "Enter opens")
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
    "hand-over": hand_over,
    "second": second,
    "triage": triage,
    "return": come_back,
}


def prepare(place: Place) -> None:
    (place.work / "below").mkdir()
    Path(place.work / "notes-of-mine.md").write_text("x")
