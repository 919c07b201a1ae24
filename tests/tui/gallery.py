"""A session with one of every look, made of real updates: what the snapshots are taken of."""

import os
from typing import Any

from rookery.core.blocks.document import Document
from rookery.core.json.events import Draft, Event, Json
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.log.store import Writer
from rookery.tui.messages import Opened
from rookery.tui.transcript.pages import shown_header
from rookery.tui.transcript.window import Page

NOW = 1_800_000_100_000
"""The time of every test's clock: 42 seconds after the last event."""

MARKDOWN = """\
## What I found

The *parser* keeps **state** between `feed` calls, see [the notes](https://example.org/notes).

1. It reads a line.
2. It looks for a fence:
   - backticks
   - tildes

| case | result |
|---|---|
| empty | nothing, and no error |
| 幅の広い字 | two columns each |

```python
def feed(self, text: str) -> str:
    return self._rest + text  # one line
```

> Nothing is lost.
"""


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def prompt(words: str, *more: Json) -> Json:
    return {"sessionUpdate": "_prompt", "prompt": [text(words), *more]}


def chunk(kind: str, words: str) -> Json:
    return {"sessionUpdate": f"agent_{kind}_chunk", "content": text(words)}


def tool(name: str, title: str, kind: str, status: str = "completed", **more: Any) -> Json:
    fields = {"toolCallId": name, "title": title, "kind": kind, "status": status}
    return {"sessionUpdate": "tool_call", **fields, **more}


def said(words: str) -> list[Json]:
    return [{"type": "content", "content": text(words)}]


def running() -> Json:
    return {"sessionUpdate": "_turn", "state": "running"}


SESSION = {"sessionUpdate": "_session", "id": "a1b2c3", "cwd": "/work", "agent": "claude"}

DIFF = {
    "type": "diff",
    "path": "/work/src/app.py",
    "oldText": "import os\n\n\ndef main():\n    print('hello')\n    return 0\n",
    "newText": "import os\n\n\ndef main(name):\n    print(f'hi {name}')\n    return 0\n\nmain(1)\n",
}

TALK: list[Json] = [
    prompt("Explain how the parser works, and mend it."),
    running(),
    chunk("thought", "The person wants to know how it works. I look at the files first."),
    tool("r1", "Read src/parser.py", "read", content=said("a\nb\nc\n")),
    tool("r2", "Read src/lines.py", "read", content=said("a\nb\n")),
    tool("s1", "Search for feed", "search", content=said("src/parser.py:12\n")),
    chunk("message", MARKDOWN),
]

WORK: list[Json] = [
    prompt("Now change it.", {"type": "image", "data": "QUJD", "mimeType": "image/png"}),
    running(),
    {
        "sessionUpdate": "plan",
        "entries": [
            {"content": "Look around", "priority": "high", "status": "completed"},
            {"content": "Change the parser", "priority": "high", "status": "in_progress"},
            {"content": "Run the tests", "priority": "low", "status": "pending"},
        ],
    },
    tool("e1", "Edit app.py", "edit", content=[DIFF]),
    tool(
        "x1",
        "pytest -q",
        "execute",
        "failed",
        rawInput={"command": "pytest -q"},
        content=said("```\nE   assert 1 == 2\n1 failed\n```"),
    ),
    tool("t1", "Look into it", "think", "in_progress"),
    tool(
        "t2",
        "Read tests/test_app.py",
        "read",
        _meta={"claudeCode": {"parentToolUseId": "t1"}},
        content=said("one\n"),
    ),
    {
        "sessionUpdate": "_terminal",
        "id": "c1",
        "state": "started",
        "command": "make",
        "text": "\x1b[32mok\x1b[0m compiled\n10%\r80%\rdone\n",
    },
    {"sessionUpdate": "_context", "state": "compacted", "reason": ""},
    {
        "sessionUpdate": "_notice",
        "level": "warn",
        "title": "The disk is nearly full",
        "text": "2% are left; a log that cannot grow stops the turn.",
    },
    {"sessionUpdate": "made_up", "value": [1, 2]},
]

