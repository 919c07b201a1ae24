"""A form has one drawer on each medium, and what it says is written once, in words for people."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from rookery.core.settings import definitions
from rookery.forms import catalog
from rookery.forms.sections import FORMS, SECTIONS

SOURCES = Path(__file__).resolve().parents[2] / "src" / "rookery"
FACES = ("tui", "cli", "daemon", "export", "render", "acp")

DRAWERS = {
    "tui/windows/parts/form.py": "the terminal's, for settings, asks and arguments",
    "daemon/pieces/forms.py": "the page's, for the same",
    "cli/session/form_fields.py": "the command line's: --set FIELD=VALUE",
}
LISTINGS = {
    "render/lines/part.py": "an ask's form as a block, to be read",
    "export/html/part.py": "the same in HTML",
}
PASSED_ON = {
    "tui/actions/operating.py": "which arguments an operation still lacks",
    "daemon/operations/form.py": "arguments that a preview stands for",
    "daemon/operations/api.py": "writes the API's document",
    "daemon/api/documentation.py": "the same",
    "acp/player/calls.py": "plays an agent that asks",
}
"""Files that take a schema apart without drawing it."""
CONTROLS = {"Checkbox", "Select"}
FIELD = re.compile(r'^field$|class="field"')
"""How the page marks a field: label, help, control, and what is wrong."""


@cache
def texts_of(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((SOURCES / folder).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def test_only_the_drawers_take_a_schema_apart() -> None:
    readers = {
        name_of(path)
        for path in files(*FACES)
        if "properties" in texts_of(path) or "fields_of(" in path.read_text(encoding="utf-8")
    }
    assert readers == set(DRAWERS | LISTINGS | PASSED_ON)


def test_only_the_drawers_make_fields() -> None:
    makers = {
        name_of(path)
        for path in files("tui")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and CONTROLS & {each.name for each in node.names}
    }
    assert makers == {"tui/windows/parts/fields.py"}
    drawn = {name_of(path) for path in files("daemon") if any(map(FIELD.search, texts_of(path)))}
    own = "daemon/pieces/new_form.py"  # has no schema: it works without scripts, too
    assert drawn == {"daemon/pieces/forms.py", own}, "draw it with daemon/pieces/forms.py"
    scripts = [path.name for path in SOURCES.rglob("*.js") if "[data-field]" in path.read_text()]
    assert sorted(scripts) == ["fields.js", "operations.js", "settings.js"]


def test_what_a_section_is_called_is_written_once() -> None:
    """Short titles are words of their own: only sentences tell a second list."""
    sentences = {
        text for each in SECTIONS.values() for text in (each.about, each.add, each.empty) if text
    }
    places = [name_of(path) for path in files(*FACES, "forms") if sentences & {*texts_of(path)}]
    assert places == ["forms/sections.py"]


@pytest.mark.parametrize("section", FORMS)
def test_a_form_is_in_words_for_people(section: str, tmp_path: Path) -> None:
    """Labels and help name no key and no file of our documentation; what has a few values is
    chosen."""
    keys = {each.key for each in definitions.SINGLE} | {
        each.name for each in definitions.SINGLE if "_" in each.name
    }
    form = catalog.form_of(str(tmp_path), section)
    for name, field in form.fields.items():
        label, text = field["title"], field["description"]
        assert label[0].isupper(), name
        assert not label.isupper(), name
        assert text.endswith((".", "…")), name
        assert text[0].isupper() or text.startswith("mailto:"), name
        assert not keys & set(re.findall(r"[\w.]*\w", f"{label} {text}")), name
        assert "docs/" not in text, name
    for setting in FORMS[section].settings:
        field = form.fields[setting.key]
        assert not isinstance(setting.default, str) or not setting.limit or "oneOf" in field
        assert setting.kind not in ("integer", "number") or {"minimum", "maximum"} <= {*field}
