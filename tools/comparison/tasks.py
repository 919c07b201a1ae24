"""The twelve tasks, and the answers that every program gets to them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tools.comparison.counting import Terminal

TASKS = {
    "start": "start it, until a prompt can be typed",
    "answer": "a first answer",
    "approve": "allow what the agent asks",
    "reject": "reject it and say why",
    "cancel": "cancel a turn",
    "queue": "write the next prompt while a turn runs; it is sent afterwards",
    "file": "mention a file by a few of its letters",
    "shell": "run a command of your own, after `cd`",
    "hand-over": "hand that command's output to the agent",
    "second": "a second session beside the first",
    "triage": "answer a question in each of two sessions",
    "return": "leave while the agent works, come back, and find its answer",
}


WHERE = "echo here: $PWD"
"""The command of one's own: what it prints is nowhere else on the screen."""

WHY = "not today"
"""The reason of a rejection."""


class Place(NamedTuple):
    """Where a program runs: a home of its own and a directory to work in."""

    home: Path
    work: Path


type Task = Callable[[Place], Terminal]
"""Does the task, and returns the terminal that counted."""


class Cannot(Exception):
    """The program has no way to do this; says what it has instead."""


ASK: dict[str, Any] = {
    "ask": "May I?",
    "kind": "edit",
    "allowed": [{"text": "It was allowed."}],
    "rejected": [{"text": "It was rejected."}],
}
SLOW: list[dict[str, Any]] = [{"text": "It has begun."}, {"wait": 3}, {"text": " It has ended."}]

PLAYED = {
    "match": [
        {"contains": "may you", "steps": [ASK]},
        {"contains": "slowly", "steps": SLOW},
        {"contains": "endless", "steps": [{"text": "It has begun."}, {"until": "cancel"}]},
    ],
    "otherwise": [{"text": "You said: $prompt"}],
}
"""For agents that speak ACP."""

COMMAND = {"name": "terminal", "arguments": {"command": "echo ran", "security_risk": "LOW"}}
ENDLESS = "It has begun. " + "On and on. " * 200
MODELLED = {
    "match": [
        {"contains": "may you", "turns": [{"call": COMMAND}, "It was answered."]},
        {
            "contains": "slowly",
            "turns": [{"text": "It has begun. It has ended.", "chunks": 7, "every": 0.5}],
        },
        {
            "contains": "endless",
            "turns": [{"text": ENDLESS, "chunks": 200, "every": 0.5}],
        },
        {"contains": WHY, "turns": [f"You said: {WHY}"]},
    ],
    "otherwise": "You said: hello",
}
"""For agents with a model."""


def player(place: Place) -> list[str]:
    """The command of an ACP agent that plays them."""
    import sys

    script = place.home / "script.json"
    script.write_text(json.dumps(PLAYED))
    return [sys.executable, "-P", "-m", "rookery", "play", str(script)]
