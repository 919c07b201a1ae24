"""Asks that outlive the process that asked them: which are kept, how they are asked again, and when
an answer given in the meantime counts.

An open ask is *away* while its agent cannot receive an answer. It is closed by the user, by an
agent that continues without it, by a clear or a switch; never by the end of a process."""

from collections.abc import Iterable

from rookery.core import budgets
from rookery.core.asks import asks, identity, links
from rookery.core.asks.asks import Refusal
from rookery.core.json import Draft, Event, Json, lenient
from rookery.core.stop_reasons import STOP_REASONS
from rookery.core.tools.calls import in_turn, key_of

HEARD = STOP_REASONS - {"cancelled"}
"""The agent answered a prompt: it knows what became of its asks."""

CANCELLED = "the turn was cancelled"
ORIGIN = "ask"
"""The origin of a turn that asks a kept ask again."""

CONTINUE, RESEND, DECIDE, FORCED = "continue", "resend", "decide", "forced"
"""How: the agent goes on by itself; its prompt is sent again; the user decides; the user did."""

LATE = "answered already"
REPLACED = Refusal(
    "superseded", "The agent asks something else now, so your answer was not sent to it."
)
"""The outcome of an answer that was not the first."""
ANEW = "anew"
"""Like RESEND, for a conversation's first prompt: there is no conversation yet that could be
lost."""

AGAIN, DROP = "again", "drop"
OPTIONS: list[Json] = [
    {"optionId": AGAIN, "name": "Send the prompt again", "kind": "allow_once"},
    {"optionId": DROP, "name": "Drop it", "kind": "reject_once"},
]
"""The options of a kept ask that cannot be asked again without the user's consent."""

RAN = (
    "Steps of this turn have already run and could run twice, so the prompt is not sent "
    "again automatically. If you send it, the agent may ask this again."
)
LOST = (
    "The agent no longer remembers the conversation, so the prompt is not sent again "
    "automatically. If you send it, the agent may ask this again."
)
LEFT_TO_YOU = (
    "Prompts are not sent to this agent again automatically. If you send it, "
    "the agent may ask this again."
)
GIVEN = ("option", "action", "content", "reason", "confirm", "always")
"""The fields of an answer command that make up the answer."""

THEIRS = (
    *("kind", "options", "danger", "risk"),
    *("always", "alwaysChoices", "alwaysReach", "alike", "url", "elicitation"),
)
"""Fields of an ask that give way while the user decides whether its prompt is sent again."""

NOT_ASKED = ("sessionUpdate", "state", "away", "given", "decide", "theirs", "sent", "step")
"""Fields of an ask in the header that no agent's request can bring."""


# --- which are kept ----------------------------------------------------------------------------


def away(header: Json) -> dict[str, Json]:
    """Return the asks whose agent cannot receive an answer now."""
    return {name: ask for name, ask in header["asks"].items() if ask.get("away")}


def live(header: Json) -> dict[str, Json]:
    """Return the asks that an agent is waiting for."""
    return {name: ask for name, ask in _theirs(header).items() if not ask.get("away")}


def _theirs(header: Json) -> dict[str, Json]:
    """Return the agent's asks, without those about a budget, which no agent asks."""
    return {name: ask for name, ask in header["asks"].items() if not budgets.is_one(ask)}


def unanswered(header: Json) -> int:
    """Return how many asks wait for the user."""
    return sum(map(is_waiting, header["asks"].values()))


def oldest(header: Json) -> int:
    """Return when the oldest ask that waits for the user was asked, in milliseconds since the
    epoch; 0 if there is none."""
    waiting = filter(is_waiting, header["asks"].values())
    return min((lenient.integer(ask, "at") or 0 for ask in waiting), default=0)


def is_waiting(ask: Json) -> bool:
    """Whether an ask waits for the user, not for the agent."""
    return bool(ask.get("decide")) or not (ask.get("given") or ask.get("sent"))


