"""Our extension `turns` (docs/editors.md): a client that asks for it is notified when a turn begins
and ends, whoever's it is, and when a prompt of its own becomes part of the conversation."""

from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.stop_reasons import STOP_REASONS
from rookery.wire.jsonrpc import Incoming
from rookery.wire.params import offers

METHOD = "_rookery/turn"


def are_wanted(client: Json) -> bool:
    return offers(client, "_meta", "rookery", "turns")


def marked(update: Json, requests: list[Incoming]) -> Json:
    """Return an update; if it is that of a prompt, with the requests that sent it."""
    if not requests or update["sessionUpdate"] != "user_message_chunk":
        return update
    meta = lenient.mapping(update, "_meta")
    own = {**lenient.mapping(meta, "rookery"), "requests": [each.id for each in requests]}
    return {**update, "_meta": {**meta, "rookery": own}}


def notification_of(event: Event) -> Json | None:
    """Return the notification about an event that begins or ends a turn; None for any other."""
    update = event.update
    if kind_of(update) != "_turn" or update.get("state") not in ("running", "idle"):
        return None
    reason = lenient.text(update, "reason")
    how = {"stopReason": reason if reason in STOP_REASONS else "error"} if reason else {}
    return {"state": update["state"], **how}


def state(header: Header) -> Json:
    """Return the part about turns of the answer that opens a session."""
    now = "idle" if header.state == "idle" else "running"
    return {"_meta": {"rookery": {"state": now}}}
