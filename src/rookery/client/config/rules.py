"""Adds, changes, moves and removes the rules of config.toml; the rest of the file stays as
it is."""

import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rookery.client import guard
from rookery.client.config import in_force
from rookery.core.json import Json
from rookery.core.policy.rule_tables import KEYS
from rookery.core.policy.rules import GROUNDS, Rule
from rookery.core.refusals import Fixed
from rookery.home import config, confirmed, paths

if TYPE_CHECKING:
    from tomlkit.container import Container
    from tomlkit.items import AoT, Item, Key, Table

type Body = "list[tuple[Key | None, Item]]"


class NotEdited(Fixed):
    """The file was left as it was; the message says what to do."""

    reason = "bad_settings"


def add(home: str, make: Callable[[Sequence[Rule]], Rule], *, first: bool = False) -> Rule:
    """Append a rule, or with `first` put it before all others. `make` gets the existing rules.
    Raises ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        rule = make(known)

        def meant(tables: Json) -> None:
            listed = tables.setdefault("policy", {}).setdefault("rules", [])
            listed.insert(0 if first else len(listed), table_of(rule))

        if first and known:
            after = _with_first(text, rule)
        else:
            after = "\n\n".join(filter(None, [text.rstrip("\n"), written(rule)]))
        save(home, text, after, meant)
    return rule


def remove(home: str, name: str) -> Rule:
    """Remove a rule by its name or its number. Raises KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        number = find(known, name)
        after = _without(text, number)
        save(home, text, after, lambda tables: tables["policy"]["rules"].pop(number))
    return known[number]


def change(home: str, name: str, make: Callable[[Sequence[Rule], int], Rule]) -> Rule:
    """Rewrite a rule in place, keeping any unknown key. `make` gets the other rules and this one's
    number. Raises KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        at = find(known, name)
        rule = make([*known[:at], *known[at + 1 :]], at + 1)
        table = table_of(rule)

        def meant(tables: Json) -> None:
            old = tables["policy"]["rules"][at]
            rest = {key: each for key, each in old.items() if key not in KEYS}
            tables["policy"]["rules"][at] = table | rest

        save(home, text, _changed(text, at, table), meant)
    return rule


def move(home: str, name: str, by: int) -> Rule:
    """Move a rule before its neighbour (-1) or behind it (1); at either end it stays. Raises
    KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        at = find(known, name)
        if not 0 <= at + by < len(known):
            return known[at]
        upper = min(at, at + by)

        def meant(tables: Json) -> None:
            listed = tables["policy"]["rules"]
            listed[upper], listed[upper + 1] = listed[upper + 1], listed[upper]

        save(home, text, _swapped(text, upper), meant)
    rule = known[at]
    return rule._replace(name=str(at + by + 1)) if rule.name.isdecimal() else rule


def find(rules: Sequence[Rule], name: str) -> int:
    """Return the index of a rule, given its name, its number or its key. Raises KeyError."""
    for at, rule in enumerate(rules):
        if name in (rule.name, str(at + 1), key_of(rule)):
            return at
    raise KeyError(name)


def key_of(rule: Rule) -> str:
    """Return the rule's name; for one without, its number and a digest, so that no other rule is
    taken for it if the list has changed meanwhile."""
    if not rule.name.isdecimal():
        return rule.name
    return f"{rule.name}-{crc32(dumps(table_of(rule)).encode()):08x}"


