"""The fold's state of sub-agents: which block shows each, and what it is saying and doing.

A sub-agent is either an agent session of its own (`subagent_update` announces it, and its updates
come under its id), or the work of a call that started it (`_meta.…parentToolUseId`). The worker
logs its updates as `_child`, so that nothing mistakes them for the agent's own. The updates inside
are folded as the agent's are, with state of their own."""

import zlib
from collections.abc import Callable, Mapping

from rookery.core.agent.chunks import CHILD, CHUNK_KINDS
from rookery.core.agent.names import MAX_LENGTH, agent_name
from rookery.core.agent.prompt import words_of
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.tools import calls
from rookery.core.turn.watchdogs import ASYNC

KEPT = 64
"""Sub-agents that are remembered; later news of a forgotten one starts a new block."""
TOOLS_KEPT = 200
"""Calls of each that are."""
MESSAGES_KEPT = 200
LONGEST_KEY = 300
LONGEST_RESULT = 200
LONGEST_NAME = 40
"""Characters of a description that stands beside the title: a longer one is the task."""

MEMORY = ("_open", "_tools", "_thinking", "_plan", "_plans", "_planned", "plan")
"""Fields of a header that each sub-agent has for itself."""

FOLDED = CHUNK_KINDS | {"tool_call", "tool_call_update", "plan", "plan_update", "plan_removed"}
UNSEEN = frozenset(
    {
        *("available_commands_update", "current_mode_update", "config_option_update"),
        *("session_info_update", "usage_update", "compaction_update", "compaction_summary_chunk"),
    }
)
"""Updates of a sub-agent that are kept but not shown."""

KINDS = (CHILD, "subagent_update", "session_message", "session_message_chunk")

AT_WORK = ("running", "requires_action")
ENDS = {"cancelled": "interrupted", "error": "failed"}

SUFFIX = "s"
"""After the id of the event that made a sub-agent's block: what it said first may have that id."""

type Steps = Mapping[str, Callable[[Header, Event], Json]]


def known(header: Header) -> dict[str, Json]:
    return header.children


def messages(header: Header) -> dict[str, list[object]]:
    return header.child_messages


def key_of(update: Json) -> str:
    """Return the key of a `_child`: the session's id, or one made from its call."""
    call = lenient.text(update, "call")
    return f"call:{call}"[:LONGEST_KEY] if call else lenient.text(update, "session")[:LONGEST_KEY]


def inner_of(event: Event) -> Event:
    return event._replace(update=lenient.mapping(event.update, "update"))


def view(header: Header, key: str) -> Header:
    """Return the header with which the sub-agent's own updates are folded."""
    if not key:
        return header
    own = header.children.get(key, {})
    empty: Json = {"_tools": {}, "_plans": {}, "plan": []}
    return header.with_(**{field: own.get(field, empty.get(field)) for field in MEMORY})


def cancel_id(update: Json) -> str | None:
    """Return the session whose `session/cancel` ends only this sub-agent: its own, or the one its
    call is known by; "" if it can no longer be cancelled, None if the update does not say."""
    about = update
    if kind_of(update) != "subagent_update":
        about = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
        about = lenient.mapping(about, "subagent")
    if "capabilities" not in about:
        return None
    able = isinstance(lenient.mapping(about, "capabilities").get("cancel"), dict)
    return lenient.text(about, "sessionId")[:LONGEST_KEY] if able else ""


def cancel_actions(id: str) -> list[Json]:
    """Return the actions that a sub-agent's block offers while it works."""
    command: Json = {"do": "cancel_subagent", "subagent": id}
    return [{"label": "Cancel this sub-agent", "command": command}] if id else []


def are_busy(header: Header) -> bool:
    return any(child["state"] in AT_WORK for child in header.children.values())


def name_of(header: Header, key: str) -> str:
    """Return the sub-agent's name as it is shown to the user."""
    return title_of(header.children.get(key, {}))


def title_of(child: Json) -> str:
    return lenient.text(child, "title") or "Sub-agent"


# --- what changes a header -----------------------------------------------------------------------


def after(header: Header, event: Event, steps: Steps, at: str = "") -> Json:
    """Return the header's changes by an update of a sub-agent; `at`: whose transcript it is in."""
    match kind_of(event.update):
        case kind if kind == CHILD:
            return _update(header, event, steps)
        case "subagent_update":
            return _announced(header, event, at)
        case "session_message" | "session_message_chunk":
            return _messaged(header, event, at)
    return {}


