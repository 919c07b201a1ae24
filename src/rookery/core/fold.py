"""The header: the state of a session that outlives its turns. It is a dict of JSON, stored with
each turn, so that page(k) = fold(events of turn k, header of k-1). Only `advance` changes one.

Fields that begin with `_` are the fold's own state: no client is sent them, no face reads them."""

from collections.abc import Callable

from rookery.core import budgets, spending, worktree
from rookery.core.agent import children, imported, message_blocks, switching
from rookery.core.agent.chunks import CHUNK_KINDS
from rookery.core.agent.ingest import is_aside, parent_call
from rookery.core.agent.prompt import words_of
from rookery.core.ask import ask_of, asks_of, from_agent, stored
from rookery.core.asks import kept_asks, links, together
from rookery.core.critic import state
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.policy import modes, planning, unattended
from rookery.core.settings import held
from rookery.core.tools import calls, plans, terminals
from rookery.core.turn import clearing, quota, rate_limit, retries, rewinding
from rookery.core.turn.queue import listed
from rookery.core.vendors import detection
from rookery.core.vendors.options import confirmed, offered, value_of


def advance(header: Header, event: Event) -> Json:
    """Return the top-level fields of `header` that `event` changes. It accepts any JSON."""
    changes = _STEPS.get(kind_of(event.update), _ends_message)(header, event)
    changes |= detection.after(header, changes) | retries.after(header, event)
    changes |= spending.after(header, event) | quota.after(header, event)
    if not changes.keys().isdisjoint(("vendor", "options", "wanted", "_confirm")):
        changes |= modes.shown(header.with_(**changes))
    if "options" in changes:
        changes["options"] = modes.retitled(header.with_(**changes))
    critic = state.after(before := header.critic, event.update)
    return changes if critic is before else {**changes, "critic": critic}


# --- sessions and prompts ----------------------------------------------------------------------


_GIVEN = {
    **dict.fromkeys(("id", "cwd", "agent", "race"), str),
    **dict.fromkeys(("archived", "pinned", "resumes"), bool),
}


def _session(header: Header, event: Event) -> Json:
    update = event.update
    changes = {key: update[key] for key in _GIVEN if isinstance(update.get(key), _GIVEN[key])}
    if update.get("sandbox") is not None:
        changes["sandbox"] = lenient.as_text(update["sandbox"])  # one that is unknown is refused
    for field in ("roots", "argv"):
        if field in update:
            changes[field] = lenient.texts(update, field)
    if "mcpServers" in update:
        changes["mcpServers"] = list(lenient.mappings(update, "mcpServers"))
    for field in ("created", "snoozed"):
        if (number := lenient.integer(update, field)) is not None:
            changes[field] = number
    if "snoozed" in changes:
        changes["snoozedAt"] = event.at
    if isinstance(update.get("worktree"), dict):
        changes["worktree"] = {**(header.worktree or {}), **worktree.read(update["worktree"])}
    wanted: Json = {key: update[key] for key in ("mode", "model", "effort") if key in update}
    if "confirm" in update:
        changes["_confirm"] = [lenient.text(update, "confirm"), lenient.text(update, "confirmBy")]
        order = unattended.order_of(update.get(unattended.OPTION))  # a choice takes it back
        changes["unattended"] = order.json() if order else None
    if wanted:
        kept = {**header.wanted, **wanted}
        changes["wanted"] = {key: value for key, value in kept.items() if value is not None}
    if chosen := budgets.of_session(update):
        kept = {key: value for key, value in header.granted.items() if key not in chosen}
        changes |= {"budget": {**header.budget, **chosen}, "granted": kept}
    if update.get("confirmed") is True:
        values = lenient.mapping(update, "options") | wanted
        changes |= _offered(confirmed(header.offers, values))
    if isinstance(update.get("title"), str):
        changes |= _titled(header, "person", update["title"])
    if "forkedFrom" in update:
        changes |= _forked(header, update, event.seq)
    return changes | _imported(header.with_(**changes), event)


def _imported(header: Header, event: Event) -> Json:
    given, session = lenient.mapping(event.update, "imported"), header.agent_session
    if given.get("loaded") is True and session:
        return {"agentSession": {key: session[key] for key in session if key != "unloaded"}}
    known = imported.known_as(header.agent, given, calls.block_id(header, event))
    title = lenient.text(given, "title")
    titled = _titled(header, "agent", title) if known and title.strip() else {}
    return titled | ({"agentSession": known, "since": event.at} if known else {})


