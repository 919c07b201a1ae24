"""Completes directory paths for choosing where a session works, and lists the branches that it can
start from."""

import os

from rookery.client.work_tree import git

MAX_COMPLETIONS = 20
LOOKED_AT = 5000
"""Entries of one directory."""
BRANCHES = 100


def completed(prefix: str, most: int = MAX_COMPLETIONS) -> list[str]:
    """Return the directories whose paths start with the prefix, each with a trailing slash; only
    names are read. `~` stands for the user's home. Hidden ones are included only if the last name
    begins with a dot."""
    if "\0" in prefix or not prefix.startswith(("/", "~")):
        return []
    if prefix == "~" or (prefix.startswith("~") and not prefix.startswith("~/")):
        return ["~/"] if prefix == "~" else []
    shown, _, begun = prefix.rpartition("/")
    place = os.path.expanduser(shown) or "/"
    names: list[str] = []
    try:
        with os.scandir(place) as entries:
            for _, entry in zip(range(LOOKED_AT), entries, strict=False):
                if _fits(entry.name, begun) and entry.is_dir():
                    names.append(entry.name)
    except OSError:  # there is none, or it cannot be read
        return []
    names.sort(key=lambda name: (not name.startswith(begun), name.lower(), name))
    return [f"{shown}/{name}/" for name in names[:most]]


def _fits(name: str, begun: str) -> bool:
    if not name.isprintable() or (name.startswith(".") and not begun.startswith(".")):
        return False
    return name.lower().startswith(begun.lower())


def branches(cwd: str) -> tuple[str, list[str]]:
    """Return the current branch, and all branches, the most recently used first; nothing if there
    is no repository."""
    named = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    args = ["for-each-ref", "--sort=-committerdate", f"--count={BRANCHES}"]
    output = git.run(cwd, [*args, "--format=%(refname:short)", "refs/heads", "refs/remotes"])
    names = output.data.decode("utf-8", "replace").splitlines() if output else []
    current = named.data.decode("utf-8", "replace").strip() if named else ""
    return current, [name for name in names if name.isprintable() and "\ufffd" not in name]
