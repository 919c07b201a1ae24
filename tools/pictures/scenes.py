"""A day's work for the pictures: sessions of several agents, played by scripts."""

import json
import os
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

from rookery.client.create import create_session
from rookery.core.json import Json
from tests.daemon.served import Served, awaited
from tests.rigs.player import player

BEFORE = """class Client:
    def __init__(self, backend, timeout=5):
        self.backend = backend
        self.timeout = timeout

    def login(self, user, password):
        session = self.backend.open(user, timeout=1)
        return session.token(password)
"""
AFTER = BEFORE.replace(
    "timeout=1)\n",
    "timeout=self.timeout)\n        session.wait_until_ready()\n",
)
PLAN = [
    "Reproduce the failure",
    "Find the race",
    "Fix it at its cause",
    "Run the whole suite ten times",
]
READS = (
    "shop/auth/client.py",
    "shop/auth/backend.py",
    "shop/auth/session.py",
    "tests/test_login.py",
    "tests/conftest.py",
    "shop/settings.py",
    "pyproject.toml",
)
FOR_EVER: Json = {"until": "cancel"}


def _read(path: str) -> Json:
    return {"tool": f"Read {path}", "kind": "read", "status": "completed", "toolCallId": path}


LOGIN: list[Json] = [
    {"thought": "About one in ten: a race. Look at how the client waits for the backend."},
    {"plan": PLAN, "done": 2},
    *(_read(path) for path in READS),
    {"tool": "Search timeout=1", "kind": "search", "status": "completed", "toolCallId": "s1"},
    {
        "text": "The client asks for a token before the backend is ready. `open()` returns as soon "
        "as the socket is there; under load the handshake takes longer than the fixed timeout of "
        "one second."
    },
    {"diff": "shop/auth/client.py", "old": BEFORE, "new": AFTER, "really": True},
    {"usage": 76_000, "size": 200_000, "cost": 0.42},
    {
        "tool": "pytest -q tests/test_auth.py",
        "kind": "execute",
        "status": "completed",
        "toolCallId": "t1",
        "rawInput": {"command": "pytest -q tests/test_auth.py"},
        "content": [
            {
                "type": "content",
                "content": {"type": "text", "text": "..........   [100%]\n31 passed in 4.20s"},
            }
        ],
    },
    {
        "ask": "pytest -x tests/test_login.py --count 50",
        "kind": "execute",
        "rawInput": {"command": "pytest -x tests/test_login.py --count 50"},
        "allowed": [{"text": "Fifty of fifty."}],
    },
]
POLARS: list[Json] = [
    {"thought": "The importer reads row by row; polars wants whole columns."},
    {"plan": [f"Step {n}" for n in range(1, 10)], "done": 5},
    {"text": "`read_orders` now streams in batches. Running the tests."},
    {"usage": 41_000, "size": 200_000, "cost": 0.18},
    {
        "tool": "uv run pytest -q",
        "kind": "execute",
        "status": "in_progress",
        "toolCallId": "t1",
        "rawInput": {"command": "uv run pytest -q"},
    },
    FOR_EVER,
]
DOCS: list[Json] = [
    {"text": "I begin with the addresses that have no description."},
    {"usage": 22_000, "size": 1_000_000, "cost": 0.03},
    {
        "tool": "Read openapi.json",
        "kind": "read",
        "status": "in_progress",
        "toolCallId": "r1",
        "locations": [{"path": "openapi.json"}],
    },
    FOR_EVER,
]
LEAK: list[Json] = [
    {"text": "v2.3 is good, v2.7 is bad: 140 commits between them."},
    {"usage": 18_000, "size": 200_000, "cost": 0.11},
    {"thought": "The cache grows with every request, so the leak is not in the parser."},
    FOR_EVER,
]
RELEASE: list[Json] = [
    {"text": "The notes are ready. Two things are yours to decide."},
    {
        "question": "How shall the release be made?",
        "schema": {
            "type": "object",
            "properties": {
                "version": {"type": "string", "title": "Version", "enum": ["2.8.0", "3.0.0"]},
                "tag": {"type": "boolean", "title": "Tag it", "default": True},
                "words": {"type": "string", "title": "First line of the notes"},
            },
            "required": ["version"],
        },
    },
]
CLEAN: list[Json] = [
    {"text": "The build folder holds 4 GB of old wheels."},
    {
        "ask": "rm -rf build dist ~/.cache/wheels",
        "kind": "execute",
        "rawInput": {"command": "rm -rf build dist ~/.cache/wheels"},
    },
]


