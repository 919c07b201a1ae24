"""Each medium has one drawer of blocks: `render/lines` makes the lines of terminals, `export/html`
the HTML of the page and of the exported file. A second one would need what takes texts apart."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "rookery"
PARSERS = {"call", "code", "diff", "markdown", "notation", "terminal"}
"""Modules of `render`: Markdown as nodes, changes as rows, code as tokens, output as cells."""

DRAWERS = {
    "cli": set[str](),
    "tui": {
        "tui/actions/shell_line.py",  # what a command of the user's prints
        "tui/look/colours.py",  # the colours of programs
        "tui/look/names.py",
        "tui/widgets/side_panel.py",  # counts the lines of a file's changes
    },
    "daemon": {
        "daemon/pieces/growing.py",  # a text that is still written, piece by piece
        "daemon/pieces/review/changed_file.py",  # files of the work tree, not of a block
        "daemon/pieces/review/changes.py",
        "daemon/pieces/review/file.py",
    },
    "export": {"export/markdown.py"},
}
"""By room: who may use them beside `export/html`."""


def parsers_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rookery.render"):
            place = (node.module or "").split(".")[2:] or [each.name for each in node.names]
            imported |= PARSERS & ({place[0]} if len(place) == 1 else set(place))
    return imported


@pytest.mark.parametrize("room", DRAWERS)
def test_only_the_drawers_take_texts_apart(room: str) -> None:
    users = {
        str(path.relative_to(ROOT)) for path in (ROOT / room).rglob("*.py") if parsers_of(path)
    }
    users = {each for each in users if not each.startswith("export/html/")}
    assert users == DRAWERS[room], "draw blocks with render/lines, or with export/html"


def test_the_command_line_and_the_terminal_interface_have_one_drawer() -> None:
    for face in ("cli/output/transcript.py", "tui/transcript/painting.py"):
        assert "from rookery.render.lines import block" in (ROOT / face).read_text(encoding="utf-8")
