"""How an ask that outlives its agent is shown: what is kept, and where it is asked again."""

from rookery.core.asks import kept_asks
from rookery.core.blocks import ask_actions, parts
from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json
from rookery.core.tools.calls import block_id

LONGEST_TITLE = 500
SENT = "The prompt was sent again · waiting for the agent"
AWAY = "The agent is not running. Your answer is saved and wakes the session."
KEPT = "Your answer {!r} is saved and sent if it does."
FURTHER_DOWN = "Shown again further down"


def left(before: Json, after: Json) -> list[Op]:
    """Asks that are away since this event, and those that now stand elsewhere: the person sees one
    ask, not two."""
    if before["asks"] is after["asks"]:
        return []
    ops: list[Op] = []
    for name, ask in after["asks"].items():
        known = before["asks"].get(name)
        if known is not None and known["block"] != ask["block"]:
            ops += change(known["block"], status="moved", text=FURTHER_DOWN, note="", actions=[])
        elif known is not None and ask.get("sent") and not known.get("sent"):
            ops += change(ask["block"], status="kept", text=SENT, note="", actions=[])
        elif known is not None and ask.get("away") and not known.get("away"):
            ops += change(ask["block"], note=AWAY)
    return ops


def is_of(before: Json, update: Json) -> bool:
    """Whether an `_ask` is about one that is kept, and no plain one."""
    decides = update.get("decide") is True and lenient.text(update, "id") in before["asks"]
    return update.get("state") == "answered" or (update.get("state") == "asked" and decides)


def of_ask(before: Json, after: Json, event: Event) -> list[Op]:
    if event.update.get("state") == "answered":
        return _answered(before, event)
    return _undecided(before, after, event)


def _answered(before: Json, event: Event) -> list[Op]:
    """An answer that waits for the agent."""
    ask = before["asks"].get(lenient.text(event.update, "id"))
    if ask is None:
        return []
    said = lenient.text(event.update, "name")[:LONGEST_TITLE]
    if ask.get("decide"):  # which is still to be done
        note = f"{lenient.text(ask, 'why')} {KEPT.format(said)}"
        return change(ask["block"], note=note[:LONGEST_TITLE])
    by = f" · {event.by[:100]}" if event.by else ""
    text = f"Answered: {said}{by} · waiting for the agent"
    return change(ask["block"], status="kept", text=text, note="", actions=[])


def _undecided(before: Json, after: Json, event: Event) -> list[Op]:
    """An ask that cannot be asked again in silence: what it was about, why, and two ways on."""
    update, name = event.update, lenient.text(event.update, "id")
    ask = before["asks"].get(name)
    if ask is None:
        return []
    actions = [ask_actions.action_of(update, way) for way in kept_asks.OPTIONS]
    block = make_block(block_id(after, event) + "?", "ask", status="asked", actions=actions)
    block |= {"title": lenient.text(update, "message")[:LONGEST_TITLE], "kind": "other"}
    why, given = lenient.text(update, "why"), lenient.mapping(ask, "given")
    if given:
        why += f" {KEPT.format(lenient.text(given, 'name'))}"
    block["note"] = why[:LONGEST_TITLE]
    call = lenient.mapping(ask, "toolCall")
    block["parts"] = parts.from_tool_content(lenient.sequence(call, "content"))
    return put(block)


def prompt_title(update: Json) -> str:
    """Of a prompt that no person sent."""
    origin = lenient.text(update, "origin")
    if origin != kept_asks.ORIGIN:
        return origin
    if lenient.text(update, "how") == kept_asks.CONTINUE:
        return "the open question is asked again, from Rookery"
    return "sent again for the open question, from Rookery"
