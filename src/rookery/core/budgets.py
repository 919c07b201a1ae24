"""Budgets: how much a turn, a session or a day may use before the user is asked.

The user is asked when a budget is reached, and the answer is folded from the ask's end: nothing
else raises a budget. An agent that streams cannot be paused, so its turn is cancelled, and
continued by a prompt if the user wants that (docs/decisions/0050-what-a-budget-does.md)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rookery.core.ask import Ask, asks_of
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.units import money, tokens

SCOPES = ("turn", "session", "day")
NAMES = {scope: f"budget_{scope}" for scope in SCOPES}
"""The settings, by what they limit."""
OFF = "off"
EXAMPLE = '"500k tokens", "2 USD" or "500k tokens, 2 USD"'

MORE, RAISE, LIFT, STOP = "continue", "raise", "lift", "stop"
"""The answers."""
GOES_ON = (MORE, RAISE, LIFT)
NEAR = 0.8
"""The share of a budget at which the user is warned."""
LIFTED = "lifted"
"""The outcome where none was needed: it was raised, or its day is over."""
HOW = "budget"
"""The `how` of a turn that continues a paused one."""
CONTINUE: list[Json] = [
    {
        "type": "text",
        "text": "You were stopped because a budget was reached. Go on where you stopped.",
    }
]

_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_FACTORS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}
_PART = (
    r"(?ai)(?P<sign>[$€£¥]?)\s*(?P<number>\d[\d_]{0,18}(?:\.\d{0,9})?|\.\d{1,9})\s*"
    r"(?P<factor>[kmgb]?)\s*(?P<unit>tokens?|[a-z]{3})?"
)
"""Compiled at its first use: a worker without a budget does not need it."""
_LARGEST = 1e15


class BadBudget(ValueError):
    """The text is not a budget; the message says what would be."""


class Budget(NamedTuple):
    """A limit on tokens, on cost, or on both; 0 means no limit of that kind."""

    tokens: int = 0
    amount: float = 0.0
    currency: str = ""

    def __bool__(self) -> bool:
        return bool(self.tokens or self.amount)

    def as_text(self) -> str:
        """Return the budget as it is written in a settings file."""
        texts = [f"{_short(self.tokens)} tokens"] if self.tokens else []
        texts += [f"{self.amount:.10g} {self.currency}"] if self.amount else []
        return ", ".join(texts) or OFF

    def raised(self, spent: Json) -> "Budget":
        """Return the budget, doubled until it exceeds what was spent."""
        budget, cost = self, float(spent["cost"].get(self.currency, 0.0))
        while True:
            budget = budget._replace(tokens=2 * budget.tokens, amount=2 * budget.amount)
            if (not budget.tokens or budget.tokens > spent["tokens"]) and (
                not budget.amount or budget.amount > cost
            ):
                return budget


def _short(count: int) -> str:
    for factor, name in ((10**6, "M"), (10**3, "k")):
        if count % (factor // 100) == 0 and count >= factor:
            return f"{count / factor:.10g}{name}"
    return str(count)


@lru_cache(maxsize=64)
def parse(text: str) -> Budget:
    """Parse a budget such as "500k tokens, 2 USD". Raises BadBudget."""
    bare = text.strip()
    if bare.lower() in ("", OFF, "none"):  # 0 may be meant as nothing at all: it is refused
        return Budget()
    budget = Budget()
    for part in re.split(r"\s*(?:[,;+]|\band\b)\s*", bare):
        match = re.fullmatch(_PART, part)
        value = _value(match) if match else None
        if value is None or (budget.tokens and value.tokens) or (budget.amount and value.amount):
            raise BadBudget(f"must be an amount such as {EXAMPLE}, or {OFF}")
        budget = Budget(
            value.tokens or budget.tokens,
            value.amount or budget.amount,
            value.currency or budget.currency,
        )
    return budget


def _value(match: re.Match[str]) -> Budget | None:
    unit, sign = (match["unit"] or "").lower(), match["sign"]
    number = float(match["number"].replace("_", "")) * _FACTORS[match["factor"].lower()]
    if not 0 < number <= _LARGEST:
        return None
    if unit in ("token", "tokens"):
        return None if sign or number < 1 else Budget(tokens=int(number))
    currency = _SIGNS.get(sign, "")
    if unit and currency not in ("", unit.upper()):
        return None
    currency = currency or unit.upper()
    return Budget(amount=number, currency=currency) if currency else None


def is_budget(text: str) -> bool:
    try:
        parse(text)
    except BadBudget:
        return False
    return True


def check(text: str) -> str:
    """Return the value of a setting with its spaces normalised. Raises BadBudget."""
    parse(text)
    return " ".join(text.split()) or OFF


def is_looser(before: str, now: str) -> bool:
    """Whether a value allows anything that another did not; one that cannot be parsed does."""
    try:
        old, new = parse(before), parse(now)
    except BadBudget:
        return before != now
    tokens = bool(old.tokens) and not 0 < new.tokens <= old.tokens
    same = old.currency == new.currency
    return tokens or (bool(old.amount) and not (same and 0 < new.amount <= old.amount))


def chosen(text: str) -> tuple[str, str]:
    """Parse a flag's `SCOPE=BUDGET`, or a budget of the session. Raises BadBudget."""
    scope, separator, rest = text.partition("=")
    if not separator:
        return "session", check(text)
    if scope.strip() not in SCOPES:
        raise BadBudget(f"must begin with {', '.join(f'{each}=' for each in SCOPES)} or nothing")
    return scope.strip(), check(rest)


