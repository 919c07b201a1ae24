"""Logs as tests write them, and the document that every look makes of them."""

import copy
from collections.abc import Iterable
from typing import Any

from rookery.core.blocks.document import OP_BYTES, Document, Op, size_of
from rookery.core.header import Header
from rookery.core.json.events import Event, dumps, kind_of, loads
from rookery.core.policy.rule_choices import choices
from rookery.core.policy.rules import Call, Rule
from rookery.core.view.reduce import fold, reduce

type Json = dict[str, Any]


def update(kind: str, /, **fields: Any) -> Json:
    return {"sessionUpdate": kind, **fields}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def message(words: str, kind: str = "agent_message_chunk", **fields: Any) -> Json:
    return update(kind, content=text(words), **fields)


def call(name: object, /, **fields: Any) -> Json:
    return update("tool_call", toolCallId=name, **fields)


def news(name: object, /, **fields: Any) -> Json:
    return update("tool_call_update", toolCallId=name, **fields)


def prompt(words: str = "go", **fields: Any) -> Json:
    return update("_prompt", prompt=[text(words)], **fields)


def running() -> Json:
    return update("_turn", state="running")


def idle(reason: str = "end_turn", **fields: Any) -> Json:
    return update("_turn", state="idle", reason=reason, **fields)


def asked(name: str = "a1", **fields: Any) -> Json:
    return update("_ask", id=name, state="asked", nonce="n1", kind="permission", **fields)


def log(*updates: Json, first: int = 1, by: str | None = None) -> list[Event]:
    """One event a second."""
    return [Event(seq, seq * 1000, None, by, each) for seq, each in enumerate(updates, first)]


def play(*updates: Json) -> Document:
    return watch(log(*updates))


def watch(events: Iterable[Event]) -> Document:
    """The document of a log, after checking on the way what must be true of every event's ops."""
    document, client = Document(), Document()
    for event in events:
        before = copy.deepcopy(event.update)
        ops = reduce(document, event)
        assert event.update == before, "reduce changed the event"
        client.apply(through_a_wire(ops))
    assert client.blocks == document.blocks
    assert client.to_json() == document.to_json()
    assert client.late == document.late == {}
    return document


def through_a_wire(ops: list[Op]) -> list[Op]:
    """What a client gets: each op is small, and the same after a trip as JSON."""
    for op in ops:
        assert size_of(op) <= OP_BYTES, f"{op[0]} of {size_of(op)} bytes"
    told = loads(dumps(ops))
    assert told == ops
    return told


def pages(events: list[Event]) -> list[Document]:
    """One document a turn, as a reader of the log makes them: the header before it is carried."""
    stretches: list[list[Event]] = [[]]
    for event in events:
        opens = kind_of(event.update) == "_prompt" and event.update.get("steered") is not True
        if opens:
            stretches.append([])
        stretches[-1].append(event)
    found, header = [], Document().header
    for stretch in stretches:
        # A header is stored between two turns: it must survive that.
        page = fold(Header(loads(dumps(header.raw))), stretch)
        header = page.header
        found.append(page)
    return found


def blocks(document: Document, role: str | None = None) -> list[Json]:
    return [block for block in document.blocks.values() if role in (None, block["role"])]


def only(document: Document, role: str) -> Json:
    [block] = blocks(document, role)
    return block


def look(document: Document) -> list[tuple[str, str]]:
    return [(block["role"], block["title"] or block["text"]) for block in blocks(document)]


ACP_UPDATES = {
    "user_message_chunk": {"content": text("x")},
    "agent_message_chunk": {"content": text("x")},
    "agent_thought_chunk": {"content": text("x")},
    "tool_call": {"toolCallId": "t", "title": "x"},
    "tool_call_update": {"toolCallId": "t"},
    "plan": {"entries": [{"content": "x", "priority": "high", "status": "pending"}]},
    "plan_update": {"plan": {"type": "markdown", "planId": "p", "content": "x"}},
    "plan_removed": {"planId": "p"},
    "subagent_update": {"sessionId": "s"},
    "session_message": {"messageId": "m", "content": [text("x")]},
    "session_message_chunk": {"messageId": "m", "content": text("x")},
    "available_commands_update": {"availableCommands": [{"name": "x", "description": "d"}]},
    "current_mode_update": {"currentModeId": "x"},
    "config_option_update": {"configOptions": [{"id": "o", "currentValue": True}]},
    "session_info_update": {"title": "x"},
    "usage_update": {"used": 1, "size": 2},
    "notice": {"severity": "warning", "title": "x", "description": "d"},
    "compaction_update": {"compactionId": "c", "status": "in_progress"},
    "compaction_summary_chunk": {"compactionId": "c", "content": text("x")},
}
"""Every SessionUpdate of ACP's schema v1."""

OUR_KINDS = frozenset(
    {
        *("_session", "_prompt", "_queue", "_turn", "_ask", "_judged", "_agent", "_context"),
        *("_rate_limit", "_terminal", "_critic", "_notice", "_settings", "_rejected", "_done"),
        *("_raw", "_child", "_rewind", "_snapshot"),
    }
)
ACP_KINDS = frozenset(ACP_UPDATES)


def narrow(call: Call, name: str) -> Rule | str:
    """The rule that allows this call again and as little else as can be."""
    found = choices(call, name)
    return found if isinstance(found, str) else found[0].rule
