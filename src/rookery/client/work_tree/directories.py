"""Directories by the beginning of their paths, for whoever chooses where a session works, and the
branches that it can begin at."""

import os

from rookery.client.work_tree import git

MOST = 20
LOOKED_AT = 5000
"""Entries of one directory."""
BRANCHES = 100


def completed(prefix: str, most: int = MOST) -> list[str]:
    """The directories whose paths begin so, each with a slash at its end; only names are read.
    `~` stands for the user's own. Hidden ones only where the last name begins with a dot."""
    if "\0" in prefix or not prefix.startswith(("/", "~")):
        return []
    if prefix == "~" or (prefix.startswith("~") and not prefix.startswith("~/")):
        return ["~/"] if prefix == "~" else []
    shown, _, begun = prefix.rpartition("/")
    place = os.path.expanduser(shown) or "/"
    found: list[str] = []
    try:
        with os.scandir(place) as entries:
            for _, entry in zip(range(LOOKED_AT), entries, strict=False):
                if _fits(entry.name, begun) and entry.is_dir():
                    found.append(entry.name)
    except OSError:  # there is none, or it cannot be read
        return []
    found.sort(key=lambda name: (not name.startswith(begun), name.lower(), name))
    return [f"{shown}/{name}/" for name in found[:most]]


def _fits(name: str, begun: str) -> bool:
    if not name.isprintable() or (name.startswith(".") and not begun.startswith(".")):
        return False
    return name.lower().startswith(begun.lower())


def branches(cwd: str) -> tuple[str, list[str]]:
    """What is checked out, and all branches, the last used first; nothing where there is no
    repository."""
    named = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    words = ["for-each-ref", "--sort=-committerdate", f"--count={BRANCHES}"]
    found = git.run(cwd, [*words, "--format=%(refname:short)", "refs/heads", "refs/remotes"])
    names = found.data.decode("utf-8", "replace").splitlines() if found else []
    current = named.data.decode("utf-8", "replace").strip() if named else ""
    return current, [name for name in names if name.isprintable() and "\ufffd" not in name]
