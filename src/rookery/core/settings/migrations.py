"""Renamed keys and values of config.toml, in one table. An old name works forever and is reported
with its line. To rename a key, add a row here and raise VERSION.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

VERSION = 1
"""Of the files that this build writes. A file without a version has version 1."""


class Renamed(NamedTuple):
    old: str
    """Dotted, as in files of earlier versions."""
    new: str
    values: Mapping[Any, Any] | None = None
    """If the values changed too: the old and the new."""


RENAMED: tuple[Renamed, ...] = ()


def migrated(
    tables: dict[str, Any], renamed: Sequence[Renamed] = RENAMED
) -> tuple[dict[str, Any], list[tuple[list[str], str]]]:
    """The tables with today's names, and a sentence for each old key. A value that the old key
    could not have stays where it is, and is reported as unknown."""
    found = deepcopy(tables) if renamed else tables
    said: list[tuple[list[str], str]] = []
    for row in renamed:
        old, new = row.old.split("."), row.new.split(".")
        holder = _table(found, old)
        if holder is None or old[-1] not in holder:
            continue
        value = holder[old[-1]]
        if row.values is not None:
            if not isinstance(value, str | bool | int) or value not in row.values:
                continue
            value = row.values[value]
        del holder[old[-1]]
        place = _table(found, new, make=True)
        if place is None or new[-1] in place:
            said.append((old, f"is the old name of {row.new}, which is also set and wins"))
        else:
            place[new[-1]] = value
            said.append((old, f"is now called {row.new}; the old name still works"))
    return found, said


def _table(
    tables: dict[str, Any], key: Sequence[str], *, make: bool = False
) -> dict[str, Any] | None:
    """The table that holds a key; None: there is none."""
    for word in key[:-1]:
        inner = tables.setdefault(word, {}) if make else tables.get(word)
        if not isinstance(inner, dict):
            return None
        tables = inner
    return tables
