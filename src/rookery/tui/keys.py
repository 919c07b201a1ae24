"""Every key that there is, by where it works: F1's list comes from the bindings themselves."""

from typing import TYPE_CHECKING

from textual.binding import Binding

from rookery.tui.composer import Composer
from rookery.tui.fleet import Fleet
from rookery.tui.transcript.reading import Transcript

if TYPE_CHECKING:
    from rookery.tui.app import Rookery


def all_keys(app: "Rookery") -> list[tuple[str, str, str]]:
    """Where, the key, what it does."""
    places = (
        ("Everywhere", type(app).BINDINGS),
        ("Writing", Composer.BINDINGS),
        ("In the transcript", Transcript.BINDINGS),
        ("In the list of sessions", Fleet.BINDINGS),
    )
    return [
        (place, shown(binding.key), binding.description)
        for place, bindings in places
        for binding in bindings
        if isinstance(binding, Binding)
    ]


def shown(keys: str) -> str:
    """`ctrl+b` as `Ctrl+B`; several with a comma."""
    return ", ".join("+".join(_word(word) for word in key.split("+")) for key in keys.split(","))


def _word(word: str) -> str:
    names = {"escape": "Esc", "question_mark": "?"}
    return names.get(word, word if len(word) == 1 and not word.isalpha() else word.capitalize())