def in_force(*sources: Mapping[str, str]) -> dict[str, Budget]:
    """Return the budgets by scope; for each, the first source that sets it counts."""
    budgets = {}
    for scope in SCOPES:
        text = next((source[scope] for source in sources if source.get(scope)), OFF)
        if is_budget(text) and (budget := parse(text)):
            budgets[scope] = budget
    return budgets


# --- reached -------------------------------------------------------------------------------------


class Reached(NamedTuple):
    scope: str
    budget: Budget
    spent: Json
    """Tokens, and cost by currency."""
    ceiling: Json
    """Tokens and amount that it stands at, with what the user granted."""

    def _grown(self, more: Json) -> "Reached":
        currency = self.budget.currency
        cost = self.cost + float(more["cost"].get(currency, 0.0))
        tokens_ = self.spent["tokens"] + more["tokens"]
        return self._replace(spent={"tokens": tokens_, "cost": {currency: cost}})

    def sentence(self) -> str:
        tokens_, cost = self.spent["tokens"], self.cost
        who = {"turn": "This turn has", "session": "This session has"}
        subject = who.get(self.scope, "All sessions together have")
        today = " today" if self.scope == "day" else ""
        if self.budget.tokens and self._share_of_tokens >= self._share_of_cost:
            limit = tokens(self.ceiling["tokens"]).replace(".0", "")
            return f"{subject} used {tokens(tokens_).replace('.0', '')} of {limit} tokens{today}."
        limit = _money(self.ceiling["amount"], self.budget.currency)
        return f"{subject} cost {_money(cost, self.budget.currency)} of {limit}{today}."

    @property
    def share(self) -> float:
        """Used share of the ceiling; 1 means that it is reached."""
        return max(self._share_of_tokens, self._share_of_cost)

    @property
    def _share_of_tokens(self) -> float:
        return float(self.spent["tokens"] / self.ceiling["tokens"]) if self.budget.tokens else 0.0

    @property
    def _share_of_cost(self) -> float:
        return float(self.cost / self.ceiling["amount"]) if self.budget.amount else 0.0

    @property
    def cost(self) -> float:
        return float(self.spent["cost"].get(self.budget.currency, 0.0))


def _money(amount: float, currency: str) -> str:
    return money(amount) if currency == "USD" else f"{amount:.2f} {currency}"


def used(scope: str, budget: Budget, spent: Json, granted: Json) -> Reached:
    """Return how much of a budget was used. `granted`: the ceilings that the user raised it to."""
    ceiling: Json = {
        "tokens": max(budget.tokens, lenient.integer(granted, "tokens") or 0),
        "amount": max(budget.amount, lenient.number(granted, "amount") or 0.0),
    }
    return Reached(scope, budget, spent, ceiling)


def reached(scope: str, budget: Budget, spent: Json, granted: Json) -> Reached | None:
    usage = used(scope, budget, spent, granted)
    return usage if usage.share >= 1 else None


def is_near(usage: Reached, last: Json) -> bool:
    """Whether a budget is nearly reached, or would be reached by a turn like the last one."""
    return usage.share < 1 and (usage.share >= NEAR or usage._grown(last).share >= 1)


def granted(header: Header, scope: str, day: str) -> Json:
    """Return what the user allowed beyond a budget; for a day's budget only on that day."""
    grant = lenient.mapping(header.granted, scope)
    return grant if scope != "day" or lenient.text(grant, "day") == day else {}


def all_used(
    header: Header,
    limits: Mapping[str, Budget],
    spent: Json,
    of_day: Callable[[], Json],
    today: str,
) -> list[Reached]:
    """Return the usage of each budget. `spent`: by this session; `of_day`: by all sessions."""
    usages = []
    for scope, budget in limits.items():
        known = of_day() if scope == "day" else spent["turn"] if scope == "turn" else spent
        usages.append(used(scope, budget, known, granted(header, scope, today)))
    return usages