def _update(header: Header, event: Event, steps: Steps) -> Json:
    key, inner = key_of(event.update), inner_of(event)
    kind = kind_of(inner.update)
    if kind in UNSEEN or not key:
        return {}
    header, changes = _present(header, event, key)
    if kind not in FOLDED:
        changes |= _with(header, key, _open=None)
        return changes | after(header.with_(**changes), inner, steps, key)
    own, child = view(header, key), header.children[key]
    folded = steps[kind](own, inner)
    fields: Json = {field: folded[field] for field in MEMORY if field in folded}
    if "_tools" in fields:
        fields["calls"] = child["calls"] + (len(fields["_tools"]) > len(own.tools))
        fields["_tools"] = dict([*fields["_tools"].items()][-TOOLS_KEPT:])
    if kind in CHUNK_KINDS and lenient.mapping(inner.update, "content").get("type") == "text":
        goes_on = "_open" not in fields
        fields |= _heard(child, lenient.text(inner.update["content"], "text"), goes_on=goes_on)
    if "_terminals" in folded:
        changes["_terminals"] = folded["_terminals"]
    return changes | _with(header, key, **fields)


def _heard(child: Json, text: str, *, goes_on: bool) -> Json:
    """Return the beginning of its last message, with the length and checksum of the whole."""
    length, sum_, begin = child["words"] if goes_on else (0, 0, "")
    sum_ = zlib.crc32(text.encode("utf-8", "replace"), sum_)
    begin = (begin + text).lstrip()[:LONGEST_RESULT] if len(begin) < LONGEST_RESULT else begin
    return {"words": [length + len(text), sum_, begin]}


def _present(header: Header, event: Event, key: str) -> tuple[Header, Json]:
    """Return the header with this sub-agent and a block in this turn, and the changes made."""
    child = header.children.get(key)
    if child is not None and calls.in_turn(header, child["block"]):
        return header, {}
    block = header.tools.get(key.removeprefix("call:")) if key.startswith("call:") else None
    made = _fresh(header, event) | (child or {})
    made |= {"block": block[0] if block else calls.block_id(header, event) + SUFFIX}
    made |= {"since": event.at, "calls": 0, "status": "running"}
    made = {field: value for field, value in made.items() if field not in MEMORY}
    changes = _with(header, key, **made) | ({} if block else {"_open": None})
    return header.with_(**changes), changes


def _fresh(header: Header, event: Event) -> Json:
    block = calls.block_id(header, event) + SUFFIX
    fields: Json = {
        "title": "",
        "role": "",
        "of": "",
        "state": "",
        "result": "",
        "words": [0, 0, ""],
    }
    return fields | {"block": block, "status": "running", "since": event.at, "calls": 0}


def _with(header: Header, key: str, **fields: object) -> Json:
    children = dict(header.children)
    children[key] = children.get(key, {}) | fields
    if len(children) > KEPT:
        idle = (name for name, each in children.items() if each["state"] not in AT_WORK)
        del children[next((name for name in idle if name != key), next(iter(children)))]
    return {"_children": children}


def _announced(header: Header, event: Event, at: str) -> Json:
    """Note who a sub-agent is and whether it works. Its first update creates its block."""
    update, key = event.update, lenient.text(event.update, "sessionId")[:LONGEST_KEY]
    child, changes = header.children.get(key), dict[str, object]()
    state = update.get("state")
    works = lenient.text(state, "state") in AT_WORK
    if child is None or (works and not calls.in_turn(header, child["block"])):
        header, changes = _present(header, event, key)
        child = header.children[key]
    fields: Json = {"of": at}
    if "title" in update or "description" in update:
        role = lenient.text(update, "description") or child["role"]
        is_name = len(role) <= LONGEST_NAME and "\n" not in role
        title = lenient.first_line(lenient.text(update, "title"), 200) or child["title"]
        fields |= {"role": role if is_name else "", "title": title}
        if not title:
            fields["title"] = lenient.first_line(role, 80)
    if isinstance(state, dict):
        fields |= _state(child, state)
    if (id := cancel_id(update)) is not None:
        fields["cancel"] = id
    return changes | _with(header, key, **fields)


def _state(child: Json, state: Json) -> Json:
    name = lenient.text(state, "state")
    if name in AT_WORK:
        return {"state": name, "status": "running"}
    if name != "idle":
        return {"state": name[:40]}
    status = ENDS.get(lenient.text(state, "stopReason"), "done")
    error = lenient.mapping(state, "error") or {"message": state.get("error")}
    message = lenient.text(error, "message") if status == "failed" else ""
    result = lenient.first_line(message or child["result"] or child["words"][2], LONGEST_RESULT)
    return {"state": name, "status": status, "result": result, "_open": None}


