"""The unanswered prompts of one editor: each is answered once, when its own turn has ended, also if
it waited in the queue behind another client's."""

from collections.abc import Callable

from rookery.acp.bridge.updates import shapes
from rookery.core.asks.kept_asks import ORIGIN as ASKED_AGAIN
from rookery.core.critic.state import ORIGIN
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.stop_reasons import STOP_REASONS
from rookery.core.turn.remedies import remedy_for
from rookery.core.vendors import logins
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming
from rookery.wire.params import AUTH_REQUIRED

LEAST, GREATEST = -32700, -32001
"""Codes of an agent that mean the same from us. -32000 asks for a login: `Auth` has its methods."""

DETAILS_ONLY = frozenset(["toad"])
"""Clients, by `clientInfo`, that show an error's `data.details` and never its message."""

WORDS = {
    "agent_exited": "The agent exited during the turn",
    "interrupted": "The turn was interrupted",
    "unresponsive": "The agent ignored the cancel and was killed",
    "orphaned": "The agent stopped responding and was ended",
    "forced": "The turn was ended by force",
}

type ErrorData = Callable[[str, object], object]
"""The data that goes with an error, by its message."""
type Auth = Callable[[Json], Json]
"""The data of an agent's error that asks for a login: its methods."""


WAITS = "Queued: sent when the running turn has ended."


class Prompt:
    def __init__(self, request: Incoming) -> None:
        self.request = request
        self.turn: int | None = None
        """The turn that it began, or that it was sent with."""
        self.admitted = False
        self.cancelled = False
        self.removed = False
        self.held_for = ""
        """The origin of the turn that may continue its own: the critic or a kept ask."""
        self.end: Json = {}
        """How its turn ended, while it is held."""
        self.note = ""
        """What the editor's user will hear about it."""

    @property
    def waits(self) -> bool:
        return self.turn is None and self.admitted


class Prompts:
    """The unanswered prompts, by the id of the command that sent each."""

    def __init__(self, error_data: ErrorData, auth: Auth) -> None:
        self._error_data = error_data
        self._auth = auth
        self._open: dict[str, Prompt] = {}
        self._speaks = False
        """The agent is in the middle of a sentence."""

    def __bool__(self) -> bool:
        return bool(self._open)

    def get(self, name: str) -> Prompt | None:
        return self._open.get(name)

    def name_of(self, request: Incoming) -> str | None:
        return next((name for name, each in self._open.items() if each.request is request), None)

    def add(self, name: str, request: Incoming) -> Prompt:
        self._open[name] = Prompt(request)
        return self._open[name]

    def drop(self, name: str) -> None:
        self._open.pop(name, None)

    def requests_of(self, event: Event) -> list[Incoming]:
        """Return the requests of this editor that sent the prompt of an event, unless another
        client has a part in it: the editor has shown that prompt already."""
        names = _names(event) if kind_of(event.update) == "_prompt" else []
        known = [self._open[name].request for name in names if name in self._open]
        return known if len(known) == len(names) else []

    def running(self) -> bool:
        """Tell whether a turn of this editor's runs."""
        return any(prompt.turn is not None for prompt in self._open.values())

    def waiting(self) -> list[tuple[str, Prompt]]:
        return [(name, prompt) for name, prompt in self._open.items() if prompt.waits]

    def notes(self, update: Json | None = None) -> list[Json]:
        """Return the notes that are due about waiting prompts: never in the middle of the agent's
        sentence. `update`: the editor's newest update."""
        if update is not None:
            self._speaks = shapes.is_unfinished(update)
        known = [each for each in self._open.items() if each[1].note and each[1].admitted]
        due = [] if self._speaks else known
        asides = [shapes.aside(f"queued-{name}", each.note) for name, each in due if each.waits]
        for _, prompt in due:
            prompt.note = ""
        return asides

    def cancel(self) -> bool:
        """Mark all prompts as cancelled. Return False if they were already."""
        fresh = [prompt for prompt in self._open.values() if not prompt.cancelled]
        for prompt in fresh:
            prompt.cancelled = True
        return bool(fresh)

    def settle(self, event: Event, agent: str, *, kept: bool = False) -> None:
        """Answer the prompts that an event ends. `kept`: an ask of the turn will be asked again."""
        update = event.update
        match kind_of(update):
            case "_prompt":
                self._began(event, lenient.integer(update, "turn"))
            case "_turn" if update.get("state") == "idle" and update.get("critic") is True:
                self._hold(update, ORIGIN)
            case "_critic" if not (update.get("more") is True or update.get("again") is True):
                stopped = {"reason": "cancelled"} if update.get("state") == "cancelled" else {}
                self.release(ORIGIN, agent, stopped)
            case "_queue" if update.get("op") == "wait":  # the agent did not take it after all
                if (prompt := self._open.get(lenient.text(update, "id"))) is not None:
                    prompt.note = WAITS
            case "_queue" if update.get("op") == "remove":
                prompt = self._open.get(lenient.text(update, "id"))
                if prompt is not None:
                    prompt.removed = True
                    self._answer_removed()
            case "_turn" if kept and (
                update.get("reason") in ("agent_exited", "interrupted") or update.get("paused")
            ):
                self._hold(update, ASKED_AGAIN)  # else it was stopped or put off, and is over
            case "_turn" if update.get("state") == "idle":
                turn = lenient.integer(update, "turn")
                for prompt in self._take(lambda each: turn is not None and each.turn == turn):
                    self._answer(prompt, update, agent)
                self._answer_removed()

    def _began(self, event: Event, turn: int | None) -> None:
        origin = lenient.text(event.update, "origin")
        for prompt in self._open.values():
            if origin and prompt.held_for == origin:
                prompt.turn, prompt.held_for = turn, ""
        for name in _names(event):
            if name in self._open:
                self._open[name].turn = turn

    def _hold(self, update: Json, origin: str) -> None:
        turn = lenient.integer(update, "turn")
        for prompt in self._open.values():
            if turn is not None and prompt.turn == turn:
                prompt.held_for, prompt.end = origin, update

    def release(self, origin: str, agent: str, changes: Json | None = None) -> None:
        """End the prompts held for a turn of this origin as their turns did: none follows."""
        for prompt in self._take(lambda each: each.held_for == origin):
            self._answer(prompt, prompt.end | (changes or {}), agent)

    def _answer(self, prompt: Prompt, update: Json, agent: str) -> None:
        """Answer a prompt by its turn's end: with a stop reason, or an error that says what
        helps."""
        request, reason = prompt.request, lenient.text(update, "reason")
        if reason in STOP_REASONS:
            request.reply({"stopReason": reason})
        elif prompt.cancelled:  # however it ended: to its client it is a cancelled turn
            request.reply({"stopReason": "cancelled"})
        elif reason == "waiting":  # its dialog stays open: the answer goes on with it
            request.reply({"stopReason": "end_turn", "_meta": {"rookery": {"reason": reason}}})
        else:
            code, message, data = _error(reason, update, agent)
            error = lenient.mapping(update, "error")
            if logins.wanted(error) and "authMethods" in (methods := self._auth(error)):
                code, data = AUTH_REQUIRED, data | methods
            request.fail(code, message, self._error_data(message, data))

    def _take(self, which: Callable[[Prompt], bool]) -> list[Prompt]:
        names = [name for name, prompt in self._open.items() if which(prompt)]
        return [self._open.pop(name) for name in names]

    def _answer_removed(self) -> None:
        """Answer prompts removed from the queue; if all were cancelled, after the one that runs."""
        if any(prompt.turn is not None and prompt.cancelled for prompt in self._open.values()):
            return
        for prompt in self._take(lambda each: each.removed):
            prompt.request.reply({"stopReason": "cancelled"})

    def fail(self, why: str) -> None:
        for prompt in self._open.values():
            prompt.request.fail(INTERNAL_ERROR, why, self._error_data(why, None))
        self._open.clear()

    def end(self) -> None:
        """Answer all prompts: the session is closed."""
        for prompt in self._open.values():
            prompt.request.reply({"stopReason": "cancelled"})
        self._open.clear()


