"""Settings that do not apply: those loosened while an agent was running, which wait for
confirmation, and unknown entries of the file."""

from rookery.core.json import Event, Json, lenient
from rookery.core.tools.calls import block_id

EMPTY: Json = {"held": "", "block": "", "warnings": []}

CONFIRM = "rookery config confirm"
"""What the user types who has no button for it."""
TITLE = "Settings were loosened while an agent was running"
WAITS = (
    f"{TITLE}, and need your confirmation: `{CONFIRM}` shows and confirms them, `rookery "
    "config edit` undoes them."
)
HELP = (
    f"They do not apply until you confirm them: `{CONFIRM}` shows all of them first. To "
    "undo them: `rookery config edit`."
)
MOST = 20
LONGEST = 500


def after(header: Json, event: Event) -> Json:
    """The header's `settings` after an event of kind `_settings`."""
    held, known = lenient.text(event.update, "held")[:LONGEST], header["settings"]
    block = known["block"] if held == known["held"] else block_id(header, event)
    warnings = lenient.texts(event.update, "warnings")[:MOST]
    return {"held": held, "block": block if held else "", "warnings": warnings}


def note(header: Json) -> str:
    """For a client that did not see the event; "": nothing waits."""
    return WAITS if header["settings"]["held"] else ""


def sentence(update: Json) -> str:
    """In one line: what waits, or what is not used; "": nothing."""
    if lenient.text(update, "held"):
        said = " ".join(lenient.texts(update, "loosens"))[:LONGEST]
        return f"{TITLE}. {said} They do not apply until you run `{CONFIRM}`"
    return " ".join(lenient.texts(update, "warnings")[:MOST])[:LONGEST].rstrip(".")


def listed(update: Json) -> str:
    """What is looser, one line each; "": nothing waits."""
    if not lenient.text(update, "held"):
        return ""
    # Whole: it is approved.
    return "\n".join(f"- {line}" for line in lenient.texts(update, "loosens"))
