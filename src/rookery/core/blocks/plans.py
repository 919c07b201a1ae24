"""Rendering plans: each is one block in a turn, updated in place."""

from rookery.core.blocks import parts
from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.tools.calls import block_id, in_turn, steps
from rookery.core.tools.plans import ENTRIES_KEPT, key_of

REMOVED = "Plan removed"


def shown(before: Header, after: Header, _event: Event) -> list[Op]:
    """Return the ops for a `plan`."""
    return _put(before.plan_block == after.plan_block, after.plan_block, _checklist(after.plan))


def shown_update(before: Header, after: Header, event: Event) -> list[Op]:
    plan = lenient.mapping(event.update, "plan")
    name = after.plans[key_of(plan)]
    return _put(before.plans.get(key_of(plan)) == name, name, _look(plan))


def shown_removal(before: Header, after: Header, event: Event) -> list[Op]:
    """Return the ops for a plan's removal: in its block if that is in this turn, else anew."""
    name = before.plans.get(key_of(event.update), "")
    if in_turn(after, name):
        return change(name, title=REMOVED)
    return put(make_block(block_id(after, event), "plan", title=REMOVED))


def _put(is_known: bool, name: str, fields: Json) -> list[Op]:
    return change(name, **fields) if is_known else put(make_block(name, "plan", **fields))


def _look(plan: Json) -> Json:
    match plan:
        case {"type": "items"}:
            return _checklist(steps(plan, "entries", ENTRIES_KEPT))
        case {"type": "markdown", "content": str(text)}:
            part: Json = {"type": "markdown", "text": text}
        case {"type": "file", "uri": str(uri)}:
            part = {"type": "link", "uri": uri, "name": uri.rpartition("/")[2] or uri}
        case _:
            part = {"type": "json", "value": plan}
    return {"parts": parts.fit([part]), "title": "Plan"}


def _checklist(entries: list[Json]) -> Json:
    done = sum(entry["status"] == "completed" for entry in entries)
    items = parts.fit([{"type": "checklist", "items": entries[:200]}])
    return {"parts": items, "title": f"Plan {done}/{len(entries)}"}
