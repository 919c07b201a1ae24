"""How a rule's word on a call looks that nobody was asked about: as an ask that it answered, on the
call's card (row P11)."""

from rookery.core import loose
from rookery.core.calls import block_id, key_of
from rookery.core.document import Block, make_block
from rookery.core.events import Event, Json

LONGEST = 500


def judged_block(header: Json, event: Event) -> Block:
    call, ruled = loose.mapping(event.update, "toolCall"), loose.text(event.update, "ruled")
    why = loose.text(event.update, "reason")
    return make_block(
        block_id(header, event) + "?",
        "ask",
        title=loose.text(call, "title")[:LONGEST],
        kind=loose.text(call, "kind", "other")[:40],
        status="answered",
        ruled=ruled[:LONGEST],
        text=(f"{ruled}: {why}" if why else ruled)[:LONGEST],
        parent=next(iter(header["_tools"].get(key_of(call), ())), None),
    )