def _forked(header: Header, update: Json, seq: int) -> Json:
    """Note that the copied turns end here. The agent knows them if its session was forked."""
    session = update.get("agentSession")
    known = session if isinstance(session, dict) else None
    changes: Json = {"forkedFrom": lenient.mapping(update, "forkedFrom"), "agentSession": known}
    due = seq if header.turn and not known else 0
    return changes | {"recapDue": due} | ({} if known else {"recap": seq})


def _titled(header: Header, source: str, title: str) -> Json:
    """Choose the title: the user's, else the agent's, else the first line of the first prompt."""
    titles = {**header.titles, source: lenient.first_line(title, 200)}
    best = titles.get("person") or titles.get("agent") or titles.get("prompt") or ""
    return {"titles": titles, "title": best}


def _prompt(header: Header, event: Event) -> Json:
    """Open a turn; a prompt steered into the running turn only comes between its events."""
    sent, steered = set(lenient.texts(event.update, "queued")), event.update.get("steered") is True
    changes: Json = {"_open": None, "_ran": steered}
    changes |= _brought_back(header, event.update)
    if event.update.get("origin") != rate_limit.ORIGIN:  # an order to resume outlasts a resend
        changes["resumes"] = False
    if not steered:
        tools = {key: tool for key, tool in header.tools.items() if tool[1] not in calls.ENDED}
        changes |= {"turn": header.turn + 1, "_plan": None, "_tools": tools, "_compaction": None}
        changes |= {"_here": [], **children.turn_begins(header)}
        changes["_terminals"] = terminals.running(header.terminals)
    changes |= kept_asks.sent_again(header, event.update)
    if sent:
        changes["queue"] = [item for item in header.queue if item["id"] not in sent]
    return changes


def _brought_back(header: Header, update: Json) -> Json:
    """Return the changes by which a prompt lists the session again, and gives it a title."""
    changes: Json = {"archived": False} if header.archived else {}
    changes |= {"snoozed": 0} if header.snoozed else {}
    if "prompt" not in header.titles:
        changes |= _titled(header, "prompt", words_of(lenient.sequence(update, "prompt")))
    return changes


def _turn(header: Header, event: Event) -> Json:
    update = event.update
    match update.get("state"):
        case "running":
            changes: Json = {"state": "running", "reason": "", "error": None, "rateLimit": None}
            if header.state == "idle":
                changes |= {"since": event.at, "_cancelling": False}
            changes |= (
                {"stopping": stopping} if (stopping := lenient.text(update, "stopping")) else {}
            )
            return changes | ({"_ran": True} if update.get("ran") is True else {})
        case "quiet":
            return {"state": "quiet"}
        case "idle":
            error, reason = update.get("error"), lenient.text(update, "reason")
            return {
                "state": "idle",
                "stopping": "",
                "since": event.at,
                "news": header.news if update.get("imported") is True else event.seq,
                "reason": reason,
                "error": error if isinstance(error, dict) else None,
                "last": lenient.text(update, "last") or header.last,
                "_open": None,
                "_links": {},
                "_tools": calls.left(header.tools, left := calls.LEFT[reason != "end_turn"]),
                **children.turn_over(header, left),
            } | kept_asks.turn_over(header, update)
    return {}


def _done(header: Header, event: Event) -> Json:
    """Note a cancel: what an agent reports as a failure afterwards was cut off."""
    cancels = event.update.get("command") == "cancel" and header.state != "idle"
    return {"_cancelling": True} if cancels else {}


def _queue(header: Header, event: Event) -> Json:
    update = event.update
    queue = listed(header.queue, update)
    changes: Json = {} if queue is None else {"queue": queue}
    if update.get("placeless") is True:  # as a prompt that begins a turn at once
        changes |= _brought_back(header, update)
    return changes


# --- the agent ---------------------------------------------------------------------------------


