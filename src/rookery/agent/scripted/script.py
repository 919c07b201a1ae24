"""The scripted model's scripts (docs/contributing/scripted-model.md): parsed and checked; an error
says where the mistake is."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

type Json = dict[str, Any]
type Read = Callable[[Any, str], Any]
"""Checks a value; the text is its place, for the error. Raises ScriptError."""


class ScriptError(Exception):
    """The script cannot be played; the message says where and why."""


class Call(NamedTuple):
    name: str
    arguments: str
    """As it is sent: a script may give invalid JSON."""
    id: str = ""
    namespace: str = ""
    """Of the tool, if the request offers tools in groups (OpenAI's responses)."""
    text: str = ""
    thought: str = ""
    """What comes right before the call."""


class Failure(NamedTuple):
    """An answer with an HTTP error."""

    status: int
    message: str
    type: str
    code: str | None
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    """Sent as it is instead of the API's own: a proxy's page."""


class Usage(NamedTuple):
    input: int = 100
    output: int = 20
    cached: int = 0
    reasoning: int = 0
    cost: float | None = None
    """In US dollars; None: the provider does not say."""


class Turn(NamedTuple):
    """One answer of the model."""

    text: str = ""
    thought: str = ""
    calls: tuple[Call, ...] = ()
    failure: Failure | None = None
    chunks: int = 0
    """Number of pieces of each text; 0: by words."""
    every: float = 0.0
    delay: float = 0.0
    drop: int | None = None
    """The connection breaks after this many pieces."""
    hang: int | None = None
    """Nothing more comes after this many pieces."""
    after: int | None = None
    """The error comes after this many pieces, in the stream."""
    usage: Usage = Usage()
    finish: str = ""
    """In OpenAI's words, which other APIs translate; any other is sent as it is."""
    refusal: str = ""
    anonymous: bool = False
    """Without the answer's id, as behind some proxies."""
    unmarked: bool = False
    """The stream closes in order, but without the mark of its end: a proxy's time limit."""
    unstreamed: bool = False
    """The whole answer at once, though the request wants a stream: some gateways cannot."""
    garbled: bool = False
    """Two bytes that are not UTF-8 stand for each U+FFFD."""
    counts: Any = None
    """Sent in place of each number of the usage; MISSING: there is no usage."""
    times: int = 1
    headers: tuple[tuple[str, str], ...] = ()
    """Of the response, besides those of an error."""

    @property
    def fails(self) -> bool:
        """Whether the conversation continues without this answer: the client will ask again."""
        broken = self.failure is not None or self.drop is not None or self.hang is not None
        return broken or self.unmarked or self.is_empty or self.finish == "error"

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.refusal or self.calls) and not self.finish


MISSING = "missing"


class Match(NamedTuple):
    contains: str
    turns: tuple[Turn, ...] = ()


OVER = Turn(text="The script is over.")
ASIDE = Turn(text="A scripted model")


class Script(NamedTuple):
    turns: tuple[Turn, ...] = ()
    match: tuple[Match, ...] = ()
    otherwise: Turn = OVER
    aside: Turn | None = ASIDE
    """For a request without tools (a title, a summary); None: it takes a turn like any other."""
    models: tuple[str, ...] = ("scripted",)
    only_models: bool = False
    """Whether other models are unknown."""
    key: str = ""
    """The only key that is accepted; "": any."""
    by_request: bool = False
    """The k-th request gets the k-th turn, whatever its conversation says."""
    demo: bool = False


def read_script(data: bytes | str) -> Script:
    """Parse a script. Raises ScriptError."""
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        raise ScriptError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"not JSON: {error}") from None
    return script_of(value)


def script_of(value: object) -> Script:
    """Build a script from JSON. Raises ScriptError."""
    if isinstance(value, list):
        value = {"turns": value}
    fields = _read(value, "the script", SCRIPT, top=True)
    fields.pop("about", None)
    by_request = fields.pop("by", "") == "request"
    return Script(**fields, only_models="models" in fields, by_request=by_request)


def _read(value: object, place: str, keys: Mapping[str, Read], *, top: bool = False) -> Json:
    """Return the values of an object, each checked."""
    given = _object(value, place, keys)
    return {key: keys[key](given[key], key if top else f"{place}.{key}") for key in given}


def _matches(value: object, place: str) -> tuple[Match, ...]:
    keys = {"contains": _text, "turns": turns_of}
    entries = {at: _read(each, at, keys) for at, each in _listed(value, place)}
    if wrong := [at for at, each in entries.items() if "contains" not in each]:
        raise ScriptError(f"{wrong[0]}.contains is missing")
    return tuple(Match(**each) for each in entries.values())


def _aside(value: object, place: str) -> Turn | None:
    return None if value == "play" else turn_of(value, place)


def turns_of(value: object, place: str) -> tuple[Turn, ...]:
    turns = [turn_of(each, at) for at, each in _listed(value, place)]
    return tuple(turn for turn in turns for _ in range(turn.times))


def turn_of(value: object, place: str) -> Turn:
    if isinstance(value, str):
        return Turn(text=value)
    if isinstance(value, dict) and "call" in value:
        value = {"calls": [value["call"]], **value}
    fields = _read(value, place, TURN)
    fields.pop("call", None)
    if "error" in fields:
        fields["failure"] = fields.pop("error")
    return Turn(**fields)


def _calls(value: object, place: str) -> tuple[Call, ...]:
    return tuple(_call(each, at) for at, each in _listed(value, place))


