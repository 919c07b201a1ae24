"""Previews of rewinds: what one would do, before it does it. A worker computes the same before it
rewinds, so that the user's yes applies to what was shown."""

import json
import math
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rookery.client.environment import kept_of
from rookery.client.rewind import origins
from rookery.client.rewind.acts import Act, acts
from rookery.client.rewind.turns import no_snapshot, snapshot_file_bytes
from rookery.client.session import Rejected
from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.turn import rewinding
from rookery.core.turn.rewind_preview import (
    COMMITTED,
    HAND,
    ORDER,
    OWN,
    SESSION,
    UNCLEAR,
    FileChange,
    Preview,
    fingerprint,
)
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.snapshots import job

SECONDS = 300.0
UNKNOWN_COMMITS = "git could not say what was committed since."
STATES = ("was", "was_blob", "was_permissions", "now", "now_blob", "now_permissions")


class Question(NamedTuple):
    """The comparison that a preview makes, taken from the log."""

    session: str
    cwd: str
    turn: int
    undo: bool
    last: int
    target: str
    since: int
    """When the target was the present: milliseconds of the epoch."""
    acts: Sequence[Act]
    hides: int
    shows: int
    notes: Sequence[str]

    def job(self) -> Json:
        pairs = [[act.before, act.after, act.half] for act in self.acts]
        return {"do": "compare", "target": self.target, "acts": pairs}


