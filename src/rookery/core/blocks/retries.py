"""How it looks that an agent tries its model again (core.turn.retries)."""

from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.json.events import Json


def look(before: Json, after: Json) -> list[Op]:
    """The block that stands while it lasts."""
    name = f"{before['turn']}.retry"
    if before["retrying"] == after["retrying"]:
        return []
    if not after["retrying"]:
        return [["drop", name]]
    if before["retrying"]:
        return change(name, text=after["retrying"])
    title = f"{after['agent'] or 'The agent'} is trying again"
    return put(make_block(name, "notice", status="warn", title=title, text=after["retrying"]))
