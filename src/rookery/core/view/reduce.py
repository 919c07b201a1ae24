"""What a session looks like: the only place that turns events into blocks.

Open vocabulary of events, closed vocabulary of looks: an unknown kind is shown raw, never dropped,
never an
error. `reduce` is total (any JSON gives ops, never an exception) and the fold is the same in one
go,
event by event, page by page, live or after a restart.
"""

from collections.abc import Callable, Iterable

from rookery.core.agent import message_blocks
from rookery.core.agent.ingest import is_aside, taken_back
from rookery.core.agent.prompt import words_of
from rookery.core.blocks import (
    ask_actions,
    asks,
    endings,
    kept_asks,
    parts,
    tools,
)
from rookery.core.blocks import document as looks
from rookery.core.blocks import (
    retries as blocks_retries,
)
from rookery.core.blocks.auto_answers import judged_block
from rookery.core.blocks.critic import prompt_title, verdict_block
from rookery.core.blocks.document import Document, Op, append, change, make_block, put
from rookery.core.blocks.endings import end_block, quiet_block
from rookery.core.blocks.settings import settings_ops
from rookery.core.critic.state import ORIGIN
from rookery.core.header import advance
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json, kind_of
from rookery.core.tools import terminals
from rookery.core.tools.calls import ENDED, asked_of, block_id, in_turn, key_of
from rookery.core.turn import retries as turn_retries
from rookery.core.turn.remedies import remedy_for
from rookery.core.vendors import exits
from rookery.core.vendors.profiles import profile_for
from rookery.core.view import agent_terminals

LONGEST_TITLE = 500


def reduce(document: Document, event: Event) -> list[Op]:
    """Advance the document by one event, in place; return what changed."""
    before = document.header
    changes = advance(before, event)
    after = {**before, **changes} if changes else before
    ops = _LOOKS.get(kind_of(event.update), _raw)(before, after, event)
    ops += kept_asks.left(before, after)
    ops += blocks_retries.look(before, after)
    document.header = after
    document.apply(ops)
    told = looks.shown(changes)
    return [*ops, *change(looks.HEADER, **told)] if told else ops


def fold(header: Json | None, events: Iterable[Event]) -> Document:
    """The document of a stretch of events that begins where `header` was true."""
    document = Document(header)
    for event in events:
        reduce(document, event)
    return document


type Look = Callable[[Json, Json, Event], list[Op]]


# --- prompts, messages -------------------------------------------------------------------------


def _prompt(_before: Json, after: Json, event: Event) -> list[Op]:
    given = lenient.sequence(event.update, "prompt")
    block = make_block(block_id(after, event), "prompt", text=words_of(given))
    block["parts"] = parts.from_blocks(given)
    if event.update.get("origin") == ORIGIN:
        block["title"] = prompt_title(after)
    elif event.update.get("origin"):
        block["title"] = kept_asks.prompt_title(event.update)[:LONGEST_TITLE]
    return put(block)


_ROLE = {
    "user_message_chunk": "prompt",
    "agent_message_chunk": "answer",
    "agent_thought_chunk": "thought",
    "compaction_summary_chunk": "divider",
}


def _chunk(before: Json, after: Json, event: Event) -> list[Op]:
    content = event.update.get("content")
    if turn_retries.is_own(event.update):
        return []  # a state, which has a block of its own
    role = _ROLE[event.update["sessionUpdate"]]
    if not isinstance(content, dict) or content.get("type") != "text":
        return put(
            make_block(block_id(after, event), role, parts=parts.fit([parts.from_block(content)]))
        )
    text = lenient.text(content, "text")
    if taken_back(event.update):
        return [["drop", name] for name in message_blocks.blocks_of(before, event.update)]
    if before["_open"] == after["_open"]:
        return append(after["_open"][0], text)
    return put(make_block(after["_open"][0], role, text=text))


# --- tools, plan, terminals --------------------------------------------------------------------


