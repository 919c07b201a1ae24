"""Thin translator."""

from typing import Any
from openhands.sdk.event import (
    ActionEvent,
    MessageEvent,
    ObservationEvent,
    AgentErrorEvent,
    UserRejectObservation,
)

type Json = dict[str, Any]


def text(kind, t):
    return {"sessionUpdate": kind, "content": {"type": "text", "text": t}}


class Translator:
    def __init__(self, cwd):
        self.cwd = cwd
        self._streamed = False

    def delta(self, chunk):
        out = []
        for c in chunk.choices or []:
            d = c.delta
            r = getattr(d, "reasoning_content", None)
            if r:
                out.append(text("agent_thought_chunk", r))
            if d and d.content:
                out.append(text("agent_message_chunk", d.content))
                self._streamed = True
        return out

    def live(self, e):
        return self._t(e, False)

    def replay(self, e):
        return self._t(e, True)

    def _t(self, e, replay):
        if isinstance(e, MessageEvent):
            t = "".join(c.text for c in e.llm_message.content if hasattr(c, "text"))
            if e.source == "user":
                return [text("user_message_chunk", t)] if replay else []
            s, self._streamed = self._streamed, False
            return [] if (s and not replay) or not t else [text("agent_message_chunk", t)]
        if isinstance(e, ActionEvent):
            self._streamed = False
            if e.tool_name in ("finish", "think"):
                m = getattr(e.action, "message", None) or getattr(e.action, "thought", "")
                return [
                    text(
                        "agent_message_chunk" if e.tool_name == "finish" else "agent_thought_chunk",
                        m,
                    )
                ]
            return [
                {
                    "sessionUpdate": "tool_call",
                    "toolCallId": e.tool_call_id,
                    "title": e.summary or e.tool_name,
                    "kind": "execute" if e.tool_name == "terminal" else "other",
                    "status": "pending",
                    "rawInput": e.action.model_dump(mode="json", exclude={"kind"})
                    if e.action
                    else {},
                }
            ]
        if isinstance(e, ObservationEvent):
            if e.tool_name in ("finish", "think"):
                return []
            t = "".join(c.text for c in e.observation.to_llm_content if hasattr(c, "text"))
            return [
                {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": e.tool_call_id,
                    "status": "failed" if e.observation.is_error else "completed",
                    "content": [{"type": "content", "content": {"type": "text", "text": t}}],
                }
            ]
        if isinstance(e, (AgentErrorEvent,)):
            return self.ended(e.tool_call_id, "failed", e.error)
        if isinstance(e, UserRejectObservation):
            return self.ended(e.tool_call_id, "failed", e.rejection_reason)
        return []

    def permission(self, e):
        return {
            "toolCallId": e.tool_call_id,
            "title": e.summary or e.tool_name,
            "kind": "execute",
            "status": "pending",
            "rawInput": e.action.model_dump(mode="json", exclude={"kind"}),
        }

    def started(self, e):
        if e.tool_name in ("finish", "think"):
            return []
        return [
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": e.tool_call_id,
                "status": "in_progress",
            }
        ]

    def ended(self, id, status, t):
        return [
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": id,
                "status": status,
                "content": [{"type": "content", "content": {"type": "text", "text": t}}],
            }
        ]

    def output(self, id, t):
        return []
