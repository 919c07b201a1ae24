"""Summing usage rows by day, agent, model or session."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from rookery.core.json.events import Json
from rookery.usage.meter import Row

BY = ("day", "agent", "model", "session")
UNKNOWN = "unknown"

MOST_DAYS = 62
"""Days without use are shown among the others, unless they are too many."""


class Group(NamedTuple):
    name: str
    """A date (2026-11-16), or what the rows have in common."""
    turns: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    thought: int = 0
    cost: tuple[tuple[str, float], ...] = ()
    """By currency."""

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cached

    def to_json(self) -> Json:
        numbers = {key: getattr(self, key) for key in ("input", "output", "cached", "thought")}
        return {
            "name": self.name,
            "turns": self.turns,
            "tokens": numbers,
            "cost": {currency: round(amount, 6) for currency, amount in self.cost},
        }


def grouped(rows: Iterable[Row], by: str = "day") -> list[Group]:
    """Return days in order, anything else by cost and tokens, the most first."""
    by_name: dict[str, list[Row]] = {}
    now = datetime.now(UTC).timestamp() * 1000
    for row in rows:
        by_name.setdefault(_name(row, by, now), []).append(row)
    groups = [_summed(name, rows) for name, rows in by_name.items()]
    if by == "day":
        return _with_gaps(sorted(groups))
    return sorted(groups, key=lambda each: (-_most(each), -each.tokens, -each.turns, each.name))


def total(rows: Iterable[Row]) -> Group:
    return _summed("total", rows)


def _most(group: Group) -> float:
    return max((amount for _, amount in group.cost), default=0.0)


def _name(row: Row, by: str, now: float) -> str:
    if by == "day":  # no day is ahead of us: a clock was
        return datetime.fromtimestamp(min(row.at, now) / 1000, UTC).astimezone().date().isoformat()
    return {"agent": row.agent, "model": row.model}.get(by, row.session) or UNKNOWN


def _summed(name: str, rows: Iterable[Row]) -> Group:
    group, cost = Group(name), dict[str, float]()
    for row in rows:
        group = group._replace(
            turns=group.turns + row.turns,
            input=group.input + row.input,
            output=group.output + row.output,
            cached=group.cached + row.cached,
            thought=group.thought + row.thought,
        )
        if row.cost:
            cost[row.currency] = cost.get(row.currency, 0.0) + row.cost
    return group._replace(cost=tuple(sorted(cost.items())))


def _with_gaps(groups: list[Group]) -> list[Group]:
    if not groups:
        return []
    first, last = (date.fromisoformat(groups[at].name) for at in (0, -1))
    count = (last - first).days + 1
    if count > MOST_DAYS:
        return groups
    known = {group.name: group for group in groups}
    days = ((first + timedelta(days=n)).isoformat() for n in range(count))
    return [known.get(day, Group(day)) for day in days]
