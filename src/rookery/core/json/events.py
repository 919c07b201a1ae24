"""Events: every fact about a session is an Event, and JSON that survives a round trip."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

type Json = dict[str, Any]

DEEPEST = 100
"""Levels kept of a value that is too deep for the encoder itself; the rest is cut, and says so."""

LONGEST_INTEGER = 4300
"""Digits: Python refuses to convert more, because the cost is quadratic."""


class Event(NamedTuple):
    """One committed fact. `seq` is contiguous from 1 within a session."""

    seq: int
    at: int
    """Milliseconds since the epoch; never decreases within a session."""
    cause: str | None
    """The id of the command whose outcome this is."""
    by: str | None
    """Which client, rule or watchdog; None: the agent or the worker itself."""
    update: Json


class Draft(NamedTuple):
    """An event that the log has not yet given a position."""

    update: Json
    cause: str | None = None
    by: str | None = None


def notice(text: str, level: str = "warn", **more: Any) -> Json:
    """Return an update of ours that only tells the user something."""
    return {"sessionUpdate": "_notice", "level": level, "text": text, **more}


def kind_of(update: object) -> str:
    """Return the discriminator of an update, or "" if there is none."""
    if isinstance(update, dict):
        kind = update.get("sessionUpdate")
        if isinstance(kind, str):
            return kind
    return ""


def event_from_json(value: Json) -> Event:
    """Return the Event whose `_asdict` this is; raises ValueError on anything else."""
    update, seq, at = value.get("update"), value.get("seq"), value.get("at")
    if not isinstance(update, dict) or not isinstance(seq, int) or not isinstance(at, int):
        raise ValueError("not an event: it needs seq, at and update")
    return Event(seq, at, value.get("cause"), value.get("by"), update)


# --- JSON -------------------------------------------------------------------------------------
# Strict on the way in (NaN is not JSON), total on the way out (a log must take any value that
# came in, also lone surrogates: ASCII output keeps them away from SQLite and from sockets).


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _long_integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


_strict = json.JSONDecoder(parse_constant=_refuse)
_decode = _strict.decode
_scan: Callable[[str, int], tuple[Any, int]] = _strict.scan_once  # type: ignore[attr-defined]
"""One value, wherever it ends; raises StopIteration where none begins."""
_decode_long = json.JSONDecoder(parse_constant=_refuse, parse_int=_long_integer).decode
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode
_encode_as_it_is = json.JSONEncoder(
    separators=(",", ":"), allow_nan=False, check_circular=False, ensure_ascii=False
).encode


def loads(text: str | bytes | bytearray) -> Any:
    """Parse strict JSON, or raise ValueError; integers too long for Python become strings."""
    if not isinstance(text, str):
        text = text.decode("utf-8")
    try:
        # What we wrote ourselves is one value with nothing around it, and read at half the cost.
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError, RecursionError):
        pass  # what follows says what is wrong with it
    try:
        try:
            return _decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return _decode_long(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: object) -> str:
    """Encode any value as compact ASCII JSON. What JSON cannot represent is converted."""
    try:
        return _encode(value)
    except (ValueError, TypeError, RecursionError):
        return _encode(_tame(value, DEEPEST))


def dumps_short(value: object) -> str:
    """Encode like `dumps`, but keep characters unescaped wherever UTF-8 can encode them: escaped, a
    text of 4-byte characters is three times as long."""
    try:
        text = _encode_as_it_is(value)
        if not text.isascii():
            text.encode()
    except (ValueError, TypeError, RecursionError):  # lone surrogates are a ValueError, too
        return dumps(value)
    return text


def _tame(value: object, levels: int) -> object:
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, int):
        return value if value.bit_length() < LONGEST_INTEGER * 3 else hex(value)
    if isinstance(value, dict | list | tuple) and levels <= 0:
        return "… (nested too deeply)"
    if isinstance(value, dict):
        return {str(key): _tame(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tame(item, levels - 1) for item in value]
    return repr(value)
