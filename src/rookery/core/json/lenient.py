"""Lenient access to foreign JSON: each function returns a value of the type asked for."""

from collections.abc import Iterator
from typing import Any, cast

from rookery.core.json.events import Json, dumps


def text(value: object, key: str, default: str = "") -> str:
    member = value.get(key) if isinstance(value, dict) else None
    return member if isinstance(member, str) else default


def as_text(value: object) -> str:
    """Return any value as text: JSON if it is not a string, cut to what a message can hold."""
    return value if isinstance(value, str) else dumps(value)[:200]


def number(value: object, key: str) -> int | float | None:
    """Return a real number that a float can hold, or None; booleans do not count."""
    member = value.get(key) if isinstance(value, dict) else None
    if isinstance(member, bool) or not isinstance(member, int | float):
        return None
    if isinstance(member, int):
        return member if member.bit_length() < 1024 else None
    return member if member - member == 0 else None


def integer(value: object, key: str) -> int | None:
    member = number(value, key)
    return member if isinstance(member, int) else None


def flag(value: object, key: str) -> bool:
    return isinstance(value, dict) and value.get(key) is True


def mapping(value: object, key: str) -> Json:
    member = value.get(key) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}


def sequence(value: object, key: str) -> list[Any]:
    member = value.get(key) if isinstance(value, dict) else None
    return member if isinstance(member, list) else []


def mappings(value: object, key: str) -> Iterator[Json]:
    """Yield the objects in a list, skipping anything else in it."""
    return (item for item in sequence(value, key) if isinstance(item, dict))


def texts(value: object, key: str) -> list[str]:
    return [item for item in sequence(value, key) if isinstance(item, str)]


def first_line(value: str, longest: int = 80) -> str:
    """Return the first line that is not blank, cut to a length."""
    line = next((line.strip() for line in value.splitlines() if line.strip()), "")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


# --- types of stored objects ---------------------------------------------------------------------


class Stored:
    """A stored object, read by the fields of its class. It is never changed."""

    __slots__ = ("raw",)

    def __init__(self, raw: Json) -> None:
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]


def field[T](key: str, absent: T, kind: type | None = None) -> T:
    """Return a property of a stored object: its field, or `absent` where that has another type."""
    wanted = cast("type[T]", kind or type(absent))

    def read(stored: Stored) -> T:
        value = stored.raw.get(key)
        return value if isinstance(value, wanted) else absent

    return cast(T, property(read))
