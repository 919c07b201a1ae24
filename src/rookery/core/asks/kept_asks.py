"""Asks that outlive the process that asked them: which are kept, how they are asked again, and when
an answer given in the meantime counts.

An open ask is *away* while its agent cannot receive an answer. It is closed by the user, by an
agent that continues without it, by a clear or a switch; never by the end of a process."""

from collections.abc import Iterable

from rookery.core import budgets
from rookery.core.ask import GIVEN, Ask, ask_of, asks_of, stored
from rookery.core.asks import asks, identity
from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
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
"""Like RESEND, for a first prompt: there is no conversation yet that could be lost."""

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
THEIRS = (
    *("kind", "options", "danger", "risk"),
    *("always", "alwaysChoices", "alwaysReach", "alike", "url", "elicitation"),
)
"""Fields of an ask that give way while the user decides whether its prompt is sent again."""


# --- which are kept ----------------------------------------------------------------------------


def away(header: Header) -> dict[str, Ask]:
    """Return the asks whose agent cannot receive an answer now."""
    return {name: ask for name, ask in asks_of(header).items() if ask.away}


def live(header: Header) -> dict[str, Ask]:
    """Return the asks that an agent is waiting for."""
    return {name: ask for name, ask in _theirs(header).items() if not ask.away}


def _theirs(header: Header) -> dict[str, Ask]:
    """Return the agent's asks, without those about a budget, which no agent asks."""
    return {name: ask for name, ask in asks_of(header).items() if not ask.is_about_budget}


def unanswered(header: Header) -> int:
    """Return how many asks wait for the user."""
    return sum(ask.is_waiting for ask in asks_of(header).values())


def oldest(header: Header) -> int:
    """Return when the oldest ask that waits for the user was asked, in milliseconds since the
    epoch; 0 if there is none."""
    return min((ask.at or 0 for ask in asks_of(header).values() if ask.is_waiting), default=0)


def has_run(header: Header) -> bool:
    """Whether steps of the open turn have run, as far as the log shows: any call other than those
    being asked about, a terminal, a write, an ask that was answered."""
    asked = {key_of(ask.call) for ask in asks_of(header).values() if in_turn(header, ask.block)}
    return header.ran or any(
        status != "pending" and in_turn(header, block)
        for key, (block, status, _) in header.tools.items()
        if key not in asked
    )


def turn_over(header: Header, update: Json) -> Json:
    """Return the fields that a turn's end changes: asks that are still open are kept."""
    changes: Json = {}
    if header.dropped and update.get("reason") in HEARD:
        changes["_dropped"] = False
    theirs = _theirs(header)
    if update.get("reason") in HEARD:
        theirs = {name: ask for name, ask in theirs.items() if not stays(ask)}
    if theirs:
        ran, decide = has_run(header), update.get("decide") is True
        left = {
            name: _left(ask, header.turn, ran=ran, decide=decide) for name, ask in theirs.items()
        }
        changes["asks"] = {**header.asks, **stored(left)}
    return changes


def agent_gone(header: Header) -> Json:
    """Like `turn_over`, for when the agent's end is logged first, or comes between two turns."""
    if not live(header):
        return {}
    idle = header.state == "idle"
    ran = has_run(header) or idle
    kept = {name: _left(ask, header.turn, ran=ran) for name, ask in live(header).items()}
    left = {name: ask for name, ask in asks_of(header).items() if not (idle and stays(ask))}
    return {"asks": stored({name: kept.get(name, ask) for name, ask in left.items()})}


def stays(ask: Ask) -> bool:
    """Whether an ask outlasts its turn, as a log-in to a server does; it ends with its agent."""
    return ask.is_link and not ask.away


def _left(ask: Ask, turn: int, *, ran: bool, decide: bool = False) -> Ask:
    if known := ask.away:
        turn, ran, decide = known.turn, ran or known.ran, decide or known.decide
    mark: Json = {"turn": turn, "ran": ran} | ({"decide": True} if decide else {})
    return ask.with_("sent", away=mark)


