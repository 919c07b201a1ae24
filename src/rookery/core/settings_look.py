"""How settings that wait for a person, and what in config.toml means nothing, look in a session."""

from rookery.core.calls import block_id
from rookery.core.document import Op, change, make_block, put
from rookery.core.events import Event, Json
from rookery.core.held_settings import LONGEST, TITLE, words

WARNED = "config.toml has something that is not used"


def settings_ops(before: Json, now: Json, event: Event) -> list[Op]:
    known, held = before["settings"], now["settings"]
    found: list[Op] = []
    if known["block"] and known["block"] != held["block"]:
        ended = "confirmed" if event.update.get("confirmed") is True else "taken back, or changed"
        found += change(known["block"], status="info", actions=[], title=f"{TITLE}: {ended}")
    if held["block"] and held["block"] != known["block"]:
        command = {"do": "settings", "take": held["held"]}
        action: Json = {"label": "Let it hold", "kind": "settings", "command": command}
        block = make_block(held["block"], "notice", status="warn", title=TITLE)
        found += put({**block, "text": words(event.update), "actions": [action | {"danger": True}]})
    if held["warnings"] and held["warnings"] != known["warnings"]:
        text = "\n".join(line[:LONGEST] for line in held["warnings"])
        name = block_id(now, event) + "w"
        found += put(make_block(name, "notice", status="warn", title=WARNED, text=text))
    return found