def counted(header: Header, event: Event, call: str) -> Json:
    """Count a call of the sub-agent that another call has started."""
    key = f"call:{call}"[:LONGEST_KEY]
    header, changes = _present(header, event, key)
    return changes | _with(header, key, calls=header.children[key]["calls"] + 1, _open=None)


def asking(header: Header, session: str) -> str:
    """Return the key of the sub-agent that asks; "" if it is the agent itself."""
    key = session[:LONGEST_KEY]
    return key if key in header.children else ""


def remember(header: Header, key: str, changes: Json) -> Json:
    """Move what folding a sub-agent's update changed into its own state, as far as it has it."""
    own: Json = {field: changes[field] for field in MEMORY if field in changes}
    rest = {field: value for field, value in changes.items() if field not in MEMORY}
    return rest | _with(header, key, **own) if key else changes


def turn_over(header: Header, status: str) -> Json:
    """End the sub-agents still running: none outlives the turn that it was started in."""
    children = {
        key: child | {"state": "", "status": status, "_tools": calls.left(_tools(child), status)}
        if child["status"] == "running"
        else child
        for key, child in header.children.items()
    }
    return {"_children": children} if children else {}


def turn_begins(header: Header) -> Json:
    """Forget what the sub-agents did, but not who they are: a later turn may address them."""
    children = {
        key: {field: value for field, value in child.items() if field not in MEMORY}
        for key, child in header.children.items()
    }
    return {"_children": children, "_messages": {}} if children else {}


def _tools(child: Json) -> Json:
    return child.get("_tools") or {}


# --- messages between sessions -------------------------------------------------------------------


def message_key(update: Json, at: str) -> str:
    return f"{at}/{lenient.text(update, 'messageId')}"[:LONGEST_KEY]


def owner_of(header: Header, update: Json, at: str) -> tuple[str, str]:
    """Return the sub-agent under which a message is shown, and what the message is to it."""
    sender, recipient = (
        lenient.text(update, f"{end}SessionId")[:LONGEST_KEY] for end in ("sender", "recipient")
    )
    children = header.children
    for end, name in ((recipient, "Task"), (sender, "Result")):
        if end in children and children[end]["of"] == at and end != at:
            return end, name
    if at in children:
        return at, {recipient: "Task", sender: "Result"}.get(at, "Message")
    return "", "Message"


def _messaged(header: Header, event: Event, at: str) -> Json:
    update, table = event.update, dict(header.child_messages)
    key = message_key(update, at)
    if not lenient.text(update, "messageId"):
        return {}
    own, twin = table.get(key), _twin(header, update, at)
    text = words_of(lenient.sequence(update, "content"))
    owner, name = owner_of(header, update, at)
    changes: Json = {}
    if twin in table or text.startswith(ASYNC) or _is_last_word(header, owner, name, text):
        table[key] = [""]
    elif own is None:
        if owner:
            header, changes = _present(header, event, owner)
        table[key] = [calls.block_id(header, event)]
    if len(table) > MESSAGES_KEPT:
        del table[next(iter(table))]
    changes["_messages"] = table
    if name == "Result" and text and not text.startswith(ASYNC):
        result = lenient.first_line(text.strip(), LONGEST_RESULT)
        changes |= _with(header.with_(**changes), owner, result=result)
    return changes


def _twin(header: Header, update: Json, at: str) -> str:
    """Return the key of the same message in the other session's transcript, or "?"."""
    for end in ("sender", "recipient"):
        other = lenient.text(update, f"{end}SessionId")[:LONGEST_KEY]
        other = other if other in header.children else ""
        linked = lenient.text(update, f"{end}MessageId")
        named = linked or lenient.text(update, "messageId")
        key = message_key({"messageId": named}, other)
        if other != at and header.child_messages.get(key, [""]) != [""]:
            return key
    return "?"


def _is_last_word(header: Header, owner: str, name: str, text: str) -> bool:
    """Whether a sub-agent's result repeats the message that it has just sent."""
    child = header.children.get(owner)
    if child is None or name != "Result":
        return False
    return list(child["words"][:2]) == [len(text), zlib.crc32(text.encode("utf-8", "replace"))]


def asker(update: Json, header: Header) -> str:
    """Return the name of the agent that asks, as another may work on the session later. Logs of
    earlier builds do not record it; the header at that event does."""
    name = lenient.text(update, "agent")[:MAX_LENGTH] or agent_name(header)
    if who := asking(header, lenient.text(update, "session")):
        return f"{name_of(header, who)[:100]} (sub-agent of {name or 'the agent'})"
    return name
