"""JSON files of a person's: read whole or refused with the place, written whole or not at all."""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rookery import paths

type Json = dict[str, Any]

PRIVATE = 0o600


class SettingsError(Exception):
    """A file cannot be used; it is as it was. The message names the place."""


def read(path: str, *, private: bool = True) -> Json | None:
    """The object in a file; None where there is none. Raises SettingsError.

    `private`: it holds secrets, and is closed to others where it was found open.
    """
    try:
        with open(path, "rb") as file:
            if private and os.fstat(file.fileno()).st_mode & 0o077:
                with suppress(OSError):  # somebody else's: it can be read only
                    os.fchmod(file.fileno(), PRIVATE)
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    return parse(data, path)


def parse(data: bytes, path: str) -> Json:
    """Raises SettingsError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}, line {line}: not UTF-8.") from None
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        raise SettingsError(f"{place}: {error.msg}.") from None
    except _Twice as error:
        line = line_of(text, str(error), last=True)
        raise SettingsError(f"{path}, line {line}: {str(error)!r} is there twice.") from None
    except RecursionError:
        raise SettingsError(f"{path}: nested too deeply.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise SettingsError(f"{path}: {error}.") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{path}, line 1: an object is wanted, {{…}}.")
    return value


class _Twice(Exception):
    """A key that would be lost when the file is written again."""


def _once(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


def line_of(text: str, key: str, *, last: bool = False) -> int:
    """Where a key stands, as far as its first or last mention tells; 0: nowhere."""
    found = [each.start() for each in re.finditer(re.escape(json.dumps(key)) + r"\s*:", text)]
    return text.count("\n", 0, found[-1 if last else 0]) + 1 if found else 0


def refusal(path: str, key: str, why: str) -> SettingsError:
    """About a value in a file, with its line where that can be told."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            line = line_of(file.read(), key.rpartition(".")[2])
    except OSError:
        line = 0
    place = f"{path}, line {line}" if line else path
    return SettingsError(f"{place}: {key} {why}.")


def write(path: str, value: Json, mode: int = PRIVATE) -> None:
    """A link stays one: a person may keep the file elsewhere."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    data = json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    paths.write_atomic(os.path.realpath(path), data, mode, sync=True)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Alone among those who read a file in order to write it again."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
