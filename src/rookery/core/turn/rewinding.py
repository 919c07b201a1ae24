"""Rewinding a session to a turn: its conversation, its files, or both. The log keeps
everything: events that were taken back are hidden; undoing a rewind is another rewind.

    begun    the files are about to change; the snapshot `present` holds their state
    done     how it went; the header follows it
    failed   nothing of the conversation changed"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient

KIND = "_rewind"
SNAPSHOT = "_snapshot"

MEMORY = ("_agent", "_context", KIND)
"""Kinds of events that change the agent's session."""

LOADED, FORKED, LOST = "loaded", "forked", "lost"
"""The agent's memory after a rewind: its own session of that time, a fork of it, or nothing."""

type Ranges = list[list[int]]
"""First and last of events, both included."""


def check(command: Json, _most: int = 0) -> Refusal | None:
    if not isinstance(command.get("fingerprint", ""), str):
        return Refusal("no_fingerprint", "`fingerprint` is a text: that of a preview.")
    if command.get("undo") is True:
        return None
    turn = command.get("turn")
    if isinstance(turn, bool) or not isinstance(turn, int) or turn < 0:
        return Refusal("no_turn", "`turn` is missing: the number of a turn, 0 for the beginning.")
    if not wants(command, "files") and not wants(command, "conversation"):
        return Refusal("nothing", "Rewind the files, the conversation, or both.")
    return None


def wants(command: Json, what: str) -> bool:
    """Return whether a command rewinds the files or the conversation; both, if it does not say."""
    return command.get(what) is not False


# --- what is hidden ------------------------------------------------------------------------------


def ranges_of(value: object) -> Ranges:
    ranges = []
    for each in value if isinstance(value, list) else []:
        match each:
            case [int(first), int(last)] if 0 < first <= last:
                ranges.append([first, last])
    return ranges


def is_hidden(hidden: Ranges, seq: int) -> bool:
    return any(first <= seq <= last for first, last in hidden)


def hides(hidden: Ranges, first: int, last: int) -> bool:
    """Return whether all of these events are hidden."""
    return any(begin <= first and last <= end for begin, end in hidden)


def hides_block(hidden: Ranges, block: str) -> bool:
    """Return whether a block is hidden, by its id, which names the event that made it."""
    digits = block.partition(".")[2].rstrip("?$w")
    return bool(hidden) and digits.isdecimal() and is_hidden(hidden, int(digits))


