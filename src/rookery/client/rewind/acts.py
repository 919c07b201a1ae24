"""The changes that a session made to its files, according to its log: each turn and each rewind is
an act between two snapshots."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.turn import rewinding
from rookery.snapshots.job import NOW


class Act(NamedTuple):
    turn: int
    """That of a rewind: to which it went."""
    before: str
    after: str
    """NOW: it is not known how it ended."""
    seq: int = 0
    """The event that ended it."""
    is_rewind: bool = False
    undo: bool = False
    half: bool = False
    """A rewind that ended before its end."""
    loose: bool = False
    """Others may have had a part in it: its end has no snapshot of its own."""
    torn: bool = False
    """It is not known whether the agent or someone else did it: the snapshot at its beginning came
    late."""
    later: frozenset[str] = frozenset()
    """Paths that changed after the turn's end."""


def acts(events: Sequence[Event], last: int) -> list[Act]:
    """Return the acts in order. `events`: those of snapshots and rewinds. `last`: the newest turn,
    which may still be running."""
    reading = _Reading()
    for event in events:
        if kind_of(event.update) == rewinding.KIND:
            reading.rewind(event, events)
        else:
            reading.snapshot(event)
    return reading.ended(last)


class _Reading:
    def __init__(self) -> None:
        self._acts: list[Act] = []
        self._newest = ""
        self._begun: dict[int, str] = {}
        """The snapshots at the beginning of turns that have not ended."""
        self._gap = False
        """A turn was passed over since the newest snapshot."""
        self._rewind: Json = {}
        self._presents: list[str] = []

    def snapshot(self, event: Event) -> None:
        update, name = event.update, lenient.text(event.update, "id")
        turn, when = lenient.integer(update, "turn") or 0, update.get("when")
        if not name:
            self._gap = self._gap or update.get("passed") is True
            return
        late = update.get("late") is True
        if when == "prompt":
            if self._begun.pop(turn - 1, ""):  # its end was not seen
                self._add(turn - 1, name, event, loose=True)
            elif late and self._newest:
                self._add(turn, name, event, loose=True)
                self._acts[-1] = self._acts[-1]._replace(torn=True)
            self._begun[turn] = name
        elif when == "end":
            self._begun.pop(turn, None)
            self._add(turn, name, event, loose=late)
        self._newest, self._gap = name, False

    def _add(self, turn: int, name: str, event: Event, *, loose: bool) -> None:
        later = frozenset(lenient.texts(event.update, "later"))
        loose = loose or self._gap or event.update.get("laterMore") is True
        before = self._newest or name
        self._acts.append(Act(turn, before, name, event.seq, loose=loose, later=later))

    def rewind(self, event: Event, events: Iterable[Event]) -> None:
        update = event.update
        if update.get("state") == "begun":
            self._rewind = update if update.get("files") is True else {}
            return
        begun, self._rewind = self._rewind or update, {}
        present = lenient.text(begun, "present") or self._newest
        if begun.get("files") is not True:
            return
        turn, undo = lenient.integer(begun, "turn") or 0, begun.get("undo") is True
        done = update.get("state") == "done"
        after = lenient.text(update, "after")
        if not after:
            earlier = self._presents[-1] if self._presents else ""
            before = [each for each in events if each.seq < event.seq]
            after = earlier if undo else rewinding.snapshot_of(before, turn)
        self._presents.append(present)
        after = after or present
        act = Act(turn, present, after, event.seq, is_rewind=True, undo=undo, half=not done)
        self._acts.append(act)
        self._newest, self._begun, self._gap = after, {}, False

    def ended(self, last: int) -> list[Act]:
        """Return the acts, including a turn whose end was not seen."""
        ended = {act.turn for act in self._acts if not act.is_rewind}
        if last and self._newest and (last in self._begun or last not in ended):
            self._acts.append(Act(last, self._newest, NOW, 2**62, loose=True))
        return self._acts


def steps(events: Sequence[Event], last: int) -> list[Act]:
    """Return the acts of each turn whose changes stand: a rewind of the files removes later ones,
    and undoing it brings them back."""
    live, undone = dict[int, list[Act]](), dict[int, list[Act]]()
    for act in acts(events, last):
        if not act.is_rewind:
            live.setdefault(act.turn, []).append(act)
        elif not act.half:
            rest = {turn: turn_acts for turn, turn_acts in live.items() if turn <= act.turn}
            live, undone = (undone if act.undo else rest), live
    return [act for turn in sorted(live) for act in live[turn]]
