"""Measuring what a session used, from its events: per quarter of an hour, agent, model and
currency.

`core/spending.py` describes how agents report it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from rookery.core import spending
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json, kind_of
from rookery.core.vendors.detection import vendor_of
from rookery.core.vendors.options import offered, value_of
from rookery.core.vendors.profiles import vendor_profile

KINDS = ("_session", "_agent", "_context", "_turn", "usage_update", "config_option_update")
"""The events that say anything about it."""

STRETCH = 15 * 60 * 1000
"""Milliseconds of one row: days begin at a multiple of it in every time zone."""

FRESH: Json = {"agent": "", "model": "", "cwd": "", "argv": [], "talk": "", "counts": {}}
"""The state before the first event."""


class Row(NamedTuple):
    at: int
    """When its stretch of time begins, in milliseconds since the epoch."""
    session: str
    agent: str
    model: str
    currency: str
    turns: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    """Tokens read from or written to the provider's cache."""
    thought: int = 0
    cost: float = 0.0


def read(session: str, state: Json, events: Iterable[Event]) -> tuple[Json, list[Row]]:
    """Return the state after these events, and the rows they add. Accepts any JSON."""
    state = {**FRESH, **state, "counts": dict(lenient.mapping(state, "counts"))}
    rows: list[Row] = []
    for event in events:
        update = event.update
        row = Row(event.at // STRETCH * STRETCH, session, "", "", "")
        match kind_of(update):
            case "_session":
                _session(state, update)
            case "_agent":
                _agent(state, update)
            case "_context":
                state["talk"] = lenient.text(update, "sessionId") or state["talk"]
            case "config_option_update":
                state["model"] = value_of(offered(update), "model") or state["model"]
            case "usage_update":
                _notice_model(state, update)
                cost = lenient.mapping(update, "cost")
                state["counts"], more = spending.grown(state["counts"], state["talk"], cost)
                if more:
                    model = lenient.text(_ours(update), "model")[:200]
                    currency = spending.currency_of(cost)
                    rows.append(row._replace(model=model, cost=more, currency=currency))
            case "_turn" if update.get("state") == "idle":
                rows += _turns(row, _tokens(state, update), update)
            case _:
                continue
        for at in range(len(rows) - 1, -1, -1):
            if rows[at].agent:
                break
            model = rows[at].model or state["model"]
            rows[at] = rows[at]._replace(agent=state["agent"], model=model)
    return state, rows


def _session(state: Json, update: Json) -> None:
    for field in ("agent", "cwd"):
        state[field] = lenient.text(update, field)[:1000] or state[field]
    if "argv" in update:
        state["argv"] = lenient.texts(update, "argv")[:20]
    if update.get("confirmed") is True:
        state["model"] = lenient.text(update, "model")[:200] or state["model"]


def _agent(state: Json, update: Json) -> None:
    match update.get("state"):
        case "switched":
            state["agent"] = lenient.text(update, "to")[:200] or state["agent"]
            state |= {"model": "", "argv": lenient.texts(update, "argv")[:20]}
        case "starting":
            state["argv"] = lenient.texts(update, "argv")[:20] or state["argv"]
        case "ready":
            state["talk"] = lenient.text(update, "sessionId")[:200]
            state["model"] = value_of(offered(update), "model")[:200] or state["model"]
            vendor = vendor_of(state["agent"], state["argv"], lenient.mapping(update, "info"))
            if vendor_profile(vendor).cost_restarts:
                state["counts"].pop(state["talk"], None)
            if (before := lenient.number(update, "counted")) is not None:  # paid elsewhere
                state["counts"][state["talk"]] = before


def _notice_model(state: Json, update: Json) -> None:
    """Take the model from the usage report: some agents name it nowhere else."""
    for key, value in lenient.mapping(update, "_meta").items():
        if not state["model"] and str(key).endswith("/model") and isinstance(value, str):
            state["model"] = value[:200]


def _tokens(state: Json, update: Json) -> dict[str, Any]:
    """Return the tokens of the turn that ended."""
    quota = lenient.mapping(lenient.mapping(update, "_meta"), "quota")
    models = {lenient.text(each, "model") for each in lenient.mappings(quota, "model_usage")}
    if not state["model"] and len(models) == 1:
        state["model"] = models.pop()[:200]
    return spending.tokens_of(update)


def _ours(update: Json) -> Json:
    return lenient.mapping(lenient.mapping(update, "_meta"), "rookery")


def _turns(row: Row, tokens: dict[str, Any], update: Json) -> list[Row]:
    """Return the row of a turn that ended, and rows for other models that answered in it."""
    others = []
    for each in list(lenient.mappings(_ours(update), "usageByModel"))[:20]:
        if model := lenient.text(each, "model")[:200]:
            counts = spending.tokens_of({"usage": each})
            own: dict[str, Any] = {name: min(count, tokens[name]) for name, count in counts.items()}
            tokens = {name: count - own[name] for name, count in tokens.items()}
            others.append(row._replace(model=model, **own))
    return [row._replace(turns=1, **tokens), *others]


def merged(rows: Iterable[Row]) -> list[Row]:
    """Merge rows of the same period, agent, model and currency. Turns without a cost are added to
    those that have one."""
    by_key: dict[tuple[object, ...], Row] = {}
    for row in rows:
        key = row[:5]
        old = by_key.get(key)
        sums = (a + b for a, b in zip(old[5:], row[5:], strict=True)) if old else row[5:]
        by_key[key] = Row(*row[:5], *sums)
    return [by_key[key] for key in sorted(by_key, key=repr)]
