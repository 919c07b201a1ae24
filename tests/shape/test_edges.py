"""Foreign JSON is picked apart at its edges alone: in the files that read it into a type. The list
has what has a type so far (docs/decisions/0112-foreign-json-at-named-edges.md)."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.shape.test_rooms import files_of_rooms

SOURCES = Path(__file__).resolve().parents[2] / "src" / "rookery"

EDGES = {
    "ask": {"core/ask.py"},
    "header": {"core/header.py", "log/rows.py"},
}
"""By the name of a variable that holds one: the files that may look into its JSON."""

STORED = {
    "header": {
        "log/rows.py",  # packed into a row
        "log/marks.py",  # its checksum
        "client/rewind/fork.py",  # a fork is created with the same fields
        "core/view/fleet.py",  # a head has fields as they are
        "operations/reading.py",  # sent as it is stored
        "core/blocks/document.py",  # sent to clients, without the state of the fold
        "core/fold.py",  # a switch sets fields back to those of the empty header
    },
}
"""The files that read `raw`: they write it back, or send it as it is stored."""

UNTYPED = {
    "core": 530,
    "log": 44,
    "worker": 121,
    "wire": 116,
    "home": 58,
    "operations": 282,
    "agent": 143,
    "cli": 153,
    "tui": 177,
    "acp": 193,
    "daemon": 93,
    "export": 50,
}
"""Parameters in each room that mypy cannot look into: `Json`, a `dict` or `Mapping` of `str` to
`Any` or `object`, a bare `object`, or an alias of these. Only ever lowered."""


@pytest.mark.parametrize("name", EDGES)
def test_only_edges_pick_it_apart(name: str) -> None:
    read = rf"lenient\.\w+\((?:\w+\.)?{name}\b[,)]|\b{name}(?:\.raw)?(?:\.get\(|\[\")"
    stored = rf"\[\"{name}s\"\](?:\.get\(|\.values\(|\.items\(|\[)"
    files = {str(path.relative_to(SOURCES)): path for path in SOURCES.rglob("*.py")}
    picked = [
        f"{path}:{number}: {line.strip()}"
        for path, file in files.items()
        if path not in EDGES[name]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"{read}|{stored}", line)
    ]
    assert not picked, f"read it with the type instead: {'; '.join(picked)}"
    assert EDGES[name] <= files.keys()


@pytest.mark.parametrize("name", STORED)
def test_only_these_read_the_stored_object(name: str) -> None:
    reads = rf"\b(?:{name}|EMPTY)(?:\(\))?\.raw\b"
    readers = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if re.search(reads, path.read_text(encoding="utf-8"))
    }
    assert readers == STORED[name]


Function = ast.FunctionDef | ast.AsyncFunctionDef
Tables = {"dict", "Mapping", "MutableMapping"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def aliases() -> dict[str, ast.expr]:
    """Return what each alias of a type stands for, by its name."""
    bodies = (tree_of(path).body for path in SOURCES.rglob("*.py"))
    nodes = [node for body in bodies for node in body if isinstance(node, ast.TypeAlias)]
    return {node.name.id: node.value for node in nodes}


def is_untyped(annotation: ast.expr, known: dict[str, ast.expr]) -> bool:
    match annotation:
        case ast.Name("object"):
            return True
        case ast.Name(name):
            return name in known and is_untyped(known[name], known)
        case ast.BinOp(left, ast.BitOr(), right):
            return is_untyped(left, known) or is_untyped(right, known)
        case ast.Subscript(ast.Name(table), ast.Tuple([ast.Name("str"), ast.Name(kind)])):
            return table in Tables and kind in ("Any", "object")
        case ast.Constant(str() as text):
            return is_untyped(ast.parse(text, mode="eval").body, known)
    return False


def parameters(path: Path) -> Iterator[ast.expr]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            given = node.args
            for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if each.annotation is not None:
                    yield each.annotation


def untyped(room: str, known: dict[str, ast.expr]) -> int:
    files = files_of_rooms()[room]
    return sum(is_untyped(each, known) for path in files for each in parameters(path))


def test_a_room_has_no_more_untyped_parameters() -> None:
    known = aliases()
    now = {room: untyped(room, known) for room in files_of_rooms() if room}
    more = {room: count for room, count in now.items() if count > UNTYPED[room]}
    assert not more, f"read what they take into a type (docs/decisions/0112): {more}"
