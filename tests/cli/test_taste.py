"""show_tool_durations: whether a card says how long its call took."""

from pathlib import Path

import pytest

from rookery.cli.settings import shows_durations
from rookery.core.blocks.document import make_block
from rookery.render.lines.card import headline
from rookery.render.lines.view import View


@pytest.mark.parametrize(
    ("text", "shown"), [("", True), ("show_tool_durations = false", False), ("broken", True)]
)
def test_the_setting_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, shown: bool
) -> None:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(text)
    assert shows_durations() is shown


@pytest.mark.parametrize("durations", [True, False])
def test_a_card_says_how_long_its_call_took_or_not(durations: bool) -> None:
    block = make_block("1.1", "tool", status="done", title="Read", kind="read", seconds=4.2)
    [line] = headline(block, [], View(80, timed=durations))
    assert ("4.2 s" in "".join(text for text, _ in line)) is durations
