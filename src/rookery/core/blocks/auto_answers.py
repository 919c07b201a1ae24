"""How a rule's word on a call looks that nobody was asked about: as an ask that it answered, on the
call's card (row P11)."""

from rookery.core.blocks.document import Block, make_block
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json
from rookery.core.tools.calls import block_id, block_of, key_of

LONGEST = 500


def judged_block(header: Json, event: Event) -> Block:
    call, ruled = lenient.mapping(event.update, "toolCall"), lenient.text(event.update, "ruled")
    why = lenient.text(event.update, "reason")
    return make_block(
        block_id(header, event) + "?",
        "ask",
        title=lenient.text(call, "title")[:LONGEST],
        kind=lenient.text(call, "kind", "other")[:40],
        status="answered",
        ruled=ruled[:LONGEST],
        text=(f"{ruled}: {why}" if why else ruled)[:LONGEST],
        parent=block_of(header, key_of(call)),
    )
