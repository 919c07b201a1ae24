"""Settings that are not in force: those loosened while an agent was running, which wait for the
user's confirmation, and unknown entries of the file."""

from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.tools.calls import block_id

CONFIRM = "rookery config confirm"
"""The command to confirm them, for a user who has no button for it."""
TITLE = "Settings were loosened while an agent was running"
WAITS = (
    f"{TITLE}, and need your confirmation: `{CONFIRM}` shows and confirms them, `rookery "
    "config edit` undoes them."
)
HELP = (
    f"They do not apply until you confirm them: `{CONFIRM}` shows all of them first. To "
    "undo them: `rookery config edit`."
)
MAX_WARNINGS = 20
MAX_LENGTH = 500


def after(header: Header, event: Event) -> Json:
    """Return the header's `settings` after an event of kind `_settings`."""
    held, known = lenient.text(event.update, "held")[:MAX_LENGTH], header.settings
    block = known["block"] if held == known["held"] else block_id(header, event)
    warnings = lenient.texts(event.update, "warnings")[:MAX_WARNINGS]
    return {"held": held, "block": block if held else "", "warnings": warnings}


def note(header: Header) -> str:
    """Return the notice for a client that did not see the event; "" if nothing waits."""
    return WAITS if header.settings["held"] else ""


def sentence(update: Json) -> str:
    """Describe in one line what waits for confirmation, or what is not used; "" if nothing."""
    if lenient.text(update, "held"):
        changes = " ".join(lenient.texts(update, "loosens"))[:MAX_LENGTH]
        return f"{TITLE}. {changes} They do not apply until you run `{CONFIRM}`"
    return " ".join(lenient.texts(update, "warnings")[:MAX_WARNINGS])[:MAX_LENGTH].rstrip(".")


def listed(update: Json) -> str:
    """List what is looser, one line each; "" if nothing waits."""
    if not lenient.text(update, "held"):
        return ""
    # Whole: it is approved.
    return "\n".join(f"- {line}" for line in lenient.texts(update, "loosens"))
