"""The reducer that makes a session's view: the only place that turns events into blocks.

An unknown kind is shown raw. `reduce` takes any JSON without an exception, and the fold is the same
in one go, event by event, page by page, live or after a restart."""

from collections.abc import Callable, Iterable

from rookery.core import budgets
from rookery.core.agent import children as memory
from rookery.core.agent import message_blocks
from rookery.core.agent.children import asker
from rookery.core.agent.ingest import is_aside, taken_back
from rookery.core.agent.prompt import words_of
from rookery.core.ask import Ask, ask_of, from_agent
from rookery.core.blocks import (
    Document,
    Op,
    ask_actions,
    asks,
    children,
    make_block,
    notices,
    parts,
    plans,
    rewinds,
    tools,
    verdicts,
)
from rookery.core.blocks import document as looks
from rookery.core.blocks.document import append, block_of_event, change, put
from rookery.core.fold import advance
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.tools import terminals
from rookery.core.tools.calls import (
    ENDED,
    LEFT,
    all_asked_of,
    asked_of,
    block_id,
    block_of,
    in_turn,
    key_of,
)
from rookery.core.turn import retries as turn_retries
from rookery.core.turn import rewinding
from rookery.core.vendors.profiles import profile_for


def reduce(document: Document, event: Event) -> list[Op]:
    """Advance the document by one event, in place; return what changed."""
    before = document.header
    document.header, ops, header_ops = _step(before, event)
    document.apply(ops)
    return [*ops, *header_ops]


def step(header: Header, event: Event) -> tuple[Header, list[Op]]:
    """Do the same without a document, for callers that only pass ops on: return the next header,
    and what changed."""
    after, ops, header_ops = _step(header, event)
    return after, [*ops, *header_ops]


def _step(before: Header, event: Event) -> tuple[Header, list[Op], list[Op]]:
    changes = advance(before, event)
    after = before.with_(**changes) if changes else before
    ops = _LOOKS.get(kind_of(event.update), _raw)(before, after, event)
    if not changes:  # as with most of an agent's words
        return before, ops, []
    ops += ask_actions.left(before, after) + notices.retrying(before, after)
    ops += ask_actions.opened(before, after, completed=event.update.get("state") == "completed")
    shown = looks.shown(Header(changes))
    return after, ops, change(looks.HEADER, **shown) if shown else []


def fold(header: Header | None, events: Iterable[Event]) -> Document:
    """Return the document of a range of events, given the header in force before the first."""
    document = Document(header)
    for event in events:
        reduce(document, event)
    return document


type Look = Callable[[Header, Header, Event], list[Op]]


# --- prompts, messages -------------------------------------------------------------------------


def _prompt(_before: Header, after: Header, event: Event) -> list[Op]:
    given = [] if budgets.is_own(event.update) else lenient.sequence(event.update, "prompt")
    title, shown = notices.prompt_title(after, event.update), parts.from_blocks(given)
    block = block_of_event(after, event, "prompt", title=title, text=words_of(given), parts=shown)
    return put(block)


_ROLE = {
    "user_message_chunk": "prompt",
    "agent_message_chunk": "answer",
    "agent_thought_chunk": "thought",
}


def _chunk(before: Header, after: Header, event: Event) -> list[Op]:
    content = event.update.get("content")
    if turn_retries.is_own(event.update) or message_blocks.is_system_prompt(before, event.update):
        return []  # the first is a state, which has a block of its own
    role = _ROLE[event.update["sessionUpdate"]]
    if not isinstance(content, dict) or content.get("type") != "text":
        shown = parts.fit([parts.from_block(content)])
        return put(block_of_event(after, event, role, parts=shown))
    text = lenient.text(content, "text")
    if taken_back(event.update):
        return [["drop", name] for name in message_blocks.blocks_of(before, event.update)]
    if before.open_message == after.open_message:
        return append(after.open_message[0], text) + _thinking(before, after)
    return put(make_block(after.open_message[0], role, text=text))


def _thinking(before: Header, after: Header) -> list[Op]:
    """Show how long a thought has lasted, once a second."""
    name, _, seconds = after.thinking
    is_news = before.thinking != after.thinking
    return change(name, seconds=seconds) if is_news else []


# --- tools, terminals --------------------------------------------------------------------


def _tool(before: Header, after: Header, event: Event) -> list[Op]:
    ops = _tool_ops(before, after, event, event.update)
    return ops + children.headings(before, after, event)


def _child(before: Header, after: Header, event: Event) -> list[Op]:
    return children.ops_of(before, after, event, _LOOKS)


