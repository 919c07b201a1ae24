"""One sign per state, tables, code, local times, a dead agent."""

import time
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from rookery.cli.output.paint import Paint
from rookery.render.lines import markdown
from rookery.render.local_time import clock_time, localized
from rookery.render.signs import SIGNS
from rookery.tui.look.palette import DARK, look_of
from rookery.tui.windows.whole import LogScreen, Whole
from tests.tui import gallery, scenes
from tests.tui.gallery import chunk, prompt, running
from tests.tui.pictures import DARK as SMALL
from tests.tui.pictures import LIGHT, compare, keys
from tests.tui.still import Still
from tests.tui.test_status_line import words

LARGE = (200, 60, "dark")
LOOK = look_of(DARK.name)
MARKDOWN = """\
| file | lines | share |
|:-----|------:|:-----:|
| a.py | 7 | x |
| longer.py | 12345 | yyyyy |

```python
def f() -> int:
    return 1
```

```
plain
```
"""
STATES = ("needs-you", "warn", "failed", "running", "done", "idle", "asleep", "waiting", "stopped")


def test_each_state_has_one_sign() -> None:
    paint = Paint(colour=False, signs=True)
    for state in STATES:
        assert LOOK.states[state][0] == paint.sign(state) == SIGNS[state][0]
    assert len({SIGNS[state][0] for state in STATES}) == len(STATES), "and none has two meanings"


def test_tables_keep_their_alignment() -> None:
    lines = ["".join(text for text, _ in line) for line in markdown.rendered(MARKDOWN, 76)]
    assert lines[2:4] == ["a.py      │     7 │   x", "longer.py │ 12345 │ yyyyy"]


def test_code_has_a_background_and_names_its_language() -> None:
    lines = markdown.rendered(MARKDOWN, 76)
    (first,) = [line for line in lines if "def " in "".join(text for text, _ in line)]
    assert all(LOOK.named[names].bgcolor is not None for text, names in first if text)
    assert "".join(text for text, _ in first).rstrip().endswith("python")


async def test_tables_and_code(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    updates = [prompt("Show me."), running(), chunk("message", MARKDOWN)]
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, looks=[SMALL, LIGHT, LARGE])


def test_a_rate_limits_end_is_in_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-5")  # five hours ahead of UTC
    time.tzset()
    try:
        limit = {**scenes.LIMIT, "resetsAt": "2027-01-15T08:30:00Z"}
        updates = [*scenes.CHOICES[:2], limit, scenes.idle("rate_limited")]
        assert "▲ limited until 13:30" in words(updates, 120)
        block = next(b for b in app_blocks(updates) if b["status"] == "rate_limited")
        assert block["resets"] == 1_800_001_800_000
        assert clock_time(1_800_001_800_000, gallery.NOW) == "13:30"
        assert clock_time(1_800_001_800_000 + 86_400_000, gallery.NOW) == "Sat 16 Jan, 13:30"
        later = 1_893_438_000_000
        assert clock_time(later, gallery.NOW) == "1 Jan 2030, 00:00"
        assert localized({**block, "resets": later}, gallery.NOW).splitlines()[1] == (
            "The limit resets on 1 Jan 2030, 00:00."
        )
    finally:
        monkeypatch.undo()
        time.tzset()


def app_blocks(updates: list[dict]) -> list[dict]:
    return list(gallery.document_of(updates).blocks.values())


GONE = [
    *gallery.TALK[:3],
    {
        "sessionUpdate": "_agent",
        "state": "exited",
        "name": "claude",
        "status": 3,
        "stderr": ["panic: no key"],
    },
    scenes.idle("agent_exited"),
]


async def test_a_dead_agent_is_shown_once_with_what_helps(
    snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    blocks = app_blocks(GONE)
    (block,) = [each for each in blocks if each["role"] in ("notice", "error")]
    assert "panic: no key" in f"{block['title']} {block['text']}"
    labels = [action["label"] for action in block["actions"]]
    again = ["Send again", "Restart the agent"]
    assert labels == [*again, "Show the log", "Continue with another agent"]
    await compare(Still(gallery.opened(GONE)), snapshot, tmp_path, looks=[SMALL, LARGE])


async def test_a_dead_agents_log_opens_in_a_window(tmp_path: Path) -> None:
    place = tmp_path / "sessions" / "a1b2c3"
    place.mkdir(parents=True)
    (place / "agent.log").write_text("one\npanic: no key\n")
    app = Still(gallery.opened(GONE), home=str(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await keys("shift+tab", "3")(pilot)
        await pilot.pause()
        assert isinstance(app.screen, LogScreen)
        await pilot.pause()
        shown = app.screen.query_one(Whole)
        assert [shown.render_line(y).text.strip() for y in (0, 1)] == ["one", "panic: no key"]