def free_name(rules: Sequence[Rule], wanted: str) -> str:
    taken = {rule.name for rule in rules}
    names = (f"{wanted}-{number}" if number > 1 else wanted for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def table_of(rule: Rule) -> Json:
    named = {} if rule.name.isdecimal() else {"name": rule.name}
    given = {key: list(getattr(rule, key)) for key in GROUNDS}
    grounds = {key: texts[0] if len(texts) == 1 else texts for key, texts in given.items() if texts}
    more = {key: getattr(rule, key) for key in ("destructive", "reason") if getattr(rule, key)}
    return {**named, "do": rule.do, **grounds, **more}


def written(rule: Rule) -> str:
    """Return a rule as TOML, with unprintable characters escaped. Does without tomlkit, which a
    worker, which adds rules too, does not have."""
    lines = [f"{key} = {dumps(value, ensure_ascii=False)}" for key, value in table_of(rule).items()]
    text = "\n".join(["[[policy.rules]]", *lines, ""])
    return "".join(
        sign if sign.isprintable() or sign == "\n" else f"\\U{ord(sign):08X}" for sign in text
    )


# ---------------------------------------------------------------- the document


def _with_first(text: str, rule: Rule) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    above, _, _, array, _ = _place_of(document, 0)
    new = tomlkit.parse(f"{written(rule)}\n")["policy"]["rules"][0]
    new.value.body.extend(_take_comments(above))
    array.insert(0, new)
    return tomlkit.dumps(document)


def _changed(text: str, number: int, wanted: Json) -> str:
    import tomlkit

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


def _swapped(text: str, upper: int) -> str:
    """Swap two neighbouring rules, each with the comments above it."""
    import tomlkit

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
    behind the comments that follow, which belong to the next table."""
    from tomlkit.container import Container
    from tomlkit.items import AoT, Table

    container = tables.value if isinstance(tables, Table) else tables
    if not isinstance(container, Container):
        return False
    keys = [key for key, item in container.body if key and not isinstance(item, AoT | Table)]
    if keys:
        container._insert_after(keys[-1], name, value)
    return bool(keys)


def _without(text: str, number: int) -> str:
    import tomlkit
    from tomlkit.items import Null

    document = tomlkit.parse(text)
    above, holder, at, array, table = _place_of(document, number)
    end = _end(above)
    above[end:end] = _take_comments(table.value.body)
    array.body.remove(table)
    if not array.body:
        holder[at] = (None, Null())
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def _place_of(document: "Container", number: int) -> "tuple[Body, Body, int, AoT, Table]":
    """Locate a rule: the body of the table above it, the body with its array and the index there,
    the array, and the rule's table."""
    from tomlkit.items import AoT, Table

    places: list[tuple[Body, Body, int, AoT, Table]] = []
    above = document.body

    def walk(container: "Container", path: tuple[str, ...]) -> None:
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
    from tomlkit.items import Comment

    end = start = _end(body)
    while start and isinstance(body[start - 1][1], Comment):
        start -= 1
    comments, body[start:end] = body[start:end], []
    return comments


def _take_blanks(body: Body) -> Body:
    """Remove and return the empty lines at the end."""
    from tomlkit.items import Whitespace

    start = len(body)
    while start and isinstance(body[start - 1][1], Whitespace):
        start -= 1
    blanks, body[start:] = body[start:], []
    return blanks


def _end(body: Body) -> int:
    """Return where a section ends: before the first table below it."""
    from tomlkit.items import AoT, Table

    tables = (
        at
        for at, (key, item) in enumerate(body)
        if isinstance(item, AoT | Table) and not (key and key.is_dotted())
    )
    return next(tables, len(body))


# ---------------------------------------------------------------- the file


@contextmanager
def editing(home: str) -> Iterator[str]:
    """Yield the file's text while no other process of ours can change it. Raises ConfigError, and
    NotEdited in an agent's process."""
    try:
        guard.require_person(home, "change the rules and the settings")
    except guard.FromAgent as error:
        raise NotEdited(str(error)) from None
    paths.ensure_home(home)
    with confirmed.locked(home):
        try:
            with open(place(home), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            data = b""
        config.parse(data, place(home))  # a broken file has to be fixed by hand first
        yield data.decode()


def place(home: str) -> str:
    return os.path.realpath(os.path.join(home, config.FILE))


def save(home: str, before: str, after: str, meant: Callable[[Json], object]) -> None:
    """Write the new text, unless it says anything else than was meant: then the file is left alone.
    `meant`: the same change on plain tables."""
    expected = tomllib.loads(before)
    meant(expected)
    try:
        actual = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        actual = {}
    if _without_empty(actual) != _without_empty(expected):
        raise NotEdited(
            f"{place(home)} was not changed: edit it by hand. To open it: rookery config edit"
        )
    replace(home, before.encode(), after.encode())


def _without_empty(value: Any) -> Any:
    """Drop tables and lists that say nothing: they make no difference."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each not in ({}, [])}


def replace(home: str, before: bytes, data: bytes) -> None:
    """Replace the whole file at once, under the lock, keeping its permissions. Whatever the user
    writes this way is recorded as confirmed. Raises NotEdited, ConfigError."""
    path = place(home)
    try:
        old: config.Config | None = config.parse(before, path)
    except config.ConfigError:
        old = None
    try:
        record = in_force.check(home, old, config.parse(data, path))
    except in_force.Waiting as error:
        raise NotEdited(str(error)) from None
    if record is not None:
        confirmed.write(home, record)
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o600
    paths.write_atomic(path, data, mode, sync=True)