def _screenshot() -> Json:
    """Of the page that the agent made, in a browser of its own."""
    made = Image.new("RGB", (1280, 800), "#14171a")
    pen = ImageDraw.Draw(made)
    pen.rectangle((0, 0, 260, 800), fill="#1a1e22")
    for row in range(7):
        top = 96 + 88 * row
        pen.rounded_rectangle((40, top, 180 + 8 * (row % 3), top + 14), 7, fill="#6d737a")
        pen.rounded_rectangle((320, top, 1220, top + 60), 8, outline="#2a2f34", width=2)
        pen.rounded_rectangle((348, top + 22, 640 + 40 * (row % 4), top + 38), 8, fill="#a3a8ad")
        on = row % 3 != 1
        pen.rounded_rectangle(
            (1136, top + 16, 1192, top + 44), 14, fill="#4fc3cb" if on else "#2a2f34"
        )
        pen.ellipse(
            (1166 if on else 1140, top + 18, 1190 if on else 1164, top + 42), fill="#e6e3dc"
        )
    out = BytesIO()
    made.save(out, "PNG")
    image = {"type": "image", "mimeType": "image/png", "data": b64encode(out.getvalue()).decode()}
    call = {"toolCallId": "shot", "title": "Screenshot of /settings", "kind": "other"}
    content = [{"type": "content", "content": image}]
    update = {"sessionUpdate": "tool_call", "status": "completed", **call, "content": content}
    return {"update": update}


def _finished(words: str, cost: float, *more: Json) -> list[Json]:
    return [*more, {"usage": 30_000, "size": 200_000, "cost": cost}, {"text": words}]


DARK = """Done: 6 files changed, tests pass.

| file | what |
|---|---|
| `theme.css` | tokens for both themes |
| `settings.tsx` | the switch, kept per device |

```python
def theme_of(request: Request) -> str:
    return request.cookies.get("theme", "system")
```

The switch follows the system until somebody touches it."""


class Scene(NamedTuple):
    name: str
    agent: str
    folder: str
    title: str
    prompt: str
    steps: list[Json]
    until: str = "end"
    """What is waited for: its end, its ask, or that it runs; "later": it gets no prompt yet."""


LIMIT = "You have hit your usage limit."
FLAKY = "test_login fails about once in ten runs. Find out why and fix it; do not just add a retry."
SCENES = (
    Scene(
        "notes",
        "rookery",
        "etl",
        "Draft the release notes",
        "Draft the release notes.",
        _finished("Draft is in CHANGELOG.md.", 0.07),
    ),
    Scene(
        "rename",
        "codex",
        "shop",
        "Rename Order to Purchase",
        "Rename it everywhere.",
        _finished("Renamed in 41 files.", 0.31),
    ),
    Scene(
        "ci",
        "claude",
        "shop",
        "Why is CI slow?",
        "Why is CI slow?",
        _finished("Most of it is the image build: 6 of 9 minutes.", 0.22),
    ),
    Scene(
        "dark",
        "claude",
        "shop",
        "Dark mode for settings",
        "Add dark mode to the settings.",
        _finished(DARK, 0.64, *(_read(path) for path in READS[:4]), _screenshot()),
    ),
    Scene("leak", "opencode", "portal", "Bisect memory leak", "Find the leak.", LEAK, "running"),
    Scene("docs", "gemini", "site", "Write API docs", "Describe every address.", DOCS, "running"),
    Scene(
        "polars",
        "rookery",
        "etl",
        "Port the importer to polars",
        "Port it to polars.",
        POLARS,
        "running",
    ),
    Scene(
        "django",
        "codex",
        "portal",
        "Upgrade to Django 6",
        "Upgrade to Django 6.",
        [{"text": "Reading the release notes."}, {"rate_limit": "17:40", "message": LIMIT}],
    ),
    Scene("clean", "codex", "portal", "Free disk space", "Free disk space.", CLEAN, "asks"),
    Scene(
        "release", "gemini", "etl", "Prepare the release", "Prepare the release.", RELEASE, "asks"
    ),
    Scene("login", "claude", "shop", "Fix flaky login test", FLAKY, LOGIN, "asks"),
)


