"""What is known before the first picture of the terminal interface, and what is not loaded for
it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.cli.tui_launch import taste_of
from rookery.core.limits import Interface
from rookery.home import config

PLAIN = """
default_agent = "claude"   # theme = "light"

[worker]
cancel_grace = 3
theme = "light"

[interface]   # mine
theme = 'contrast'
 diff = "split"# side by side
cards_expanded = true
plan_opens=false

[[policy.rules]]
do = "allow"
theme = "dark"
"""


def test_interface_settings_are_known_from_the_first_frame(tmp_path: Path) -> None:
    assert taste_of(str(tmp_path)) == Interface()
    (tmp_path / "config.toml").write_text(PLAIN)
    assert taste_of(str(tmp_path)) == Interface("contrast", "split", True, False)


@pytest.mark.parametrize(
    "text",
    [
        "[interface]\ntheme = 'blue'",
        "[interface]\ntheme = true\ncards_expanded = 'yes'\nno_such = 'dark'",
        "interface = 3",
        "[interface\ntheme = ",
        "[interfaces]\ntheme = 'light'",
        "[other.interface]\ntheme = 'light'",
    ],
)
def test_invalid_settings_are_left_to_the_code_that_reports_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    assert taste_of(str(tmp_path)) == Interface()


def test_a_mistake_elsewhere_does_not_change_the_theme(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("interface.theme = 'light'\n[worker]\nno_such = 1")
    assert taste_of(str(tmp_path)).theme == "light"
    (tmp_path / "config.toml").write_bytes(b"[interface]\ntheme = 'light'\n# \xff")
    assert taste_of(str(tmp_path)) == Interface()


LINES = st.sampled_from(
    ["theme = 'light'", 'diff = "split"  # x', "cards_expanded=true", "plan_opens = false"]
)


@given(st.lists(LINES, unique=True), st.lists(st.sampled_from(["", "# [interface]", " # x = 1"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_quick_reading_agrees_with_the_whole_file(
    tmp_path: Path, said: list[str], between: list[str]
) -> None:
    text = "\n".join(["[interface]", *between, *said, *between, "[worker]", "max_workers = 4"])
    (tmp_path / "config.toml").write_text(text)
    assert taste_of(str(tmp_path)) == config.load(str(tmp_path)).interface


OURS_MOST = 87
"""Modules of ours that the first picture may load (`tui_paint_ratio`)."""

HEAVY = (
    *("click", "tomllib", "openhands", "pydantic", "markdown_it", "pygments.lexers", "sqlite3"),
    *("rookery.home.config", "rookery.core.policy.rules", "rookery.core.vendors.profiles"),
    *("rookery.core.json.secrets", "rookery.core.turn", "rookery.core.asks.asks"),
    *("rookery.render.session_state", "rookery.render.terminal", "rookery.render.lines.block"),
    *("rookery.tui.splash", "rookery.tui.surroundings", "rookery.tui.actions.composer"),
    *("rookery.tui.widgets.side_panel", "rookery.tui.widgets.suggestions"),
    *("rookery.tui.windows", "rookery.tui.windows.parts.modals"),
)


def test_the_first_frame_loads_no_parser_and_no_rules(tmp_path: Path) -> None:
    """What a key, a session or a window needs is loaded after it (tui/actions/parts.py)."""
    (tmp_path / "config.toml").write_text(PLAIN)
    code = f"""
import sys
from rookery.cli.tui_launch import taste_of
from rookery.tui import entry
from rookery.tui.app import Rookery
from rookery.tui.shell import Start

class First(Rookery):
    def _finish_screen(self):
        known = list(sys.modules)
        ours = [name for name in known if name.split(".")[0] == "rookery"]
        print([name for name in {HEAVY} if name in known], len(ours), file=sys.__stdout__)
        self.exit()

    def _begin(self):
        pass

    async def _take_early(self):
        pass

home = {str(tmp_path)!r}
First(Start(home, taste=taste_of(home))).run(headless=True, size=(160, 50))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, _, ours = done.stdout.strip().rpartition(" ")
    assert loaded == "[]", "load them after the first picture"
    assert int(ours) <= OURS_MOST
