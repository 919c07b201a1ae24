"""JSON files that the user edits by hand: read whole, or refused with the position in the file."""

import json
import re
from typing import Any

from rookery.core.json.events import Json
from rookery.core.refusals import Fixed


class Unusable(Fixed):
    """A file of the user's cannot be used. The message names file, position and problem."""

    reason = "bad_settings"


def parse(data: bytes, path: str, shape: str = "{…}") -> Json:
    """Return the object in a file. `shape` shows what it should look like, for the error message.

    Raises Unusable."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unusable(f"{path}, line {line}: not UTF-8.") from None
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        raise Unusable(f"{place}: not JSON: {error.msg}.") from None
    except _Twice as error:
        line = line_of(text, str(error), last=True)
        raise Unusable(f"{path}, line {line}: {str(error)!r} is there twice.") from None
    except RecursionError:
        raise Unusable(f"{path}: nested too deeply.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise Unusable(f"{path}: {error}.") from None
    if not isinstance(value, dict):
        raise Unusable(f"{path}, line 1: an object is wanted, {shape}.")
    return value


class _Twice(Exception):
    """A duplicate key, which would be lost when the file is written again."""


def _once(pairs: list[tuple[str, Any]]) -> Json:
    members: Json = {}
    for key, value in pairs:
        if key in members:
            raise _Twice(key)
        members[key] = value
    return members


def line_of(text: str, key: str, *, last: bool = False) -> int:
    """Return the line of a key, judged by its first or last mention; 0 if it is not mentioned."""
    ways = (json.dumps(key), json.dumps(key, ensure_ascii=False))
    spelled = "|".join(map(re.escape, ways))
    offsets = [each.start() for each in re.finditer(rf"(?:{spelled})\s*:", text)]
    return text.count("\n", 0, offsets[-1 if last else 0]) + 1 if offsets else 0


def value_message(path: str, text: str, key: str, why: str) -> str:
    """Return a sentence about a value in a file, with its line number if that can be determined."""
    line = line_of(text, key.rpartition(".")[2])
    return f"{path}, line {line}: {key} {why}." if line else f"{path}: {key} {why}."
