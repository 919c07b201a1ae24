"""What a session has used, folded from its events: tokens and money, of the turn and of all.

Agents report differently. Tokens come with the end of a turn, and are that turn's; before it, only
what its context grew by is known, which is less. A cost is what the conversation has cost so far:
only what it grew by counts, and one that begins again at a lower amount is a new count. Each
conversation of an agent has a count of its own, so that a reload, a clear or a switch counts
nothing twice.
"""

from rookery.core.json import Event, Json, lenient

MOST = 10**15
"""No number that an agent reports counts for more."""

CONVERSATIONS = 50
"""Counts that are kept of one session."""

NOTHING: Json = {"tokens": 0, "cost": {}}
EMPTY: Json = {**NOTHING, "turn": NOTHING}

_NAMES = {
    "input": ("inputTokens", "input_tokens"),
    "output": ("outputTokens", "output_tokens"),
    "cached": ("cachedReadTokens", "cachedInputTokens", "cached_input_tokens", "cached_tokens"),
    "written": ("cachedWriteTokens", "cacheWriteInputTokens"),
    "thought": ("thoughtTokens", "reasoningOutputTokens", "thoughts_tokens"),
}


def tokens_of(ended: Json) -> dict[str, int]:
    """Of the turn that ended so, by kind; gemini has them in `_meta` alone."""
    quota = lenient.mapping(lenient.mapping(ended, "_meta"), "quota")
    given = lenient.mapping(ended, "usage") or lenient.mapping(quota, "token_count")
    found = {name: _number(given, keys) for name, keys in _NAMES.items()}
    found["cached"] += found.pop("written")
    return found


def _number(given: Json, keys: tuple[str, ...]) -> int:
    numbers = (lenient.number(given, key) for key in keys)
    return next((int(n) for n in numbers if n is not None and 0 <= n <= MOST), 0)


def total_of(ended: Json) -> int:
    """Thoughts are part of the output."""
    found = tokens_of(ended)
    return found["input"] + found["output"] + found["cached"]


def currency_of(cost: Json) -> str:
    return lenient.text(cost, "currency")[:8] or "USD"


def grown(counts: Json, talk: str, cost: Json) -> tuple[Json, float]:
    """The counts of all conversations, and by how much the cost of this one grew."""
    amount = lenient.number(cost, "amount")
    if amount is None or not 0 <= amount <= MOST:
        return counts, 0.0
    before = counts.get(talk, 0)
    rest = {key: value for key, value in counts.items() if key != talk}
    while len(rest) >= CONVERSATIONS:
        del rest[next(iter(rest))]
    return {**rest, talk: amount}, float(amount - before if amount >= before else amount)


# --- in the header -------------------------------------------------------------------------------


def after(header: Json, event: Event) -> Json:
    """The fields of the header that an event changes by what was used."""
    update = event.update
    match update.get("sessionUpdate"):
        case "usage_update":
            return _reported(header, update)
        case "_prompt" if update.get("steered") is not True:
            return {"spent": {**header["spent"], "turn": NOTHING}}
        case "_turn" if update.get("state") == "idle":
            known = header["spent"]["turn"]["tokens"]
            said = max(total_of(update), _within(update, "atLeast"))
            return {"spent": added(header["spent"], max(0, said - known))}
        case "_context" if update.get("state") in ("reset", "cleared"):
            return {"_spent": {**header["_spent"], "used": 0}}
        case "_agent" if update.get("state") == "ready":
            return _opened(header, update)
    return {}


def _opened(header: Json, update: Json) -> Json:
    """What a conversation had cost before is not spent here."""
    from rookery.core.vendors.profiles import profile_for  # a header without events needs none

    memory, before = header["_spent"], lenient.number(update, "counted")
    if before is not None and 0 <= before <= MOST:
        return {"_spent": {**memory, "counts": {lenient.text(update, "sessionId"): before}}}
    return {"_spent": {**memory, "counts": {}}} if profile_for(header).cost_restarts else {}


def added(spent: Json, tokens: int, cost: float = 0.0, currency: str = "") -> Json:
    """To the session's and to the turn's."""
    return _more(spent, tokens, cost, currency) | {
        "turn": _more(spent["turn"], tokens, cost, currency)
    }


def _more(known: Json, tokens: int, cost: float, currency: str) -> Json:
    costs = known["cost"]
    if cost:
        costs = {**costs, currency: costs.get(currency, 0.0) + cost}
    return {**known, "tokens": known["tokens"] + tokens, "cost": costs}


def _within(given: object, key: str) -> int:
    found = lenient.number(given, key)
    return int(found) if found is not None and 0 <= found <= MOST else 0


def _reported(header: Json, update: Json) -> Json:
    memory, spent = header["_spent"], header["spent"]
    cost, talk = lenient.mapping(update, "cost"), lenient.text(header["agentSession"], "id")
    counts, more = grown(memory.get("counts", {}), talk, cost)
    more = 0.0 if "unloaded" in (header["agentSession"] or {}) else more  # spent elsewhere
    used, before = _within(update, "used"), memory.get("used", 0)
    tokens = 0
    if header["state"] != "idle":  # a replay, or the end of a turn that is counted
        own = _within(lenient.mapping(lenient.mapping(update, "_meta"), "rookery"), "turnTokens")
        tokens = max(used - before, own - spent["turn"]["tokens"], 0)
    changes: Json = {"_spent": {"counts": counts, "used": used}}
    changes = {} if changes["_spent"] == memory else changes
    if tokens or more:
        changes["spent"] = added(spent, tokens, more, currency_of(cost))
    return changes
