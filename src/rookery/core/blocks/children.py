"""Rendering sub-agents: each has a block, like a call, with its messages and calls nested in it."""

from collections.abc import Callable

from rookery.core.agent import children
from rookery.core.agent.chunks import CHILD
from rookery.core.agent.prompt import words_of
from rookery.core.blocks import notices, parts
from rookery.core.blocks.captions import SUBAGENT
from rookery.core.blocks.document import Block, Op, append, change, make_block, put
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.tools.calls import block_id

type Look = Callable[[Header, Header, Event], list[Op]]

ROLE = "message"
"""The role of a sub-agent's messages, task and result: never `answer`, which is the agent's own."""

SHOWN = ("status", "calls", "result")


def ops_of(before: Header, after: Header, event: Event, looks: dict[str, Look]) -> list[Op]:
    """Return the ops for an update of a sub-agent, or about one."""
    return headings(before, after, event) + _inside(before, after, event, looks, "")


def _inside(
    before: Header, after: Header, event: Event, looks: dict[str, Look], at: str
) -> list[Op]:
    match kind := kind_of(event.update):
        case _ if kind == CHILD and not at:
            key, inner = children.key_of(event.update), children.inner_of(event)
            if not key:
                return notices.raw(
                    after, event, "an update of a sub-agent that it does not name", event.update
                )
            ops = _inside(before, after, inner, looks, key)
            return [below(op, after.children.get(key)) for op in ops]
        case "subagent_update":
            return _task(before, after, event)
        case "session_message" | "session_message_chunk":
            return _message(before, after, event, at)
        case "notice":
            return looks[kind](before, after, event)
        case _ if kind in children.UNSEEN:
            return []
        case _ if kind in children.FOLDED:
            return looks[kind](children.view(before, at), children.view(after, at), event)
    return notices.raw(after, event, kind or "an update without a kind", event.update)


def below(op: Op, child: Json | None) -> Op:
    """Nest the op in the sub-agent's block, under a role that is not the agent's or the user's."""
    if op[0] != "put" or child is None:
        return op
    block = dict(op[1])
    if block["role"] in ("answer", "prompt"):
        block |= {"role": ROLE, "title": "Task" if block["role"] == "prompt" else block["title"]}
    if block["parent"] is None and block["id"] != child["block"]:
        block["parent"] = child["block"]
    return ["put", block]


def headings(before: Header, after: Header, event: Event) -> list[Op]:
    """Return the ops that create the sub-agents' own blocks, and those for what changed in each."""
    ops: list[Op] = []
    old, new = before.children, after.children
    for key, child in new.items():
        was = old.get(key)
        if was is child:
            continue
        if (was is None or was["block"] != child["block"]) and child["block"].endswith(
            children.SUFFIX
        ):
            ops += put(_heading(child, new))
            was = child
        fields = _changed(was or {}, child, event.at)
        ops += change(child["block"], **fields) if fields else []
    return ops


def _heading(child: Json, others: Json) -> Block:
    above = others.get(child["of"])
    fields = {"status": child["status"], "calls": child["calls"], "since": child["since"]}
    fields["actions"] = _actions(child)
    parent = above["block"] if above else None
    return make_block(
        child["block"], "tool", kind=SUBAGENT, title=_title(child), parent=parent, **fields
    )


def _title(child: Json) -> str:
    title, role = child["title"], child["role"]
    if title and role and role != title:
        return f"{title} ({role})"
    return title or role or "Sub-agent"


def _actions(child: Json) -> list[Json]:
    id = lenient.text(child, "cancel")  # unknown to earlier builds
    return children.cancel_actions(id) if child["status"] == "running" else []


def _changed(was: Json, child: Json, at: int) -> Json:
    is_call = not child["block"].endswith(children.SUFFIX)  # which says how it fares by itself
    names = ("calls",) if is_call else SHOWN
    fields: Json = {name: child[name] for name in names if was.get(name) != child[name]}
    if is_call:
        return fields
    if was and _title(was) != _title(child):
        fields["title"] = _title(child)
    if was and _actions(was) != _actions(child):
        fields["actions"] = _actions(child)
    if "status" in fields and child["status"] != "running":
        fields["seconds"] = max(0, at - child["since"]) / 1000
    return fields


def turn_over(before: Header, after: Header, event: Event) -> list[Op]:
    """Return the ops for the sub-agents that outlived the turn, and for their calls."""
    ops = headings(before, after, event)
    for key, child in after.children.items():
        was = before.children.get(key, {}).get("_tools") or {}
        for name, (block, status, _) in (child.get("_tools") or {}).items():
            if name in was and was[name][1] != status:
                ops += change(block, status=status)
    return ops


# --- what it is told, and what it hands over -----------------------------------------------------


def _task(before: Header, after: Header, event: Event) -> list[Op]:
    """Show a sub-agent's description as its task if it is not a name (codex)."""
    key = lenient.text(event.update, "sessionId")[: children.LONGEST_KEY]
    task = lenient.text(event.update, "description")
    if key in before.children or not task or after.children[key]["role"] == task:
        return []
    block = after.children[key]["block"]
    return put(make_block(block_id(after, event), ROLE, title="Task", text=task, parent=block))


def _message(before: Header, after: Header, event: Event, at: str) -> list[Op]:
    update, key = event.update, children.message_key(event.update, at)
    was, now = before.child_messages.get(key), after.child_messages.get(key)
    if now is None or now == [""]:
        return [["drop", was[0]]] if was and was != [""] else []
    owner, title = children.owner_of(after, update, at)
    child = after.children.get(owner)
    place: Json = {"title": title, "parent": child["block"] if child else None}
    if kind_of(update) == "session_message_chunk":
        text = words_of([update.get("content")])
        if was:
            return append(str(now[0]), text)
        return put(make_block(str(now[0]), ROLE, text=text, **place))
    content = lenient.sequence(update, "content")
    fields: Json = {"text": words_of(content), "parts": parts.from_blocks(content)}
    if not was:
        return put(make_block(str(now[0]), ROLE, **place | fields))
    name = str(now[0])
    ops = change(name, **place) if lenient.text(update, "senderSessionId") else []
    if "content" in update:
        ops += change(name, text="", parts=fields["parts"]) + append(name, fields["text"])
    return ops