CHAPTERS: list[Json] = [
    {"text": f"`{address}` has a description now, and an example.\n\n", "chunks": 7, "every": 0.2}
    for address in (
        "GET /orders",
        "POST /orders",
        "GET /orders/ID",
        "PATCH /orders/ID",
        "DELETE /orders/ID",
        "GET /customers",
        "POST /customers",
        "GET /customers/ID",
    )
]
ADD = "uv add polars && uv run pytest -q"
ABOUT_TO_ASK = (
    *(scene for scene in SCENES if scene.name in {"ci", "dark"}),
    Scene(
        "docs",
        "gemini",
        "site",
        "Write API docs",
        "Describe every address.",
        [*CHAPTERS, FOR_EVER],
        "later",
    ),
    Scene(
        "polars",
        "codex",
        "etl",
        "Port the importer to polars",
        "Port the importer to polars.",
        [
            {"text": "The importer reads row by row; polars wants whole columns."},
            {"wait": 1.2},
            {
                "ask": ADD,
                "kind": "execute",
                "rawInput": {"command": ADD},
                "allowed": [{"text": "Added. 118 tests pass, and the import takes 4 s, not 31."}],
            },
        ],
        "later",
    ),
    Scene("login", "claude", "shop", "Fix flaky login test", FLAKY, LOGIN, "later"),
)
"""For the moving picture: one session is read, and two ask when they are prompted."""


class Day:
    def __init__(self, served: Served, place: Path, scenes: Sequence[Scene] = SCENES) -> None:
        self.ids: dict[str, str] = {}
        self._served, self._place = served, place
        self._scenes = {scene.name: scene for scene in scenes}

    def begin(self) -> None:
        """All sessions, each as far as it goes."""
        self._work_trees()
        self._setup()
        for scene in self._scenes.values():
            self._create(scene)
            if scene.until != "later":
                self.prompt(scene.name)
                awaited(lambda scene=scene: self._is(self.ids[scene.name], scene.until))

    def prompt(self, name: str) -> None:
        text = self._scenes[name].prompt
        self._ask("POST", f"/api/sessions/{self.ids[name]}/prompt", {"text": text})

    def _create(self, scene: Scene) -> None:
        home = Path(self._served.home)
        script = home / f"{scene.name}.json"
        who = {"name": scene.agent, "title": scene.agent}
        script.write_text(json.dumps({"agent": who, "turns": [scene.steps]}))
        argv = player(str(script), "--state", str(home / f"state-{scene.name}"))
        where = str(self._place / scene.folder)
        made = create_session(str(home), agent=scene.agent, argv=argv, cwd=where, title=scene.title)
        self.ids[scene.name] = made

    def _is(self, session: str, state: str) -> bool:
        head = self._ask("GET", f"/api/sessions/{session}")
        if state == "asks":
            return bool(head["asks"])
        if state == "running":
            return bool(head["state"] == "running" and head["events"] > 4)
        return bool(head["state"] == "idle" and head["reason"])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._served.ask(method, path, body)
        assert answer.status < 300, (path, answer.body)
        return answer.json()

    def _work_trees(self) -> None:
        for folder in ("shop", "portal", "etl", "site"):
            root = self._place / folder
            (root / "shop" / "auth").mkdir(parents=True)
            (root / "shop" / "auth" / "client.py").write_text(BEFORE)
            (root / "README.md").write_text(f"# {folder}\n")
            for words in (
                ["init", "--quiet", "--initial-branch=main"],
                ["add", "--all"],
                ["-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "-qm", "Begin"],
            ):
                subprocess.run(["git", *words], cwd=root, check=True, env=os.environ)

    def _setup(self) -> None:
        """Something in every list of the settings."""
        given: list[tuple[str, Json]] = [
            (
                "models",
                {"provider": "anthropic", "model": "claude-sonnet-5-5", "key": "x", "name": "work"},
            ),
            (
                "models",
                {
                    "provider": "openai-compatible",
                    "model": "qwen3-coder",
                    "base_url": "http://gpu.example:8000/v1",
                    "key": "x",
                    "name": "local",
                },
            ),
            (
                "servers",
                {"name": "notes", "kind": "stdio", "command": "npx -y notes-server ~/notes"},
            ),
            ("servers", {"name": "tracker", "kind": "http", "url": "https://tracker.example/mcp"}),
            ("rules", {"do": "allow", "command": "git status *", "name": "look"}),
            ("rules", {"do": "deny", "path": "**/.env", "reason": "Secrets", "name": "secrets"}),
        ]
        for form, values in given:
            body = {"values": values, "confirm": True, "untested": True}
            assert self._ask("PATCH", f"/api/setup/forms/{form}", body)["done"]
