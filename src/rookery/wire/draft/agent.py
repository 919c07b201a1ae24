"""The dialect for an agent that speaks draft 2, behind our client of version 1: requests, responses
and version negotiation. `agent_session` translates the updates of its sessions."""

from collections.abc import Iterable
from typing import Any

from rookery.core.json import lenient
from rookery.wire.dialect import DRAFT, INITIALIZE, Dialect, is_draft
from rookery.wire.draft import forms
from rookery.wire.draft.agent_session import AgentSession
from rookery.wire.failures import INTERNAL_ERROR

type Json = dict[str, Any]

OPENS = ("session/new", "session/load", "session/resume", "session/fork")
METHODS = {"session/load": "session/resume", "authenticate": "auth/login", "logout": "auth/logout"}
METHODS["session/set_mode"] = "session/set_config_option"
MOST_SESSIONS = 1000
"""That are remembered: an agent may name any number."""


class DraftAgent(Dialect):
    def __init__(self, refusal: Json) -> None:
        """`refusal`: the agent's response to `initialize` of version 1."""
        self._refusal = refusal
        self._asked: dict[Any, tuple[str, Json]] = {}
        """Our open requests by id: in the words of version 1."""
        self._sessions: dict[str, AgentSession] = {}
        self._transports: Json = {}
        """Of MCP servers, as it says it takes them."""

    def _session(self, params: object) -> AgentSession:
        name = lenient.text(params, "sessionId")
        if name not in self._sessions and len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return self._sessions.setdefault(name, AgentSession())

    # --- to the agent -----------------------------------------------------------------------------

    def outgoing(self, message: Json) -> Iterable[Json]:
        method = message.get("method")
        if not isinstance(method, str):
            return [message]
        given = message.get("params")
        params: Json = given if isinstance(given, dict) else {}
        if method == "session/cancel":
            self._session(params).cancelled = True
        if "id" not in message:
            return [message]
        self._asked[message["id"]] = (method, params)
        if method == "session/prompt":
            self._session(params).prompted(message["id"])
        params = self._params(method, params)
        return [{**message, "method": METHODS.get(method, method), "params": params}]

    def _params(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                return forms.client_2(params)
            case "session/load":
                return forms.servers_2(params, self._transports) | {"replayFrom": {"type": "start"}}
            case "session/new" | "session/resume" | "session/fork":
                return forms.servers_2(params, self._transports)
            case "session/set_mode":
                about = forms.without(params, "modeId")
                mode = self._session(params).mode
                return about | {"configId": mode, "type": "id", "value": params.get("modeId")}
            case "session/set_config_option":
                kind = "boolean" if isinstance(params.get("value"), bool) else "id"
                return {**params, "type": kind}
        return params

    # --- from the agent ---------------------------------------------------------------------------

    def incoming(self, message: Json) -> Iterable[Json]:
        method, params = message.get("method"), message.get("params")
        if method == "session/request_permission" and "id" in message:
            return [{**message, "params": _permission(params, message["id"])}]
        if method == "session/update" and isinstance(params, dict):
            update = params.get("update")
            if not isinstance(update, dict):
                return [message]
            return self._updated(message, params, update)
        asked = self._asked.pop(message.get("id"), None) if _is_answer(message) else None
        return [message] if asked is None else self._answered(message, *asked)

    def _updated(self, message: Json, params: Json, update: Json) -> list[Json]:
        session = self._session(params)
        if update.get("sessionUpdate") == "state_update":
            return session.changed(update)
        return [{**message, "params": {**params, "update": each}} for each in session.adapt(update)]

    def _answered(self, message: Json, method: str, params: Json) -> list[Json]:
        result = message.get("result")
        if method == INITIALIZE:
            return self._greeted(message)
        if method == "session/prompt":
            return self._session(params).accepted(message)
        if not isinstance(result, dict):
            return [message]
        more: list[Json] = []
        if isinstance(result.get("configOptions"), list):
            listed = forms.options_1(lenient.mappings(result, "configOptions"))
            result = {**result, "configOptions": listed}
            name = {"sessionId": lenient.text(result, "sessionId"), **params}
            self._session(name).learn(listed)
            if method == "session/set_mode":
                more = [_update(params, {**_OPTIONS, "configOptions": listed})]
        if method in OPENS and isinstance(result.get("availableCommands"), list):
            listed = forms.commands_1(lenient.mappings(result, "availableCommands"))
            about = {**params, **result}
            more.append(_update(about, {**_COMMANDS, "availableCommands": listed}))
            result = forms.without(result, "availableCommands")
        return [{**message, "result": result}, *more]

    def _greeted(self, message: Json) -> list[Json]:
        first = self._refusal.get("result")
        result = message.get("result")
        if not isinstance(result, dict):  # it was asked twice, or has neither version
            result = first
        if not isinstance(result, dict):
            return [_in_words(self._refusal) or self._refusal]
        if not is_draft(result):  # it speaks 1 after all
            self.speak(None)
            return [message]
        version = result.get("protocolVersion")
        if type(version) is not int or version != DRAFT:
            return [_failed(message["id"], f"it speaks {_named(version)}; {_OURS}")]
        session = lenient.mapping(result["capabilities"], "session")
        self._transports = lenient.mapping(session, "mcp")
        return [{"jsonrpc": "2.0", "id": message["id"], "result": forms.agent_1(result)}]


_OURS = "Rookery speaks version 1 of the protocol, and draft 2"
_OPTIONS: Json = {"sessionUpdate": "config_option_update"}
_COMMANDS: Json = {"sessionUpdate": "available_commands_update"}


def _named(version: object) -> str:
    return f"version {lenient.as_text(version)[:40]}"


def _in_words(refusal: Json) -> Json | None:
    """Return an error that names the versions the agent says it speaks; None if it does not say."""
    error = lenient.mapping(refusal, "error")
    listed = lenient.sequence(lenient.mapping(error, "data"), "supported")
    if not listed:
        return None
    spoken = ", ".join(map(_named, listed[:10]))
    return _failed(refusal.get("id"), f"it speaks {spoken}; {_OURS}")


def _failed(id: object, message: str) -> Json:
    error = {"code": INTERNAL_ERROR, "message": message}
    return {"jsonrpc": "2.0", "id": id, "error": error}


def _is_answer(message: Json) -> bool:
    return "method" not in message and isinstance(message.get("id"), int | str)


def _update(params: Json, update: Json) -> Json:
    about = {"sessionId": lenient.text(params, "sessionId"), "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": about}


def _permission(params: object, id: object) -> object:
    """Translate a permission request; in version 1 it is always for a tool call."""
    if not isinstance(params, dict) or "toolCall" in params:
        return params
    subject = lenient.mapping(params, "subject")
    call: Json = {"toolCallId": f"permission-{id}"}
    match subject.get("type"):
        case "tool_call" if given := lenient.mapping(subject, "toolCall"):
            call |= forms.call_1(given)
        case "command":
            run = {key: subject[key] for key in ("command", "cwd") if key in subject}
            call |= {"kind": "execute", "title": run.get("command"), "rawInput": run}
            if name := lenient.text(subject, "toolCallId"):
                call["toolCallId"] = name
        case _ if subject:
            call["rawInput"] = subject
    texts = [lenient.text(params, key) for key in ("title", "description")]
    call["title"] = lenient.text(call, "title") or texts[0]
    if shown := "\n\n".join(each for each in texts if each and each != call["title"]):
        text = {"type": "content", "content": {"type": "text", "text": shown}}
        call["content"] = [*lenient.sequence(call, "content"), text]
    return forms.without(params, "title", "description", "subject") | {"toolCall": call}
