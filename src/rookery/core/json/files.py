"""JSON that a person keeps by hand: read whole, or refused with the place in the file."""

import json
import re
from typing import Any

from rookery.core.json.events import Json
from rookery.core.refusals import Fixed


class Unusable(Fixed):
    """A file of the user's cannot be used. The message names it, the place and what is wrong."""

    reason = "bad_settings"


def parse(data: bytes, path: str, shape: str = "{…}") -> Json:
    """The object in a file; `shape`: how it looks, for who wrote something else.

    Raises Unusable.
    """
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
    """A key that would be lost when the file is written again."""


def _once(pairs: list[tuple[str, Any]]) -> Json:
    found: Json = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found


def line_of(text: str, key: str, *, last: bool = False) -> int:
    """Where a key stands, as far as its first or last mention tells; 0: nowhere."""
    ways = (json.dumps(key), json.dumps(key, ensure_ascii=False))
    spelled = "|".join(map(re.escape, ways))
    found = [each.start() for each in re.finditer(rf"(?:{spelled})\s*:", text)]
    return text.count("\n", 0, found[-1 if last else 0]) + 1 if found else 0


def told(path: str, text: str, key: str, why: str) -> str:
    """A sentence about a value in a file, with its line where that can be told."""
    line = line_of(text, key.rpartition(".")[2])
    return f"{path}, line {line}: {key} {why}." if line else f"{path}: {key} {why}."