def has_run(header: Json) -> bool:
    """Whether steps of the open turn have run, as far as the log shows: any call other than those
    being asked about, a terminal, a write, an ask that was answered."""
    asked = {
        key_of(lenient.mapping(ask, "toolCall"))
        for ask in header["asks"].values()
        if in_turn(header, ask["block"])
    }
    return bool(header["_ran"]) or any(
        status != "pending" and in_turn(header, block)
        for key, (block, status, _) in header["_tools"].items()
        if key not in asked
    )


def turn_over(header: Json, update: Json) -> Json:
    """Return the fields that a turn's end changes: asks that are still open are kept."""
    changes: Json = {}
    if header["_dropped"] and update.get("reason") in HEARD:
        changes["_dropped"] = False
    theirs = _theirs(header)
    if update.get("reason") in HEARD:
        theirs = {name: ask for name, ask in theirs.items() if not stays(ask)}
    if theirs:
        ran, decide = has_run(header), update.get("decide") is True
        left = {
            name: _left(ask, header["turn"], ran=ran, decide=decide) for name, ask in theirs.items()
        }
        changes["asks"] = {**header["asks"], **left}
    return changes


def agent_gone(header: Json) -> Json:
    """Like `turn_over`, for when the agent's end is logged first, or comes between two turns."""
    if not live(header):
        return {}
    idle = header["state"] == "idle"
    ran = has_run(header) or idle
    kept = {name: _left(ask, header["turn"], ran=ran) for name, ask in live(header).items()}
    left = {name: ask for name, ask in header["asks"].items() if not (idle and stays(ask))}
    return {"asks": {name: kept.get(name, ask) for name, ask in left.items()}}


def stays(ask: Json) -> bool:
    """Whether an ask outlasts its turn, as a log-in to a server does; it ends with its agent."""
    return links.is_one(ask) and not ask.get("away")


def _left(ask: Json, turn: int, *, ran: bool, decide: bool = False) -> Json:
    known = lenient.mapping(ask, "away")
    mark: Json = {"turn": known.get("turn", turn), "ran": ran or known.get("ran") is True}
    if decide or known.get("decide") is True:
        mark["decide"] = True
    return {**_without(ask, "sent"), "away": mark}


def _without(ask: Json, *fields: str) -> Json:
    return {key: value for key, value in ask.items() if key not in fields}


def sent_again(header: Json, update: Json) -> Json:
    """Return the fields changed by a `_prompt` that the user has sent again: the agent's own
    options are restored, and the asks wait for the agent."""
    if update.get("origin") != ORIGIN or update.get("how") != FORCED:
        return {}
    asks_ = {
        name: {**_without(ask, "decide", "theirs"), **lenient.mapping(ask, "theirs"), "sent": True}
        if ask.get("away")
        else ask
        for name, ask in header["asks"].items()
    }
    return {"asks": asks_}


def after(header: Json, event: Event, block: str) -> Json | None:
    """Return the header's asks after an `_ask` about a kept ask: an answer that is kept, or options
    for the user to decide. None if it is a plain one."""
    update, name = event.update, lenient.text(event.update, "id")
    known = header["asks"].get(name)
    match update.get("state"):
        case "answered" if known is not None:
            details = {"by": event.by, "name": lenient.text(update, "name")}
            given = lenient.mapping(update, "given") | details
            return {"asks": {**header["asks"], name: {**known, "given": given}}}
        case "answered":
            return {}
        case "asked" if known is not None and update.get("decide") is True:
            theirs = {key: known[key] for key in THEIRS if key in known}
            ask = {**_without(known, *THEIRS), "kind": "permission", "options": OPTIONS}
            ask |= {"decide": True, "why": lenient.text(update, "why"), "theirs": theirs}
            return {"asks": {**header["asks"], name: {**ask, "block": block}}, "_open": None}
    return None


def closing(header: Json, update: Json) -> Json:
    """Return what else an ask's end changes: an answered one was a step of its turn, and the agent
    must still be told of one that was dropped."""
    changes: Json = {}
    if lenient.mapping(update, "outcome").get("outcome") != "cancelled" and not header["_ran"]:
        changes["_ran"] = header["state"] != "idle"
    if update.get("dropped") is True:
        changes["_dropped"] = True
    return changes


