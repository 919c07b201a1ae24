"""The window that searches all sessions; choosing a hit opens its session at that place."""

from functools import partial
from typing import override

from textual.widgets import Input, Label

from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.render.local_time import ago
from rookery.render.runs import clean, clean_line, cut
from rookery.search.texts import OTHER
from rookery.tui.widgets.suggestions import Suggestion
from rookery.tui.windows.search import SearchScreen

MAX_HITS = 100
BEFORE = 16
"""Characters of a hit before the words that were found: a row is short."""
TITLE = 4
"""The part of the screen that a title may take: a fourth."""
SECONDS = 60.0
"""For an index that is far behind; it goes on with the next search."""


class EverythingScreen(SearchScreen[Json]):
    KIND = "window whole"
    HEADING = "Search everything"
    HINT = 'Search all sessions; "a phrase" or begin* works, too'
    NONE = "Type to search."
    TALLEST = 20

    def __init__(self, query: str = "") -> None:
        super().__init__(query)
        self.captions["search.take"] = "open"
        self._asked = 0
        """Only the answer to the newest question counts."""

    def on_mount(self) -> None:
        self.fetch(partial(self._answer, " ", SECONDS), self._indexed)

    @override
    def look_for(self, query: str) -> None:
        self._asked += 1
        if query.strip():
            self.fetch(partial(self._answer, query), partial(self._answered, self._asked))
        else:
            self._show([], self.NONE)

    def _answer(self, query: str, patience: float = 0.0) -> Json:
        """Search; if it is refused, the response has no hits and the refusal as its `problem`."""
        rookery = self.shell.reader.rookery
        try:
            return rookery.call("search", q=query, limit=MAX_HITS, patience=patience)
        except Refused as error:
            return {"hits": [], "problem": error.sentences}

    def _answered(self, number: int, answer: Json) -> None:
        if number == self._asked:
            self._show(answer["hits"], clean_line(answer["problem"]) or "No matches.")

    def _show(self, hits: list[Json], text: str) -> None:
        self.query_one("#none", Label).update(text)
        now = self.shell.start.clock()
        room = self.app.size.width // TITLE
        self.list_rows([(hit, row_of(hit, now, room)) for hit in hits])

    def _indexed(self, answer: Json) -> None:
        if answer["problem"]:
            self.notify(clean_line(answer["problem"]), severity="warning", markup=False)
        self.look_for(self.query_one(Input).value)


def row_of(hit: Json, now: int, room: int) -> Suggestion:
    """Return a row with the session and its age, and beside it the text around the first match."""
    text, marks = hit["text"], hit["marks"]
    place = max(0, marks[0][0] - BEFORE) if marks else 0
    who = "" if hit["role"] == OTHER else f"{hit['role']}: "
    excerpt, shown = who + ("…" if place else ""), []
    for begins, ends in marks:
        excerpt += clean(text[place:begins])
        first = len(excerpt)
        excerpt += clean(text[begins:ends])
        shown.append((first, len(excerpt)))
        place = ends
    title = cut(clean_line(hit["title"]) or hit["session"], room)
    excerpt += clean(text[place:])
    return Suggestion("", f"{title} · {ago(hit['at'], now)}", excerpt, marks=tuple(shown))


def word_of(hit: Json) -> str:
    """Return the first match as it occurs in the text, or "" if there is none."""
    marks = hit["marks"]
    return str(hit["text"][slice(*marks[0])]) if marks else ""
