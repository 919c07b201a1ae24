"""Feedback on the critic's verdict, given with one key: saved in the home, never sent."""

import json
import os
from contextlib import suppress

from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.home import paths
from rookery.tui.keys.bindings import FEEDBACK
from rookery.tui.keys.map import keys_of, label
from rookery.tui.look.runs import Line
from rookery.tui.widgets.status import LineWidget

FILE = "feedback.jsonl"


class Feedback(LineWidget):
    """The question for feedback, shown while the last turn has a verdict without any."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = False
        self._about: tuple[str, int, float] | None = None
        self._given: dict[tuple[str, int, float], str] = {}

    def tell(self, header: Header | None) -> None:
        score = lenient.number(header.critic, "score") if header else None
        self._about = None
        if header is not None and score is not None and header.state == "idle":
            self._about = (header.id, header.turn, float(score))
        self.display = self._about is not None
        self.refresh()

    def say(self, place: int) -> Json | None:
        """Record the feedback and return the row to save, or None if there is nothing to save."""
        if self._about is None or self._about in self._given:
            return None
        self._given[self._about] = FEEDBACK[place]
        self.refresh()
        session, turn, score = self._about
        return {"session": session, "turn": turn, "score": score, "critic": FEEDBACK[place]}

    def lines(self, width: int) -> list[Line]:  # noqa: ARG002
        look = self.look
        if self._about in self._given:
            assert self._about is not None
            return [[(f" ✓ noted: the critic was {self._given[self._about]}", look.soft)]]
        line: Line = [(" Was the critic right?  ", look.ink)]
        keys = ",".join(keys_of(self.app, f"critic.{number}") for number in (1, 2, 3))
        if any(len(key) == 1 for key in keys.split(",")):  # letters, in a text field
            line += [(label(self.app, "focus.next"), look.key), (", then ", look.soft)]
        for number, verdict in enumerate(FEEDBACK, 1):
            line += [(label(self.app, f"critic.{number}"), look.key), (f" {verdict}   ", look.soft)]
        return [line]


def keep(home: str, feedback: Json) -> None:
    with suppress(OSError):
        paths.append_line(os.path.join(home, FILE), json.dumps(feedback))
