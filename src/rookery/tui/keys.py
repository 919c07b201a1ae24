"""Every key that there is, by where it works: F1's list comes from the bindings themselves."""

from typing import Any

from textual.app import App
from textual.binding import Binding

from rookery.tui.composer import Composer
from rookery.tui.fleet import Fleet
from rookery.tui.keynames import shown
from rookery.tui.queue_strip import Queue
from rookery.tui.transcript.reading import Transcript


def all_keys(app: App[Any]) -> list[tuple[str, str, str]]:
    """Where, the key, what it does."""
    places = (
        ("Everywhere", type(app).BINDINGS),
        ("Writing", Composer.BINDINGS),
        ("On what waits", Queue.BINDINGS),
        ("In the transcript", Transcript.BINDINGS),
        ("In the list of sessions", Fleet.BINDINGS),
    )
    chosen = app._keymap
    return [
        (place, shown(chosen.get(str(binding.id), binding.key)), binding.description)
        for place, bindings in places
        for binding in bindings
        if isinstance(binding, Binding)
    ]
