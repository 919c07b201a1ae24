"""One session of an agent that speaks draft 2, translated to version 1.

The draft answers a prompt once it is part of the conversation, and signals the end of the
work by the session's state. In version 1 the answer is the end, so it is given then:

    sent ──► answered (`messageId`) ──► works (`running`, `requires_action`)
         ──► `idle`: the answer

`idle` is a snapshot, which may come again at any time. It ends a prompt only if work
was seen since the prompt was sent, and once the prompt has its answer; one that comes
before the answer is kept for it. An agent that never says `running` may end a prompt by
an `idle` with a stop reason. For a prompt that never ends there are the turn's
watchdogs, as in version 1."""

import codecs
from base64 import b64decode
from typing import Any

from rookery.core.json import lenient
from rookery.wire.draft import forms
from rookery.wire.failures import INTERNAL_ERROR, REQUEST_CANCELLED

type Json = dict[str, Any]

MESSAGES = {f"{who}_message": f"{who}_message_chunk" for who in ("user", "agent")}
MESSAGES["agent_thought"] = "agent_thought_chunk"
CHUNKS = frozenset(MESSAGES.values())

LONGEST_KEPT = 1_000_000
"""Characters of a terminal's output that are kept until a call shows it."""


class AgentSession:
    def __init__(self) -> None:
        self.mode = "mode"
        """The option that stands for the mode."""
        self.cancelled = False
        self._prompt: Any = None
        """The id of our open prompt."""
        self._answer: Json | None = None
        self._worked = False
        """Since the prompt was sent."""
        self._says_running = False
        self._end: Json | None = None
        """An `idle` that came before the prompt's answer."""
        self._texts: dict[str, str] = {}
        """What messages of this turn have said, by kind and id."""
        self._calls: dict[str, list[Json]] = {}
        """The content of calls, by id."""
        self._terminals: dict[str, Json] = {}
        """What is known of terminals that no call has shown yet."""
        self._shown: dict[str, str] = {}
        """The call that shows a terminal."""
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        """Of terminals: a character may come in two pieces."""

    def learn(self, options: list[Json]) -> None:
        for option in options:
            if option.get("category") == "mode":
                self.mode = lenient.text(option, "id") or self.mode

    # --- the prompt -------------------------------------------------------------------------------

    def prompted(self, id: Any) -> None:
        self._prompt, self._answer, self._end = id, None, None
        self._worked = self.cancelled = False
        self._texts.clear()
        self._decoders.clear()
        self._calls = {name: [] for name in self._calls}

    def accepted(self, message: Json) -> list[Json]:
        """Handle the agent's answer to the prompt."""
        if message.get("id") != self._prompt:
            return [message]
        result = message.get("result")
        if isinstance(result, dict) and "stopReason" not in result:
            self._answer = message
            return [] if self._end is None else self._over(self._end)
        self._prompt = None
        if self.cancelled and lenient.mapping(message, "error").get("code") == REQUEST_CANCELLED:
            return [_stopped(message, {"stopReason": "cancelled"})]
        return [message]

    def changed(self, update: Json) -> list[Json]:
        """Handle a change of the session's state."""
        if update.get("state") != "idle":
            self._worked, self._end = True, None
            self._says_running = self._says_running or update.get("state") == "running"
            return []
        if self._prompt is None:
            return []
        if self._answer is None:
            self._end = update if self._worked else None
            return []
        reason = isinstance(update.get("stopReason"), str) and not self._says_running
        return self._over(update) if self._worked or reason else []

    def _over(self, idle: Json) -> list[Json]:
        answer, self._prompt, self._answer = self._answer, None, None
        assert answer is not None
        return [_stopped(answer, idle)]

    # --- updates ----------------------------------------------------------------------------------

    def adapt(self, update: Json) -> list[Json]:
        """Translate an update to those of version 1."""
        kind = update.get("sessionUpdate")
        if kind in MESSAGES and "content" in update:
            return self._message(update, MESSAGES[kind])
        if kind in CHUNKS:
            key = f"{kind}/{lenient.text(update, 'messageId')}"
            text = lenient.text(lenient.mapping(update, "content"), "text")
            self._texts[key] = self._texts.get(key, "") + text
            return [update]
        match kind:
            case "user_message" | "agent_message" | "agent_thought":  # it only begins
                return []
            case "tool_call_update":
                return self._call(forms.call_1(update))
            case "tool_call_content_chunk":
                name = lenient.text(update, "toolCallId")
                content = self._calls.get(name, []) + forms.part_1(update.get("content"))
                return self._call({**_called(name), "content": content})
            case "terminal_update" | "terminal_output_chunk":
                return self._terminal(update)
            case "available_commands_update":
                listed = forms.commands_1(lenient.mappings(update, "availableCommands"))
                return [{**update, "availableCommands": listed}]
            case "config_option_update":
                listed = forms.options_1(lenient.mappings(update, "configOptions"))
                self.learn(listed)
                return [{**update, "configOptions": listed}]
        return [update]

    def _message(self, update: Json, kind: str) -> list[Json]:
        """Translate a whole message to its text beyond what was sent before. If it differs from the
        text before, it becomes another message, since version 1 takes nothing back."""
        name = lenient.text(update, "messageId")
        blocks = list(lenient.mappings(update, "content"))
        whole = "".join(lenient.text(block, "text") for block in blocks)
        known = self._texts.get(f"{kind}/{name}", "")
        if known and whole.startswith(known):
            rest = whole[len(known) :]
            blocks = [{"type": "text", "text": rest}] if rest else []
        elif known and blocks:
            name = f"{name}#{len(self._texts)}"
        self._texts[f"{kind}/{name}"] = whole or known
        chunk = forms.without(update, "content") | {"sessionUpdate": kind, "messageId": name}
        return [{**chunk, "content": block} for block in blocks]

    def _call(self, call: Json) -> list[Json]:
        name = lenient.text(call, "toolCallId")
        if name not in self._calls:
            call = {"title": lenient.text(call, "name") or "Tool", **call}
            call["sessionUpdate"] = "tool_call"
        content = call.get("content")
        self._calls[name] = content if isinstance(content, list) else self._calls.get(name, [])
        updates = [call]
        for part in lenient.mappings(call, "content"):
            terminal = lenient.text(part, "terminalId")
            if part.get("type") == "terminal" and terminal and terminal not in self._shown:
                self._shown[terminal] = name
                updates += self._news(terminal, self._terminals.pop(terminal, {}))
        return updates

    # --- terminals --------------------------------------------------------------------------------

    def _terminal(self, update: Json) -> list[Json]:
        """Translate an agent's own terminal: version 1 has them in `_meta` of the call that shows
        them. One that no call shows gets a call of its own, once it has output."""
        name = lenient.text(update, "terminalId")
        known = self._terminals.setdefault(name, {}) if name not in self._shown else {}
        for key in ("command", "cwd", "exitStatus"):
            if isinstance(update.get(key), str | dict):
                known[key] = update[key]
        decoder = self._decoders.setdefault(name, codecs.getincrementaldecoder("utf-8")("replace"))
        piece = decoder.decode(_bytes(update))
        whole = _bytes(lenient.mapping(update, "output")).decode("utf-8", "replace")
        text_key = f"{name}/output"
        if whole:  # a snapshot: what is new in it
            before = self._texts.get(text_key, "")
            piece = whole[len(before) :] if whole.startswith(before) else whole
        self._texts[text_key] = (self._texts.get(text_key, "") + piece)[-LONGEST_KEPT:]
        known["output"] = (known.get("output", "") + piece)[-LONGEST_KEPT:]
        if name in self._shown:
            return self._news(name, known)
        if not known["output"] and "exitStatus" not in known:
            return []
        part = {"type": "terminal", "terminalId": name}
        title = known.get("command") or "Terminal"
        call = {**_called(name), "kind": "execute", "title": title, "status": "in_progress"}
        return self._call({**call, "content": [part]})

    def _news(self, name: str, known: Json) -> list[Json]:
        about: Json = {"terminal_id": name}
        meta: Json = {}
        if known.get("cwd"):
            meta["terminal_info"] = about | {"cwd": known["cwd"]}
        if known.get("output"):
            meta["terminal_output"] = about | {"data": known["output"]}
        if isinstance(ended := known.get("exitStatus"), dict):
            end = {"exit_code": ended.get("exitCode"), "signal": ended.get("signal")}
            meta["terminal_exit"] = about | end
        return [{**_called(self._shown[name]), "_meta": meta}] if meta else []


def _called(name: str) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name}


def _bytes(given: Json) -> bytes:
    try:
        return b64decode(lenient.text(given, "data"))
    except ValueError:
        return b""


def _stopped(answer: Json, idle: Json) -> Json:
    """Return the answer to a prompt whose work has ended."""
    about: Json = {"jsonrpc": "2.0", "id": answer["id"]}
    reason = idle.get("stopReason")
    error = idle.get("error")
    if reason == "error":
        failed = {"code": INTERNAL_ERROR, "message": "The agent's work failed"}
        return {**about, "error": {**failed, **(error if isinstance(error, dict) else {})}}
    result: Json = {"stopReason": reason if isinstance(reason, str) else "end_turn"}
    for key in ("usage", "_meta"):
        if isinstance(idle.get(key), dict):
            result[key] = idle[key]
    return {**about, "result": result}
