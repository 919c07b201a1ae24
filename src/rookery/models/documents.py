"""The user's JSON files: read whole or refused with the faulty line, written whole or not at
all."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from rookery.core.json import Json, files
from rookery.home import ownership, paths

__all__ = ["Fields", "Json", "SettingsError", "locked", "read", "refusal", "write"]

PRIVATE = 0o600


SettingsError = files.Unusable


def read(path: str, *, private: bool = True, home: str = "") -> Json | None:
    """Return the object in a file; None if there is no file. Raises SettingsError.

    `private`: it contains secrets, and is closed to others if it was open. `home`: the file decides
    what runs in this home, and is not used if another user may have written it."""
    data = ownership.read(path, home)
    if data is None:
        return None
    with suppress(OSError):  # another user's file can only be read
        if private and os.stat(path).st_mode & 0o077:
            os.chmod(path, PRIVATE)
    return files.parse(data, path)


def refusal(path: str, key: str, why: str) -> SettingsError:
    """Return the error for a value in a file, with its line if that can be found."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
    except OSError:
        text = ""
    return SettingsError(files.value_message(path, text, key, why))


class Fields:
    """The known values of an object in a file, taken out one by one; `rest` is what remains. Raises
    SettingsError with the line."""

    def __init__(self, value: object, place: str, key: str, why: str = "must be an object") -> None:
        if not isinstance(value, dict):
            raise refusal(place, key, why)
        self.rest: Json = dict(value)
        self._place = place
        self._prefix = f"{key}." if key else ""

    def refuse(self, name: str, why: str) -> NoReturn:
        raise refusal(self._place, f"{self._prefix}{name}", why)

    def text(self, name: str, why: str = "must be a string") -> str:
        value = self.rest.pop(name, None)
        if value is not None and not isinstance(value, str):
            self.refuse(name, why)
        return (value or "").strip()

    def switch(self, name: str, default: bool) -> bool:
        value = self.rest.pop(name, default)
        if not isinstance(value, bool):
            self.refuse(name, "must be true or false")
        return value

    def whole(self, name: str, default: int, least: int) -> int:
        value = self.rest.pop(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.refuse(name, f"must be a whole number of at least {least}")
        return value


def write(path: str, value: Json, mode: int = PRIVATE) -> None:
    """Write a file. A symbolic link stays one: the user may keep the file elsewhere."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    data = json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    paths.write_atomic(os.path.realpath(path), data, mode, sync=True)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the file's lock while it is read in order to be rewritten."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