def _tool_ops(before: Header, after: Header, event: Event, call: Json) -> list[Op]:
    name, status, since = after.tools[key_of(call)]
    known = before.tools.get(key_of(call), ("", "", 0))
    old = known[0] == name
    profile = profile_for(after)
    fields = tools.fields(call, profile, fresh=not old)
    if _is_cut(after, fields.get("status"), fields.get("exit")):
        fields["status"] = CUT
    if status in ENDED and not (old and known[1] == status):
        fields["seconds"] = max(0, event.at - since) / 1000
    if old:
        ops = change(name, **fields) if fields else []
    else:
        base: Json = {"kind": "other", "status": "pending", "since": since}
        base["parent"] = tools.parent(after, call, profile)
        ops = put(make_block(name, "tool", **base | fields))
    for block, owner in terminals.moved(before.terminals, after.terminals):
        ops += change(block, parent=owner)
    return ops + _own_terminals(before, after, call, name)


def _terminal(before: Header, after: Header, event: Event) -> list[Op]:
    update, key = event.update, lenient.text(event.update, "id")
    known = terminals.block_of(before.terminals, key)
    match update.get("state"):
        case "output" if known:
            return append(known, lenient.text(update, "text"))
        case "ended":
            code, signal = lenient.integer(update, "exitCode"), lenient.text(update, "signal")[:40]
            status = "done" if code == 0 else "failed"
            status = CUT if _is_cut(after, status, code) else status
            return change(known, status=status, exit=code, signal=signal) if known else []
    name, _, parent = after.terminals[key]
    title, text = lenient.text(update, "command"), lenient.text(update, "text")
    block = make_block(name, "terminal", title=title, text=text, status="running", parent=parent)
    return put(block | {"terminal": key[:200]})


def _own_terminals(before: Header, header: Header, call: Json, owner: str) -> list[Op]:
    """Return the changes that an update of a call makes to the terminals its agent runs itself."""
    news, was, now = terminals.terminal_news(call), before.terminals, header.terminals
    ops: list[Op] = []
    if news and (terminal := now.get(news.name)) and terminal[0]:
        name, _, parent = terminal
        if news.name in was and was[news.name][0] == name:
            ops += append(name, news.text)
        else:
            block = make_block(name, "terminal", status="running", parent=parent, text=news.text)
            ops += put(block)
        if news.over:
            status = "done" if news.code == 0 or _went_well(news, call) else "failed"
            status = CUT if _is_cut(header, status, news.code) else status
            ops += change(name, status=status, exit=news.code, signal=news.signal)
    if (status := lenient.text(call, "status")) in ENDED:
        for name in terminals.running_of(was, owner):
            if not news or name != news.name:
                cut = _is_cut(header, status, None)
                ops += change(was[name][0], status=CUT if cut else tools.STATUS[status])
    return ops


CUT = LEFT[True]
SIGNALLED = (-1, -2, -9, -15, 130, 137, 143)
"""Exit codes of a command that was ended: by SIGINT, SIGKILL, SIGTERM."""


def _is_cut(header: Header, status: object, code: int | None) -> bool:
    """Whether a call was cut short because its turn stops for a budget or is cancelled: agents
    report that as a failure. A call with an exit code did finish, unless a signal is behind the
    code."""
    stops = bool(header.stopping) or header.cancelling
    return status == "failed" and stops and (code is None or code in SIGNALLED)


def _went_well(news: terminals.TerminalNews, call: Json) -> bool:
    """Whether a call without an exit code succeeded, going by its status: claude sends no code if
    it counts another than 0 as a success, nor for a command that it put into the background."""
    unknown = news.code is None and not news.signal
    return unknown and lenient.text(call, "status") != "failed"


# --- asks --------------------------------------------------------------------------------------


def _closed(before: Header, after: Header, event: Event, ask: Ask) -> list[Op]:
    """Close the ask's block. Its call has not run so far, and does not if it was rejected."""
    who = memory.asking(before, ask.session)
    before, after = memory.view(before, who), memory.view(after, who)
    ops = change(ask.block, **ask_actions.outcome(event.update, event.by, ask))
    rejected = ask_actions.is_rejected(event.update, ask)
    for key in all_asked_of(before, ask):
        if (call := after.tools.get(key)) is not None:
            ops += change(call[0], since=call[2], rejected=rejected)
    return ops


def _ask(before: Header, after: Header, event: Event) -> list[Op]:
    if (kept := ask_actions.kept(before, after, event)) is not None:
        return kept
    if event.update.get("state") != "asked":
        known = ask_of(before, event.update.get("id"))
        return _closed(before, after, event, known) if known else []
    ask = from_agent(event.update)
    who = memory.asking(after, ask.session)
    before, after = memory.view(before, who), memory.view(after, who)
    call, key = ask.call, asked_of(before, ask)
    ops = _tool_ops(before, after, event, call) if call and key == key_of(call) else []
    if call and (changes := asks.changes(ask)):
        ops += change(after.tools[key][0], proposed=changes)
    does: Json = next(iter(ask.does or ()), {})
    block = make_block(
        block_id(after, event) + "?",  # where its call is news too, that takes the id of this event
        "ask",
        status="asked",
        title=lenient.text(call, "title") or ask.message,
        kind=lenient.text(call, "kind") or lenient.text(does, "kind") or _kind(ask),
        parent=after.tools[key][0] if call else None,
        actions=[] if ask.ruled else ask_actions.answers(ask),  # its answer is the next event
        agent=asker(event.update, after),
        **({"danger": ask.danger} if ask.danger else {}),
        **({"ruled": ask.ruled} if ask.ruled else {}),
    )
    if ask.form is not None:
        block["parts"] = parts.fit([{"type": "form", "schema": ask.form}])
        block["answer"] = ask.answer
    else:
        block["parts"] = parts.from_tool_content(lenient.sequence(call, "content"), call)
        block |= asks.fields(ask, after)
    child = after.children.get(who)
    return [children.below(op, child) for op in (*ops, *put(block))]


