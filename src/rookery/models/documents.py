"""JSON files of a person's: read whole or refused with the place, written whole or not at all."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.core.json import files
from rookery.core.json.events import Json
from rookery.home import paths
from rookery.home.ownership import others_word

__all__ = ["Json", "SettingsError", "locked", "read", "refusal", "write"]

PRIVATE = 0o600


class SettingsError(Exception):
    """A file cannot be used; it is as it was. The message names the place."""


def read(path: str, *, private: bool = True, home: str = "") -> Json | None:
    """The object in a file; None where there is none. Raises SettingsError.

    `private`: it holds secrets, and is closed to others where it was found open. `home`: it decides
    what runs there, and is not used where another user may have written it.
    """
    foreign = ""
    try:
        with open(path, "rb") as file:
            if private and os.fstat(file.fileno()).st_mode & 0o077:
                with suppress(OSError):  # somebody else's: it can be read only
                    os.fchmod(file.fileno(), PRIVATE)
            if home:
                foreign = others_word(file.fileno(), path, home)
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    if foreign:
        raise SettingsError(foreign)
    try:
        return files.parse(data, path)
    except files.Illegible as error:
        raise SettingsError(str(error)) from None


def refusal(path: str, key: str, why: str) -> SettingsError:
    """About a value in a file, with its line where that can be told."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
    except OSError:
        text = ""
    return SettingsError(files.told(path, text, key, why))


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
