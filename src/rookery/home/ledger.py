"""The daily spending of a home's sessions: `spent/DATE/SESSION`, one small file for each session,
which only its worker writes. Their sum needs no daemon, and nothing is counted twice.

A file records what its session used that day, and up to which total of the session that was
counted: after a kill, the next worker adds what is missing. Days before yesterday are removed."""

import os
import time
from contextlib import suppress
from typing import NamedTuple

from rookery.core import budgets
from rookery.core.header import Header
from rookery.core.json import Json, dumps, lenient
from rookery.core.settings.agent_tables import Extras
from rookery.core.spending import MAX_COUNT
from rookery.home import paths
from rookery.home.config import Config

DIRECTORY = "spent"

FRESH = 2.0
"""Seconds for which what other sessions wrote is not read again."""


class Used(NamedTuple):
    tokens: int = 0
    cost: tuple[tuple[str, float], ...] = ()
    """By currency."""

    def as_json(self) -> Json:
        return {"tokens": self.tokens, "cost": dict(self.cost)}

    def plus(self, other: "Used", factor: int = 1) -> "Used":
        cost = dict(self.cost)
        for currency, amount in other.cost:
            cost[currency] = max(0.0, cost.get(currency, 0.0) + factor * amount)
        return Used(max(0, self.tokens + factor * other.tokens), tuple(sorted(cost.items())))


def used(value: object) -> Used:
    """Parse the usage in a file or a header; impossible numbers count as nothing."""
    tokens = lenient.integer(value, "tokens") or 0
    costs = lenient.mapping(value, "cost")
    amounts = {str(key)[:8]: lenient.number(costs, key) for key in list(costs)[:20]}
    sound = {
        key: float(n) for key, n in amounts.items() if n is not None and 0 <= n <= 1e6 * MAX_COUNT
    }
    return Used(max(0, tokens), tuple(sorted(sound.items())))


def today() -> str:
    """Return the present day in local time."""
    return time.strftime("%Y-%m-%d")


def midnight() -> float:
    """Return when the next day begins, in milliseconds since the epoch."""
    now = time.localtime()
    day = (now.tm_year, now.tm_mon, now.tm_mday + 1, 0, 0, 0, 0, 0, -1)
    return time.mktime(day) * 1000


def limits_of(header: Header, config: Config) -> dict[str, budgets.Budget]:
    """Return the budgets that apply: the session's own, its agent's, or those of all agents."""
    extras = config.extras.get(header.agent, Extras())
    everywhere = {scope: getattr(config, name) for scope, name in budgets.NAMES.items()}
    return budgets.in_force(header.budget, extras.budgets, everywhere)


def stands(home: str, header: Header, config: Config) -> bool:
    """Return whether the budget that a sleeping session asks about is still reached."""
    scope = budgets.scope_of(budgets.open_ask(header))
    limits = {key: each for key, each in limits_of(header, config).items() if key == scope}
    spent = header.spent
    book = Ledger(home, header.id, spent)
    uses = budgets.all_used(header, limits, spent, lambda: book.total(spent), today())
    return any(each.share >= 1 for each in uses)


class Ledger:
    """The file of one worker's session, and the sum over all of them."""

    def __init__(self, home: str, session: str, spent: Json) -> None:
        """`spent`: what the session has used when its worker starts."""
        self._place = os.path.join(home, DIRECTORY)
        self._session = session
        self._day = today()
        known = paths.read_json(os.path.join(self._place, self._day, session))
        self._mine = used(known)
        self._counted = used(spent) if known is None else used(known.get("counted"))
        self._others: tuple[float, str, Used] = (0.0, "", Used())

    def note(self, spent: Json) -> None:
        """Add what was used since; if the home cannot be written to, less is counted."""
        total, day = used(spent), today()
        if total == self._counted and day == self._day:
            return
        self._mine, self._day, self._counted = self._own(total, day), day, total
        entry = self._mine.as_json() | {"counted": total.as_json()}
        with suppress(OSError, paths.PathError):
            directory = os.path.join(self._place, day)
            if not os.path.isdir(directory):
                self._begin(directory)
            paths.write_atomic(os.path.join(directory, self._session), dumps(entry).encode("ascii"))

    def _begin(self, directory: str) -> None:
        """Begin a new day."""
        import shutil  # once a day, and not in a worker's start

        paths.make_private(self._place)
        paths.make_private(directory)
        for name in sorted(os.listdir(self._place))[:-2]:
            shutil.rmtree(os.path.join(self._place, name), ignore_errors=True)

    def _own(self, total: Used, day: str) -> Used:
        before = self._mine if day == self._day else Used()
        return before.plus(total.plus(self._counted, -1))

    def total(self, spent: Json) -> Json:
        """Return today's usage of all sessions. `spent`: what this one has used so far."""
        day = today()
        at, of, others = self._others
        if day != of or time.monotonic() - at > FRESH:
            others = self._read_others(day)
            self._others = (time.monotonic(), day, others)
        return others.plus(self._own(used(spent), day)).as_json()

    def _read_others(self, day: str) -> Used:
        total, directory = Used(), os.path.join(self._place, day)
        with suppress(OSError):
            for name in os.listdir(directory):
                if name != self._session and not name.endswith(".tmp"):
                    total = total.plus(used(paths.read_json(os.path.join(directory, name))))
        return total
