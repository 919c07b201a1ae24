"""Which terminals belong to a call that was made to run in the background: a cancel leaves them
alone. What a call is given and which terminal it shows may come in different updates."""

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.tools.calls import key_of

WORDS = ("run_in_background", "is_background", "background")
"""By which agents say it in what a call is given."""

KEPT = 500


class BackgroundCalls:
    def __init__(self) -> None:
        self._shown: dict[str, set[str]] = {}
        """The terminals of each call of the turn."""
        self._background: set[str] = set()

    def clear(self) -> None:
        """A new turn."""
        self._shown.clear()
        self._background.clear()

    def hear(self, update: Json) -> None:
        """A call, or an update of one."""
        key, given = key_of(update), lenient.mapping(update, "rawInput")
        if any(given.get(word) is True for word in WORDS):
            self._background.add(key)
        parts = lenient.mappings(update, "content")
        if names := {name for part in parts if (name := lenient.text(part, "terminalId"))}:
            self._shown.setdefault(key, set()).update(names)
            if len(self._shown) > KEPT:
                del self._shown[next(iter(self._shown))]

    def terminals(self) -> set[str]:
        return {name for key in self._background for name in self._shown.get(key, ())}
