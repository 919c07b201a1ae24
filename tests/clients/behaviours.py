"""What each client of the field does with `rookery acp`, and what a client itself cannot do.

A cell of the table (docs/editors.md) is a test, or a reason here.
"""

from typing import Any

type Json = dict[str, Any]

BEHAVIOURS = {
    "new": "a new session, with its modes and options",
    "approve": "a permission is asked and given",
    "reject": "a permission is asked and refused",
    "cancel": "a turn is cancelled",
    "list": "sessions are listed",
    "load": "a session is loaded, with all that was said",
    "resume": "a session goes on without its history",
    "together": "two sessions at once",
    "modes": "the mode is chosen",
    "models": "the model is chosen",
    "efforts": "another option is chosen",
    "errors": "an error says what happened and what helps",
}

NO_LIST = "keeps a list of its own; never asks for ours"
LOADS = "always loads, never resumes"
CANNOT: dict[str, dict[str, str]] = {
    "python_sdk": {},
    "typescript_sdk": {},
    "acpx": {"load": "resumes where the agent can"},
    "openhands": {
        "reject": "grants everything",
        "list": NO_LIST,
        "resume": LOADS,
        "efforts": "chooses a mode and a model, no other options",
    },
    "emacs": {},
    "neovim": {"resume": LOADS},
    "toad": {
        "list": NO_LIST,
        "resume": LOADS,
        "models": "has no options of a session",
        "efforts": "has no options of a session",
    },
}
"""By client: what it cannot do, and why."""


NAMES = {
    "python_sdk": "Python SDK 0.12.1",
    "typescript_sdk": "TypeScript SDK 2.4.0",
    "acpx": "acpx 0.19.1",
    "toad": "Toad 0.6.20",
    "openhands": "OpenHands `ACPAgent`",
    "emacs": "Emacs, acp.el 0.14.2",
    "neovim": "Neovim, CodeCompanion 19.22.0",
}


def table() -> str:
    """As docs/editors.md has it."""
    clients = list(NAMES)
    lines = ["| | " + " | ".join(NAMES[client] for client in clients) + " |"]
    lines.append("|---" * (len(clients) + 1) + "|")
    for name, words in BEHAVIOURS.items():
        row = [CANNOT[client].get(name, "yes") for client in clients]
        lines.append(f"| {words} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def cells(client: str) -> list[str]:
    return [name for name in BEHAVIOURS if name not in CANNOT[client]]


def _select(id: str, category: str, *values: str) -> Json:
    listed = [{"value": value, "name": value.capitalize()} for value in values]
    option = {"id": id, "name": id.capitalize(), "category": category, "type": "select"}
    return {**option, "currentValue": values[0], "options": listed}


SCRIPT: Json = {
    "agent": {
        "name": "bird",
        "modes": [{"id": "ask", "name": "Ask first"}, {"id": "code", "name": "Code"}],
        "configOptions": [
            _select("model", "model", "small", "big"),
            _select("effort", "thought_level", "low", "high"),
        ],
    },
    "match": [
        {
            "contains": "please change",
            "steps": [
                {"diff": "a.py", "old": "x = 1\n", "new": "x = 2\n", "ask": True},
                {"command": "echo one; echo two; exit 3"},
                {"text": "It is changed."},
            ],
        },
        {"contains": "go slowly", "steps": [{"text": "It has begun."}, {"until": "cancel"}]},
        {"contains": "now fail", "steps": [{"error": "The model is away."}]},
    ],
}
"""The agent behind it all. Steps may also come with a prompt."""

ASKED = ["Allow", "Always allow", "Reject"]
SEEN: Json = {
    "new": [1, ["Ask first", "Code"], {"model": "small", "effort": "low"}],
    "approve": ["end_turn", *ASKED],
    "reject": ["end_turn", *ASKED],
    "cancel": "cancelled",
    "list": True,
    "load": ["allowed", "on", "refused"],
    "resume": ["end_turn", "more"],
    "together": "end_turn",
    "modes": "code",
    "models": "big",
    "efforts": "high",
    "errors": True,
}
"""By behaviour: what the programs of fixtures/clients tell."""
