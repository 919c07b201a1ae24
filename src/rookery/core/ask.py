"""The type of an ask: an agent's question or permission request.

`raw` is the stored object, and all other fields are read from it, so that they cannot differ."""

from typing import NamedTuple

from rookery.core.header import Header
from rookery.core.json import Json, lenient

HEADER_ONLY = ("sessionUpdate", "state", "away", "given", "decide", "theirs", "sent", "step")
"""Fields that the fold alone writes: no agent's request can bring them."""
GIVEN = ("option", "action", "content", "reason", "confirm", "always")
"""The fields of an answer command that make up the answer."""


class Option(NamedTuple):
    id: str
    name: str
    kind: str
    meta: Json | None

    @property
    def allows(self) -> bool:
        return self.kind.startswith("allow")


class Away(NamedTuple):
    """The turn of a kept ask, whether steps of it ran, and whether the user decides how it goes
    on."""

    turn: int
    ran: bool
    decide: bool


class Given(NamedTuple):
    """An answer that waits for the agent: `answer` has the command's fields in `GIVEN`."""

    name: str
    by: str | None
    answer: Json


class Ask(NamedTuple):
    raw: Json
    id: str
    nonce: str
    kind: str
    options: tuple[Option, ...]
    call: Json
    message: str
    schema: Json | None
    url: str
    elicitation: str
    budget: Json | None
    danger: str
    risk: str
    does: list[Json] | None
    """None: of a build that did not list it."""
    explains: list[str]
    announced: list[str]
    always: str
    always_choices: list[str]
    always_reach: list[str]
    alike: str
    same: str
    agent: str
    session: str
    ruled: str
    block: str
    at: int | None
    step: list[int]
    away: Away | None
    given: Given | None
    decide: bool
    why: str
    theirs: Json
    sent: bool

    @property
    def is_question(self) -> bool:
        return self.kind == "question"

    @property
    def is_link(self) -> bool:
        return bool(self.url)

    @property
    def is_about_budget(self) -> bool:
        """Whether Rookery asks it, and no agent."""
        return self.budget is not None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for the user, not for the agent."""
        return self.decide or not (self.given or self.sent)

    @property
    def form(self) -> Json | None:
        """The schema of the form that the user fills in, if any: a link has an empty one."""
        return None if self.is_link else self.schema

    @property
    def answer(self) -> Json:
        """The command that answers it, without the answer itself."""
        return answer_to(self.id, self.nonce)

    @property
    def update(self) -> Json:
        """The update of the event that asks it."""
        return {"sessionUpdate": "_ask", "state": "asked", **self.raw}

    def with_(self, *removed: str, **changed: object) -> "Ask":
        """Return the ask without some stored fields, and with others changed."""
        return _read({key: self.raw[key] for key in self.raw if key not in removed} | changed)


def answer_to(name: str, nonce: str) -> Json:
    return {"do": "answer", "ask": name, "nonce": nonce}


def options_in(value: object) -> tuple[Option, ...]:
    """Return the options of an ask, or of a permission request, that can be chosen."""
    return tuple(
        Option(name, lenient.text(each, "name"), lenient.text(each, "kind"), _object(each, "_meta"))
        for each in lenient.mappings(value, "options")
        if (name := lenient.text(each, "optionId"))
    )


def from_agent(update: Json) -> Ask:
    """Read an ask that an agent brings, without the fields that only the header may have."""
    return _read({key: value for key, value in update.items() if key not in HEADER_ONLY})


def from_header(name: str, raw: Json) -> Ask:
    """Read an ask that we wrote ourselves: the header lists it under this id."""
    return _read(raw if raw.get("id") == name else {**raw, "id": name})


def asks_of(header: Header) -> dict[str, Ask]:
    """Return the open asks of a session, by their ids."""
    return {name: from_header(name, raw) for name, raw in header.asks.items()}


def ask_of(header: Header, name: object) -> Ask | None:
    raw = header.asks.get(name) if isinstance(name, str) else None
    return None if raw is None else from_header(str(name), raw)


def stored(asks: dict[str, Ask]) -> Json:
    """Return asks as the header stores them."""
    return {name: ask.raw for name, ask in asks.items()}


_TEXTS = [key for key, kind in Ask.__annotations__.items() if kind is str]


def _read(raw: Json) -> Ask:
    away, given = lenient.mapping(raw, "away"), lenient.mapping(raw, "given")
    turn, ran = lenient.integer(away, "turn") or 0, lenient.flag(away, "ran")
    name, by = lenient.text(given, "name"), lenient.text(given, "by") or None
    answer = {key: given[key] for key in GIVEN if key in given}
    return Ask(
        **{key: lenient.text(raw, key) for key in _TEXTS},
        raw=raw,
        options=options_in(raw),
        call=lenient.mapping(raw, "toolCall"),
        schema=_object(raw, "schema"),
        budget=_object(raw, "budget"),
        does=list(lenient.mappings(raw, "does")) if isinstance(raw.get("does"), list) else None,
        explains=lenient.texts(raw, "explains"),
        announced=lenient.texts(raw, "announced"),
        always_choices=lenient.texts(raw, "alwaysChoices"),
        always_reach=lenient.texts(raw, "alwaysReach"),
        at=lenient.integer(raw, "at"),
        step=[each for each in lenient.sequence(raw, "step") if isinstance(each, int)],
        away=Away(turn, ran, lenient.flag(away, "decide")) if away else None,
        given=Given(name, by, answer) if given else None,
        decide=lenient.flag(raw, "decide"),
        theirs=lenient.mapping(raw, "theirs"),
        sent=lenient.flag(raw, "sent"),
    )


def _object(value: Json, key: str) -> Json | None:
    member = value.get(key)
    return member if isinstance(member, dict) else None
