"""Reads config.toml to change it, and writes it back: under a lock, whole, and only if it says what
was meant."""

import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rookery.client import guard
from rookery.client.config import in_force
from rookery.core.json import Json
from rookery.core.refusals import Fixed
from rookery.home import config, confirmed, paths


class NotEdited(Fixed):
    """The file was left as it was; the message says what to do."""

    reason = "bad_settings"


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
