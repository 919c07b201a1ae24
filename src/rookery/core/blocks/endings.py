"""How a turn that did not end well is shown: why it ended, and what the user can do about it."""

from rookery.core.blocks.document import Block, make_block
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json
from rookery.core.tools.calls import block_id
from rookery.core.turn.remedies import remedy_for
from rookery.core.vendors import detection, exits
from rookery.core.vendors.errors import error_words

LONGEST_TITLE = 500


def quiet_block(name: str, event: Event) -> Block:
    end = {"label": "End the turn", "command": {"do": "force_end"}}
    title = "The agent has gone silent"
    text = lenient.text(event.update, "detail")
    return make_block(name, "notice", status="warn", title=title, text=text, actions=[end])


ENDS = {
    "cancelled": "Cancelled",
    "max_tokens": "The model reached its token limit",
    "max_turn_requests": "The agent reached its request limit for one turn",
    "refusal": "The agent refused to continue",
    "failed": "The agent returned an error",
    "forced": "You ended the turn",
    "rate_limited": "Rate limit reached",
    "orphaned": "The agent stopped responding and was restarted",
    "unresponsive": "The agent did not react to the cancel and was ended",
    "agent_exited": "The agent's process ended",
    "waiting": "The turn is waiting for your answer",
    "interrupted": "The worker ended in mid-turn; nothing shown so far is lost",
}


def died(header: Json, reason: str) -> bool:
    """Whether the agent's process ended the turn by its end, and it is known how."""
    process = header["process"]
    return reason == "agent_exited" and process["state"] == "exited" and "status" in process


def exit_id(header: Json) -> str:
    """Of the block that tells of an exit in mid-turn until the turn's end does."""
    return f"{header['turn']}.exit"


def end_block(after: Json, event: Event, reason: str) -> Block:
    calm = reason in ("cancelled", "forced", "waiting")
    block = make_block(block_id(after, event), "notice" if calm else "error", status=reason[:40])
    process, dead = after["process"], died(after, reason)
    block["title"] = ENDS.get(reason, reason)[:LONGEST_TITLE]
    if dead:
        block["title"] = exits.title(after["agent"], process["status"])[:LONGEST_TITLE]
    error = after["error"] or {}
    detail = error_words(error) if error else lenient.text(event.update, "detail")
    if dead:
        detail = exits.said(process)
    own = after["vendor"] == detection.OWN
    remedy = remedy_for(reason, error, detection.OWN if own else after["agent"])
    block["text"] = "\n".join(line for line in (detail, remedy) if line)
    return block