# --- how they are asked again ------------------------------------------------------------------


def plan(header: Json, *, resends: bool) -> str:
    """Return how the kept asks are to be asked again; "" if there are none. `resends`: the agent's
    profile allows its prompt to be sent once more."""
    marks = [ask["away"] for ask in away(header).values()]
    if not marks:
        return ""
    if any(mark.get("decide") for mark in marks):
        return DECIDE
    if header["continues"]:
        return CONTINUE
    return RESEND if resends and not any(mark["ran"] for mark in marks) else DECIDE


def way(wanted: str, *, continues: bool, forgot: bool) -> str:
    """Return what is actually done once the agent is there; "" for a turn of another kind.
    `forgot`: its conversation did not come back."""
    if not wanted:
        return ""
    if wanted == budgets.HOW:
        return RESEND
    if continues and not forgot:
        return CONTINUE
    if wanted in (FORCED, ANEW):
        return RESEND
    return DECIDE if forgot or wanted == CONTINUE else RESEND


def undecided(header: Json) -> list[Draft]:
    """Return the drafts that let the user decide, for each kept ask that does not offer that
    yet."""
    base: Json = {"sessionUpdate": "_ask", "state": "asked", "decide": True, "options": OPTIONS}
    drafts = []
    for name, ask in away(header).items():
        if not ask.get("decide"):
            call = lenient.mapping(ask, "toolCall")
            about: Json = {"id": name, "nonce": lenient.text(ask, "nonce"), "kind": "permission"}
            title = lenient.text(call, "title") or lenient.text(ask, "message")
            drafts.append(Draft(base | about | {"message": title, "why": _why(ask["away"])}))
    return drafts


def _why(mark: Json) -> str:
    if mark["ran"]:
        return RAN
    return LOST if mark.get("decide") else LEFT_TO_YOU


def is_first(header: Json, turn: int) -> bool:
    """Whether a turn was the first of its conversation."""
    return turn == 1 + (lenient.integer(header["fold"], "turn") or 0)


# --- answers while nobody hears them -----------------------------------------------------------


def kept_answer(ask: Json, command: Json, by: str | None) -> Draft | Refusal:
    """Return the event that keeps an answer until the agent asks again. The answer is checked now
    and again then. It is kept even while the user still has to decide whether the prompt is sent
    again: what they allow is independent of how the agent gets to ask."""
    ask = {**ask, **lenient.mapping(ask, "theirs")}
    if command.get("always"):
        if not ask.get("always"):
            return _no_rule(lenient.text(ask, "danger"))
        command = {**command, "option": asks.allowing(ask)}
    answer = asks.answered(ask, command, by)
    if isinstance(answer, Refusal):
        return answer
    given = {key: command[key] for key in GIVEN if key in command}
    update: Json = {"sessionUpdate": "_ask", "id": ask["id"], "state": "answered", "given": given}
    update["name"] = lenient.text(answer.draft.update, "name")
    return Draft(update, command["id"], by)


def _no_rule(danger: str) -> Refusal:
    if danger:
        return Refusal("always_disabled", asks.once_only(danger))
    return Refusal("no_rule", "Can't be always-allowed: no rule can cover it.")


def is_drop(ask: Json, command: Json) -> bool:
    """Whether an answer drops a kept ask."""
    if ask.get("decide"):
        return command.get("cancel") is True or command.get("option") == DROP
    return command.get("cancel") is True or command.get("action") == "cancel"


def is_again(ask: Json, command: Json) -> bool:
    return bool(ask.get("decide")) and command.get("option") == AGAIN


def is_late(ask: Json, command: Json) -> bool:
    """Whether another answer came first."""
    return bool(ask.get("given")) and not (is_drop(ask, command) or is_again(ask, command))


def dropped(ask: Json, command: Json, by: str | None) -> Draft | Refusal:
    if command.get("nonce") != ask.get("nonce"):
        return asks.WRONG_NONCE
    return _closed(ask, "dropped while the agent was away", command["id"], by, dropped=True)


