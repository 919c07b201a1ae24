"""What the status line says of the keys that matter now."""

from typing import TYPE_CHECKING

from rookery.core.asks.kept_asks import unanswered
from rookery.core.json import lenient
from rookery.tui.keys.map import label
from rookery.tui.transcript.ask_keys import is_open

if TYPE_CHECKING:
    from rookery.tui.shell import Shell


def hint(app: "Shell") -> str:
    """Where an open ask is answered, what Esc does while a turn runs, and how to come back."""
    below = app.screen_stack[0]
    header = app.window.header if app.session else None
    if header is not None and unanswered(header):
        return "" if is_answering(app) else f"{label(app, 'ask.next')} to answer"
    if below.focused is not app.composer:
        return f"{label(app, 'turn.cancel')} goes back"
    if header is None or header["state"] == "idle":
        return ""
    cancel, send = f"{label(app, 'turn.cancel')} cancels", label(app, "composer.send")
    if not app.composer.text:
        return cancel
    if not lenient.flag(header, "steers"):
        return f"{send} queues · {cancel}"
    return f"{send} steers · {label(app, 'composer.queue')} queues · {cancel}"


def is_answering(app: "Shell") -> bool:
    """Whether the keys answer an ask."""
    focused = app.screen_stack[0].focused
    return focused is app.transcript and is_open(app.transcript.current)
