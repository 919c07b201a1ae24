"""A session with one of every look."""

from rookery.core.json.events import Json
from tests.export.sessions import chunk, png, prompt, said, session, tool, turn

OLD = """\
    def login(self, user, password):
        session = self.backend.open(user, timeout=1)
        return session.token(password)

    def logout(self):
        self.backend.close()
"""
NEW = """\
    def login(self, user, password):
        session = self.backend.open(user, timeout=self.timeout)
        session.wait_until_ready()
        return session.token(password)

    def logout(self):
        self.backend.close()
"""
MARKDOWN = """\
The client asks for a token before the backend is ready. `open()` returns as soon as the socket is \
there; under load the handshake takes longer than the fixed timeout of one second.

## What I found

The *parser* keeps **state** between `feed` calls, see [the notes](https://example.org/notes) and
[client.py](shop/auth/client.py).

1. It opens a socket.
2. It asks for a token:
   - with a user
   - with ~~no~~ a password

- [x] reproduced
- [ ] fixed

| case | runs | failed |
|---|---:|:---:|
| idle | 100 | 0 |
| under load, with a long explanation of what that means here | 100 | 11 |

```python
@retry(times=3)
def login(self, user: str) -> str:
    # the handshake may take a while
    return self.backend.open(user, timeout=2.5)["token"]
```

> Nothing is lost.
"""
PYTEST = (
    "\x1b[1m======================= test session starts ========================\x1b[0m\n"
    "collected 32 items\n\n"
    "tests/test_auth.py \x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m"
    "                                             \x1b[32m[100%]\x1b[0m\n\n"
    "\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m31 passed\x1b[0m\x1b[31m in 5.84s\x1b[0m\n"
)
DIFF = {"type": "diff", "path": "/work/shop/shop/auth/client.py", "oldText": OLD, "newText": NEW}
ENTRIES = [
    {"content": "Reproduce the failure", "priority": "high", "status": "completed"},
    {"content": "Find the race", "priority": "high", "status": "completed"},
    {"content": "Fix it at its cause", "priority": "high", "status": "in_progress"},
    {"content": "Run the whole suite ten times", "priority": "low", "status": "pending"},
]
ASK = {
    "sessionUpdate": "_ask",
    "id": "q1",
    "state": "asked",
    "nonce": "n",
    "kind": "permission",
    "toolCall": {
        "toolCallId": "d1",
        "title": "pytest -x tests/test_login.py --count 50",
        "kind": "execute",
        "rawInput": {"command": "pytest -x tests/test_login.py --count 50"},
    },
    "options": [
        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ],
}
IMAGE = png(240, 120)


FIRST: list[Json] = [
    session(title="Fix flaky login test", model="opus-5"),
    prompt("test_login fails about once in ten runs.\nFind out why and fix it; do not just retry."),
    turn("running"),
    chunk(
        "The failure depends on load. I look at the client first.\n\nThen the backend.",
        "thought",
    ),
    {"sessionUpdate": "plan", "entries": ENTRIES},
    tool("r1", "Read shop/auth/client.py", "read", content=said(OLD)),
    tool("r2", "Read shop/auth/backend.py", "read", content=said("import socket\n")),
    tool("r3", "Read tests/test_login.py", "read", content=said("def test_login(): ...\n")),
    tool("s1", "wait_until_ready", "search", content=said("shop/auth/backend.py:12\n")),
    tool("s2", "timeout=1", "search", content=said("shop/auth/client.py:42\n")),
    chunk(MARKDOWN),
    tool("e1", "Edit client.py", "edit", content=[DIFF]),
    tool(
        "x1",
        "pytest -q",
        "execute",
        "failed",
        rawInput={"command": "pytest -q tests/test_auth.py"},
        rawOutput={"exit_code": 1},
        content=said(PYTEST),
    ),
    tool("x2", "make", "execute", rawInput={"command": "make lint"}, rawOutput={"exit_code": 0}),
    tool(
        "m1",
        "mcp__github__create_issue",
        "other",
        rawInput={"title": "Flaky", "labels": ["ci"]},
    ),
    tool("t1", "Look for other races", "think", "in_progress"),
    tool(
        "t2",
        "Read shop/cart.py",
        "read",
        _meta={"claudeCode": {"parentToolUseId": "t1"}},
        content=said("class Cart: ...\n"),
    ),
    {
        "sessionUpdate": "_notice",
        "level": "warn",
        "title": "The disk is nearly full",
        "text": "2% are left; a log that cannot grow stops the turn. Try `rookery prune`.",
    },
    {"sessionUpdate": "made_up", "value": [1, 2, {"deep": "value"}]},
    {"sessionUpdate": "usage_update", "used": 76_000, "size": 200_000}
    | {"cost": {"amount": 0.42, "currency": "USD"}},
    turn("idle", reason="end_turn"),
]


def updates(blob: str = "") -> list[Json]:
    """`blob`: the name of IMAGE in the log."""
    picture = {"type": "image", "blob": blob, "bytes": len(IMAGE), "mimeType": "image/png"}
    return [
        *FIRST,
        prompt("Here is how it looks in CI.", *([picture] if blob else [])),
        turn("running"),
        {"sessionUpdate": "_context", "state": "compacted", "reason": ""},
        chunk(
            "Fixed at its cause. I would like to run the test fifty times before I call it done."
        ),
        turn("idle", reason="failed", error={"code": -32000, "message": "upstream: 500"}),
        prompt("Go on."),
        turn("running"),
        ASK,
    ]
