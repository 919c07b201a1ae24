"""The approval modes of a session: one table of names that every interface reads.

The ids are stored, sent and written to config.toml. The words are what people see. Both are
accepted wherever a user chooses, and so are the names that vendors and earlier builds use for the
same."""

from typing import NamedTuple

from rookery.core.policy import planning

TITLE = "Approvals"
"""The label of this choice in interfaces."""

EVERY, RISKY, ALL, PLAN = "every", "risky", "all", planning.MODE


class Approval(NamedTuple):
    id: str
    label: str
    more: str
    names: tuple[str, ...]
    """Other names, without case and signs."""

    @property
    def title(self) -> str:
        return self.label.capitalize()

    @property
    def flag(self) -> str:
        """The command-line flag, without its dashes."""
        return self.label.replace(" ", "-")


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
WORDS = {each.id: each.label for each in TABLE}
LISTED = ", ".join(
    f"{each.id} ({each.label})" if each.id != each.label else each.id for each in TABLE
)

OLDER_FLAGS = {"always-approve": ALL, "yolo": ALL, "llm-approve": RISKY}
"""Older command-line flags that are still accepted."""

NOBODY_ASKED = {"all": WORDS[ALL], "risky": "reject when risky", "reject": "reject all"}
"""Labels for sessions that never ask (`unattended`), by their order."""
NEVER = "never asks"
"""The label for agents that never send asks."""


def id_of(given: str) -> str | None:
    """Return the id of the choice that a text names; None if there is no such choice."""
    plain = plain_of(given)
    return next(
        (each.id for each in TABLE if plain in (each.id, plain_of(each.label), *each.names)), None
    )


def plain_of(given: str) -> str:
    return "".join(sign for sign in given.lower() if sign.isalnum())


def spaced(mode: str) -> str:
    """Split a vendor's mode id into words: acceptEdits, accept_edits."""
    parts = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in mode)
    return " ".join(parts.replace("_", " ").replace("-", " ").split())