def preview(
    home: str, session: str, turn: int = 0, *, undo: bool = False, files: bool = True
) -> Preview:
    """Return what a rewind would do; nothing is changed. `files`: compare the files, too. Raises
    Rejected, LogError."""
    directory = paths.session_dir(home, session)
    with Reader.open(directory) as log:
        asked = question(log, turn, undo=undo)
    if isinstance(asked, Refusal):
        raise Rejected(asked._asdict())
    if not asked.target or not files:
        return unchanged(asked)
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    most = snapshot_file_bytes(home)
    request = job.request(directory, asked.cwd, kept_of(saved), most, **asked.job())
    if request is None:
        raise Rejected({"reason": "no_git", "message": job.NO_GIT})
    try:
        done = subprocess.run(
            job.argv(),
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
        comparison = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        message = f"The files could not be compared: {error}"
        raise Rejected({"reason": "failed", "message": message}) from error
    if "changes" not in comparison:
        raise Rejected({"reason": comparison.get("refused"), "message": comparison.get("message")})
    return judged(home, asked, comparison)


def question(log: Reader, turn: int, *, undo: bool) -> Question | Refusal:
    """Return what to compare for a rewind to a turn, or why that is refused. Raises LogError."""
    header = log.header()
    events = log.of_kinds(rewinding.SNAPSHOT, rewinding.KIND)
    last = header.turn
    if undo:
        done = header.rewound
        if not done:
            return Refusal("nothing_to_undo", "There is no rewind to undo.")
        turn, target = done["turn"], done["present"] if done["files"] else ""
        taken = _kept(events, target)
    else:
        if turn > last:
            return Refusal("no_turn", f"There is no turn {turn}: the last one is {last}.")
        taken = rewinding.taken_after(events, turn)
        target = lenient.text(taken.update, "id") if taken else ""
    since = taken.seq if taken else 0
    later = [act for act in acts(events, last) if act.seq > since]
    if not undo:
        later = [act for act in later if act.is_rewind or act.turn > turn]
    hidden = header.hidden
    firsts = [] if undo else [log.first_seq(n) for n in range(turn + 1, last + 1)]
    hides = [seq for seq in firsts if not rewinding.is_hidden(hidden, seq)]
    return Question(
        header.id,
        header.cwd,
        turn,
        undo,
        last,
        target,
        taken.at if taken else 0,
        later,
        len(hides),
        0 if undo else _come_back(log, turn, hidden),
        [] if undo else _notes(events, taken, turn),
    )


def end_of(log: Reader, turn: int) -> int:
    """Return the last event of a turn: before the next one, and before a rewind."""
    first, after = log.first_seq(turn), log.first_seq(turn + 1)
    for event in log.of_kinds(rewinding.KIND):
        if turn and event.seq > first and (not after or event.seq < after):
            return event.seq - 1
    return (after or log.last_seq() + 1) - 1


def header_after(log: Reader, turn: int) -> Header:
    """Return the header as the turn left it."""
    return log.header_at(end_of(log, turn))


def _come_back(log: Reader, turn: int, hidden: rewinding.Ranges) -> int:
    """How many turns up to this one are hidden now but were not when it ended."""
    then = header_after(log, turn).hidden if hidden else []
    firsts = [log.first_seq(n) for n in range(1, turn + 1)] if hidden else []
    is_hidden = rewinding.is_hidden
    return sum(is_hidden(hidden, seq) and not is_hidden(then, seq) for seq in firsts)


def _kept(events: Sequence[Event], name: str) -> Event | None:
    """The snapshot that was kept before the last rewind."""
    for each in reversed(events):
        if each.update.get("when") == "rewind" and lenient.text(each.update, "id") == name:
            return each
    return None


def _notes(events: Sequence[Event], taken: Event | None, turn: int) -> list[str]:
    if taken is None:
        passed = rewinding.is_passed_over(events, turn)
        return [no_snapshot(turn, passed=passed).message]
    if taken.update.get("late") is True:
        warning = "The snapshot was taken while the agent was already at work: "
        return [f"{warning}files may have some of what turn {turn + 1} changed."]
    return []


def unchanged(asked: Question) -> Preview:
    """Return the preview of a rewind without files."""
    made = fingerprint([asked.session, asked.turn, asked.undo, asked.last], [])
    known = Preview(asked.turn, asked.undo, asked.last, hides=asked.hides, notes=asked.notes)
    return known._replace(own_fingerprint=made, fingerprint=made, shows=asked.shows)


# --- whose doing ---------------------------------------------------------------------------------


def judged(home: str, asked: Question, comparison: Json) -> Preview:
    """Return the preview of what the comparison of the files found."""
    rows = list(lenient.mappings(comparison, "changes"))
    committed = comparison.get("committed")
    origin = _Origin(home, asked)
    known = None if committed is None else {*committed}
    changes = [_judged(row, origin, known) for row in rows]
    totals: Json = {}
    for each in changes:
        totals[each.by] = totals.get(each.by, 0) + 1
    changes.sort(key=lambda each: (ORDER.index(each.by), each.path))
    states = {row["path"]: [row["path"], *(row[key] for key in STATES)] for row in rows}
    about = [asked.session, asked.turn, asked.undo, asked.last, asked.target]
    own = [states[each.path] for each in changes if each.by == OWN]
    spared = [f"{path} ({why})" for path, why in lenient.mapping(comparison, "spared").items()]
    return Preview(
        asked.turn,
        asked.undo,
        asked.last,
        asked.target,
        str(comparison["id"]),
        changes,
        totals,
        lenient.mapping(comparison, "left") | {"spared": spared},
        asked.hides,
        [*asked.notes, *([UNKNOWN_COMMITS] if known is None else [])],
        fingerprint(about, own),
        fingerprint(about, list(states.values())),
        asked.shows,
    )


def _judged(row: Json, origin: "_Origin", committed: set[str] | None) -> FileChange:
    path = str(row["path"])
    change = FileChange(str(row["kind"]), path)
    if committed is not None and path in committed:
        return change._replace(by=COMMITTED)
    if not row["acts"] or row["whole"] is not True:
        who = origin.others(path)
        return change._replace(by=SESSION if who else HAND, who=who)
    if committed is None:
        return change._replace(by=UNCLEAR)
    for number in row["acts"]:
        by, who = origin.of(int(number), path)
        if by != OWN:
            return change._replace(by=by, who=who)
    return change


class _Origin:
    """Attributes changes to sessions; its log and those of others are read only if needed."""

    def __init__(self, home: str, asked: Question) -> None:
        self._home, self._asked = home, asked
        self._rivals: dict[int, dict[str, str]] | None = None
        self._calls = cache(self._own_calls)

    def _own_calls(self, turn: int) -> str:
        with Reader.open(paths.session_dir(self._home, self._asked.session)) as log:
            return origins.calls(log, turn)

    def _others(self, turn: int) -> dict[str, str]:
        """The sessions that had a turn at the same time as `turn`; 0: at any time since the
        target."""
        if self._rivals is None:
            asked = self._asked
            turns = sorted({act.turn for act in asked.acts if not act.is_rewind})
            with Reader.open(paths.session_dir(self._home, asked.session)) as log:
                given = [origins.Span(0, asked.since, math.inf), *origins.spans(log, turns)]
            self._rivals = origins.rivals(self._home, asked.session, asked.cwd, given)
        return self._rivals.get(turn, {})

    def others(self, path: str) -> str:
        """Return the sessions whose calls have named a path since the target."""
        name = _name(path)
        return ", ".join(sorted(who for who, text in self._others(0).items() if name in text))

    def of(self, number: int, path: str) -> tuple[str, str]:
        """Return whose doing it was that an act of the session changed a path, and which others may
        have contributed."""
        act, name = self._asked.acts[number], _name(path)
        if act.is_rewind:
            return OWN, ""
        if path in act.later:
            return HAND, ""
        if act.torn or (act.loose and name not in self._calls(act.turn)):
            return UNCLEAR, ""
        busy = {who: text for who, text in self._others(act.turn).items() if text}
        naming = [who for who, text in busy.items() if name in text]
        if naming:
            return SESSION, ", ".join(sorted(naming))
        if busy and name not in self._calls(act.turn):
            return UNCLEAR, ", ".join(sorted(busy))
        return OWN, ""


def _name(path: str) -> str:
    return os.path.basename(path.rstrip("/"))
