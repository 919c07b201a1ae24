"""Settings changed in the text of config.toml: its comments, its order and all else in it stay.

As with the rules: unless the file then says exactly what was meant, it is left alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rookery.client.config.rules import NotEdited, editing, quoted, replace
from rookery.home import config, settings

type Value = float | int | str | bool | None
"""None: the line is taken out, and the default holds."""


def change(home: str, wanted: Mapping[str, Value]) -> None:
    """Set each dotted key of settings.SINGLE. Raises ConfigError, NotEdited; then nothing is
    written."""
    import tomllib

    wanted = _without_older(wanted)
    with editing(home) as (path, text):
        lines = text.removesuffix("\n").split("\n") if text else []
        for key, value in wanted.items():
            lines = changed(lines, key.split("."), value)
        after = "\n".join(lines).rstrip("\n") + "\n" if any(lines) else ""
        expected = tomllib.loads(text)
        for key, value in wanted.items():
            _put(expected, key.split("."), value)
        try:
            found = tomllib.loads(after)
        except tomllib.TOMLDecodeError:
            found = {}
        if _full(found) != _full(expected):
            words = "it has to be edited by hand"
            raise NotEdited(f"{path} was not changed: {words}. To open it: rookery config edit")
        config.parse(after.encode(), path)
        replace(home, text.encode(), after.encode())


def _without_older(wanted: Mapping[str, Value]) -> dict[str, Value]:
    """What says the same by an older key goes, or it would go on to say it."""
    found = dict(wanted)
    for key in wanted:
        known = settings.find(key)
        if known is not None and known.older:
            found.setdefault(key.rpartition(".")[0] + "." + known.older, None)
    return found


def changed(lines: Sequence[str], key: list[str], value: Value) -> list[str]:
    """The lines with one key set, or taken out."""
    at = _line(lines, key)
    if at is not None:
        if value is None:
            return [*lines[:at], *lines[at + 1 :]]
        begin, _, rest = lines[at].partition("=")
        comment = _comment(rest)
        line = f"{begin.rstrip()} = {written(value)}{f'  {comment}' if comment else ''}"
        return [*lines[:at], line, *lines[at + 1 :]]
    if value is None:
        return list(lines)
    *table, name = key
    return _inserted(lines, table, f"{name} = {written(value)}")


def written(value: Value) -> str:
    return quoted(value) if isinstance(value, str) else settings.written(value)


def _line(lines: Sequence[str], key: list[str]) -> int | None:
    """Where the key is set, on a line of its own."""
    table: list[str] = []
    for at, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith("["):
            table = config.words(bare.strip("[] \t").split("]")[0])
        elif "=" in bare and [*table, *config.words(bare.partition("=")[0])] == key:
            return at
    return None


def _inserted(lines: Sequence[str], table: list[str], line: str) -> list[str]:
    """Behind the last key of its table; a table that is not there is put at the end."""
    start, end = _extent(lines, table)
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        return [*lines, *gap, f"[{'.'.join(table)}]", line]
    last = max((at for at in range(start, end) if _is_key(lines[at])), default=start - 1)
    if not table and last < start:  # above what belongs to the first table
        gap = [""] if lines else []
        return [line, *gap, *lines]
    return [*lines[: last + 1], line, *lines[last + 1 :]]


def _extent(lines: Sequence[str], table: list[str]) -> tuple[int | None, int]:
    """The lines of a table, its head left out."""
    start: int | None = None if table else 0
    for at, line in enumerate(lines):
        bare = line.strip()
        if not bare.startswith("["):
            continue
        if start is not None:
            return start, at
        if not bare.startswith("[[") and config.words(bare[1:].split("]")[0]) == table:
            start = at + 1
    return start, len(lines)


def _is_key(line: str) -> bool:
    bare = line.strip()
    return bool(bare) and not bare.startswith("#")


def _comment(rest: str) -> str:
    """What stands behind a value, from its sign on; a sign inside of quotes is none."""
    quote = ""
    for place, sign in enumerate(rest):
        if quote:
            if sign == quote and (quote == "'" or rest[place - 1] != "\\"):
                quote = ""
        elif sign in "\"'":
            quote = sign
        elif sign == "#":
            return rest[place:].strip()
    return ""


def _put(tables: dict[str, Any], key: list[str], value: Value) -> None:
    *above, name = key
    for word in above:
        tables = tables.setdefault(word, {})
    if value is None:
        tables.pop(name, None)
    else:
        tables[name] = value


def _full(tables: dict[str, Any]) -> dict[str, Any]:
    """Without tables that say nothing."""
    return {key: value for key, value in tables.items() if value != {}}