def _tool(before: Json, after: Json, event: Event) -> list[Op]:
    return _tool_ops(before, after, event, event.update)


def _tool_ops(before: Json, after: Json, event: Event, call: Json) -> list[Op]:
    name, status, since = after["_tools"][key_of(call)]
    known = before["_tools"].get(key_of(call))
    old = bool(known) and known[0] == name
    profile = profile_for(after)
    fields = tools.fields(call, profile, fresh=not old)
    if status in ENDED and not (old and known[1] == status):
        fields["seconds"] = max(0, event.at - since) / 1000
    if old:
        ops = change(name, **fields) if fields else []
    else:
        base: Json = {"kind": "other", "status": "pending", "since": since}
        base["parent"] = tools.parent(after, call, profile)
        ops = put(make_block(name, "tool", **base | fields))
    for block, owner in terminals.moved(before["_terminals"], after["_terminals"]):
        ops += change(block, parent=owner)
    return ops + agent_terminals.ops(before["_terminals"], after["_terminals"], call, name)


def _plan(before: Json, after: Json, _event: Event) -> list[Op]:
    done = sum(entry["status"] == "completed" for entry in after["plan"])
    items = parts.fit([{"type": "checklist", "items": after["plan"][:200]}])
    title = f"Plan {done}/{len(after['plan'])}"
    if before["_plan"] == after["_plan"]:
        return change(after["_plan"], parts=items, title=title)
    return put(make_block(after["_plan"], "plan", parts=items, title=title))


def _terminal(before: Json, after: Json, event: Event) -> list[Op]:
    update, key = event.update, lenient.text(event.update, "id")
    known = terminals.block_of(before["_terminals"], key)
    match update.get("state"):
        case "output" if known:
            return append(known, lenient.text(update, "text"))
        case "ended":
            code = lenient.integer(update, "exitCode")
            status = "done" if code == 0 else "failed"
            fields: Json = {
                "status": status,
                "exit": code,
                "signal": lenient.text(update, "signal")[:40],
            }
            return change(known, **fields) if known else []
    name, _, parent = after["_terminals"][key]
    block = make_block(name, "terminal", status="running", terminal=key[:200], parent=parent)
    block["title"] = lenient.text(update, "command")[:LONGEST_TITLE]
    block["text"] = lenient.text(update, "text")
    return put(block)


# --- asks --------------------------------------------------------------------------------------


def _ask(before: Json, after: Json, event: Event) -> list[Op]:
    update, name = event.update, lenient.text(event.update, "id")
    if kept_asks.is_of(before, update):
        return kept_asks.of_ask(before, after, event)
    if update.get("state") != "asked":
        ask = before["asks"].get(name)
        return change(ask["block"], **ask_actions.outcome(update, event.by, ask)) if ask else []
    call = lenient.mapping(update, "toolCall")
    key = asked_of(before, update)
    ops = _tool_ops(before, after, event, call) if call and key == key_of(call) else []
    if call and (changes := asks.changes(update)):
        ops += change(after["_tools"][key][0], proposed=changes)
    # The ask's own id: where its call is news too, the call takes the id of this event.
    block = make_block(
        block_id(after, event) + "?", "ask", status="asked", actions=ask_actions.answers(update)
    )
    block["title"] = (lenient.text(call, "title") or lenient.text(update, "message"))[
        :LONGEST_TITLE
    ]
    does = next(lenient.mappings(update, "does"), {})
    block["kind"] = (lenient.text(call, "kind") or lenient.text(does, "kind") or "other")[:40]
    block["parent"] = after["_tools"][key][0] if call else None
    if danger := lenient.text(update, "danger"):
        block["danger"] = danger[:LONGEST_TITLE]
    if ruled := lenient.text(update, "ruled"):  # its answer is the next event
        block |= {"ruled": ruled[:LONGEST_TITLE], "actions": []}
    if isinstance(update.get("schema"), dict):
        block["parts"] = parts.fit([{"type": "form", "schema": update["schema"]}])
    else:
        block["parts"] = parts.from_tool_content(lenient.sequence(call, "content"))
        block |= asks.fields(update, after)
    return [*ops, *put(block)]