# --- asked ---------------------------------------------------------------------------------------


def asked(
    name: str,
    nonce: str,
    usage: Reached,
    also: Sequence[Reached] = (),
    *,
    paused: int = 0,
    day: str = "",
) -> Json:
    """Return the `_ask`. `also`: other budgets reached at the same time: one answer is for all.
    `paused`: the turn that was cancelled for it."""
    each = {"turn": "every turn of this session", "day": "this session, every day"}
    raised = [
        f"to {_raised(one)} for {each.get(one.scope, 'this session')}" for one in (usage, *also)
    ]
    it = "all of them" if also else "it"
    more = "finish this turn" if paused else f"{usage.budget.as_text()} more"
    options = [
        {"optionId": MORE, "name": f"Continue: {more}", "kind": "allow_once"},
        {"optionId": RAISE, "name": f"Raise it {', '.join(raised)}", "kind": "allow_always"},
        {"optionId": LIFT, "name": f"Lift {it} for this session", "kind": "allow_always"},
    ]
    stop = "Stop the turn" if paused else "Do not send the prompt"
    options.append({"optionId": STOP, "name": stop, "kind": "reject_once"})
    about = _granting(usage, day) | {"paused": paused}
    sentences = " ".join(one.sentence() for one in (usage, *also))
    return {
        "sessionUpdate": "_ask",
        "id": name,
        "state": "asked",
        "nonce": nonce,
        "kind": "permission",
        "message": f"{sentences} Continue?",
        "options": options,
        "budget": about | ({"also": [_granting(one, day) for one in also]} if also else {}),
    }


def _raised(usage: Reached) -> str:
    return usage.budget.raised(usage.spent).as_text()


def _granting(usage: Reached, day: str) -> Json:
    """Return what the answers about one budget grant."""
    budget = usage.budget
    ceiling: Json = {"tokens": usage.spent["tokens"] + budget.tokens if budget.tokens else 0}
    ceiling["amount"] = usage.cost + budget.amount if budget.amount else 0.0
    about: Json = {"scope": usage.scope, "ceiling": ceiling, "raised": _raised(usage)}
    return about | ({"day": day} if usage.scope == "day" else {})


def is_own(update: Json) -> bool:
    """Whether a `_prompt` is one that Rookery sent to continue after a pause, not the user."""
    return lenient.text(update, "how") == HOW and lenient.text(update, "origin") == "ask"


def open_ask(header: Header) -> Ask | None:
    return next((ask for ask in asks_of(header).values() if ask.is_about_budget), None)


def sentence(ask: Ask) -> str:
    """Return an ask's message without its question."""
    return ask.message.removesuffix(" Continue?")


def goes_on(update: Json) -> bool:
    """Whether an event pauses a turn for a budget, or ends such a pause so that a turn follows."""
    outcome = lenient.mapping(update, "outcome")
    continues = lenient.text(outcome, "optionId") in GOES_ON
    return update.get("paused") is True or continues or outcome.get("outcome") == LIFTED


def stops(update: Json) -> bool:
    """Whether the answer was to stop."""
    return lenient.text(lenient.mapping(update, "outcome"), "optionId") == STOP


def scope_of(ask: Ask | None) -> str:
    return lenient.text(ask.budget, "scope") if ask else ""


def answered(header: Header, ask: Ask, outcome: Json) -> Json:
    """Return the fields of the header that an answer changes."""
    about, choice = ask.budget or {}, lenient.text(outcome, "optionId")
    granted, limits = dict(header.granted), dict(header.budget)
    for each in (about, *lenient.mappings(about, "also")) if choice in GOES_ON else ():
        scope = lenient.text(each, "scope")
        if scope != "turn":
            more = lenient.mapping(each, "ceiling") | {"day": lenient.text(each, "day")}
            granted[scope] = more
        if choice == RAISE:
            limits[scope] = lenient.text(each, "raised")
        elif choice == LIFT:
            limits[scope] = OFF
    return {"granted": granted, "budget": limits}


def of_session(update: Json) -> Json:
    """Return the budgets that a `_session` sets. A value that cannot be parsed is kept, to be
    refused later (`core/safety.py`)."""
    given = update.get("budget")
    by_scope = given if isinstance(given, dict) else {"session": given}
    stated = {scope: value for scope, value in by_scope.items() if value is not None}
    return {
        scope: " ".join(lenient.as_text(value).split()) or OFF for scope, value in stated.items()
    }
