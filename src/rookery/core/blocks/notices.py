"""Blocks that stand between messages and tool calls: notices, dividers, endings."""

from rookery.core import budgets, worktree
from rookery.core.agent.names import agent_name
from rookery.core.agent.prompt import words_of
from rookery.core.asks import kept_asks
from rookery.core.blocks import failures, parts
from rookery.core.blocks.document import Op, append, block_of_event, change, make_block, put
from rookery.core.critic import state
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.settings import held
from rookery.core.tools.calls import block_id
from rookery.core.turn import retries
from rookery.core.turn.rate_limit import reset_of
from rookery.core.turn.remedies import MISSING, WORKER_DIED, remedy_for, says_login
from rookery.core.vendors import detection, logins
from rookery.core.vendors.errors import error_words, exit_title, last_words

MOVE: Json = {"label": "Move to a worktree", "window": "move"}

UNREACHABLE = "Check the network and the model's base URL. Nothing is lost while it tries."


def notice(before: Header, after: Header, event: Event) -> list[Op]:
    update = event.update
    if retries.is_own(update):
        return []  # a state, which has a block of its own
    if kind_of(update) == "_notice" and lenient.texts(update, "sessions"):
        return _others_here(before, after, lenient.text(update, "text"))
    texts = (lenient.text(update, key) for key in ("text", "message", "description"))
    title, text = lenient.text(update, "title"), next(filter(None, texts), "")
    if not text and not title:
        return raw(after, event, kind_of(update), update)
    status = lenient.text(update, "level") or lenient.text(update, "severity") or "info"
    actions: list[Json] = []
    ours = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
    if kind_of(update) == "_notice":  # an agent's own brings no button that sends a command
        actions = [action for action in lenient.mappings(update, "actions") if "command" in action]
    elif lenient.text(ours, "failed") == "servers":
        actions = failures.helping(failures.MEANWHILE["servers"])
    block = block_of_event(after, event, "notice", title=title, text=text, status=status)
    return put(block | {"actions": parts.whole(actions[:5])})


def meets_others(before: Header, after: Header) -> bool:
    """Whether an event is the first of its turn to report other sessions in the directory."""
    return not before.neighbours and bool(after.neighbours)


def _others_here(before: Header, after: Header, text: str) -> list[Op]:
    """Show one line in a turn, however many other sessions begin to work in its directory."""
    name = f"{after.turn}.here"
    earlier, known = before.neighbours, after.neighbours
    if earlier == known:
        return []
    if earlier:
        return change(name, text=f"{len(known)} other sessions are working in this directory.")
    actions = [] if worktree.exists(after.worktree) else [MOVE]
    return put(make_block(name, "notice", text=text, status="info", actions=actions))


def raw(after: Header, event: Event, title: str, value: object) -> list[Op]:
    """Show what has no look of its own: its name and the value, as far as an op carries it."""
    shown = parts.fit([{"type": "json", "value": value}])
    return put(block_of_event(after, event, "raw", title=title, parts=shown))


def rejected(_before: Header, after: Header, event: Event) -> list[Op]:
    text = lenient.text(event.update, "message") or lenient.text(event.update, "reason")
    return put(block_of_event(after, event, "notice", status="warn", text=text))


def retrying(before: Header, after: Header) -> list[Op]:
    """Return the ops for the block that is shown while an agent retries its model."""
    name = f"{before.turn}.retry"
    if before.retrying == after.retrying:
        return []
    if not after.retrying:
        return [["drop", name]]
    who, text, actions = after.agent or "The agent", after.retrying, list[Json]()
    title = f"{who} is trying again"
    if retries.is_unreachable(after):
        title, text = f"{who} cannot reach its model", f"{text}\n{UNREACHABLE}"
        actions = failures.helping(failures.MEANWHILE["unreachable_model"], about(after))
    if before.retrying:
        return change(name, title=title, text=text, actions=actions)
    block = make_block(name, "notice", status="warn", title=title, text=text, actions=actions)
    return put(block)


