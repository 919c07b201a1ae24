"""More looks for the pictures: each kind of call, each end of a turn, each kind of part, at length
and in trouble."""

from rookery.core.json.events import Json
from tests.tui.gallery import (
    ASKS,
    CHOICES,
    DIFF,
    MARKDOWN,
    WORK,
    chunk,
    prompt,
    running,
    said,
    text,
    tool,
)


def later(name: str, status: str = "completed", **more: object) -> Json:
    fields = {"toolCallId": name, "status": status}
    return {"sessionUpdate": "tool_call_update", **fields, **more}


def child(parent: str) -> Json:
    return {"claudeCode": {"parentToolUseId": parent}}


def idle(reason: str = "end_turn", **more: object) -> Json:
    return {"sessionUpdate": "_turn", "state": "idle", "reason": reason, **more}


def queued(name: str, words: str) -> Json:
    return {"sessionUpdate": "_queue", "op": "add", "id": name, "prompt": [text(words)]}


COLOURS = "".join(
    f"\x1b[{code}m{word}\x1b[0m "
    for code, word in (
        *((31, "red"), (32, "green"), (33, "yellow"), (34, "blue"), (35, "magenta"), (36, "cyan")),
        *((37, "white"), (90, "grey"), (93, "bright"), (97, "brightest"), (30, "black")),
        *(("1;33", "bold"), ("41;97", " on red "), ("38;5;229", "pale"), (7, " turned ")),
    )
)

KINDS: list[Json] = [
    prompt("Show me one of each."),
    running(),
    tool("r1", "Read src/parser.py", "read", content=said("a\nb\nc\n")),
    tool("e1", "Edit app.py", "edit", content=[DIFF]),
    tool("s1", "Search for feed in src", "search", content=said("src/parser.py:12\n")),
    tool("x1", "pytest -q", "execute", "in_progress", rawInput={"command": "pytest -q"}),
    later("x1", rawOutput={"exitCode": 0}, content=said("4 passed\n")),
    tool("f1", "https://example.org/notes", "fetch", content=said("# Notes\n")),
    tool("d1", "Delete src/old.py", "delete"),
    tool("k1", "Think about the edges", "think", content=said("Empty input is one.\n")),
    tool("m1", "Move src/a.py to src/b.py", "move"),
    tool("o1", "list_issues", "other", rawInput={"repository": "rookery", "state": "open"}),
    tool("x2", "make -j8 all", "execute", "failed", rawOutput={"exitCode": 2}),
    tool("x3", "sleep 100", "execute", "cancelled"),
    tool("p1", "Edit src/next.py", "edit", "pending"),
]

TWO = {**DIFF, "path": "/work/src/new_file.py", "oldText": None, "newText": "one = 1\n\ntwo = 2\n"}
DIFFS: list[Json] = [
    prompt("Change two files."),
    running(),
    tool("e1", "Edit two files", "edit", content=[DIFF, TWO]),
    idle(),
]

LIVE: list[Json] = [
    prompt("Build it."),
    running(),
    tool(
        "x1",
        "make all",
        "execute",
        "in_progress",
        rawInput={"command": "make all"},
        content=[{"type": "terminal", "terminalId": "c1"}],
    ),
    {
        "sessionUpdate": "_terminal",
        "id": "c1",
        "state": "started",
        "command": "make all",
        "text": "".join(f"cc -c part{n}.c\n" for n in range(1, 15)) + COLOURS + "\n",
    },
    {"sessionUpdate": "usage_update", "used": 48_200, "size": 200_000, "cost": {"amount": 1.24}},
    queued("w1", "Then write the release notes, with everything that changed since the last one"),
    queued("w2", "And tag it"),
]

NESTED: list[Json] = [
    prompt("Look at it from two sides."),
    running(),
    tool("t1", "Review the parser", "think"),
    tool("t2", "Read src/parser.py", "read", _meta=child("t1"), content=said("one\n")),
    tool("t3", "Edit app.py", "edit", _meta=child("t1"), content=[DIFF]),
    tool("t4", "Review the tests", "think", "in_progress"),
    tool("t5", "Search for fixtures", "search", _meta=child("t4"), content=said("one\n")),
    tool("t6", "pytest -q", "execute", "in_progress", _meta=child("t4")),
]

