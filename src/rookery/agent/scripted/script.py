"""What a script may say, checked when it is read: a mistake is told with its place, and nothing is
served.

Docs: docs/scripted-model.md. A script is an object, or a list, which is then its `turns`.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

type Json = dict[str, Any]

FOREVER = 0
"""Of `drop` and `hang`: before anything was said."""


class ScriptError(Exception):
    """The script cannot be played; the message says where and why."""


class Call(NamedTuple):
    name: str
    arguments: str
    """As it goes over the wire: a script may give what is no JSON."""
    id: str = ""
    namespace: str = ""
    """Of the tool, where the request offers tools in groups (OpenAI's responses)."""


class Failure(NamedTuple):
    """An answer with an HTTP error."""

    status: int
    message: str
    type: str
    code: str | None
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    """Sent as it is, in the place of the API's own: a proxy's page."""


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
    """Into how many pieces each text is cut; 0: by words."""
    every: float = 0.0
    delay: float = 0.0
    drop: int | None = None
    """The connection breaks after so many pieces."""
    hang: int | None = None
    """Nothing more comes after so many pieces."""
    after: int | None = None
    """The error comes after so many pieces, in the stream."""
    usage: Usage = Usage()
    finish: str = ""
    """In OpenAI's words, which each API has its own for; another goes over the wire as it is."""
    refusal: str = ""
    anonymous: bool = False
    """Without the answer's id, as behind some proxies."""
    times: int = 1

    @property
    def fails(self) -> bool:
        """Whether the conversation goes on without it: who asked will ask again."""
        return self.failure is not None or self.drop is not None or self.hang is not None


class Match(NamedTuple):
    contains: str
    turns: tuple[Turn, ...]


OVER = Turn(text="The script is over.")
ASIDE = Turn(text="A scripted model")


class Script(NamedTuple):
    turns: tuple[Turn, ...] = ()
    match: tuple[Match, ...] = ()
    otherwise: Turn = OVER
    aside: Turn | None = ASIDE
    """For a request that offers no tools (a title, a summary); None: it takes a turn like any."""
    models: tuple[str, ...] = ("scripted",)
    only_models: bool = False
    """Whether another model is unknown."""
    key: str = ""
    """The only key that is let in; "": any."""
    by_request: bool = False
    """The k-th request takes the k-th turn, whatever its conversation says."""
    demo: bool = False


def read_script(data: bytes | str) -> Script:
    """Raises ScriptError."""
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        raise ScriptError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ScriptError(f"not JSON: {error}") from None
    return script_of(value)


def script_of(value: object) -> Script:
    """A script from JSON. Raises ScriptError."""
    if isinstance(value, list):
        value = {"turns": value}
    given = _object(value, "the script", SCRIPT_KEYS)
    models = given.get("models", list(Script().models))
    if not isinstance(models, list) or not all(isinstance(name, str) for name in models):
        raise ScriptError("models: a list of names is wanted")
    key = given.get("key", "")
    if not isinstance(key, str):
        raise ScriptError("key: a text is wanted")
    by = given.get("by", "conversation")
    if by not in ("conversation", "request"):
        raise ScriptError('by: "conversation" or "request" is wanted')
    return Script(
        turns=turns_of(given.get("turns", []), "turns"),
        match=_matches(given.get("match", [])),
        otherwise=turn_of(given.get("otherwise", {"text": OVER.text}), "otherwise"),
        aside=_aside(given.get("aside", {"text": ASIDE.text})),
        models=tuple(models),
        only_models="models" in given,
        key=key,
        by_request=by == "request",
    )


SCRIPT_KEYS = ("about", "turns", "match", "otherwise", "aside", "models", "key", "by")
TURN_KEYS = (
    *("text", "thought", "call", "calls", "error", "chunks", "every", "delay"),
    *("drop", "hang", "after", "usage", "finish", "times", "refusal", "anonymous"),
)
ERROR_KEYS = ("status", "message", "type", "code", "headers", "retry_after", "reset", "body")


def _matches(value: object) -> tuple[Match, ...]:
    if not isinstance(value, list):
        raise ScriptError("match: a list is wanted")
    found = []
    for number, each in enumerate(value):
        place = f"match[{number}]"
        given = _object(each, place, ("contains", "turns"))
        if not isinstance(given.get("contains"), str):
            raise ScriptError(f"{place}.contains: a text is wanted")
        turns = turns_of(given.get("turns", []), f"{place}.turns")
        found.append(Match(given["contains"], turns))
    return tuple(found)


def _aside(value: object) -> Turn | None:
    return None if value == "play" else turn_of(value, "aside")


def turns_of(value: object, place: str) -> tuple[Turn, ...]:
    if not isinstance(value, list):
        raise ScriptError(f"{place}: a list of turns is wanted")
    found: list[Turn] = []
    for number, each in enumerate(value):
        turn = turn_of(each, f"{place}[{number}]")
        found += [turn] * turn.times
    return tuple(found)


def turn_of(value: object, place: str) -> Turn:
    if isinstance(value, str):
        return Turn(text=value)
    given = _object(value, place, TURN_KEYS)
    calls = given.get("calls", [given["call"]] if "call" in given else [])
    if not isinstance(calls, list):
        raise ScriptError(f"{place}.calls: a list is wanted")
    return Turn(
        text=_text(given, "text", place),
        thought=_text(given, "thought", place),
        calls=tuple(_call(each, f"{place}.calls[{at}]") for at, each in enumerate(calls)),
        failure=failure_of(given["error"], f"{place}.error") if "error" in given else None,
        chunks=int(_number(given, "chunks", place)),
        every=_number(given, "every", place),
        delay=_number(given, "delay", place),
        drop=_after(given.get("drop"), f"{place}.drop"),
        hang=_after(given.get("hang"), f"{place}.hang"),
        after=_after(given.get("after"), f"{place}.after"),
        usage=_usage(given.get("usage", {}), f"{place}.usage"),
        finish=_text(given, "finish", place),
        refusal=_text(given, "refusal", place),
        anonymous=given.get("anonymous") is True,
        times=max(1, int(_number(given, "times", place, 1.0))),
    )


def _call(value: object, place: str) -> Call:
    given = _object(value, place, ("name", "arguments", "id"))
    name, arguments = given.get("name"), given.get("arguments", {})
    if not isinstance(name, str) or not name:
        raise ScriptError(f"{place}.name: the name of a tool is wanted")
    if not isinstance(arguments, dict | str):
        raise ScriptError(f"{place}.arguments: an object is wanted, or a text to send as it is")
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(name, sent, _text(given, "id", place))


def _after(value: object, place: str) -> int | None:
    match value:
        case None | False:
            return None
        case True:
            return FOREVER
        case int() if value >= 0:
            return value
    raise ScriptError(f"{place}: true is wanted, or after how many pieces")


def _usage(value: object, place: str) -> Usage:
    given = _object(value, place, Usage._fields)
    cost = _number(given, "cost", place) if "cost" in given else None
    numbers = {key: int(_number(given, key, place)) for key in given if key != "cost"}
    return Usage(cost=cost)._replace(**numbers)


# ---------------------------------------------------------------- errors

_TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
    "tokens. Please reduce the length of the messages."
)

