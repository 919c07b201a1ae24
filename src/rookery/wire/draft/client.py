"""The dialect for a client that speaks draft 2, in front of our agents, which speak
version 1.

In version 1 a prompt is answered when its turn ends. In the draft it is answered once
it is part of the conversation, and the end is a state of the session:

    prompt ──► it shows: `user_message_chunk`, the answer (`messageId`), `running`
           ──► its answer of version 1: `idle`, with the stop reason or the error

It shows when an agent with our extension `turns` (docs/editors.md) says so; such an agent
also reports turns of other clients. With any other agent it shows at the first update."""

import os
from collections.abc import Iterable
from typing import Any

from rookery.core.json import lenient
from rookery.wire.dialect import DRAFT, INITIALIZE, Dialect
from rookery.wire.draft import forms
from rookery.wire.failures import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    error_to_json,
)

type Json = dict[str, Any]

METHODS = {"auth/login": "authenticate", "auth/logout": "logout"}
GONE = frozenset(["session/load", "session/set_mode", *METHODS.values()])
"""The methods that only version 1 has."""

OPENS = ("session/new", "session/fork", "session/resume", "session/load")
ASKS = ("session/request_permission", "elicitation/create")
CHUNKS = frozenset(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"])
STATES = frozenset(["available_commands_update", "config_option_update", "session_info_update"])
"""Updates that are no sign of a prompt at work."""

TURN = "_rookery/turn"


class DraftClient(Dialect):
    def __init__(self) -> None:
        self._asked: dict[Any, tuple[str, Json]] = {}
        """Its open requests by id, in the words of version 1."""
        self._asks: dict[Any, str] = {}
        """Our open questions by id: whose session."""
        self._sessions: dict[str, _Session] = {}
        self._knows_turns = False

    def _session(self, params: object) -> "_Session":
        name = lenient.text(params, "sessionId")
        return self._sessions.setdefault(name, _Session(name))

    # --- from the client --------------------------------------------------------------------------

    def incoming(self, message: Json) -> Iterable[Json]:
        method, id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if isinstance(id, int | str) and (name := self._asks.pop(id, None)) is not None:
                self._write(self._sessions[name].answered(id))
            return [message]
        if "id" not in message or not isinstance(id, int | str):
            return [message]
        given = message.get("params")
        params: Json = given if isinstance(given, dict) else {}
        refusal = _refusal(method, params)
        if refusal is not None:
            self._write([{"jsonrpc": "2.0", "id": id, "error": refusal}])
            return []
        method, params = _request(METHODS.get(method, method), params)
        self._asked[id] = (method, params)
        if method == "session/prompt":
            self._session(params).prompted(id, params)
        elif method in OPENS:
            self._session(params).opening(method)
        return [{**message, "method": method, "params": params if params else given}]

    def _write(self, messages: Iterable[Json]) -> None:
        for each in messages:
            self.send(each)

    # --- to the client ----------------------------------------------------------------------------

    def outgoing(self, message: Json) -> Iterable[Json]:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            asked = self._asked.pop(message.get("id"), None)
            return [message] if asked is None else self._answer(message, *asked)
        if method == TURN:
            return self._session(params).turned(lenient.mapping({"_": params}, "_"))
        if method == "session/update" and isinstance(params, dict):
            session, update = self._session(params), params["update"]
            begun = session.begun(update, self._knows_turns)
            updates = [_update(session.name, each) for each in session.adapt(update)]
            return (
                [*updates[:1], *begun, *updates[1:]] if _is_prompt(update) else [*begun, *updates]
            )
        if method in ASKS and isinstance(params, dict):
            session = self._session(params)
            self._asks[message["id"]] = session.name
            shown = _permission(params) if method == ASKS[0] else params
            return [*session.asking(message["id"]), {**message, "params": shown}]
        return [message]

    def _answer(self, message: Json, method: str, params: Json) -> list[Json]:
        result = message.get("result")
        if method == "session/prompt":
            return self._session(params).ended(message)
        if not isinstance(result, dict):
            return [message]
        if method == INITIALIZE:
            own = lenient.mapping(lenient.mapping(result, "_meta"), "rookery")
            self._knows_turns = lenient.flag(own, "turns")
            return [{**message, "result": forms.agent_2(result)}]
        before: list[Json] = []
        if method in OPENS:
            session = self._session({**params, **result})
            before = session.opened(method, result)
            result = forms.without(result, "modes", "models")
        if isinstance(result.get("configOptions"), list):
            listed = forms.options_2(lenient.mappings(result, "configOptions"))
            result = {**result, "configOptions": listed}
        if method == "session/status" and (state := self._session(params).state):
            result = {**result, "state": {"state": state}}
        return [*before, {**message, "result": result}]


def _refusal(method: str, params: Json) -> Json | None:
    if method in GONE:
        return error_to_json(METHOD_NOT_FOUND, f"Method not found: {method}")
    version = lenient.integer(params, "protocolVersion")
    if method == INITIALIZE and version is not None and version < DRAFT:
        return error_to_json(INVALID_REQUEST, "draft 2 is spoken on this connection already")
    start = params.get("replayFrom")
    if method == "session/resume" and start is not None and _kind(start) != "start":
        return error_to_json(INVALID_PARAMS, "replayFrom can only be the start")
    if method == "session/set_config_option":
        kind, value = params.get("type"), params.get("value")
        if kind not in ("id", "boolean") or isinstance(value, bool) != (kind == "boolean"):
            return error_to_json(INVALID_PARAMS, "the value's type must be id or boolean")
    return None


def _kind(given: object) -> str:
    return lenient.text(given, "type")


def _request(method: str, params: Json) -> tuple[str, Json]:
    match method:
        case "initialize" if isinstance(params.get("info"), dict):
            return method, forms.client_1(params)
        case "session/resume":
            again = params.get("replayFrom") is not None
            rest = forms.servers_1(forms.without(params, "replayFrom"))
            return "session/load" if again else method, rest
        case "session/new" | "session/fork":
            return method, forms.servers_1(params)
        case "session/set_config_option" if params["type"] == "id":
            return method, forms.without(params, "type")
    return method, params


def _permission(params: Json) -> Json:
    call = forms.call_2(lenient.mapping(params, "toolCall"))
    title = lenient.text(call, "title") or "Permission"
    subject = {"type": "tool_call", "toolCall": call}
    return forms.without(params, "toolCall") | {"title": title, "subject": subject}


def _update(session: str, update: Json) -> Json:
    params = {"sessionId": session, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _is_prompt(update: Json) -> bool:
    return update.get("sessionUpdate") == "user_message_chunk"


class _Session:
    """One session, as the client sees it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = ""
        self._prompts: dict[Any, Json] = {}
        """That are not part of the conversation yet, by the id of their requests."""
        self._working: set[Any] = set()
        """Those that are."""
        self._asks: set[Any] = set()
        self._series = ""
        self._count = 0
        self._last = ""

    def opening(self, method: str) -> None:
        """Choose the message ids: a replay has the same ids as before; without a replay there is a
        new series."""
        self._series = os.urandom(4).hex() if method == "session/resume" else ""
        self._count, self._last = 0, ""

    def opened(self, method: str, result: Json) -> list[Json]:
        """Return the messages that precede the response that opens the session."""
        own = lenient.mapping(lenient.mapping(result, "_meta"), "rookery")
        self.state = lenient.text(own, "state") or "idle"
        if method in ("session/new", "session/fork") and self.state == "idle":
            return []
        return [self._state(self.state)]

    # --- prompts and the state --------------------------------------------------------------------

    def prompted(self, id: Any, params: Json) -> None:
        self._prompts[id] = params

    def begun(self, update: Json, knows_turns: bool) -> list[Json]:
        """Return the answers to the prompts that this update shows."""
        if not self._prompts or update.get("sessionUpdate") in STATES:
            return []
        if not knows_turns:
            return [each for id in list(self._prompts) for each in self._insert(id)]
        own = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
        ids = [id for id in own.get("requests", []) if id in self._prompts]
        return [each for id in ids for each in self._insert(id, update)]

    def _insert(self, id: Any, shown: Json | None = None) -> list[Json]:
        params = self._prompts.pop(id)
        self._working.add(id)
        name = lenient.text(shown, "messageId") or f"prompt-{os.urandom(8).hex()}"
        answer: Json = {"jsonrpc": "2.0", "id": id, "result": {"messageId": name}}
        message: Json = {"sessionUpdate": "user_message", "messageId": name}
        message["content"] = params.get("prompt")
        echo = [] if shown else [_update(self.name, message)]
        return [*echo, answer, *self._changed("running")]

    def ended(self, message: Json) -> list[Json]:
        """Handle the response of version 1 to a prompt."""
        id, error = message["id"], message.get("error")
        result = lenient.mapping(message, "result")
        reason = lenient.text(result, "stopReason")
        if id in self._prompts and error is not None:
            del self._prompts[id]
            return [message]
        if id in self._prompts and reason == "cancelled":
            del self._prompts[id]
            stopped = error_to_json(REQUEST_CANCELLED, "The prompt was cancelled")
            return [{"jsonrpc": "2.0", "id": id, "error": stopped}]
        begun = self._insert(id) if id in self._prompts else []
        self._working.discard(id)
        if self._working:
            return begun
        end: Json = {key: result[key] for key in ("usage", "_meta") if key in result}
        end["stopReason"] = "error" if error is not None else reason or "end_turn"
        return [*begun, *self._changed("idle", end | ({"error": error} if error else {}))]

    def turned(self, turn: Json) -> list[Json]:
        """Handle the beginning or end of a turn, perhaps another client's."""
        state = lenient.text(turn, "state")
        if state == "idle" and not self._working:
            reason = lenient.text(turn, "stopReason")
            return self._changed("idle", {"stopReason": reason} if reason else {})
        return self._changed("running") if state == "running" else []

    def asking(self, id: Any) -> list[Json]:
        self._asks.add(id)
        begun = [each for one in list(self._prompts) for each in self._insert(one)]
        return [*begun, *self._changed("requires_action")]

    def answered(self, id: Any) -> list[Json]:
        self._asks.discard(id)
        return [] if self._asks or self.state != "requires_action" else self._changed("running")

    def _changed(self, state: str, more: Json | None = None) -> list[Json]:
        if state == self.state or (state == "running" and self._asks):
            return []
        self.state = state
        return [self._state(state, more)]

    def _state(self, state: str, more: Json | None = None) -> Json:
        return _update(self.name, {"sessionUpdate": "state_update", "state": state, **(more or {})})

    # --- updates ----------------------------------------------------------------------------------

    def adapt(self, update: Json) -> list[Json]:
        """Translate an update to the draft's form."""
        kind = update.get("sessionUpdate")
        if kind in CHUNKS:
            return [self._named(update)]
        self._last = "" if kind not in STATES else self._last
        match kind:
            case "tool_call" | "tool_call_update":
                return [{"sessionUpdate": "tool_call_update", **forms.call_2(update)}]
            case "plan":
                plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
                rest = forms.without(update, "entries")
                return [rest | {"sessionUpdate": "plan_update", "plan": plan}]
            case "available_commands_update":
                listed = forms.commands_2(lenient.mappings(update, "availableCommands"))
                return [{**update, "availableCommands": listed}]
            case "config_option_update":
                listed = forms.options_2(lenient.mappings(update, "configOptions"))
                return [{**update, "configOptions": listed}]
            case "current_mode_update":  # the option of that category says it
                return []
        return [update]

    def _named(self, update: Json) -> Json:
        """Add a message id, which every chunk has in the draft: a run of one kind is a message."""
        if lenient.text(update, "messageId"):
            self._last = ""
            return update
        if self._last != update["sessionUpdate"]:
            self._last, self._count = update["sessionUpdate"], self._count + 1
        return {**update, "messageId": f"{self._series}m{self._count}"}
