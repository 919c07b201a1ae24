"""Which blocks are open before the user opens or folds one."""

from typing import Protocol, runtime_checkable

from rookery.core.blocks.captions import is_over, is_subagent
from rookery.core.limits import Interface
from rookery.render.lines.card import is_short_change
from rookery.tui.transcript.item import Item


@runtime_checkable
class Tasteful(Protocol):
    taste: Interface


def opens(item: Item, app: object) -> bool:
    """Tell whether an item is open at first, by the settings; a change that fits its card is."""
    taste = app.taste if isinstance(app, Tasteful) else Interface()
    match item.block["role"]:
        case "plan":
            return taste.plan_opens
        case "tool" if is_subagent(item.block):
            return not is_over(item.block)
        case "tool" | "terminal" if not item.members:
            return taste.cards_expanded or is_short_change(item.block)
    return False
