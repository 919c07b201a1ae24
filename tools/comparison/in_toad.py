"""The tasks in Toad."""

import os
import shlex
import time
from pathlib import Path

from tests.acp.packages import TOAD, python_with
from tools.comparison.counting import Terminal
from tools.comparison.tasks import WHERE, WHY, Cannot, Place, Task, player

RUN = Path(__file__).resolve().parents[2] / "fixtures" / "clients" / "run_toad.py"
READY = ("How can I help you today?", "Send")
KNOWN = "gemini"
"""An agent that Toad knows by name: it opens a second session only for one of those, so the
scripted agent stands in for it."""
ASKED = ("Allow", "Reject")
SHELL = "Enter shell command"
IN_TERMINAL = "Press escape twice to exit terminal"
TAP = 0.2
"""Seconds between two taps of Esc, which leave a terminal."""
LONG = 10.0
"""Seconds within which an answer that goes on would have ended."""


def opened(place: Place, *words: str) -> Terminal:
    python = python_with(TOAD, "--ignore-requires-python")
    home = place.home
    programs = home / "bin"
    own = (
        f"HOME={home}",
        f"XDG_DATA_HOME={home}",
        f"XDG_STATE_HOME={home}",
        f"PATH={programs}:{os.environ['PATH']}",
    )
    programs.mkdir(exist_ok=True)
    (programs / KNOWN).write_text(f"#!/bin/sh\nexec {shlex.join(player(place))}\n")
    (programs / KNOWN).chmod(0o700)
    words = words or ("acp", shlex.join(player(place)), str(place.work), "-t", "Player")
    return Terminal(home, "env", *own, str(python), str(RUN), *words, cwd=place.work)


def ready(place: Place, *words: str) -> Terminal:
    """Once the agent's name stands below the prompt: it refuses prompts before."""
    screen = opened(place, *words)
    screen.wait_for(*READY, f"  {place.work}")
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
    screen.wait_for(*READY)
    return screen


def answer(place: Place) -> Terminal:
    screen = ready(place)
    screen.say("hello")
    screen.wait_for("You said: hello")
    return screen


def approve(place: Place) -> Terminal:
    screen = said(place, "may you", *ASKED)
    screen.read()
    screen.press("a")
    screen.wait_for("It was allowed.")
    return screen


def reject(place: Place) -> Terminal:
    screen = said(place, "may you", *ASKED)
    screen.read()
    screen.press("r")
    screen.wait_for("It was rejected.", *READY)
    screen.say(WHY)
    screen.wait_for(f"You said: {WHY}")
    return screen


def cancel(place: Place) -> Terminal:
    screen = said(place, "endless", "It has begun.")
    screen.press("Escape")
    screen.wait_for("again to cancel")
    screen.press("Escape")
    screen.wait_for("Turn cancelled")
    return screen


def queue(place: Place) -> Terminal:
    screen = said(place, "slowly", "It has begun.")
    screen.say("hello")
    screen.wait_for("It has ended.", "You said: hello")
    screen.note = "sent at once: the agent queues it"
    return screen


def file(place: Place) -> Terminal:
    screen = ready(place)
    screen.begin_with("@", "")
    screen.wait_for("fuzzy search")
    screen.type("notmi")
    screen.wait_for("notmi", "notes-of-mine.md")
    screen.press("Enter")
    screen.wait_for("@notes-of-mine.md")
    return screen


def shell(place: Place) -> Terminal:
    """Toad takes `cd` for the shell without a sign. The next command goes into its terminal."""
    screen = ready(place)
    screen.type("cd")
    screen.wait_for("$ cd")
    screen.type(" below")
    screen.wait_for("$ cd below")
    screen.press("Enter")
    screen.wait_for(IN_TERMINAL)
    screen.say(WHERE)
    screen.wait_for(f"here: {place.work / 'below'}")
    return screen


def hand_over(place: Place) -> Terminal:
    """Out of the terminal, out of the shell, to the block, its menu, copied to the prompt, sent."""
    screen = ready(place)
    screen.begin_with("!", "")
    screen.wait_for(SHELL)
    screen.say("echo it-is-$((6*7))")
    screen.wait_for("it-is-42", SHELL)
    screen.read()
    screen.press("Escape")
    time.sleep(TAP)
    screen.press("Escape")
    screen.wait_for(SHELL, "Send")
    screen.press("Escape")
    screen.wait_for(*READY)
    screen.press("M-Up")
    screen.wait_for("Select")
    screen.press("Enter")
    screen.wait_for("Copy to prompt")
    screen.press("p")
    screen.wait_for("Copied to prompt")
    screen.press("C-j" if "☰" in screen.screen() else "Enter")
    screen.wait_for("You said: it-is-42")
    return screen


def known(place: Place) -> Terminal:
    return ready(place, "run", str(place.work), "-a", KNOWN)


def new_session(screen: Terminal, prompt: str) -> None:
    screen.choose("/")
    screen.wait_for("/toad:about")
    screen.choose("new")
    screen.wait_without("/toad:about")
    screen.press("Enter")
    screen.wait_for("/toad:session-new <initial prompt or command>", "Send")
    screen.say(prompt)


def second(place: Place) -> Terminal:
    screen = known(place)
    screen.say("endless")
    screen.wait_for("It has begun.")
    screen.count()
    new_session(screen, "hello")
    screen.wait_for("You said: hello")
    return screen


def triage(place: Place) -> Terminal:
    screen = known(place)
    new_session(screen, "may you")
    screen.wait_for(*ASKED)
    screen.press("C-]")
    screen.wait_for(*READY)
    screen.say("may you")
    screen.wait_for(*ASKED)
    screen.read()
    screen.press("a")
    screen.wait_for("It was allowed.")
    screen.press("C-]")
    screen.wait_without("It was allowed.")
    screen.wait_for(*ASKED)
    screen.press("a")
    screen.wait_for("It was allowed.")
    return screen


def come_back(place: Place) -> Terminal:
    """Its agent ends with it, so the turn does not go on; the session is opened again."""
    left = said(place, "slowly", "It has begun.")
    left.press("C-q")
    left.wait_for("Thanks for trying out Toad!")
    screen = opened(place, "run", str(place.work))
    screen.go_on(left)
    screen.wait_for("Resume", "Quick launch")
    screen.press("C-r")
    screen.wait_for("Last Used", "Player")
    screen.press("Enter")
    screen.wait_for("It has begun.")
    if not screen.comes("It has ended.", seconds=LONG):
        raise Cannot(f"{screen.keys} keys open the session again; its turn ended with Toad")
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
