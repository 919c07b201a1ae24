"""The twelve tasks, and the answers that every program gets to them."""

from typing import Any

TASKS = {
    "start": "start it, until a prompt can be typed",
    "answer": "a first answer",
    "approve": "allow what the agent asks",
    "reject": "reject it and say why",
    "cancel": "cancel a turn",
    "queue": "write the next prompt while a turn runs; it is sent afterwards",
    "file": "mention a file by a few of its letters",
    "shell": "run a command of your own, after `cd`",
    "hand_over": "hand that command's output to the agent",
    "second": "a second session beside the first",
    "triage": "answer a question in each of two sessions",
    "come_back": "leave while the agent works, come back, and find its answer",
}
"""Each is a method of every program."""

WHERE = "echo here: $PWD"
"""The command of one's own: what it prints is nowhere else on the screen."""

SUM, RESULT = "echo it-is-$((6*7))", "it-is-42"
"""One whose output is handed over."""

WHY = "not today"
"""The reason of a rejection."""

FILE, LETTERS = "notes-of-mine.md", "notmi"

BEGUN, ENDED = "It has begun.", "It has ended."


class Cannot(Exception):
    """The program has no way to do this; says what it has instead."""


ASK: dict[str, Any] = {
    "ask": "May I?",
    "kind": "edit",
    "allowed": [{"text": "It was allowed."}],
    "rejected": [{"text": "It was rejected."}],
}
PLAYED = {
    "match": [
        {"contains": "may you", "steps": [ASK]},
        {"contains": "slowly", "steps": [{"text": BEGUN}, {"wait": 3}, {"text": f" {ENDED}"}]},
        {"contains": "endless", "steps": [{"text": BEGUN}, {"until": "cancel"}]},
    ],
    "otherwise": [{"text": "You said: $prompt"}],
}
"""For agents that speak ACP."""


def modelled(call: dict[str, Any]) -> dict[str, Any]:
    """For agents with a model: the same answers; `call` is of a tool that asks first."""
    # Pieces of 15 characters, one each half second; as in PLAYED, it is over 3 s after it began.
    slowly = f"{BEGUN}\n\n" + "More and more. " * 3 + ENDED
    endless = f"{BEGUN}\n\n" + "On and on, on. " * 199
    return {
        "match": [
            {"contains": "may you", "turns": [{"call": call}, "It was answered."]},
            {"contains": "later", "turns": [{"call": call, "delay": 3}, "It was answered."]},
            {"contains": "slowly", "turns": [{"text": slowly, "chunks": 5, "every": 0.5}]},
            {"contains": "endless", "turns": [{"text": endless, "chunks": 200, "every": 0.5}]},
            {"contains": RESULT, "turns": [f"You said: {RESULT}"]},
            {"contains": WHY, "turns": [f"You said: {WHY}"]},
        ],
        "otherwise": "You said: hello",
    }
