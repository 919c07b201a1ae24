"""Sub-agents for an editor: as sessions of their own if it supports them, else as a tool call that
shows what they say and do."""

from typing import Any

from rookery.acp.bridge.updates import shapes
from rookery.core.agent import children
from rookery.core.agent.chunks import CHILD, CHUNK_KINDS
from rookery.core.agent.prompt import words_of
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.tools.calls import key_of

STATUS = {"running": "in_progress", "done": "completed"}
LINES = 60
MAX_CALL_TEXT = 8_000
"""Characters that a call shows: the end of the text."""
SIGNS = {"completed": "✓", "failed": "✗"}


class Children:
    """The sub-agents of one session. `sessions`: the editor supports sub-agents; `flat`: it
    supports updates that belong to a call."""

    def __init__(self, *, sessions: bool, flat: bool) -> None:
        self.sessions = sessions
        self._flat = flat
        self._announced: set[tuple[str, str]] = set()
        self._lines: dict[str, list[str]] = {}
        self._sent: dict[str, Json] = {}

    def take(self, header: Header, event: Event) -> list[Json]:
        """Return the updates of an event. Those under a session other than the editor's own name
        that session, as `_child`."""
        update = event.update
        own = kind_of(update) != CHILD
        inner = update if own else lenient.mapping(update, "update")
        if lenient.text(update, "call"):
            return shapes.chunk(inner) if self._flat else []
        if not self.sessions:
            return self._as_call(header, update, inner)
        at = "" if own else children.key_of(update)
        updates = self._passed(inner, at, header)
        return updates if own else [{**update, "update": each} for each in updates]

    # --- sessions of their own -------------------------------------------------------------------

    def _passed(self, update: Json, at: str, header: Header) -> list[Json]:
        match kind := kind_of(update):
            case _ if kind in CHUNK_KINDS:
                return shapes.chunk(update)
            case "tool_call" | "tool_call_update":
                return [self._call(update, at, header.cwd)]
            case "plan":
                return [shapes.plan(update)]
            case "subagent_update":
                known = ("sessionUpdate", "sessionId", "title", "description", "state")
                fields = {key: update[key] for key in known if key in update}
                return [fields] if isinstance(fields.get("sessionId"), str) else []
            case "session_message" | "session_message_chunk":
                return self._message(update, header)
        return []

    def _call(self, update: Json, at: str, cwd: str) -> Json:
        key = (at, key_of(update))
        fresh = key not in self._announced
        self._announced.add(key)
        fields = shapes.call(update, cwd, lambda _: None)
        fields = {"title": key[1] or "Tool", **fields} if fresh else fields
        kind = "tool_call" if fresh else "tool_call_update"
        return {"sessionUpdate": kind, "toolCallId": key[1], **fields}

    def _message(self, update: Json, header: Header) -> list[Json]:
        root = lenient.text(header.agent_session, "id")
        fields: Json = {"sessionUpdate": update["sessionUpdate"]}
        for key in ("messageId", "senderMessageId", "recipientMessageId"):
            fields |= {key: update[key]} if isinstance(update.get(key), str) else {}
        for key in ("senderSessionId", "recipientSessionId"):
            if isinstance(name := update.get(key), str):
                fields[key] = header.id if name == root else name
        content: Any = update.get("content")
        if isinstance(content, dict):
            fields["content"] = shapes.block(content)
        elif isinstance(content, list):
            fields["content"] = [shapes.block(each) for each in lenient.mappings(update, "content")]
        return [fields] if "messageId" in fields else []

    # --- a call ----------------------------------------------------------------------------------

    def _as_call(self, header: Header, update: Json, inner: Json) -> list[Json]:
        """Return the updates of the call that stands for a sub-agent. It is updated when a part is
        complete, not with each word."""
        key = children.key_of(update)
        if kind_of(inner) == "subagent_update":
            key = lenient.text(inner, "sessionId")[: children.LONGEST_KEY]
        elif kind_of(update) != CHILD:
            key, name = children.owner_of(header, inner, "")
            text = words_of(lenient.sequence(inner, "content"))
            shown = children.messages(header).get(children.message_key(inner, ""), [""])
            if name == "Task" and text and shown != [""]:
                self._note(key, [text, ""])
        child = children.known(header).get(key)
        if child is None:
            return []
        if kind_of(update) == CHILD and not self._hear(key, child, inner):
            return []
        return self._news(key, child)

    def _hear(self, key: str, child: Json, inner: Json) -> bool:
        """Note what a sub-agent says and does; return whether there is something complete to
        show."""
        match kind_of(inner):
            case "agent_message_chunk":
                text = words_of([inner.get("content")])
                lines = self._lines.setdefault(key, [""])
                more = (lines.pop() + text).split("\n")
                self._note(key, more)
                return False
            case "tool_call" | "tool_call_update":
                status = lenient.text(inner, "status")
                title = lenient.text(inner, "title")
                if kind_of(inner) == "tool_call" and title:
                    self._note(key, ["", f"→ {title}", ""])
                elif status in SIGNS:
                    self._note(key, ["", f"{SIGNS[status]} {title or 'done'}", ""])
                return bool(title or status in SIGNS)
        return bool(child["status"] != "running")

    def _note(self, key: str, lines: list[str]) -> None:
        self._lines[key] = [*self._lines.get(key, []), *lines][-LINES:]

    def _news(self, key: str, child: Json) -> list[Json]:
        status = STATUS.get(child["status"], "failed")
        fields: Json = {"title": children.title_of(child)}
        fields |= {"status": status, "content": []}
        if text := "\n".join(self._lines.get(key, [])).strip()[-MAX_CALL_TEXT:]:
            fields["content"] = [{"type": "content", "content": {"type": "text", "text": text}}]
        before = self._sent.get(key)
        if before == fields:
            return []
        self._sent[key] = fields
        news = {name: value for name, value in fields.items() if (before or {}).get(name) != value}
        kind = "tool_call_update" if before else "tool_call"
        news = news if before else {"kind": "other", **news}
        return [{"sessionUpdate": kind, "toolCallId": call_id(key), **news}]

    def over(self, header: Header) -> list[Json]:
        """Return the last updates of all calls: a turn has ended, so no sub-agent goes on."""
        if self.sessions:
            return []
        known = children.known(header)
        return [
            news for key in [*self._sent] if key in known for news in self._news(key, known[key])
        ]


def addressed(session: str, update: Json) -> Json:
    """Return the parameters of `session/update`."""
    if update["sessionUpdate"] == CHILD:
        return {"sessionId": update["session"], "update": update["update"]}
    return {"sessionId": session, "update": update}


def call_id(key: str) -> str:
    """Return the id of the call that stands for a sub-agent."""
    return f"subagent:{key}"
