"""Changes settings in config.toml, keeping its comments, its order and everything else in it."""

from collections.abc import Callable, Mapping
from typing import Any

from rookery.client import config as client_config
from rookery.client import guard
from rookery.client.config import in_force
from rookery.client.config.toml_file import NotEdited, editing, save
from rookery.core import limits
from rookery.core.settings import definitions
from rookery.home import config, mcp

type Value = float | int | str | bool | None
"""None: the key is removed, and the default applies."""


class BadSetting(config.ConfigError):
    """A value that the setting cannot take; nothing was changed."""

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
    """Run `work`, which changes a file of the home; return why it could not, or "" if it did."""
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
    """Also refuse a number that reading the file would merely clamp."""
    known = definitions.find(key)
    if known is None or value is None:
        return
    try:
        limits.checked(known, value, exact=True)
    except limits.BadValue as error:
        raise BadSetting(f"Not changed: {key} {error}.") from None


def _without_older(wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Also remove the older spelling of each key, which would still apply."""
    changes = dict(wanted)
    for key in wanted:
        known = definitions.find(key)
        if known is not None and known.older:
            changes.setdefault(key.rpartition(".")[0] + "." + known.older, None)
    return changes


def _put_all(tables: Any, wanted: Mapping[str, Value]) -> None:
    """Set the keys in plain dictionaries, or in tomlkit's tables."""
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
    if name in tables or not client_config.rule_text.inserted(tables, name, value):
        tables[name] = value