def _judged(_before: Json, after: Json, event: Event) -> list[Op]:
    return put(judged_block(after, event))


# --- turns, the agent, notices, dividers -------------------------------------------------------


def _turn(before: Json, after: Json, event: Event) -> list[Op]:
    quiet = f"{before['turn']}.quiet"
    over: list[Op] = [["drop", quiet]] if before["state"] == "quiet" else []
    if event.update.get("state") == "quiet" and not over:
        return put(quiet_block(quiet, event))
    if event.update.get("state") != "idle":
        return over if after["state"] == "running" else []
    reason = after["reason"]
    ops = over
    for key, (name, status, _) in before["_tools"].items():
        if after["_tools"][key][1] != status:
            ops += change(name, status=after["_tools"][key][1])
    for name, _, _ in terminals.running(before["_terminals"]).values():
        if in_turn(before, name):
            ops += change(name, status="unfinished" if reason == "end_turn" else "interrupted")
    told = reason == "rate_limited" and before["rateLimit"] is not None  # its notice says it all
    if reason in ("", "end_turn") or told:
        return ops
    if endings.died(after, reason):
        ops += [["drop", endings.exit_id(before)]]
    return ops + put(end_block(after, event, reason))


def _agent(before: Json, after: Json, event: Event) -> list[Op]:
    update, name = event.update, block_id(after, event)
    who = lenient.text(update, "name") or after["agent"]
    match update.get("state"):
        case "switched":
            title = f"Switched from {lenient.text(update, 'from')} to {lenient.text(update, 'to')}"
            actions = _recap(before, event)
            return put(make_block(name, "divider", title=title[:LONGEST_TITLE], actions=actions))
        case "parked":
            text = "\n".join(lenient.texts(update, "stderr")[-20:])
            remedy = lenient.text(update, "remedy")
            title = f"{who} did not start. {remedy}".strip()[:LONGEST_TITLE]
            retry = {"label": "Retry", "command": {"do": "restart"}}
            actions = [retry, {**ANOTHER, "command": {"do": "switch"}}]
            return put(make_block(name, "error", title=title, text=text, actions=actions))
        case "exited" if update.get("status") not in (0, None):
            if before["state"] != "idle":  # until the turn's end, which follows, says it all
                name = endings.exit_id(before)
            title = exits.title(who, update["status"])[:LONGEST_TITLE]
            text = exits.said(update)
            return put(make_block(name, "notice", title=title, text=text, status="warn"))
    return []


ANOTHER: Json = {"label": "Continue with another agent", "choose": "agent"}
"""Whoever shows it lets the user choose among the agents that are there, and puts the name into
the command."""


def _recap(before: Json, event: Event) -> list[Json]:
    """Of what the agent does not know any more, where something was said: for the composer."""
    ended = before["turn"] - (before["state"] != "idle")
    return [{"label": "Recap", "compose": {"recap": event.seq}}] if ended > 0 else []


def _context(before: Json, after: Json, event: Event) -> list[Op]:
    words = {
        "reset": "Conversation context was reset",
        "cleared": "Cleared",
        "compacted": "Context was compacted",
    }
    state = lenient.text(event.update, "state")
    block = make_block(block_id(after, event), "divider", title=words.get(state, "Context changed"))
    block["text"] = lenient.text(event.update, "reason")
    if state in ("reset", "cleared"):
        block["actions"] = _recap(before, event)
    if state == "cleared":
        block["folds"] = after["turn"]
    return put(block)