NAMED = {
    "auth": Failure(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    "forbidden": Failure(403, "You are not allowed to use this model.", "permission_error", None),
    "model": Failure(404, "The model does not exist.", "invalid_request_error", "model_not_found"),
    "context": Failure(400, _TOO_LONG, "invalid_request_error", "context_length_exceeded"),
    "rate_limit": Failure(429, "Rate limit reached.", "requests", "rate_limit_exceeded"),
    "quota": Failure(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
    ),
    "server": Failure(500, "The server had an error.", "server_error", None),
    "overloaded": Failure(503, "The model is overloaded.", "server_error", None),
}
_BY_STATUS = {failure.status: name for name, failure in reversed(NAMED.items())}


def failure_of(value: object, place: str) -> Failure:
    """A status, a name of NAMED, or an object with either and what differs."""
    match value:
        case str() if value in NAMED:
            return NAMED[value]
        case str():
            raise ScriptError(f"{place}: there are {', '.join(NAMED)}, or a status")
        case bool():
            pass
        case int() if 400 <= value <= 599:
            usual = NAMED.get(_BY_STATUS.get(value, ""))
            return usual or Failure(value, f"Scripted error {value}.", "scripted", None)
        case dict():
            return _failure(value, place)
    raise ScriptError(f"{place}: a status from 400 to 599 is wanted, a name, or an object")


def _failure(value: Json, place: str) -> Failure:
    given = _object(value, place, ERROR_KEYS)
    failure = failure_of(given.get("status", 500), f"{place}.status")
    headers = given.get("headers", {})
    if not isinstance(headers, dict):
        raise ScriptError(f"{place}.headers: an object is wanted")
    sent = [(str(name), str(word)) for name, word in headers.items()]
    if "retry_after" in given:
        sent.append(("retry-after", str(given["retry_after"])))
    if "reset" in given:
        sent.append(("x-ratelimit-reset-requests", str(given["reset"])))
    return failure._replace(
        message=_text(given, "message", place) or failure.message,
        type=_text(given, "type", place) or failure.type,
        code=given.get("code", failure.code),
        headers=tuple(sent),
        body=_text(given, "body", place),
    )


# ---------------------------------------------------------------- values


def _object(value: object, place: str, keys: Sequence[str]) -> Json:
    if not isinstance(value, dict):
        raise ScriptError(f"{place}: an object is wanted")
    for key in value:
        if key not in keys:
            raise ScriptError(f"{place}: there is no {key!r}; there are {', '.join(keys)}")
    return value


def _text(given: Json, key: str, place: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise ScriptError(f"{place}.{key}: a text is wanted")
    return value


def _number(given: Json, key: str, place: str, default: float = 0.0) -> float:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ScriptError(f"{place}.{key}: a number of at least 0 is wanted")
    return float(value)