def joined(ranges: Iterable[Sequence[int]]) -> Ranges:
    merged: Ranges = []
    for first, last in sorted(list(each) for each in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    return merged


# --- what the agent knew -------------------------------------------------------------------------


class Memory(NamedTuple):
    session: Json | None
    """For the header: the agent's session that the next start takes up; with `before`, a fork of it
    as it was then, in milliseconds of the epoch (0: as it is)."""
    how: str = ""


def memory_at(
    events: Iterable[Event],
    firsts: Sequence[int],
    turn: int,
    header: Header,
    next_at: int,
    end: int,
) -> Memory:
    """Return the agent's session after a rewind to a turn. `firsts`: the first event of each turn,
    from 1. A session that had turns since is forked if the agent can do that; `next_at`: when the
    next turn began. `end`: the turn's last event."""
    changes = list(_sessions(events))
    at_end = [_before(changes, first) for first in (*firsts[1:], 2**63)]
    wanted = _before(changes, end + 1) if turn else None
    if not turn:
        return Memory(None)
    if wanted is None or wanted["name"] != header.agent:
        return Memory(None, LOST)
    if wanted not in at_end[turn:]:
        return Memory(wanted, LOADED)
    if header.forks_at:
        return Memory({**wanted, "before": next_at}, FORKED)
    return Memory(None, LOST)


def _sessions(events: Iterable[Event]) -> Iterable[tuple[int, Json | None]]:
    """Yield each event that changes the agent's session in use, with that session."""
    agent = ""
    for event in events:
        update, state = event.update, event.update.get("state")
        name, agent = lenient.text(update, "sessionId"), lenient.text(update, "name") or agent
        match kind_of(update):
            case "_agent" if state == "ready" and name:
                yield event.seq, {"name": agent, "id": name}
            case "_agent" if state == "switched":
                yield event.seq, None
            case "_context" if state == "cleared" and update.get("how") == "later":
                yield event.seq, None
            case "_context" if state == "cleared" and name:
                yield event.seq, {"name": agent, "id": name}
            case "_rewind" if state == "done" and update.get("conversation") is True:
                session = lenient.mapping(update, "agentSession")
                kept = {"name": session.get("name"), "id": session.get("id")}
                yield event.seq, kept if session and "before" not in session else None


def _before(changes: Sequence[tuple[int, Json | None]], seq: int) -> Json | None:
    latest: Json | None = None
    for at, session in changes:
        if at >= seq:
            break
        latest = session
    return latest


# --- files ---------------------------------------------------------------------------------------


def snapshot_of(events: Iterable[Event], turn: int) -> str:
    """Return the id of the snapshot of the files after a turn; "" if there is none."""
    taken = taken_after(events, turn)
    return lenient.text(taken.update, "id") if taken else ""


def taken_after(events: Iterable[Event], turn: int) -> Event | None:
    """Return the snapshot of the files after a turn: as they were when the next one began,
    including the user's changes in between, else when it ended. A rewind in between took back what
    the turn did."""
    events = list(events)
    ended: list[Event] = []
    began: list[Event] = []
    rewound = False
    for event in events:
        about, when = lenient.integer(event.update, "turn"), event.update.get("when")
        if lenient.text(event.update, "id") and (about, when) == (turn, "end"):
            ended.append(event)
        elif when == "rewind":
            rewound = rewound or bool(ended and not began)
        elif lenient.text(event.update, "id") and (about, when) == (turn + 1, "prompt"):
            began.append(event)
    # A turn that waited for an answer ends twice, and goes on with another prompt.
    candidates = [*([] if rewound else began[:1]), *ended[-1:]]
    whole = [event for event in candidates if event.update.get("late") is not True]
    return next(iter([*whole, *filter(None, [_around(events, turn)]), *reversed(candidates)]), None)


def _around(events: Iterable[Event], turn: int) -> Event | None:
    """Return the snapshot before a turn whose own was skipped, if the one after it is the same."""
    before: Event | None = None
    for event in events:
        about, when = lenient.integer(event.update, "turn") or 0, event.update.get("when")
        name = lenient.text(event.update, "id")
        if when == "rewind" or not name:
            before = None if when == "rewind" else before
        elif about < turn or (about == turn and when == "prompt"):
            before = event
        elif about > turn:
            same = before is not None and lenient.text(before.update, "id") == name
            return before if same else None
    return None


def is_passed_over(events: Iterable[Event], turn: int) -> bool:
    """Return whether no snapshot was taken at the turn's end because the next turn began first."""
    return any(
        event.update.get("passed") is True and lenient.integer(event.update, "turn") == turn
        for event in events
    )


# --- the header ----------------------------------------------------------------------------------


def after(header: Header, event: Event) -> Json:
    """Return the fields of a header that a rewind changes."""
    update = event.update
    if update.get("state") == "begun":
        return {"rewinding": _target(update) | {"seq": event.seq}}
    changes: Json = {"rewinding": None}
    if update.get("state") != "done":  # what was changed of the files can be undone all the same
        begun = header.rewinding
        half = {"conversation": False, "seq": event.seq, "at": header.turn, "was": {}}
        return changes | ({"rewound": begun | half} if begun else {})
    was = {"hidden": header.hidden, "agentSession": header.agent_session, "last": header.last}
    about = _target(update) | {"seq": event.seq, "at": header.turn, "was": was}
    changes["rewound"] = about
    if update.get("conversation") is True:
        session = update.get("agentSession")
        changes |= {
            "hidden": ranges_of(update.get("hidden")),
            "agentSession": session if isinstance(session, dict) else None,
            "usage": {},
            "plan": [],
            "_plan": None,
            "_plans": {},
            "_open": None,
            "_dropped": False,
            "rateLimit": None,
            "reason": "",
            "error": None,
        }
        if isinstance(update.get("last"), str):
            changes["last"] = update["last"]
        lost = update.get("memory") == LOST
        changes |= {"recap": event.seq, "recapDue": event.seq} if lost else {"recapDue": 0}
    return changes


def _target(update: Json) -> Json:
    target: Json = {key: update.get(key) is True for key in ("files", "conversation", "undo")}
    target |= {"turn": lenient.integer(update, "turn") or 0}
    return target | {"present": lenient.text(update, "present")}


def snapshot(header: Header, event: Event) -> Json:
    """Return the header's record of the newest snapshot, and whether there are any."""
    update = event.update
    left = [name for key in LEFT for name in lenient.texts(update, key)]
    latest: Json = {"id": lenient.text(update, "id"), "left": left}
    if refused := lenient.text(update, "refused"):
        latest = {**header.snapshot, "refused": refused}
    if update.get("passed") is True:
        latest = header.snapshot
    return {"snapshot": latest}


LEFT = ("large", "nested", "unreadable")


def left_out(header: Header, update: Json) -> str:
    """Return a sentence on the files missing from a snapshot that were not reported yet; "" if
    none."""
    reported = set(lenient.texts(header.snapshot, "left"))
    parts = []
    for key, label in zip(LEFT, ("too large", "nested repositories", "unreadable"), strict=True):
        names = [name for name in lenient.texts(update, key) if name not in reported]
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            parts.append(f"{label}: {', '.join(names[:5])}{more}")
    return f"Rewinding skips some files ({'; '.join(parts)})." if parts else ""