ASKS: list[Json] = [
    prompt("Clean up."),
    running(),
    {
        "sessionUpdate": "_ask",
        "id": "q1",
        "state": "asked",
        "nonce": "n",
        "kind": "permission",
        "danger": "deletes a whole directory",
        "toolCall": {
            "toolCallId": "d1",
            "title": "rm -rf build",
            "kind": "execute",
            "rawInput": {"command": "rm -rf build"},
            "content": said("`rm -rf build`"),
        },
        "options": [
            {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    },
    {
        "sessionUpdate": "_ask",
        "id": "q2",
        "state": "asked",
        "nonce": "m",
        "kind": "question",
        "message": "Which release?",
        "schema": {
            "properties": {
                "name": {"type": "string", "title": "Name", "description": "as in 1.2.0"},
                "publish": {"type": "boolean", "title": "Publish it"},
            },
            "required": ["name"],
        },
    },
]


CHOICES: list[Json] = [
    prompt("Which model are you?"),
    running(),
    {
        "sessionUpdate": "config_option_update",
        "configOptions": [
            {
                "id": "model",
                "name": "Model",
                "category": "model",
                "currentValue": "big",
                "options": [
                    {"value": "big", "name": "Big", "description": "for hard things"},
                    {"value": "small", "name": "Small", "description": "quick and cheap"},
                ],
            },
            {
                "id": "mode",
                "name": "Mode",
                "category": "mode",
                "currentValue": "default",
                "options": [
                    {"value": "default", "name": "Default", "description": "asks first"},
                    {"value": "plan", "name": "Plan", "description": "changes nothing"},
                ],
            },
            {"id": "web", "name": "Web search", "type": "boolean", "currentValue": True},
        ],
    },
    chunk("message", "I am the big one."),
    {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"},
]

FORM: Json = {
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "pattern": "^[a-z]+$"},
        "mail": {"type": "string", "title": "Mail", "format": "email"},
        "parts": {"type": "integer", "title": "Parts", "minimum": 1, "maximum": 9},
        "share": {"type": "number", "title": "Share", "maximum": 1},
        "publish": {"type": "boolean", "title": "Publish it"},
        "channel": {
            "type": "string",
            "title": "Channel",
            "oneOf": [
                {"const": "s", "title": "Stable"},
                {"const": "n", "title": "Nightly [fast]"},
            ],
        },
        "tests": {
            "type": "array",
            "title": "Tests",
            "items": {"enum": ["unit", "end to end"]},
            "minItems": 1,
        },
    },
    "required": ["name", "tests"],
}

QUESTION: list[Json] = [*ASKS[:2], {**ASKS[3], "schema": FORM}]

LOST: list[Json] = [
    *TALK,
    {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"},
    {
        "sessionUpdate": "_agent",
        "state": "switched",
        "name": "codex",
        "from": "claude",
        "to": "codex",
    },
]


def document_of(updates: list[Json]) -> Document:
    begin = NOW - 42_000 - len(updates) * 1000
    events = [
        Event(seq, begin + seq * 1000, None, None, update)
        for seq, update in enumerate([SESSION, *updates], 1)
    ]
    return fold(None, events)


def kept(home: str, updates: list[Json]) -> None:
    """The session that `opened` shows, in a home: works and reads find it there."""
    directory = paths.session_dir(home, "a1b2c3")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with Writer.open(directory, create=True) as log:
        log.append([*map(Draft, [SESSION, *updates])])


def opened(updates: list[Json]) -> Opened:
    """The message that shows these updates as a session."""
    document = document_of(updates)
    turns: dict[int, dict[str, Any]] = {}
    for name, block in document.blocks.items():
        turns.setdefault(int(name.partition(".")[0]), {})[name] = block
    pages = [Page(turn, blocks) for turn, blocks in sorted(turns.items())]
    return Opened("a1b2c3", shown_header(document), pages)
