"""A session's spending, folded from its events: tokens and money, of the turn and in total.

Agents report differently. Tokens come with the end of a turn, and are that turn's; before it, we
only know how much the context grew, which is less. A cost is what the conversation has cost so far:
only its growth counts, and one that restarts at a lower amount is a new count. Each conversation of
an agent has a count of its own, so that a reload, a clear or a switch counts nothing twice."""

from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient

MAX_COUNT = 10**15
"""The largest number that is believed of an agent's report."""

CONVERSATIONS = 50
"""Counts that are kept of one session."""

NOTHING: Json = {"tokens": 0, "cost": {}}

_NAMES = {
    "input": ("inputTokens", "input_tokens"),
    "output": ("outputTokens", "output_tokens"),
    "cached": ("cachedReadTokens", "cachedInputTokens", "cached_input_tokens", "cached_tokens"),
    "written": ("cachedWriteTokens", "cacheWriteInputTokens"),
    "thought": ("thoughtTokens", "reasoningOutputTokens", "thoughts_tokens"),
}


def tokens_of(ended: Json) -> dict[str, int]:
    """Return the tokens of a turn that ended, by kind; gemini reports them only in `_meta`."""
    quota = lenient.mapping(lenient.mapping(ended, "_meta"), "quota")
    given = lenient.mapping(ended, "usage") or lenient.mapping(quota, "token_count")
    counts = {name: _number(given, keys) for name, keys in _NAMES.items()}
    counts["cached"] += counts.pop("written")
    return counts


def _number(given: Json, keys: tuple[str, ...]) -> int:
    numbers = (lenient.number(given, key) for key in keys)
    return next((int(n) for n in numbers if n is not None and 0 <= n <= MAX_COUNT), 0)


def total_of(ended: Json) -> int:
    """Return the sum of a turn's tokens; thoughts are part of the output."""
    counts = tokens_of(ended)
    return counts["input"] + counts["output"] + counts["cached"]


def currency_of(cost: Json) -> str:
    return lenient.text(cost, "currency")[:8] or "USD"


def grown(counts: Json, talk: str, cost: Json) -> tuple[Json, float]:
    """Return the costs of all conversations, and by how much the cost of this one grew."""
    amount = lenient.number(cost, "amount")
    if amount is None or not 0 <= amount <= MAX_COUNT:
        return counts, 0.0
    before = counts.get(talk, 0)
    rest = {key: value for key, value in counts.items() if key != talk}
    while len(rest) >= CONVERSATIONS:
        del rest[next(iter(rest))]
    return {**rest, talk: amount}, float(amount - before if amount >= before else amount)


# --- in the header -------------------------------------------------------------------------------


def after(header: Header, event: Event) -> Json:
    """Return the fields of the header that an event's reported usage changes."""
    update = event.update
    match update.get("sessionUpdate"):
        case "usage_update":
            return _reported(header, update)
        case "_prompt" if update.get("steered") is not True:
            return {"spent": {**header.spent, "turn": NOTHING}}
        case "_turn" if update.get("state") == "idle":
            known = header.spent["turn"]["tokens"]
            tokens = max(total_of(update), _within(update, "atLeast"))
            return {"spent": added(header.spent, max(0, tokens - known))}
        case "_context" if update.get("state") in ("reset", "cleared"):
            return {"_spent": {**header.spending, "used": 0}}
        case "_agent" if update.get("state") == "ready":
            return _opened(header, update)
    return {}


def _opened(header: Header, update: Json) -> Json:
    """Set the count of a resumed conversation: its past cost is not this session's."""
    from rookery.core.vendors.profiles import profile_for  # a header without events needs none

    memory, before = header.spending, lenient.number(update, "counted")
    if before is not None and 0 <= before <= MAX_COUNT:
        return {"_spent": {**memory, "counts": {lenient.text(update, "sessionId"): before}}}
    return {"_spent": {**memory, "counts": {}}} if profile_for(header).cost_restarts else {}


def added(spent: Json, tokens: int, cost: float = 0.0, currency: str = "") -> Json:
    """Add tokens and cost to the session's total and to the turn's."""
    return _more(spent, tokens, cost, currency) | {
        "turn": _more(spent["turn"], tokens, cost, currency)
    }


def _more(known: Json, tokens: int, cost: float, currency: str) -> Json:
    costs = known["cost"]
    if cost:
        costs = {**costs, currency: costs.get(currency, 0.0) + cost}
    return {**known, "tokens": known["tokens"] + tokens, "cost": costs}


def _within(given: object, key: str) -> int:
    number = lenient.number(given, key)
    return int(number) if number is not None and 0 <= number <= MAX_COUNT else 0


def _reported(header: Header, update: Json) -> Json:
    memory, spent = header.spending, header.spent
    cost, talk = lenient.mapping(update, "cost"), lenient.text(header.agent_session, "id")
    counts, more = grown(memory.get("counts", {}), talk, cost)
    more = 0.0 if "unloaded" in (header.agent_session or {}) else more  # spent elsewhere
    used, before = _within(update, "used"), memory.get("used", 0)
    tokens = 0
    if header.state != "idle":  # a replay, or the end of a turn that is counted
        own = _within(lenient.mapping(lenient.mapping(update, "_meta"), "rookery"), "turnTokens")
        tokens = max(used - before, own - spent["turn"]["tokens"], 0)
    changes: Json = {"_spent": {"counts": counts, "used": used}}
    changes = {} if changes["_spent"] == memory else changes
    if tokens or more:
        changes["spent"] = added(spent, tokens, more, currency_of(cost))
    return changes