def _agent(header: Header, event: Event) -> Json:
    update = event.update
    state = lenient.text(update, "state")
    if not state:
        return {}
    process: Json = {"state": state, "name": lenient.text(update, "name") or header.agent}
    for field in ("pid", "how", "guard", "reason", "status", "stderr", "remedy", "lived", "link"):
        if field in update:
            process[field] = update[field]
    changes: Json = {"process": process, "_open": None}
    if state in ("exited", "stopped", "parked"):
        changes |= kept_asks.agent_gone(header) | {"_links": {}}
    if state == "stopped" and header.process["state"] == "parked":
        del changes["process"]  # the worker stopped; the agent stays parked
    elif state == "starting":
        changes["_started"] = lenient.texts(update, "argv")
    elif state == "ready":
        changes |= _ready(header, update)
    elif state == "switched":
        changes |= {**switching.after(header, update, EMPTY.raw), "recap": event.seq}
    return changes


def _ready(header: Header, update: Json) -> Json:
    keys = ("configOptions", "modes", "models")
    offers: Json = {key: update[key] for key in keys if key in update}
    name, session = lenient.text(update, "name"), lenient.text(update, "sessionId")
    known: Json | None = {"name": name, "id": session} if session else None
    before = header.agent_session or {}
    if known and lenient.text(before, "id") == session:
        known |= {key: before[key] for key in ("unloaded",) if key in before}
    return {
        "agentSession": known,
        "capabilities": lenient.mapping(update, "capabilities"),
        "info": lenient.mapping(update, "info"),
        "continues": update.get("continues") is True,
        "steers": update.get("steers") is True,
        "forksAt": update.get("forksAt") is True,
    } | _offered(offers)


def _offered(offers: Json) -> Json:
    options = offered(offers)
    return {
        "_offers": offers,
        "options": options,
        "mode": value_of(options, "mode"),
        "model": value_of(options, "model"),
        "effort": value_of(options, "thought_level"),
    }


def _config_options(header: Header, event: Event) -> Json:
    given = lenient.sequence(event.update, "configOptions")
    return _offered({**header.offers, "configOptions": given})


def _current_mode(header: Header, event: Event) -> Json:
    mode = lenient.text(event.update, "currentModeId")
    changes = _offered(confirmed(header.offers, {"mode": mode})) if mode else {}
    wanted, plans = header.wanted, (mode, header.wanted.get("mode")).count(planning.MODE)
    if changes and plans == 1 and header.state != "idle":
        # /plan, or go: so it is with the agent's next start, too.
        changes["wanted"] = {**wanted, "mode": mode}
    return changes


def _commands(_header: Header, event: Event) -> Json:
    commands = lenient.mappings(event.update, "availableCommands")
    return {"commands": [item for item in commands if lenient.text(item, "name")]}


def _session_info(header: Header, event: Event) -> Json:
    """Take over the agent's title: null removes it, a blank one is ignored."""
    title = event.update.get("title", "")
    if title is None:
        return _titled(header, "agent", "") if "agent" in header.titles else {}
    return _titled(header, "agent", title) if isinstance(title, str) and title.strip() else {}


def _usage(header: Header, event: Event) -> Json:
    given = {key: lenient.number(event.update, key) for key in ("used", "size")}
    usage = header.usage | {key: value for key, value in given.items() if value is not None}
    cost = lenient.mapping(event.update, "cost")
    if (amount := lenient.number(cost, "amount")) is not None:
        usage["cost"] = {"amount": amount, "currency": lenient.text(cost, "currency")}
    return {"usage": usage} if usage != header.usage else {}


def _context(header: Header, event: Event) -> Json:
    state = event.update.get("state")
    changes: Json = {"_open": None}
    if state in ("reset", "cleared"):
        changes |= {"usage": {}, "plan": [], "_plan": None, "_plans": {}}
        changes |= {"recap": event.seq, "_dropped": False}
        changes["recapDue"] = event.seq if state == "reset" and _is_behind(header) else 0
    if state == "cleared":
        changes |= clearing.after(header, event.update, event.seq)
    return changes


def _is_behind(header: Header) -> bool:
    """Whether the agent's session was to be a fork of another one, or a recap is still due."""
    return "before" in (header.agent_session or {}) or bool(header.recap_due)


def _rate_limit(header: Header, event: Event) -> Json:
    limit = {key: value for key, value in event.update.items() if key != "sessionUpdate"}
    return {"rateLimit": limit | {"block": calls.block_id(header, event)}, "_open": None}