def sent_again(header: Header, update: Json) -> Json:
    """Return the fields changed by a `_prompt` that the user has sent again: the agent's own
    options are restored, and the asks wait for the agent."""
    if update.get("origin") != ORIGIN or update.get("how") != FORCED:
        return {}
    sent = {
        name: ask.with_("decide", "theirs", **ask.theirs, sent=True)
        for name, ask in away(header).items()
    }
    return {"asks": {**header.asks, **stored(sent)}}


def after(header: Header, event: Event, block: str) -> Json | None:
    """Return the header's asks after an `_ask` about a kept ask: an answer that is kept, or options
    for the user to decide. None if it is a plain one."""
    update, name = event.update, lenient.text(event.update, "id")
    known = ask_of(header, name)
    match update.get("state"):
        case "answered" if known is not None:
            details = {"by": event.by, "name": lenient.text(update, "name")}
            known = known.with_(given=lenient.mapping(update, "given") | details)
            return {"asks": {**header.asks, name: known.raw}}
        case "answered":
            return {}
        case "asked" if known is not None and update.get("decide") is True:
            theirs = {key: known.raw[key] for key in THEIRS if key in known.raw}
            ask = known.with_(*THEIRS, kind="permission", options=OPTIONS, decide=True)
            ask = ask.with_(why=lenient.text(update, "why"), theirs=theirs, block=block)
            return {"asks": {**header.asks, name: ask.raw}, "_open": None}
    return None


def closing(header: Header, update: Json) -> Json:
    """Return what else an ask's end changes: an answered one was a step of its turn, and the agent
    must still be told of one that was dropped."""
    changes: Json = {}
    if lenient.mapping(update, "outcome").get("outcome") != "cancelled" and not header.ran:
        changes["_ran"] = header.state != "idle"
    if update.get("dropped") is True:
        changes["_dropped"] = True
    return changes


# --- how they are asked again ------------------------------------------------------------------


def plan(header: Header, *, resends: bool) -> str:
    """Return how the kept asks are to be asked again; "" if there are none. `resends`: the agent's
    profile allows its prompt to be sent once more."""
    marks = [ask.away for ask in away(header).values() if ask.away]
    if not marks:
        return ""
    if any(mark.decide for mark in marks):
        return DECIDE
    if header.continues:
        return CONTINUE
    return RESEND if resends and not any(mark.ran for mark in marks) else DECIDE


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


def undecided(header: Header) -> list[Draft]:
    """Return the drafts that let the user decide, for each kept ask that does not yet."""
    base: Json = {"sessionUpdate": "_ask", "state": "asked", "decide": True, "options": OPTIONS}
    drafts = []
    for name, ask in away(header).items():
        if ask.away and not ask.decide:
            about: Json = {"id": name, "nonce": ask.nonce, "kind": "permission"}
            title = lenient.text(ask.call, "title") or ask.message
            why = RAN if ask.away.ran else LOST if ask.away.decide else LEFT_TO_YOU
            drafts.append(Draft(base | about | {"message": title, "why": why}))
    return drafts


def is_first(header: Header, turn: int) -> bool:
    """Whether a turn was the first of its conversation."""
    return turn == 1 + (lenient.integer(header.fold, "turn") or 0)


# --- answers while nobody hears them -----------------------------------------------------------


def kept_answer(ask: Ask, command: Json, by: str | None) -> Draft | Refusal:
    """Return the event that keeps an answer until the agent asks again. The answer is checked now
    and again then. It is kept even while the user still has to decide whether the prompt is sent
    again: what they allow is independent of how the agent gets to ask."""
    ask = ask.with_(**ask.theirs)
    if command.get("always"):
        if not ask.always:
            return _no_rule(ask.danger)
        command = {**command, "option": asks.pick_id(ask.options, asks.ALLOWS)}
    answer = asks.answered(ask, command, by)
    if isinstance(answer, Refusal):
        return answer
    given = {key: command[key] for key in GIVEN if key in command}
    update: Json = {"sessionUpdate": "_ask", "id": ask.id, "state": "answered", "given": given}
    update["name"] = lenient.text(answer.draft.update, "name")
    return Draft(update, command["id"], by)


