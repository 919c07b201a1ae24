"""An agent's report card: statements with a verdict each, and the facts that were measured."""

from typing import Literal, NamedTuple

from rookery.cli.checkup.subject import Reply
from rookery.core.json import Json

type Verdict = Literal["ok", "not ok", "not told"]

OK: Verdict = "ok"
NOT_OK: Verdict = "not ok"
NOT_TOLD: Verdict = "not told"
UNAUTHENTICATED = -32000


class Row(NamedTuple):
    row: str
    """What was checked: of an agent such as `malformed-line`, of a home such as `disk`."""
    verdict: Verdict
    words: str


class Card:
    """The report on one agent. `usable`: it can create a session."""

    def __init__(self, name: str, argv: list[str]) -> None:
        self.name = name
        self.argv = argv
        self.rows: list[Row] = []
        self.facts: Json = {}
        self.offers: Json = {}
        """The answer to `session/new`."""
        self.usable = False

    def say(self, row: str, verdict: Verdict, statement: str) -> None:
        self.rows.append(Row(row, verdict, statement))

    def judge(self, row: str, good: bool, statement: str, otherwise: str) -> None:
        self.say(row, OK if good else NOT_OK, statement if good else otherwise)

    def judge_refusal(self, row: str, what: str, code: int, *replies: Reply) -> None:
        """Record whether the requests were refused with this code, as they should be."""
        if any(reply.code == UNAUTHENTICATED for reply in replies):
            self.say(row, NOT_TOLD, f"{what}: needs a login first")
            return
        good = all(reply.code == code for reply in replies)
        outcomes = "; ".join(reply.outcome for reply in replies)
        self.judge(row, good, f"{what}: refused with {code}", f"{what}: {outcomes}")

    def to_json(self) -> Json:
        rows = [row._asdict() for row in self.rows]
        facts = {"agent": self.name, "argv": self.argv, "usable": self.usable}
        return {**facts, **self.facts, "rows": rows}
