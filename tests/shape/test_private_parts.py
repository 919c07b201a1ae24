"""Private parts of foreign libraries are used in one room for each library. Each use there has its
reason, and a test that fails when a public way exists. (A method that overrides a private one says
`@override`, and mypy checks that there is one.)"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "rookery").rglob("*.py"))

ROOMS = {
    "src/rookery/agent/private.py": "tests/agent/test_sdk_patches.py",
    "src/rookery/agent/sdk_patches/": "tests/agent/test_sdk_patches.py",
    "src/rookery/tui/private.py": "tests/tui/test_private_parts.py",
    "src/rookery/tui/system/driver.py": "tests/tui/test_private_parts.py",
    "src/rookery/daemon/process/quick_start.py": "tests/daemon/test_quick_start.py",
    "src/rookery/client/config/rule_text.py": "tests/client/test_config_text.py",
}
"""The files and folders that may use them, and the test of their need."""

DOCUMENTED = {"_replace", "_asdict", "_fields", "_field_defaults", "_make", "_exit", "_xoptions"}
"""Names with an underscore that the standard library documents."""
SELF = {"self", "cls", "super()"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def own_names(path: Path) -> frozenset[str]:
    """Return the names that a module defines: functions, classes, variables and fields."""
    names = set()
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=ast.Name("self" | "cls"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Constant(value=str(name)):  # of `__slots__`
                names.add(name)
    return frozenset(names)


@cache
def all_names() -> frozenset[str]:
    return frozenset(name for path in SOURCES for name in own_names(path))


def foreign_uses(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                parts = [*module.split("."), *(each.name for each in names)]
                if parts[0] != "rookery" and any(map(is_private, parts)):
                    yield f"{node.lineno}: {module}"
            case ast.Import(names=names):
                if any(is_private(part) for each in names for part in each.name.split(".")):
                    yield f"{node.lineno}: {names[0].name}"
            case ast.Attribute(value=value, attr=name) if is_private(name):
                known = all_names() if ast.unparse(value) in SELF else own_names(path)
                if name not in known:
                    yield f"{node.lineno}: {ast.unparse(node)}"


def test_foreign_private_parts_are_used_in_their_rooms_only() -> None:
    uses = [
        f"{path.relative_to(ROOT)}:{use}"
        for path in SOURCES
        if not path.relative_to(ROOT).as_posix().startswith(tuple(ROOMS))
        for use in foreign_uses(path)
    ]
    assert uses == [], "use a public way, or move it into the room of its library (ROOMS)"


def test_the_rooms_exist_and_are_tested() -> None:
    assert [name for pair in ROOMS.items() for name in pair if not (ROOT / name).exists()] == []
    rooms = [path for path in SOURCES if path.relative_to(ROOT).as_posix().startswith(tuple(ROOMS))]
    assert sum(1 for path in rooms for _ in foreign_uses(path)) > 30, "the gate sees nothing"
