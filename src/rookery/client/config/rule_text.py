"""Edits the rules in the text of config.toml, with comments and order kept. Loaded when a rule is
edited: tomlkit takes milliseconds, and a worker, which only appends rules, does not have it."""

from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.items import AoT, Comment, Item, Key, Null, Table, Whitespace

from rookery.client.config.toml_file import NotEdited
from rookery.core.json import Json
from rookery.core.policy.rule_tables import KEYS

type Body = list[tuple[Key | None, Item]]


def with_first(text: str, rule: str) -> str:
    """Put a rule, written as TOML, before all others."""
    document = tomlkit.parse(text)
    above, _, _, array, _ = _place_of(document, 0)
    new = tomlkit.parse(f"{rule}\n")["policy"]["rules"][0]
    new.value.body.extend(_take_comments(above))
    array.insert(0, new)
    return tomlkit.dumps(document)


def changed(text: str, number: int, wanted: Json) -> str:
    document = tomlkit.parse(f"{text.rstrip()}\n")
    table = _place_of(document, number)[-1]
    for key in KEYS:
        if key not in wanted:
            table.pop(key, None)
        elif key in table:
            table[key] = wanted[key]
        else:
            inserted(table, key, wanted[key])
    return tomlkit.dumps(document)


def swapped(text: str, upper: int) -> str:
    """Swap two neighbouring rules, each with the comments above it."""
    document = tomlkit.parse(f"{text.rstrip()}\n")
    above, _, _, array, first = _place_of(document, upper)
    between, *_, other, second = _place_of(document, upper + 1)
    if array is not other or between is not first.value.body:
        raise NotEdited("Other tables are between these rules. To move them: rookery config edit")
    bodies = (above, first.value.body, second.value.body)
    before, behind, rest = [_take_comments(body) for body in bodies]
    tails = [_take_blanks(body) for body in bodies[1:]]
    at = next(at for at, table in enumerate(array.body) if table is first)
    array.body[at : at + 2] = [second, first]
    end = _end(above)
    above[end:end] = behind
    second.value.body.extend([*tails[0], *before])
    first.value.body.extend([*tails[1], *rest])
    return tomlkit.dumps(document)


def inserted(tables: Any, name: str, value: Any) -> bool:
    """Put a new key of a tomlkit table right behind the last one. tomlkit itself would put it
    behind the comments that follow, which belong to the next table, and offers no public way."""
    container = tables.value if isinstance(tables, Table) else tables
    if not isinstance(container, Container):
        return False
    keys = [key for key, item in container.body if key and not isinstance(item, AoT | Table)]
    if keys:
        container._insert_after(keys[-1], name, value)
    return bool(keys)


def without(text: str, number: int) -> str:
    document = tomlkit.parse(text)
    above, holder, at, array, table = _place_of(document, number)
    end = _end(above)
    above[end:end] = _take_comments(table.value.body)
    array.body.remove(table)
    if not array.body:
        holder[at] = (None, Null())
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def _place_of(document: Container, number: int) -> tuple[Body, Body, int, AoT, Table]:
    """Locate a rule: the body of the table above it, the body with its array and the index there,
    the array, and the rule's table."""
    places: list[tuple[Body, Body, int, AoT, Table]] = []
    above = document.body

    def walk(container: Container, path: tuple[str, ...]) -> None:
        nonlocal above
        for at, (key, item) in enumerate(container.body):
            if key is None or not isinstance(item, AoT | Table):
                continue
            here = (*path, key.key)
            for table in item.body if isinstance(item, AoT) else [item]:
                if here == ("policy", "rules") and isinstance(item, AoT):
                    places.append((above, container.body, at, item, table))
                if not table.is_super_table() and not key.is_dotted():
                    above = table.value.body
                walk(table.value, here)

    walk(document, ())
    if number >= len(places):
        raise NotEdited("The rules are an inline list. To edit it: rookery config edit")
    return places[number]


def _take_comments(body: Body) -> Body:
    """Remove and return the comments right above a header: they belong to that table, but tomlkit
    counts them to the one before."""
    end = start = _end(body)
    while start and isinstance(body[start - 1][1], Comment):
        start -= 1
    comments, body[start:end] = body[start:end], []
    return comments


def _take_blanks(body: Body) -> Body:
    """Remove and return the empty lines at the end."""
    start = len(body)
    while start and isinstance(body[start - 1][1], Whitespace):
        start -= 1
    blanks, body[start:] = body[start:], []
    return blanks


def _end(body: Body) -> int:
    """Return where a section ends: before the first table below it."""
    tables = (
        at
        for at, (key, item) in enumerate(body)
        if isinstance(item, AoT | Table) and not (key and key.is_dotted())
    )
    return next(tables, len(body))
