"""The report card: statements with a verdict each, and the facts that were measured."""

from typing import Literal, NamedTuple

from rookery.core.json.events import Json

type Verdict = Literal["ok", "not ok", "not told"]

OK: Verdict = "ok"
NOT_OK: Verdict = "not ok"
NOT_TOLD: Verdict = "not told"


class Row(NamedTuple):
    row: str
    """Of the checklist, such as acp-T9; of a home, what was looked at."""
    verdict: Verdict
    words: str


class Card:
    """What was found of one agent. `usable`: a session could be made."""

    def __init__(self, name: str, argv: list[str]) -> None:
        self.name = name
        self.argv = argv
        self.rows: list[Row] = []
        self.facts: Json = {}
        self.offers: Json = {}
        """What `session/new` was answered with."""
        self.usable = False

    def say(self, row: str, verdict: Verdict, words: str) -> None:
        self.rows.append(Row(row, verdict, words))

    def judge(self, row: str, good: bool, words: str, otherwise: str) -> None:
        self.say(row, OK if good else NOT_OK, words if good else otherwise)

    def to_json(self) -> Json:
        rows = [row._asdict() for row in self.rows]
        facts = {"agent": self.name, "argv": self.argv, "usable": self.usable}
        return {**facts, **self.facts, "rows": rows}