def given_up(header: Json, why: str, by: str | None = None) -> list[Draft]:
    """Close all kept asks."""
    person = by is not None
    return [_closed(ask, why, None, by, dropped=person) for ask in away(header).values()]


def superseded(ask: Json) -> Draft:
    return _closed(ask, "the agent asks something else now", None, None, superseded=True)


def unasked(ask: Json, reason: str) -> Draft:
    """Close a kept ask that was not asked again in the turn that should have done so."""
    if reason in (CANCELLED, "cancelled", "forced"):
        return _closed(ask, CANCELLED, None, None, dropped=True)
    return _closed(ask, "the agent continued without asking again", None, None)


def stopped(header: Json) -> str:
    """Return the reason for a turn that is ended by an orderly stop."""
    return "waiting" if _theirs(header) else "interrupted"


def _closed(ask: Json, why: str, cause: str | None, by: str | None, **marks: bool) -> Draft:
    given = lenient.mapping(ask, "given")
    if given:
        why += f"; your answer “{lenient.text(given, 'name')}” was not sent to the agent"
    update = asks.closed(ask["id"], {"outcome": "cancelled"}, reason=why)
    return Draft(update | {key: True for key, is_so in marks.items() if is_so}, cause, by)


def offline(header: Json, command: Json, by: str | None) -> list[Draft] | None:
    """Return what a command does to asks while no worker is awake, its outcome last; None if
    nothing."""
    match command["do"]:
        case "answer":
            return [_offline_answer(header, command, by)]
        case "cancel" if away(header):
            done: Json = {"sessionUpdate": "_done", "command": "cancel"}
            return [*given_up(header, "cancelled", by), Draft(done, command["id"], by)]
    return None


def forgotten(header: Json, update: Json) -> list[Draft]:
    """Close the asks of a conversation that `update` abandons while no worker is awake."""
    if update.get("sessionUpdate") == "_context":
        return given_up(header, "the conversation was cleared")
    if update.get("sessionUpdate") == "_agent":
        return given_up(header, "another agent took over")
    return []


def _offline_answer(header: Json, command: Json, by: str | None) -> Draft:
    ask = header["asks"].get(command["ask"])
    done: Json = {"sessionUpdate": "_done", "command": "answer"}
    if ask is None or is_late(ask, command):
        return Draft(done | {"detail": LATE}, command["id"], by)
    if command.get("defer") is True:
        return Draft(done | {"detail": "deferred"}, command["id"], by)
    outcome: Draft | Refusal
    if budgets.is_one(ask):  # whoever continues wakes the session
        answer = asks.answered(ask, command, by)
        outcome = answer if isinstance(answer, Refusal) else answer.draft
    elif is_drop(ask, command):
        outcome = dropped(ask, command, by)
    elif is_again(ask, command):
        outcome = Refusal("asleep", "The session did not wake up, so nothing was sent again.")
    else:
        outcome = kept_answer(ask, command, by)
    if isinstance(outcome, Refusal):
        update = {"sessionUpdate": "_rejected", "command": "answer"}
        return Draft(update | outcome._asdict(), command["id"], by)
    return outcome


# --- what is the same --------------------------------------------------------------------------


def matching(header: Json, same: str, taken: Iterable[str]) -> Json | None:
    """Return the kept ask that this one repeats; None if there is none. `taken`: ids already asked
    again."""
    spoken_for = set(taken)
    for name, ask in away(header).items():
        if name not in spoken_for and same and (ask.get("same") or identity.digest(ask)) == same:
            return {**ask, "id": name}
    return None


def replaced(header: Json) -> Json | None:
    """Return the kept ask that is superseded when the agent, asked to go on, asks something else
    first. None if steps had run or several are kept: it may still come."""
    kept = list(away(header).items())
    if len(kept) != 1 or kept[0][1]["away"]["ran"]:
        return None
    return {**kept[0][1], "id": kept[0][0]}
