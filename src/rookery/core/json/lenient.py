"""Foreign JSON, read leniently: each of these gives a value of the type asked for."""

from collections.abc import Iterator
from typing import Any

from rookery.core.json.events import Json, dumps


def text(value: object, key: str, default: str = "") -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else default


def as_text(value: object) -> str:
    """Any value as a text: JSON where it is none, cut to what a message can hold."""
    return value if isinstance(value, str) else dumps(value)[:200]


def number(value: object, key: str) -> int | float | None:
    """A real number that a float can hold, or None; booleans are none."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    if isinstance(found, int):
        return found if found.bit_length() < 1024 else None
    return found if found - found == 0 else None


def integer(value: object, key: str) -> int | None:
    found = number(value, key)
    return found if isinstance(found, int) else None


def flag(value: object, key: str) -> bool:
    return isinstance(value, dict) and value.get(key) is True


def mapping(value: object, key: str) -> Json:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def sequence(value: object, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def mappings(value: object, key: str) -> Iterator[Json]:
    """The objects in a list; anything else in it is passed over."""
    return (item for item in sequence(value, key) if isinstance(item, dict))


def texts(value: object, key: str) -> list[str]:
    return [item for item in sequence(value, key) if isinstance(item, str)]


def first_line(value: str, longest: int = 80) -> str:
    """The first line that says something, cut to a length."""
    line = next((line.strip() for line in value.splitlines() if line.strip()), "")
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
