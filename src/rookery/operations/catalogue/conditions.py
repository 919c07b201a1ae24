"""When an operation is offered for a session: facts that every face knows, so that the same
condition holds in the terminal, on the page and on the command line."""

from collections.abc import Mapping

from rookery.core import worktree
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import Shown
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row


def facts(head: Json, now: float) -> dict[str, bool]:
    """Return the facts about a session that rows may depend on, from what a list knows of it.
    `now`: milliseconds."""
    return {
        "archived": bool(head.get("archived")),
        "snoozed": is_snoozed(Shown(head), now),
        "pinned": bool(head.get("pinned")),
        "awake": bool(head.get("awake")),
        "worktree": head.get("worktree") is True or worktree.exists(head.get("worktree")),
        "running": str(head.get("state") or "idle") != "idle",
    }


def holds(row: Row, known: Mapping[str, bool]) -> bool:
    return _are(row.traits.when, known)


def warning(row: Row, known: Mapping[str, bool]) -> str:
    """Return what menus and keys say before carrying it out, or ""."""
    return row.traits.warns if _are(row.traits.warns_when, known) else ""


def _are(wanted: Mapping[str, bool], known: Mapping[str, bool]) -> bool:
    return all(known.get(name, False) is value for name, value in wanted.items())
