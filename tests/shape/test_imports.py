"""Imports inside functions: how many there are, and which packages import their modules late.
docs/contributing/imports.md says when each is right."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "rookery"
PAGE = ROOT / "docs" / "contributing" / "imports.md"

INSIDE_FUNCTIONS = 207
"""Outside operations/, whose rows import what carries them out. Only ever lowered."""

Import = ast.Import | ast.ImportFrom
Function = ast.FunctionDef | ast.AsyncFunctionDef


def inside_functions(path: Path) -> set[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return {
        node for function in functions for node in ast.walk(function) if isinstance(node, Import)
    }


def test_few_imports_are_inside_functions() -> None:
    paths = [path for path in SOURCES.rglob("*.py") if SOURCES / "operations" not in path.parents]
    count = sum(len(inside_functions(path)) for path in paths)
    assert count <= INSIDE_FUNCTIONS, (
        f"{count} imports are inside functions, at most {INSIDE_FUNCTIONS}: import at the top of "
        f"the module, or through a late package ({PAGE.relative_to(ROOT)})"
    )


def test_the_page_lists_the_late_packages() -> None:
    listed = re.findall(r"^\| `([a-z_/]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    late = [
        path.parent.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("__init__.py")
        if "__getattr__ = late_modules(__name__)" in path.read_text(encoding="utf-8")
    ]
    assert listed == sorted(late)
