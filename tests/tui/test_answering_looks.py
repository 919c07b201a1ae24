"""How an ask looks while it is answered: every step at 80×24 and at 200×60."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from rookery.core.json.events import Json
from tests.tui import gallery
from tests.tui.pictures import CONTRAST, DARK, LIGHT, Look, compare, keys
from tests.tui.still import Still
from tests.tui.test_answering import CLAUDE, CODEX, asked

HUGE: Look = (200, 60, "dark")
RULES = [
    "the command exactly: rm -rf build",
    "commands that begin with rm",
]
SCRIPT: Json = {
    "toolCallId": "d1",
    "kind": "execute",
    "title": "Run it",
    "rawInput": {"command": "\n".join(f"pytest -q tests/part_{n}" for n in range(40))},
}
RULED = asked(CODEX, always=RULES[0], alwaysChoices=RULES)
SCENES: dict[str, tuple[list[Json], tuple[str, ...], list[Look]]] = {
    "elsewhere": (asked(CLAUDE), (), [DARK]),
    "focused": (asked(CLAUDE), ("f2",), [DARK, LIGHT, CONTRAST, HUGE]),
    "always": (RULED, ("f2", "a"), [DARK, HUGE]),
    "more": (RULED, ("f2", "?"), [DARK, HUGE]),
    "destructive": (gallery.ASKS[:3], ("f2", "y"), [DARK, HUGE]),
    "tall": (asked(CLAUDE, toolCall=SCRIPT), ("f2",), [DARK, HUGE]),
}


@pytest.mark.parametrize("name", SCENES)
async def test_asks_being_answered(snapshot: SnapshotAssertion, tmp_path: Path, name: str) -> None:
    updates, pressed, looks = SCENES[name]
    app = Still(gallery.opened(updates))
    await compare(app, snapshot, tmp_path, keys(*pressed), looks=looks)