def _no_rule(danger: str) -> Refusal:
    if danger:
        return Refusal("always_disabled", asks.once_only(danger))
    return Refusal("no_rule", "Can't be always-allowed: no rule can cover it.")


def is_drop(ask: Ask, command: Json) -> bool:
    """Whether an answer drops a kept ask."""
    if ask.decide:
        return command.get("cancel") is True or command.get("option") == DROP
    return command.get("cancel") is True or command.get("action") == "cancel"


def is_again(ask: Ask, command: Json) -> bool:
    return ask.decide and command.get("option") == AGAIN


def is_late(ask: Ask, command: Json) -> bool:
    """Whether another answer came first."""
    return bool(ask.given) and not (is_drop(ask, command) or is_again(ask, command))


def dropped(ask: Ask, command: Json, by: str | None) -> Draft | Refusal:
    if command.get("nonce") != ask.nonce:
        return asks.WRONG_NONCE
    return _closed(ask, "dropped while the agent was away", command["id"], by, dropped=True)


def given_up(header: Header, why: str, by: str | None = None) -> list[Draft]:
    """Close all kept asks."""
    person = by is not None
    return [_closed(ask, why, None, by, dropped=person) for ask in away(header).values()]


def superseded(ask: Ask) -> Draft:
    return _closed(ask, "the agent asks something else now", None, None, superseded=True)


def unasked(ask: Ask, reason: str) -> Draft:
    """Close a kept ask that was not asked again in the turn that should have done so."""
    if reason in (CANCELLED, "cancelled", "forced"):
        return _closed(ask, CANCELLED, None, None, dropped=True)
    return _closed(ask, "the agent continued without asking again", None, None)


def stopped(header: Header) -> str:
    """Return the reason for a turn that is ended by an orderly stop."""
    return "waiting" if _theirs(header) else "interrupted"


def _closed(ask: Ask, why: str, cause: str | None, by: str | None, **marks: bool) -> Draft:
    if ask.given:
        why += f"; your answer “{ask.given.name}” was not sent to the agent"
    update = asks.closed(ask.id, {"outcome": "cancelled"}, reason=why)
    return Draft(update | {key: True for key, is_so in marks.items() if is_so}, cause, by)


def offline(header: Header, command: Json, by: str | None) -> list[Draft] | None:
    """Return what a command does to asks while no worker is awake, its outcome last; or None."""
    match command["do"]:
        case "answer":
            return [_offline_answer(header, command, by)]
        case "cancel" if away(header):
            done: Json = {"sessionUpdate": "_done", "command": "cancel"}
            return [*given_up(header, "cancelled", by), Draft(done, command["id"], by)]
    return None


def forgotten(header: Header, update: Json) -> list[Draft]:
    """Close the asks of a conversation that `update` abandons while no worker is awake."""
    if update.get("sessionUpdate") == "_context":
        return given_up(header, "the conversation was cleared")
    if update.get("sessionUpdate") == "_agent":
        return given_up(header, "another agent took over")
    return []


def _offline_answer(header: Header, command: Json, by: str | None) -> Draft:
    ask = ask_of(header, command["ask"])
    done: Json = {"sessionUpdate": "_done", "command": "answer"}
    if ask is None or is_late(ask, command):
        return Draft(done | {"detail": LATE}, command["id"], by)
    if command.get("defer") is True:
        return Draft(done | {"detail": "deferred"}, command["id"], by)
    outcome: Draft | Refusal
    if ask.is_about_budget:  # whoever continues wakes the session
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


def matching(header: Header, same: str, taken: Iterable[str]) -> Ask | None:
    """Return the kept ask that this one repeats. `taken`: ids that were asked again already."""
    spoken_for = set(taken)
    for name, ask in away(header).items():
        if name not in spoken_for and same and (ask.same or identity.digest(ask)) == same:
            return ask
    return None


def replaced(header: Header) -> Ask | None:
    """Return the kept ask that is superseded when the agent, asked to go on, asks something else
    first. None if steps had run or several are kept: it may still come."""
    kept = list(away(header).values())
    return kept[0] if len(kept) == 1 and kept[0].away and not kept[0].away.ran else None
