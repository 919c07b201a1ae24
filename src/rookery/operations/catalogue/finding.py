"""Finding operations by name: the rows of the files of this package, one per noun, each loaded only
when a name is looked for that no other file has."""

import importlib
import os
from collections.abc import Iterator
from functools import cache

from rookery.operations.catalogue.row import Row

PACKAGE = "rookery.operations"
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def _nouns() -> tuple[str, ...]:
    names = sorted(os.listdir(_FOLDER))
    return tuple(name[:-3] for name in names if name.endswith(".py") and name != "__init__.py")


@cache
def _rows(noun: str) -> dict[str, Row]:
    module = importlib.import_module(f"{PACKAGE}.{noun}")
    return {row.name: row for row in vars(module).values() if isinstance(row, Row)}


def find(name: object) -> Row | None:
    """Return the operation of that name, or None."""
    if not isinstance(name, str):
        return None
    return next((_rows(noun)[name] for noun in _nouns() if name in _rows(noun)), None)


def row_of(name: str) -> Row:
    """Return the operation of a name that a face knows. Raises KeyError."""
    row = find(name)
    if row is None:
        raise KeyError(name)
    return row


def typed() -> Iterator[Row]:
    """Return the operations that users type as commands and slash commands."""
    return (row for row in every() if row.traits.typed)


def every() -> Iterator[Row]:
    """Yield all operations, by noun, in the order of their definition."""
    for noun in _nouns():
        yield from _rows(noun).values()
