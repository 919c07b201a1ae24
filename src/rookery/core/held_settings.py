"""What a session knows of settings that do not hold: loosened while an agent was running, they wait
for a person; and what stands in the file and means nothing."""

from rookery.core import loose
from rookery.core.calls import block_id
from rookery.core.events import Event, Json

EMPTY: Json = {"held": "", "block": "", "warnings": []}

CONFIRM = "rookery config confirm"
"""What a person types who has no button for it."""
TITLE = "The settings were loosened while an agent was running"
WAITS = (
    f"{TITLE}, and that waits for you: `{CONFIRM}` shows it and lets it hold, "
    "`rookery config edit` takes it back."
)
HELP = (
    f"It does not hold until you confirm it: `{CONFIRM}` shows all of it first. "
    "To take it back: `rookery config edit`."
)
MOST = 20
LONGEST = 500


def after(header: Json, event: Event) -> Json:
    """The header's `settings` after an event of kind `_settings`."""
    held = loose.text(event.update, "held")[:LONGEST]
    known = header["settings"]
    if held and held == known["held"]:
        block = known["block"]
    else:
        block = block_id(header, event) if held else ""
    return {"held": held, "block": block, "warnings": loose.texts(event.update, "warnings")[:MOST]}


def note(header: Json) -> str:
    """For whoever sees a session without the moment at which it was told; "": nothing waits."""
    return WAITS if header["settings"]["held"] else ""


def sentence(update: Json) -> str:
    """For a look that has one line for it: what waits, or what is not used; "" where nothing."""
    if loose.text(update, "held"):
        said = " ".join(loose.texts(update, "loosens"))[:LONGEST]
        return f"{TITLE}. {said} It does not hold until you run `{CONFIRM}`"
    return " ".join(loose.texts(update, "warnings")[:MOST])[:LONGEST].rstrip(".")


def listed(update: Json) -> str:
    """What is looser, a line for each; "" where nothing waits."""
    if not loose.text(update, "held"):
        return ""
    return "\n".join(
        f"- {line}" for line in loose.texts(update, "loosens")
    )  # whole: it is approved