PICTURE: Json = {"type": "image", "data": "QUJD" * 900, "mimeType": "image/png"}
MEDIA: list[Json] = [
    prompt(
        "What is in these?",
        PICTURE,
        {"type": "resource_link", "uri": "file:///work/docs/plan.md", "name": "plan.md"},
        {
            "type": "resource",
            "resource": {"uri": "file:///work/notes.txt", "text": "remember the milk"},
        },
    ),
    running(),
    {"sessionUpdate": "agent_message_chunk", "content": PICTURE},
    chunk("message", "A bird, and a plan."),
    idle(),
]

PARAGRAPH = (
    "A rookery is a colony of rooks, high in the trees, where each pair keeps its own nest and all "
    "of them keep an eye on the field. Nothing in it is quiet, and nothing in it is lost. "
)
LONG: list[Json] = [
    prompt("\n".join(f"{n}. a line of a long prompt" for n in range(1, 31))),
    running(),
    chunk("thought", PARAGRAPH * 4),
    chunk("message", f"# At length\n\n{PARAGRAPH * 3}\n\n{MARKDOWN}\n"),
    chunk("message", f"```sh\n{'very-long-command --with=options ' * 8}\n```\n"),
    chunk("message", f"\n### Last\n\n{PARAGRAPH}\n\n---\n\n- [x] done\n- [ ] to do\n"),
    idle(),
]

CLOSED: Json = {"sessionUpdate": "_ask", "id": "q1", "state": "closed", "name": "Allow once"}
ANSWERED: list[Json] = [
    *ASKS[:3],
    {**CLOSED, "outcome": {"outcome": "selected", "optionId": "once"}},
    later("d1"),
    ASKS[3],
    {"sessionUpdate": "_ask", "id": "q2", "state": "closed", "outcome": {"outcome": "cancelled"}},
    idle(),
]

REFUSED: Json = {"sessionUpdate": "_notice", "level": "info", "title": "Nothing was lost"}
TROUBLES: list[Json] = [
    prompt("Go on."),
    running(),
    REFUSED,
    {
        "sessionUpdate": "_notice",
        "level": "warn",
        "title": "The disk is nearly full",
        "text": "2% are left; a log that cannot grow stops the turn.",
    },
    {"sessionUpdate": "_notice", "level": "error", "text": "The hook ended with status 1."},
    {"sessionUpdate": "_agent", "state": "exited", "name": "claude", "status": 1},
    {"sessionUpdate": "_context", "state": "compacted", "reason": ""},
    {"sessionUpdate": "_context", "state": "cleared", "reason": ""},
    {"sessionUpdate": "made_up", "value": [1, 2]},
]

LIMIT: Json = {"sessionUpdate": "_rate_limit", "message": "Too many.", "resetsAt": "15:00"}
WRONG: Json = {"code": -32000, "message": "The key is not valid."}
STATES: dict[str, list[Json]] = {
    "empty": [],
    "starting": [
        *CHOICES[:1],
        {"sessionUpdate": "_agent", "state": "starting", "name": "claude"},
        running(),
    ],
    "failed": [*CHOICES[:2], idle("failed", error=WRONG)],
    "exited": [*CHOICES[:2], idle("agent_exited")],
    "interrupted": [*CHOICES[:2], idle("interrupted")],
    "parked": [
        {
            "sessionUpdate": "_agent",
            "state": "parked",
            "name": "claude",
            "stderr": ["Error: no key"],
            "remedy": "Set ANTHROPIC_API_KEY.",
        }
    ],
    "limited": [*CHOICES[:2], LIMIT, idle("rate_limited")],
    "cancelled": [*CHOICES[:2], idle("cancelled")],
    "quiet": [*CHOICES[:2], {"sessionUpdate": "_turn", "state": "quiet"}],
}

VERDICT: Json = {
    "sessionUpdate": "_critic",
    "score": 0.55,
    "source": "tests",
    "accepted": False,
    "issues": [{"name": "Tests were not run", "probability": 0.8}],
}
JUDGED: list[Json] = [*WORK, idle(), VERDICT]
REFINING: list[Json] = [
    *JUDGED[:-1],
    {**VERDICT, "again": True, "iteration": 0, "of": 3},
    {"sessionUpdate": "_prompt", "prompt": [text("Run the tests, then mend.")], "origin": "critic"},
    running(),
]