def _names(event: Event) -> list[str]:
    return lenient.texts(event.update, "queued") or [event.cause or ""]


def steering(params: object) -> Json:
    """Return the field of a command that steers: a prompt goes into the running turn if the agent
    can take it, unless the editor wants it queued: `_meta: {"rookery": {"steer": false}}`."""
    meta = lenient.mapping(lenient.mapping(params, "_meta"), "rookery")
    return {} if meta.get("steer") is False else {"steer": True}


def queued(event: Event, params: object, header: Header) -> str:
    """Return the note to the editor about a prompt that waits; "" if it does not."""
    if kind_of(event.update) != "_queue" or (steering(params) and header.steers):
        return ""
    return WAITS


def _error(reason: str, update: Json, agent: str) -> tuple[int, str, Json]:
    error = lenient.mapping(update, "error")
    message = lenient.text(error, "message") or WORDS.get(reason, "The turn failed")
    detail = lenient.text(update, "detail")
    if detail and not lenient.text(error, "message"):
        message = f"{message}: {detail}"
    data = error.get("data")
    payload: Json = dict(data) if isinstance(data, dict) else {}
    if data is not None and not isinstance(data, dict):
        payload["details"] = data
    if reason == "rate_limited":
        payload["errorKind"] = "rate_limit"
    code = lenient.integer(error, "code") or INTERNAL_ERROR
    if not LEAST <= code <= GREATEST:
        code = INTERNAL_ERROR
    remedy = remedy_for(reason, error, agent)
    return code, f"{sentence(message)} {remedy}".strip(), payload | {"reason": reason}


def sentence(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", "…")) else f"{text}."


def error_data(info: Json, message: str, data: object) -> object:
    """Return the data of an error; with the message in it for clients that show nothing else."""
    if lenient.text(info, "name").lower() not in DETAILS_ONLY:
        return data
    given: Json = data if isinstance(data, dict) else {}
    return {**given, "details": message.replace("[", r"\[")}  # it reads markup in it
