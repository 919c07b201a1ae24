"""How settings that wait for confirmation, and unused entries of config.toml, look in a session."""

from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.json.events import Event, Json
from rookery.core.settings.held import HELP, LONGEST, TITLE, listed
from rookery.core.tools.calls import block_id

WARNED = "config.toml has entries that are not used"


MOST_LINES = 5
MOST_LETTERS = 400
"""What a look shows without being asked to: a button stands only under what is there to be read."""


def _actions(text: str, fingerprint: str) -> list[Json]:
    """None under a long list: `rookery config confirm` shows all of it first."""
    if text.count("\n") >= MOST_LINES or len(text) > MOST_LETTERS:
        return []
    command = {"do": "settings", "take": fingerprint}
    return [{"label": "Confirm", "kind": "settings", "command": command, "danger": True}]


def settings_ops(before: Json, now: Json, event: Event) -> list[Op]:
    known, held = before["settings"], now["settings"]
    found: list[Op] = []
    if known["block"] and known["block"] != held["block"]:
        ended = "confirmed" if event.update.get("confirmed") is True else "undone or changed"
        found += change(
            known["block"], status="info", actions=[], parts=[], title=f"{TITLE}: {ended}"
        )
    if held["block"] and held["block"] != known["block"]:
        text = listed(event.update)
        block = make_block(held["block"], "notice", status="warn", title=TITLE, text=text)
        block["parts"] = [{"type": "markdown", "text": HELP}]
        found += put(block | {"actions": _actions(text, held["held"])})
    if held["warnings"] and held["warnings"] != known["warnings"]:
        text = "\n".join(line[:LONGEST] for line in held["warnings"])
        name = block_id(now, event) + "w"
        found += put(make_block(name, "notice", status="warn", title=WARNED, text=text))
    return found
