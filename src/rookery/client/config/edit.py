"""Settings changed in config.toml: its comments, its order and everything else in it stay."""

from collections.abc import Callable, Mapping
from typing import Any

from rookery.client import guard
from rookery.client.config import in_force
from rookery.client.config.rules import NotEdited, editing, inserted, save
from rookery.core import limits
from rookery.core.settings import definitions
from rookery.home import config, mcp

type Value = float | int | str | bool | None
"""None: the key is removed, and the default applies."""


class BadSetting(config.ConfigError):
    """A value that a setting cannot have; nothing was changed."""

    kind = "unclear"


def change(home: str, wanted: Mapping[str, Value]) -> None:
    """Set each dotted key of definitions.SINGLE. Raises ConfigError, NotEdited; then nothing is
    written."""
    for key, value in wanted.items():
        _check(key, value)
    wanted = _without_older(wanted)
    with editing(home) as text:
        save(home, text, edited(text, wanted), lambda tables: _put_all(tables, wanted))


REFUSED = (config.ConfigError, NotEdited, mcp.McpError, guard.FromAgent, in_force.Waiting)


def attempt(work: Callable[[], object], file: str = config.FILE) -> str:
    """Why a file of the home was not changed; empty: it was."""
    try:
        work()
    except REFUSED as error:
        return str(error)
    except OSError as error:
        return f"{file} could not be written: {error.strerror}."
    return ""


def edited(text: str, wanted: Mapping[str, Value]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    _put_all(document, wanted)
    return tomlkit.dumps(document)


def _check(key: str, value: Value) -> None:
    """Refuse also a number that the file's reader would only clamp."""
    known = definitions.find(key)
    if known is None or value is None:
        return
    try:
        limits.checked(known, value, exact=True)
    except limits.BadValue as error:
        raise BadSetting(f"Not changed: {key} {error}.") from None


def _without_older(wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Also removes the older spelling of each key: it would still apply."""
    found = dict(wanted)
    for key in wanted:
        known = definitions.find(key)
        if known is not None and known.older:
            found.setdefault(key.rpartition(".")[0] + "." + known.older, None)
    return found


def _put_all(tables: Any, wanted: Mapping[str, Value]) -> None:
    """In plain dictionaries, or in tomlkit's."""
    for key, value in wanted.items():
        _put(tables, key.split("."), value)


def _put(tables: Any, key: list[str], value: Value) -> None:
    *above, name = key
    for word in above:
        if word not in tables:
            if value is None:
                return
            tables[word] = {}
        tables = tables[word]
    if value is None:
        tables.pop(name, None)
        return
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if name in tables or not inserted(tables, name, value):
        tables[name] = value