# --- what the agent does -----------------------------------------------------------------------


def _tool(header: Header, event: Event) -> Json:
    changes, above = calls.upsert(header, event, event.update), parent_call(event.update)
    if above in header.tools and len(changes.get("_tools", ())) > len(header.tools):
        changes |= children.counted(header.with_(**changes), event, above)
    return changes


def _ask(header: Header, event: Event) -> Json:
    update = event.update
    name = lenient.text(update, "id")
    block = calls.block_id(header, event) + "?"
    kept = kept_asks.after(header, event, block)
    if kept is not None:
        return kept
    if update.get("state") == "asked":
        before = ask_of(header, name)  # the same that stood before is no news
        at = before.at if before and before.at is not None else event.at
        ask = from_agent(update).with_(block=block, at=at)
        changes: Json = {"asks": stored(together.numbered(asks_of(header), ask))}
        changes |= {} if before else {"news": event.seq}
        who = children.asking(header, ask.session)
        folded = calls.after_ask(children.view(header, who), event, ask) | {"_open": None}
        return children.remember(header, who, folded) | changes
    if update.get("state") == "completed":
        return links.after_completion(header, name)
    rest = stored({key: ask for key, ask in asks_of(header).items() if key != name})
    known = ask_of(header, name)
    if known is not None and known.is_about_budget:
        return {"asks": rest} | budgets.answered(header, known, lenient.mapping(update, "outcome"))
    who = children.asking(header, known.session if known else "")
    waited = calls.after_answer(children.view(header, who), known, event.at) if known else {}
    waited = children.remember(header, who, waited) | links.after_answer(header, name, update)
    return {"asks": rest} | waited | kept_asks.closing(header, update)


def _terminal(header: Header, event: Event) -> Json:
    name, known = lenient.text(event.update, "id"), header.terminals
    match event.update.get("state"):
        case "ended":
            return {"_terminals": terminals.ended(known, name)}
        case "output" if terminals.block_of(known, name):
            return {}
    call = calls.block_of(header, lenient.text(event.update, "toolCallId"))
    begun = terminals.started(known, name, calls.block_id(header, event), call)
    return {"_terminals": begun, "_open": None, "_ran": True}


def _notice(header: Header, event: Event) -> Json:
    if lenient.integer(event.update, "recap"):
        return {"recapDue": 0}
    return _others_here(header, event)


def _others_here(header: Header, event: Event) -> Json:
    """Note the sessions that work in the same directory, for the turn that met them. They are not
    mentioned in an idle session, or below an open ask."""
    others = lenient.texts(event.update, "sessions")
    if not others or header.state == "idle" or kept_asks.unanswered(header):
        return {}
    return {"_here": list(dict.fromkeys([*header.neighbours, *others]))}


def _ends_message(header: Header, event: Event) -> Json:
    """Close the open message: whatever has a block of its own separates two messages."""
    return {"_open": None} if header.open_message and not is_aside(event.update) else {}


_STEPS: dict[str, Callable[[Header, Event], Json]] = {
    "_session": _session,
    "_prompt": _prompt,
    "_turn": _turn,
    "_queue": _queue,
    "_agent": _agent,
    "_ask": _ask,
    "_context": _context,
    "_rate_limit": _rate_limit,
    "_terminal": _terminal,
    rewinding.KIND: rewinding.after,
    rewinding.SNAPSHOT: rewinding.snapshot,
    "_settings": lambda header, event: {"settings": held.after(header, event)},
    # They stand below the message that goes on.
    "_done": _done,
    **dict.fromkeys(("_rejected", "notice"), lambda *_: {}),
    "_notice": _notice,
    **dict.fromkeys(CHUNK_KINDS, message_blocks.after),
    **dict.fromkeys(
        ("compaction_update", "compaction_summary_chunk"), message_blocks.after_compaction
    ),
    "tool_call": _tool,
    "tool_call_update": _tool,
    **dict.fromkeys(children.KINDS, lambda header, event: children.after(header, event, _STEPS)),
    "plan": plans.after,
    "plan_update": plans.after_update,
    "plan_removed": plans.after_removal,
    "available_commands_update": _commands,
    "current_mode_update": _current_mode,
    "config_option_update": _config_options,
    "session_info_update": _session_info,
    "usage_update": _usage,
}
