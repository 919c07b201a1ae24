"""Translates the SDK's events and its models' tokens to ACP's session updates. Events are
recognised by their class's name, so that a new or broken one is shown raw."""

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from rookery.agent.translate import calls, content, rejection, results
from rookery.agent.translate.calls import SUB_AGENT_ID, SUB_AGENTS, Call, real
from rookery.agent.translate.content import chunk, message, thought
from rookery.agent.translate.open_calls import Ids, OpenCalls
from rookery.agent.translate.streams import Stream, pieces, rest_of
from rookery.core.json import Json

NO_NAMES: Mapping[str, str] = MappingProxyType({})


class Translator:
    """One per session, for its replay and for the live events after it. `terminals`, `notices` and
    `compaction` are the client's capabilities; `names`: the model's names of MCP tools, and what
    each stands for; `session`: its id, if its sub-agents can be cancelled."""

    def __init__(
        self,
        cwd: str,
        *,
        terminals: bool = False,
        notices: bool = False,
        compaction: bool = False,
        transcripts: bool = False,
        session: str = "",
        names: Mapping[str, str] = NO_NAMES,
    ) -> None:
        self.cwd = cwd
        self._names = names
        self.notices = notices
        self.compaction = compaction
        self._session = session
        self._transcripts = transcripts
        """The client nests what sub-agents say by itself."""
        self._ids = Ids()
        self._scope = ""
        self._calls = OpenCalls(terminals)
        self._stream = Stream()
        self._done = ""
        """The answer whose event came last."""
        self._journal: dict[str, str] | None = None
        """A sub-agent's words by message, shown in the call that started it."""
        self._news = False
        """Some of those words were not sent yet."""
        self._renderers: dict[str, Callable[[Any, bool], list[Json]]] = {
            "MessageEvent": self._message,
            "ActionEvent": lambda event, _: self._action(event),
            "ObservationEvent": lambda event, _: self._observation(event),
            "UserRejectObservation": lambda event, _: self._refused(event),
            "AgentErrorEvent": lambda event, _: self._failed(event),
            "InterruptEvent": lambda _event, _: self.settle("interrupted"),
            "PauseEvent": lambda event, _: message("The conversation is paused.", event.id),
            "Condensation": lambda event, _: content.condensation(event, self.compaction),
            "HookExecutionEvent": lambda event, past: content.hook(
                event, self.notices and not past
            ),
            "ConversationErrorEvent": lambda event, _: content.error(event),
            "ACPToolCallEvent": lambda event, _: self._foreign_call(event),
        }

    # --- events ---------------------------------------------------------------------------------

    def live(self, event: Any) -> list[Json]:
        """Return the updates of a new event, without the user's own message."""
        return self._safely(event, replay=False)

    def replay(self, event: Any) -> list[Json]:
        """Return the updates of a past event, including the user's messages."""
        return self._safely(event, replay=True)

    def _safely(self, event: Any, *, replay: bool) -> list[Json]:
        try:
            updates = self._of_event(event, replay=replay)
            if self._journal is None:
                return updates
            nested = self._nested(updates)
            return self.parent_updates() + nested
        except Exception:  # noqa: BLE001 - one event that cannot be rendered breaks nothing
            return self._raw(event)

    def _nested(self, updates: list[Json]) -> list[Json]:
        """Return a sub-agent's updates without its plan; its text either with the call that it
        belongs to, or kept for `parent_updates`."""
        assert self._journal is not None
        passed_on: list[Json] = []
        for update in updates:
            kind = update["sessionUpdate"]
            if kind in ("tool_call", "tool_call_update"):
                passed_on.append(update)
            elif kind.startswith("agent_") and self._transcripts:
                passed_on += self._calls.of_parent(update)
            elif kind.startswith("agent_") and update["content"]["type"] == "text":
                message = f"{kind} {update.get('messageId', len(self._journal))}"
                earlier = self._journal.get(message, "")
                self._journal[message] = earlier + update["content"]["text"]
                self._news = True
        return passed_on

    def parent_updates(self) -> list[Json]:
        """Return all that a sub-agent has said, if there is anything new."""
        news, self._news = self._news, False
        return self._calls.tell_parent("\n\n".join((self._journal or {}).values())) if news else []

    def _of_event(self, event: Any, *, replay: bool) -> list[Json]:
        kinds = [kind.__name__ for kind in type(event).__mro__]
        if content.INTERNAL & set(kinds):
            return []
        render = next((self._renderers[kind] for kind in kinds if kind in self._renderers), None)
        return render(event, replay) if render else self._raw(event)

    def child(self, call_id: str, scope: str) -> "Translator":
        """Return a translator for a sub-agent that a call (the model's id) started: its calls are
        shown below that one, its text in it. `scope`: its conversation's id."""
        made = Translator(self.cwd, names=self._names, transcripts=self._transcripts)
        made._ids, made._scope = self._ids, scope
        parent = self._ids.latest(self._scope, call_id)
        made._calls = self._calls.below(parent)
        made._journal = {}
        made._renderers["ConversationErrorEvent"] = lambda *_: []  # its result shows it
        return made

    # --- messages -------------------------------------------------------------------------------

    def _message(self, event: Any, replay: bool) -> list[Json]:
        message = event.llm_message
        if event.source == "user":
            self._stream = Stream()
            if not replay:
                return []
            blocks = content.blocks_of(message.content)
            return [chunk("user_message_chunk", block, event.id) for block in blocks]
        if event.source != "agent":
            return []
        response = event.llm_response_id or event.id
        self._next_answer(response)
        updates = self._reasoning(message, response)
        return updates + self._texts(message.content, response)

    def _next_answer(self, response: str) -> None:
        """Begin another answer: without streaming nothing else ends the one before."""
        if self._done not in ("", response) and self._stream.response in ("", self._done):
            self._stream = Stream()
        self._done, self._stream.is_whole = response, True

    def _reasoning(self, source: Any, response: str) -> list[Json]:
        text = source.reasoning_content or ""
        if not text:
            blocks = getattr(source, "thinking_blocks", None) or []
            text = "\n\n".join(filter(None, (getattr(one, "thinking", "") for one in blocks)))
        if not text and (item := getattr(source, "responses_reasoning_item", None)):
            text = "\n\n".join([*(item.summary or []), *(item.content or [])])
        rest = rest_of(text, self._stream.thought)
        self._stream.thought = text or self._stream.thought
        return thought(rest, f"{response}-thought")

    def _texts(self, parts: Iterable[Any], response: str) -> list[Json]:
        parts = list(parts)
        text = "".join(part.text for part in parts if isinstance(getattr(part, "text", None), str))
        rest = rest_of(text, self._stream.text)
        self._stream.text = text or self._stream.text
        images = [part for part in parts if getattr(part, "image_urls", None)]
        updates = [
            chunk("agent_message_chunk", block, response) for block in content.blocks_of(images)
        ]
        return message(rest, response) + updates

    # --- tool calls -----------------------------------------------------------------------------

    def _action(self, event: Any) -> list[Json]:
        response = event.llm_response_id
        self._next_answer(response)
        updates = self._reasoning(event, response) + self._texts(event.thought, response)
        call = self._call(event)
        name = call.tool
        if name in calls.SPOKEN and event.action is not None:
            text = str(call.arguments.get(calls.SPOKEN[name]) or "")
            rest = rest_of(text, self._stream.said_by(name, event.tool_call_id))
            self._calls.spoken.add(self._id(event))
            speak = thought if name == "think" else message
            updates += speak(rest, event.tool_call_id)
        else:
            updates += self._calls.announce(self._id(event), call, _about(event))
        self._forget_stream(event)
        return updates

    def _forget_stream(self, event: Any) -> None:
        """Forget the stream: only the first event of an answer with several calls has its text."""
        if self._stream.response and self._stream.response != event.llm_response_id:
            self._stream = Stream()

    def _observation(self, event: Any) -> list[Json]:
        name = self._latest(event)
        if name in self._calls.spoken:
            return []
        result = results.of_observation(event.observation, self.cwd)
        updates = self._calls.end(name, result, event.tool_name, self.cwd)
        entries = results.plan_of(event.observation)
        plan = [] if entries is None else [{"sessionUpdate": "plan", "entries": entries}]
        return updates + plan

    def _failed(self, event: Any) -> list[Json]:
        return self._end(event, "failed", [content.shown(event.error)])

    def _refused(self, event: Any) -> list[Json]:
        by_hook = event.rejection_source == "hook"
        text = rejection.for_user(event.rejection_reason, by_hook=by_hook)
        return self._end(event, "failed", [content.shown(text)])

    def _end(self, event: Any, status: str, shown: list[Json]) -> list[Json]:
        name = self._latest(event)
        if name in self._calls.spoken:
            return []
        return self._calls.end(name, results.Result(status, shown, {}), event.tool_name, self.cwd)

    def _foreign_call(self, event: Any) -> list[Json]:
        status = event.status if event.status in {"completed", "failed"} else "in_progress"
        call = Call(event.title, event.raw_input if isinstance(event.raw_input, dict) else {}, "/")
        updates = self._calls.announce(event.tool_call_id, call, {})
        if status == "in_progress":
            return updates + self._calls.start(event.tool_call_id)
        result = results.Result(status, [], {"output": content.dump(event.raw_output)})
        return updates + self._calls.end(event.tool_call_id, result, event.title, self.cwd)

    def started(self, event: Any) -> list[Json]:
        """Return the updates of an ActionEvent that starts running."""
        cancels = self._session and event.tool_name in SUB_AGENTS
        child = f"{self._session}{SUB_AGENT_ID}{event.id}" if cancels else ""
        return self._calls.start(self._id(event), child)

    def permission(self, event: Any) -> Json:
        """Return the `toolCall` of a permission request."""
        name, call = self._id(event), self._call(event)
        return self._calls.describe(name, call, _about(event)) | {"status": "pending"}

    def places(self, event: Any) -> list[str]:
        """Return the paths that an action names."""
        return [place["path"] for place in self._call(event).locations()]

    def output(self, call_id: str, text: str) -> list[Json]:
        """Return the updates for a running command's output. `call_id` is the model's."""
        return self._calls.printed(self._ids.latest(self._scope, call_id), text)

    def ended(self, call_id: str, status: str, text: str = "") -> list[Json]:
        """End a call that has no observation. `call_id` is the model's."""
        shown = [content.shown(text)] if text else []
        result = results.Result(status, shown, {})
        return self._calls.end(self._ids.latest(self._scope, call_id), result, call_id, self.cwd)

    def settle(self, reason: str, keep: Iterable[str] = ()) -> list[Json]:
        """End every open call except `keep` (the model's ids), which waits for an answer."""
        self._stream = Stream()
        kept = {self._ids.latest(self._scope, call) for call in keep}
        return self._calls.settle(reason, kept)

    def _call(self, event: Any) -> Call:
        return real(calls.of_event(event, self.cwd), self._names)

    def _id(self, event: Any) -> str:
        return self._ids.of_call(self._scope, event.llm_response_id, event.tool_call_id)

    def _latest(self, event: Any) -> str:
        return self._ids.latest(self._scope, event.tool_call_id)

    # --- tokens ---------------------------------------------------------------------------------

    def delta(self, part: Any) -> list[Json]:
        """Return the updates of a chunk of the model's stream."""
        parts = pieces(part)
        if not parts:
            return []
        response = getattr(part, "id", None) or self._stream.response or "stream"
        updates: list[Json] = []
        if response != self._stream.response:
            updates += self._begin(response)
        for kind, piece in parts:
            updates += self._piece(kind, piece)
        return updates if self._journal is None else self._nested(updates)

    def _begin(self, response: str) -> list[Json]:
        """Begin another answer. Calls of the one before that were never made end."""
        begun = [call.id for call in self._stream.calls.values() if call.id]
        before, is_void = self._stream.response, not self._stream.is_whole
        unmade = [self._ids.of_call(self._scope, before, one) for one in begun]
        void: list[Json] = []
        if self._journal is not None and is_void:  # a sub-agent's answer was cut off
            void = self._void() if self._transcripts else []
            for half in (f"agent_message_chunk {before}", f"agent_thought_chunk {before}-thought"):
                self._journal.pop(half, None)
        self._stream = Stream(response)
        return void + self._calls.drop_unmade(unmade)

    def take_back(self) -> list[Json]:
        """Withdraw what was sent of an answer that broke off and is asked for again."""
        if self._stream.is_whole:  # another model is asked again
            return []
        void = self._void()
        return self._begin("") + void

    def _void(self) -> list[Json]:
        stream = self._stream
        meta = {"_meta": {"rookery": {"takenBack": True}}}  # an empty chunk voids the others
        void: list[Json] = []
        empty, thoughts = content.text_block(""), f"{stream.response}-thought"
        if stream.text:
            void.append(chunk("agent_message_chunk", empty, stream.response) | meta)
        if stream.thought:
            void.append(chunk("agent_thought_chunk", empty, thoughts) | meta)
        return void

    def _piece(self, kind: str, piece: Any) -> list[Json]:
        stream = self._stream
        if kind == "text":
            return message(stream.say(piece), stream.response)
        if kind == "thought":
            return thought(stream.think(piece), f"{stream.response}-thought")
        return self._call_piece(piece)

    def _call_piece(self, fragment: Any) -> list[Json]:
        call = self._stream.call(fragment)
        if not call.id or not call.name:
            return []
        whole = call.arguments.feed(call.raw)
        call.raw = ""
        if (spoken := calls.SPOKEN.get(call.name)) and call.name not in self._names:
            text = call.arguments.news(spoken)
            call.text += text
            return (thought if call.name == "think" else message)(text, call.id)
        sent = Call(call.name, dict(call.arguments.whole), self.cwd, whole=False)
        known = real(sent, self._names)
        if not whole or not calls.ready(known):
            return []
        name = self._ids.of_call(self._scope, self._stream.response, call.id)
        return self._calls.announce(name, known, {}, made=False)

    # --- the rest -------------------------------------------------------------------------------

    def usage(
        self,
        used: int,
        size: int,
        cost: float | None = None,
        spent: int = 0,
        model: str = "",
        limits: list[Json] | None = None,
    ) -> list[Json]:
        """Return the usage: the tokens in the context, its size, the session's cost so far in
        dollars, the tokens that this turn has used, the model that answered, if not the session's
        own, and the quotas of its provider."""
        update: Json = {"sessionUpdate": "usage_update", "used": max(0, used), "size": max(0, size)}
        if cost is not None:
            update["cost"] = {"amount": cost, "currency": "USD"}
        meta: Json = {"turnTokens": spent} if spent > 0 else {}
        meta |= {"limits": limits} if limits else {}
        if meta := meta | ({"model": model} if model else {}):
            update["_meta"] = {"rookery": meta}
        return [update]

    def notice(self, text: str, severity: str = "info") -> list[Json]:
        """Return a notice for the user, which the model does not see."""
        return content.notice(text, severity, self.notices)

    def _raw(self, event: Any) -> list[Json]:
        dumped = content.dump(event)
        text = content.shortened(
            json.dumps(dumped, indent=1, default=str, ensure_ascii=False), 8_000
        )
        block = content.fenced(f"{type(event).__name__}\n{text}", "json")["content"]
        name = getattr(event, "id", None)
        updates = [chunk("agent_thought_chunk", block, name if isinstance(name, str) else "")]
        call = getattr(event, "tool_call_id", None)
        if isinstance(call, str) and self._calls.is_open(self._ids.latest(self._scope, call)):
            updates += self.ended(call, "completed")
        return updates


def _about(event: Any) -> Json:
    """Return what the model itself states about its call."""
    about: Json = {}
    risk = getattr(getattr(event, "security_risk", None), "value", None)
    if isinstance(risk, str) and risk != "UNKNOWN":
        about["risk"] = risk
    summary = getattr(event, "summary", None)
    # Where the model gave none, the SDK writes the tool's name and the arguments.
    if isinstance(summary, str) and summary and not summary.startswith(f"{event.tool_name}: {{"):
        about["summary"] = summary
    return about