def _kind(ask: Ask) -> str:
    return budgets.HOW if ask.is_about_budget else "other"


def _judged(_before: Header, after: Header, event: Event) -> list[Op]:
    """Show a rule's decision about a call without an ask, as an ask that the rule answered."""
    call, ruled = lenient.mapping(event.update, "toolCall"), lenient.text(event.update, "ruled")
    why, denied = lenient.text(event.update, "reason"), event.update.get("verdict") == "deny"
    parent = block_of(after, key_of(call))
    block = make_block(
        block_id(after, event) + "?",
        "ask",
        title=lenient.text(call, "title"),
        kind=lenient.text(call, "kind", "other"),
        status="answered",
        ruled=ruled,
        text=ask_actions.sentence(f"{ruled}: {why}" if why else ruled)[:500],
        verdict=ask_actions.REJECT if denied else ask_actions.ALLOW,
        parent=parent,
        agent=asker(event.update, after),
    )
    return put(block) + (change(parent, rejected=True) if denied and parent else [])


# --- turns ---------------------------------------------------------------------------------------


def _turn(before: Header, after: Header, event: Event) -> list[Op]:
    quiet = f"{before.turn}.quiet"
    ops: list[Op] = [["drop", quiet]] if before.state == "quiet" else []
    if event.update.get("state") == "quiet" and not ops:
        return notices.quiet(quiet, event)
    stopping = f"{before.turn}.stopping"
    if event.update.get("state") != "idle":
        if why := lenient.text(event.update, "stopping"):
            ops += notices.stopping(stopping, why)
        return ops if after.state == "running" else []
    ops += [["drop", stopping]] if before.stopping else []
    reason = after.reason
    for key, (name, status, _) in before.tools.items():
        if after.tools[key][1] != status:
            ops += change(name, status=after.tools[key][1])
    for name, _, _ in terminals.running(before.terminals).values():
        if in_turn(before, name):
            ops += change(name, status=LEFT[reason != "end_turn"])
    ops += children.turn_over(before, after, event)
    noticed = reason == "rate_limited" and before.rate_limit is not None  # its notice says it all
    if reason in ("", "end_turn") or noticed:
        return ops
    return ops + notices.ending(after, event)


def _session(before: Header, after: Header, event: Event) -> list[Op]:
    return rewinds.forked(before, after, event) + notices.resumption(before, after)


def _raw(_before: Header, after: Header, event: Event) -> list[Op]:
    update = event.update
    if kind_of(update) != "_raw":
        return notices.raw(after, event, kind_of(update) or "an update without a kind", update)
    if is_aside(update):
        return []
    return notices.raw(after, event, lenient.text(update, "why"), update.get("value"))


def _unseen(_before: Header, _after: Header, _event: Event) -> list[Op]:
    """Show nothing: the event only changes the header."""
    return []


_LOOKS: dict[str, Look] = {
    "_prompt": _prompt,
    "_turn": _turn,
    "_ask": _ask,
    "_judged": _judged,
    "_agent": notices.agent,
    "_context": notices.context,
    "_rate_limit": notices.rate_limit,
    "_terminal": _terminal,
    "_critic": lambda _, after, event: put(verdicts.verdict(after, event)),
    "_notice": notices.notice,
    rewinding.KIND: rewinds.rewound,
    "_session": _session,
    "_settings": notices.settings,
    "_rejected": notices.rejected,
    **dict.fromkeys(_ROLE, _chunk),
    "tool_call": _tool,
    "tool_call_update": _tool,
    **dict.fromkeys(memory.KINDS, _child),
    "plan": plans.shown,
    "plan_update": plans.shown_update,
    "plan_removed": plans.shown_removal,
    "notice": notices.notice,
    **dict.fromkeys(("compaction_update", "compaction_summary_chunk"), notices.compaction),
    **dict.fromkeys(("_queue", "_done", rewinding.SNAPSHOT, turn_retries.KIND), _unseen),
    **dict.fromkeys(("available_commands_update", "current_mode_update"), _unseen),
    **dict.fromkeys(("config_option_update", "session_info_update", "usage_update"), _unseen),
}