def is_own(header: Header) -> bool:
    return bool(header.vendor == detection.OWN)


def about(header: Header, agent: str = "") -> failures.About:
    return failures.About(agent or header.agent, is_own(header), header.turn)


WAITS = (
    "“Continue at the reset” sends the prompt again then; "
    "to do so in every session, set `rate_limit_auto_resume`."
)


def rate_limit(_before: Header, after: Header, event: Event) -> list[Op]:
    title, status = ENDS["rate_limited"], "rate_limited"
    block = block_of_event(after, event, "notice", title=title, status=status)
    return put(block | _limit(after, reset_of(event.update, event.at)))


def resumption(before: Header, after: Header) -> list[Op]:
    """Update the card of a rate limit after the user chose whether the session goes on then."""
    limit, ordered = after.rate_limit, after.resumes is True
    if limit is None or before.resumes == ordered or not limit.get("block"):
        return []
    return change(limit["block"], **_limit(after, reset_of(limit, after.since)))


def _limit(after: Header, at: float | None) -> Json:
    """Return the text and actions of a rate limit's card."""
    limit, ordered = after.rate_limit, after.resumes is True
    given = lenient.text(limit, "resetsAt") or lenient.integer(limit, "resetsAt")
    resets = given or (None if at is None else int(at // 1000))
    prompt = list(lenient.mappings(limit, "prompt"))
    known = f"The limit resets at {resets}." if resets else "The agent did not say when it resets."
    helps = remedy_for("rate_limited", {}, after.agent)
    left_out = {"resume" if ordered else "stay"}
    if not prompt:
        left_out |= {"now", "resume", "stay"}
    elif at is None:
        left_out |= {"resume", "stay"}
    else:
        helps = "The session then continues by itself." if ordered else f"{helps}\n{WAITS}"
    names = tuple(name for name in failures.ENDS["rate_limited"] if name not in left_out)
    *actions, another = failures.helping(names, about(after))
    actions.append({**another, "command": {"do": "switch", "reason": "rate_limited"}})
    text = "\n".join([lenient.text(limit, "message"), known, helps]).strip()
    card: Json = {"text": text, "actions": actions}
    if at is not None:  # a face shows it by the user's clock
        card |= {"resets": at, "resetsSaid": f"The limit resets at {resets}"}
    return card


# --- the agent's process and its conversation ----------------------------------------------------


def agent(before: Header, after: Header, event: Event) -> list[Op]:
    update = event.update
    who = lenient.text(update, "name") or after.agent
    match update.get("state"):
        case "switched":
            title = f"Switched from {lenient.text(update, 'from')} to {lenient.text(update, 'to')}"
            recap = _recap(before, event)
            return put(block_of_event(after, event, "divider", title=title, actions=recap))
        case "parked":
            worker = update.get("reason") == WORKER_DIED
            who = "The session's worker" if worker else who
            title = f"{who} did not start. {lenient.text(update, 'remedy')}".strip()
            names = failures.STARTS[_parked(update)]
            if before.state != "idle":  # to send the prompt again starts it, too
                names = tuple("again" if name == "retry" else name for name in names)
            actions = failures.helping(names, about(after, who))
            fields = {"title": title, "text": last_words(update), "actions": actions}
            return put(block_of_event(after, event, "error", **fields))
        case "exited" if update.get("status") not in (0, None) and before.state == "idle":
            # In mid-turn, the turn's end follows and says it all.
            title, text = _exit(who, update)
            return _exited(after, event, title, text)
        case "exited" if lenient.text(update, "link") and before.state == "idle":
            return _exited(after, event, NO_LINK, lenient.text(update, "link"))
    return []


def _exited(after: Header, event: Event, title: str, text: str) -> list[Op]:
    actions = failures.helping(failures.STARTS["exited"], about(after))
    fields = {"title": title, "text": text, "actions": actions}
    return put(block_of_event(after, event, "notice", status="warn", **fields))


def _parked(update: Json) -> str:
    """Return why an agent does not start, as a key of the table."""
    if update.get("reason") == WORKER_DIED:
        return WORKER_DIED
    if lenient.text(update, "remedy").startswith(MISSING):
        return "missing"
    return "login_needed" if says_login(update) else "parked"


def _recap(before: Header, event: Event) -> list[Json]:
    """Return the composer action that recaps what the agent forgot, if there was any turn."""
    ended = before.turn - (before.state != "idle")
    return [{"label": "Recap", "compose": {"recap": event.seq}}] if ended > 0 else []


_CONTEXTS = {"reset": "The agent's context was reset", "cleared": "Cleared"}
_CONTEXTS |= {"compacted": "Context compacted"}


def context(before: Header, after: Header, event: Event) -> list[Op]:
    state, text = lenient.text(event.update, "state"), lenient.text(event.update, "reason")
    title = _CONTEXTS.get(state, "Context changed")
    block = block_of_event(after, event, "divider", title=title, text=text)
    if state in ("reset", "cleared"):
        block["actions"] = _recap(before, event)
    if state == "cleared":
        block["folds"] = after.turn
    return put(block)


_COMPACTING = "Compacting the context"
_COMPACTIONS = {
    "completed": "Context compacted",
    "failed": "Compaction failed",
    "cancelled": "Compaction cancelled",
}


def compaction(before: Header, after: Header, event: Event) -> list[Op]:
    """Return the ops for a compaction's divider, with the summary of what was before."""
    update, name = event.update, after.compaction[1]
    is_known = before.compaction == after.compaction
    if kind_of(update) == "compaction_summary_chunk":
        text = words_of([update.get("content")])
        if is_known:
            return append(name, text)
        return put(make_block(name, "divider", title=_COMPACTING, text=text))
    status = lenient.text(update, "status")
    fields: Json = {"title": _COMPACTIONS.get(status, _COMPACTING)}
    if status == "failed":
        fields["actions"] = failures.helping(failures.MEANWHILE["compaction"])
    if "summary" in update or lenient.text(update, "error"):
        summary = words_of(lenient.sequence(update, "summary"))
        fields["text"] = "\n\n".join(filter(None, (lenient.text(update, "error"), summary)))
    return change(name, **fields) if is_known else put(make_block(name, "divider", **fields))


# --- the end of a turn ---------------------------------------------------------------------------


KINDS = ("network", "context", "no_plan")
"""Kinds of error that have actions of their own."""
NO_LINK = "No connection to the agent"
ENDS = {
    "cancelled": "Cancelled",
    "max_tokens": "The model reached its token limit",
    "max_turn_requests": "The agent reached its request limit for one turn",
    "refusal": "The agent refused to continue",
    "failed": "The agent returned an error",
    "no_plan": "Nothing was sent",
    "forced": "You ended the turn",
    "rate_limited": "Rate limit reached",
    "orphaned": "The agent stopped responding and was restarted",
    "unresponsive": "The agent ignored the cancel and was killed",
    "agent_exited": "The agent's process ended",
    "waiting": "The turn is waiting for your answer",
    "interrupted": "The worker ended during the turn; everything shown here is saved",
}


def quiet(name: str, event: Event) -> list[Op]:
    title, text = "The agent has gone silent", lenient.text(event.update, "detail")
    actions = failures.helping(failures.MEANWHILE["quiet"])
    return put(make_block(name, "notice", status="warn", title=title, text=text, actions=actions))


def stopping(name: str, message: str) -> list[Op]:
    text = f"{message}\nCalls that run are finished, nothing new begins, and then you are asked."
    return put(make_block(name, "notice", status="warn", title="Stopping for a budget", text=text))


def ending(after: Header, event: Event) -> list[Op]:
    """Return the ops that show why a turn did not end well, and what the user can do about it."""
    reason, process, error = after.reason, after.process, after.error or {}
    if reason == "agent_exited" and process["state"] == "parked":
        return []  # that it was parked says it all
    title = ENDS.get(_failed(after), ENDS.get(reason, reason))
    detail = error_words(error) if error else lenient.text(event.update, "detail")
    if reason == "agent_exited" and process["state"] == "exited" and "status" in process:
        title, detail = _exit(agent_name(after), process)
    elif reason == "agent_exited" and process.get("link"):
        title = NO_LINK
    remedy = remedy_for(reason, error, detection.OWN if is_own(after) else after.agent)
    text = "\n".join(filter(None, (detail, "" if reason == "agent_exited" else remedy)))
    role = "notice" if reason in ("cancelled", "forced", "waiting") else "error"
    block = block_of_event(after, event, role, title=title, text=text, status=reason)
    block["actions"] = failures.helping(failures.ENDS.get(_failed(after), ()), about(after))
    return put(block)


def _failed(after: Header) -> str:
    """Return why a turn ended, as a key of the table."""
    reason, error = str(after.reason), after.error or {}
    if reason == "agent_exited":
        return "login" if says_login(after.process) else reason
    if reason != "failed":
        return reason
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    return "login" if logins.wanted(error) else kind if kind in KINDS else reason


def _exit(who: str, process: Json) -> tuple[str, str]:
    """Return title and text for an exit; one line of last output goes into the title."""
    title, output = exit_title(who, process["status"]), last_words(process).strip()
    return (title, output) if "\n" in output or not output else (f"{title}: {output}", "")


# --- prompts that the user did not send ---------------------------------------------------------


def prompt_title(after: Header, update: Json) -> str:
    """Return the title of a prompt that the user did not send."""
    match lenient.text(update, "origin"):
        case state.ORIGIN:
            critic = after.critic
            count = f" {critic['iteration']} of {critic['of']}" if critic["of"] else ""
            return f"refinement{count}, from the critic"
        case kept_asks.ORIGIN if lenient.text(update, "how") == budgets.HOW:
            return "continued after the budget pause, from Rookery"
        case kept_asks.ORIGIN if lenient.text(update, "how") == kept_asks.CONTINUE:
            return "the open question is asked again, from Rookery"
        case kept_asks.ORIGIN:
            return "sent again for the open question, from Rookery"
        case origin:
            return origin


# --- settings ------------------------------------------------------------------------------------

WARNED = "config.toml has entries that are not used"
MOST_LINES = 5
MOST_LETTERS = 400
"""Characters of a notice that a look shows unexpanded; only then it offers a button."""


def settings(before: Header, now: Header, event: Event) -> list[Op]:
    """Return the ops for settings that wait, and for unused entries of config.toml."""
    old, new = before.settings, now.settings
    ops: list[Op] = []
    if old["block"] and old["block"] != new["block"]:
        ended = "confirmed" if event.update.get("confirmed") is True else "undone or changed"
        title = f"{held.TITLE}: {ended}"
        ops += change(old["block"], status="info", actions=[], parts=[], title=title)
    if new["block"] and new["block"] != old["block"]:
        text = held.listed(event.update)
        block = make_block(new["block"], "notice", status="warn", title=held.TITLE, text=text)
        block["parts"] = [{"type": "markdown", "text": held.HELP}]
        ops += put(block | {"actions": _confirm(text, new["held"])})
    if new["warnings"] and new["warnings"] != old["warnings"]:
        text = "\n".join(line[: held.MAX_LENGTH] for line in new["warnings"])
        name = block_id(now, event) + "w"
        ops += put(make_block(name, "notice", status="warn", title=WARNED, text=text))
    return ops


def _confirm(text: str, fingerprint: str) -> list[Json]:
    """Return the confirm action; none under a long list, which is to be read in full first."""
    if text.count("\n") >= MOST_LINES or len(text) > MOST_LETTERS:
        return []
    command = {"do": "settings", "take": fingerprint}
    return [{"label": "Confirm", "kind": "settings", "command": command, "danger": True}]
