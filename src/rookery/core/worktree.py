"""A session's git worktree, as its header has it.

path, branch   the worktree's own
base           the commit that it was made from
origin, from   the directory that it was made for, and the branch that was checked out there
git, admin     the repository's directory, and the part of it that belongs to the worktree
copied         files that were copied into it, from its root: no work of the agent's
state          "open", "merged" or "dropped"
merged         the commit that was merged last
kept           it still exists, though it was merged
"""

from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
from rookery.core.json import Json, lenient

OPEN, MERGED, DROPPED = "open", "merged", "dropped"

_TEXTS = ("path", "branch", "base", "origin", "from", "git", "admin", "state", "merged")


def read(given: Json) -> Json:
    """Parse the worktree fields of a `_session` update."""
    fields: Json = {key: given[key] for key in _TEXTS if isinstance(given.get(key), str)}
    if "copied" in given:
        fields["copied"] = lenient.texts(given, "copied")
    if isinstance(given.get("kept"), bool):
        fields["kept"] = given["kept"]
    return fields


def exists(tree: object) -> bool:
    """Return whether there should be a worktree on disk."""
    if not isinstance(tree, dict) or not tree.get("path"):
        return False
    return tree.get("state", OPEN) == OPEN or tree.get("kept") is True


def brief(tree: object) -> str:
    """Describe the worktree for a list: its branch, and whether it was merged or dropped."""
    if not isinstance(tree, dict):
        return ""
    return fate(tree) or lenient.text(tree, "branch")


def fate(tree: object) -> str:
    """Return the same for one that is merged or dropped; "" if not, since its directory's branch is
    shown."""
    state = lenient.text(tree, "state") if isinstance(tree, dict) else ""
    return f"{lenient.text(tree, 'branch')} ({state})" if state in (MERGED, DROPPED) else ""


def check(command: Json, _most: int) -> "Refusal | None":
    if command.get("state") in (MERGED, DROPPED):
        return None
    return Refusal("no_state", "`state` can be: merged, dropped.")


def ended(_header: Header, command: Json) -> Json:
    """Return the update for a command that says how the worktree ended."""
    fields = read({key: command.get(key) for key in ("state", "merged", "kept")})
    return {"sessionUpdate": "_session", "worktree": {"kept": False, **fields}}
