"""The fold's memory of plans: the agent's one list (`plan`), and those that it keeps by id
(`plan_update`, `plan_removed`), each with its block in this turn."""

from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.tools.calls import block_id, in_turn, steps

ENTRIES_KEPT = 1000
PLANS_KEPT = 20
"""Plans by id that are remembered; later news of a forgotten one starts a new block."""


def after(header: Header, event: Event) -> Json:
    """Return the header's changes after a `plan` update."""
    changes: Json = {"plan": steps(event.update, "entries", ENTRIES_KEPT), "_planned": None}
    if not header.plan_block:
        changes |= {"_plan": block_id(header, event), "_open": None}
    return changes


def after_update(header: Header, event: Event) -> Json:
    """Return the header's changes after a `plan_update`. `plan`: the newest list of steps."""
    plan, others = lenient.mapping(event.update, "plan"), known(header)
    key = key_of(plan)
    block = others.pop(key, "")
    changes: Json = {}
    if not in_turn(header, block):
        block = block_id(header, event)
        changes["_open"] = None
    if len(others) >= PLANS_KEPT:
        del others[next(iter(others))]
    changes["_plans"] = others | {key: block}
    if plan.get("type") == "items":
        return changes | {"plan": steps(plan, "entries", ENTRIES_KEPT), "_planned": key}
    return changes | _unplanned(header, key)


def after_removal(header: Header, event: Event) -> Json:
    key, others = key_of(event.update), known(header)
    block = others.pop(key, "")
    changes: Json = {"_plans": others} | _unplanned(header, key)
    return changes if in_turn(header, block) else changes | {"_open": None}


def _unplanned(header: Header, key: str) -> Json:
    is_shown = header.plan and header.planned_by == key
    return {"plan": [], "_planned": None} if is_shown else {}


def known(header: Header) -> dict[str, str]:
    return dict(header.plans)


def key_of(named: Json) -> str:
    return lenient.text(named, "planId")[:200]