def _call(value: object, place: str) -> Call:
    given = _object(value, place, ("name", "arguments", "id", "text", "thought"))
    name, arguments = given.get("name"), given.get("arguments", {})
    if not isinstance(name, str):
        raise ScriptError(f"{place}.name must be the name of a tool")
    if not isinstance(arguments, dict | str):
        raise ScriptError(f"{place}.arguments must be an object, or a text to send as it is")
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    texts = {key: _text(given.get(key, ""), f"{place}.{key}") for key in ("id", "text", "thought")}
    return Call(name, sent, **texts)


def _after(value: object, place: str) -> int | None:
    match value:
        case None | False:
            return None
        case True:
            return 0
        case int() if value >= 0:
            return value
    raise ScriptError(f"{place} must be true, or a number of pieces")


def _usage(value: object, place: str) -> Usage:
    keys = dict.fromkeys(Usage._fields, _count) | {"cost": _number}
    return Usage(**_read(value, place, keys))


# ---------------------------------------------------------------- errors

_TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
    "tokens. Please reduce the length of the messages."
)
_USED_UP = "You exceeded your current quota, please check your plan and billing details."

NAMED = {
    "auth": Failure(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    "forbidden": Failure(403, "You are not allowed to use this model.", "permission_error", None),
    "model": Failure(404, "The model does not exist.", "invalid_request_error", "model_not_found"),
    "context": Failure(400, _TOO_LONG, "invalid_request_error", "context_length_exceeded"),
    "rate_limit": Failure(429, "Rate limit reached.", "requests", "rate_limit_exceeded"),
    "quota": Failure(429, _USED_UP, "insufficient_quota", "insufficient_quota"),
    "server": Failure(500, "The server had an error.", "server_error", None),
    "overloaded": Failure(503, "The model is overloaded.", "server_error", None),
}
_BY_STATUS = {failure.status: name for name, failure in reversed(NAMED.items())}


def failure_of(value: object, place: str) -> Failure:
    """Build a failure from a status, a name of NAMED, or an object with either and what differs."""
    match value:
        case str() if value in NAMED:
            return NAMED[value]
        case str():
            raise ScriptError(f"{place} must be a status or one of {', '.join(NAMED)}")
        case bool():
            pass
        case int() if 400 <= value <= 599:
            usual = NAMED.get(_BY_STATUS.get(value, ""))
            return usual or Failure(value, f"Scripted error {value}.", "scripted", None)
        case dict():
            return _failure(value, place)
    raise ScriptError(f"{place} must be a status from 400 to 599, a name, or an object")


def _headers(value: object, place: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ScriptError(f"{place} must be an object")
    return tuple((str(name), str(word)) for name, word in value.items())


def _failure(value: Json, place: str) -> Failure:
    given = _object(value, place, ERROR_KEYS)
    failure = failure_of(given.get("status", 500), f"{place}.status")
    sent = list(_headers(given.get("headers", {}), f"{place}.headers"))
    for key, header in (("retry_after", "retry-after"), ("reset", "x-ratelimit-reset-requests")):
        sent += [(header, str(given[key]))] if key in given else []
    texts = ("message", "type", "body")
    changed: Json = {key: _text(given[key], f"{place}.{key}") for key in texts if given.get(key)}
    plain = "message" in given and not isinstance(given.get("status"), str)
    code = given.get("code", None if plain else failure.code)
    return failure._replace(**changed, code=code, headers=tuple(sent))


# ---------------------------------------------------------------- values


def _object(value: object, place: str, keys: Collection[str]) -> Json:
    if not isinstance(value, dict):
        raise ScriptError(f"{place} must be an object")
    for key in value:
        if key not in keys:
            raise ScriptError(f"{place}: unknown key {key!r}; known: {', '.join(keys)}")
    return value


def _listed(value: object, place: str) -> list[tuple[str, Any]]:
    """Return the entries of a list, each with its place."""
    if not isinstance(value, list):
        raise ScriptError(f"{place} must be a list")
    return [(f"{place}[{number}]", each) for number, each in enumerate(value)]


def _anything(value: object, place: str) -> object:  # noqa: ARG001 (a Read)
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise ScriptError(f"{place} must be a text")
    return value


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ScriptError(f"{place} must be a number of at least 0")
    return float(value)


def _count(value: object, place: str) -> int:
    return int(_number(value, place))


def _by(value: object, place: str) -> object:
    if value not in ("conversation", "request"):
        raise ScriptError(f'{place} must be "conversation" or "request"')
    return value


SCRIPT: Mapping[str, Read] = {
    "about": _anything,
    "turns": turns_of,
    "match": _matches,
    "otherwise": turn_of,
    "aside": _aside,
    "models": lambda value, place: tuple(_text(each, at) for at, each in _listed(value, place)),
    "key": _text,
    "by": _by,
}
TURN: Mapping[str, Read] = {
    **dict.fromkeys(("text", "thought", "finish", "refusal"), _text),
    "call": _anything,
    "calls": _calls,
    "error": failure_of,
    **dict.fromkeys(("every", "delay"), _number),
    **dict.fromkeys(("drop", "hang", "after"), _after),
    "headers": _headers,
    "chunks": _count,
    "times": lambda value, place: max(1, _count(value, place)),
    "usage": _usage,
    **dict.fromkeys(
        ("anonymous", "unmarked", "unstreamed", "garbled"), lambda value, _: value is True
    ),
    "counts": _anything,
}
ERROR_KEYS = ("status", "message", "type", "code", "headers", "retry_after", "reset", "body")