def _rate_limit(_before: Json, after: Json, event: Event) -> list[Op]:
    resets = lenient.text(event.update, "resetsAt") or lenient.integer(event.update, "resetsAt")
    known = f"It resets at {resets}." if resets else "The agent did not say when it resets."
    helps = remedy_for("rate_limited", {}, after["agent"])
    text = "\n".join([lenient.text(event.update, "message"), known, helps]).strip()
    block = make_block(block_id(after, event), "notice", title="Rate limit reached", text=text)
    other = {**ANOTHER, "command": {"do": "switch", "reason": "rate_limited"}}
    actions = [other]
    if prompt := list(lenient.mappings(event.update, "prompt")):
        actions = [{"label": "Resume now", "command": {"do": "prompt", "prompt": prompt}}, other]
    return put({**block, "status": "rate_limited", "actions": parts.whole(actions)})


def _critic(_before: Json, after: Json, event: Event) -> list[Op]:
    return put(verdict_block(after, event))


def _notice(_before: Json, after: Json, event: Event) -> list[Op]:
    update = event.update
    if turn_retries.is_own(update):
        return []  # a state, which has a block of its own
    block = make_block(block_id(after, event), "notice")
    block["status"] = (lenient.text(update, "level") or lenient.text(update, "severity") or "info")[
        :40
    ]
    block["title"] = lenient.text(update, "title")[:LONGEST_TITLE]
    said = (lenient.text(update, key) for key in ("text", "message", "description"))
    block["text"] = next((words for words in said if words), "")
    if kind_of(update) == "_notice":  # an agent's own brings no button that sends a command
        actions = [action for action in lenient.mappings(update, "actions") if "command" in action]
        block["actions"] = parts.whole(actions[:5])
    if not block["text"] and not block["title"]:
        return _raw(_before, after, event)
    return put(block)


def _rejected(_before: Json, after: Json, event: Event) -> list[Op]:
    text = lenient.text(event.update, "message") or lenient.text(event.update, "reason")
    return put(make_block(block_id(after, event), "notice", status="warn", text=text))


def _compaction(_before: Json, after: Json, event: Event) -> list[Op]:
    status = lenient.text(event.update, "status")
    title = {"completed": "Context was compacted", "failed": "Compaction failed"}.get(status)
    return put(
        make_block(block_id(after, event), "divider", title=title or "Compacting the context")
    )


def _raw(_before: Json, after: Json, event: Event) -> list[Op]:
    """What nobody gave a look: its name, and the value itself, as far as an op can carry it."""
    update = event.update
    ours = kind_of(update) == "_raw"
    if ours and is_aside(update):
        return []
    title = lenient.text(update, "why") if ours else kind_of(update) or "an update without a kind"
    shown = parts.fit([{"type": "json", "value": update.get("value") if ours else update}])
    return put(make_block(block_id(after, event), "raw", title=title[:LONGEST_TITLE], parts=shown))


def _unseen(_before: Json, _after: Json, _event: Event) -> list[Op]:
    """Its whole meaning is in the header."""
    return []


_LOOKS: dict[str, Look] = {
    "_session": _unseen,
    "_prompt": _prompt,
    "_queue": _unseen,
    "_turn": _turn,
    "_ask": _ask,
    "_judged": _judged,
    "_agent": _agent,
    "_context": _context,
    "_rate_limit": _rate_limit,
    "_terminal": _terminal,
    "_critic": _critic,
    "_notice": _notice,
    "_settings": settings_ops,
    "_rejected": _rejected,
    "_done": _unseen,
    turn_retries.KIND: _unseen,
    "user_message_chunk": _chunk,
    "agent_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "compaction_summary_chunk": _chunk,
    "tool_call": _tool,
    "tool_call_update": _tool,
    "plan": _plan,
    "available_commands_update": _unseen,
    "current_mode_update": _unseen,
    "config_option_update": _unseen,
    "session_info_update": _unseen,
    "usage_update": _unseen,
    "notice": _notice,
    "compaction_update": _compaction,
}
