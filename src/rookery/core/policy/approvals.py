"""The ways in which a session asks for approval: one table of words that every interface reads.

The ids are stored, sent and written to config.toml. The words are what people see. Both are taken
wherever somebody chooses, and so are the names that vendors and earlier builds have for the same.
"""

from typing import NamedTuple

from rookery.core.policy import planning

TITLE = "Approvals"
"""What interfaces call the choice."""

EVERY, RISKY, ALL, PLAN = "every", "risky", "all", planning.MODE


class Approval(NamedTuple):
    id: str
    words: str
    more: str
    names: tuple[str, ...]
    """Other names, without case and signs."""

    @property
    def title(self) -> str:
        return self.words.capitalize()

    @property
    def flag(self) -> str:
        """Without its dashes."""
        return self.words.replace(" ", "-")


TABLE = (
    Approval(
        EVERY,
        "ask always",
        "asks you about every action, unless a rule answers",
        ("always", "ask", "alwaysask", "default", "manual"),
    ),
    Approval(
        RISKY,
        "ask when risky",
        "allows plain, reversible actions; asks you about the rest",
        ("risk", "highrisk", "riskbased", "llmapprove", "auto"),
    ),
    Approval(
        ALL,
        "approve all",
        "approves everything except destructive commands",
        ("alwaysapprove", "yolo", "bypass", "bypasspermissions"),
    ),
    Approval(PLAN, "plan", "reads and plans; changes nothing until you say go", ("planmode",)),
)
BY_ID = {each.id: each for each in TABLE}
WORDS = {each.id: each.words for each in TABLE}
LISTED = ", ".join(
    f"{each.id} ({each.words})" if each.id != each.words else each.id for each in TABLE
)

OLDER_FLAGS = {"always-approve": ALL, "yolo": ALL, "llm-approve": RISKY}
"""Of the command line, still taken."""

NOBODY_ASKED = {"all": WORDS[ALL], "risky": "reject when risky", "reject": "reject all"}
"""Of sessions that never ask (`unattended`), by their order."""
NEVER = "never asks"
"""Of agents that have no asks at all."""


def id_of(given: str) -> str | None:
    """The id that somebody means; None: no such choice."""
    plain = plain_of(given)
    return next(
        (each.id for each in TABLE if plain in (each.id, plain_of(each.words), *each.names)), None
    )


def plain_of(given: str) -> str:
    return "".join(sign for sign in given.lower() if sign.isalnum())


def spaced(mode: str) -> str:
    """A vendor's own id of a mode as words: acceptEdits, accept_edits."""
    parts = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in mode)
    return " ".join(parts.replace("_", " ").replace("-", " ").split())
