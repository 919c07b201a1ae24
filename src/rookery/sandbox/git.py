"""Which parts of a git repository an agent may write, so that it can commit, but leave nothing
behind that runs when the user's own git looks at it: hooks, settings, and files that say where
either lies are read-only."""

import os
from collections.abc import Iterable, Iterator, Sequence

from rookery.sandbox.placeholders import Placeholders
from rookery.sandbox.plan import Bind
from rookery.sandbox.visible import is_in

OWN = ".git"
READ = ("hooks", "config", "config.worktree", "commondir", "worktrees")
"""Read-only parts of a repository: hooks, settings, the file that says where they are, and the
directory with those of its work trees."""
POINTERS = ("commondir", "gitdir", "config.worktree")
"""Read-only files in a work tree's own part: where its repository is, and settings."""
WRITTEN = ("objects", "refs", "logs")
"""Parts of a repository outside of the roots that a commit changes."""


def repositories(roots: Sequence[str], known: Iterable[str] = ()) -> list[Bind]:
    """Return binds for what a commit needs of git directories outside of the roots, if work trees
    in the roots belong to them. `known`: directories that are taken care of otherwise."""
    binds: list[Bind] = []
    for own in filter(None, map(_part_of, roots)):
        above = os.path.dirname(os.path.dirname(own))
        if not is_in(above, (*roots, *known)):
            written = (own, *(os.path.join(above, each) for each in WRITTEN))
            binds += [Bind(above, above), *(Bind(each, each, True) for each in written)]
            binds += pointers(own)
    return binds


def guarded(roots: Sequence[str]) -> list[Bind]:
    """Return what is mounted over the repositories in the roots. Each directory on the way is
    mounted itself, or it could be moved away, and another put in its place.

    Call this before the agent runs: what it could have replaced by a link is not to be mounted."""
    binds: list[Bind] = []
    for root in roots:
        own = os.path.join(root, OWN)
        if os.path.isfile(own):  # of a work tree: it says where the rest is
            binds.append(Bind(own, own))
        elif _is_repository(own):
            os.makedirs(os.path.join(own, "hooks"), exist_ok=True)
            binds.append(Bind(own, own, True))
            binds += [Bind(path, path) for path in (os.path.join(own, each) for each in READ)]
    for own in filter(None, map(_part_of, roots)):
        if is_in(own, roots):
            binds += [Bind(own, own, True), *pointers(own)]
    return list(still(binds))


def placeholders(roots: Sequence[str]) -> Placeholders:
    """Make placeholders for missing files in the repositories of the roots. Call this before the
    other functions. Raises SandboxError."""
    plain = [os.path.join(root, OWN) for root in roots]
    plain = [each for each in plain if _is_repository(each) and not _moved(each)]
    return Placeholders(plain, filter(None, map(_part_of, roots)))


def still(binds: Iterable[Bind]) -> Iterator[Bind]:
    """Yield the binds that exist, with no link on the way to them."""
    return (each for each in binds if os.path.exists(each.host) and not _moved(each.host))


def pointers(own: str) -> list[Bind]:
    paths = [os.path.join(own, each) for each in POINTERS]
    return [Bind(path, path) for path in paths if os.path.isfile(path)]


def _part_of(root: str) -> str:
    """Return the part of a repository that is a work tree's own; "" if the root is no work tree.

    Only if the repository, too, says that this work tree is its own: else a file that an agent
    wrote would open any directory. The repository is determined by the place of that part, not by
    `commondir`, which an agent may have written."""
    line = _first_line(os.path.join(root, OWN))
    if not line.startswith("gitdir: "):
        return ""
    own = os.path.realpath(os.path.join(root, line.removeprefix("gitdir: ")))
    if _first_line(os.path.join(own, "gitdir")) != os.path.join(root, OWN):
        return ""
    above, name = os.path.split(os.path.dirname(own))
    return own if name == "worktrees" and _is_repository(above) else ""


def repository_of(directory: str) -> tuple[str, str]:
    """Return the root of the work tree that a directory is in, and the repository, which all its
    work trees share. Without one, the directory is both."""
    root = directory
    while not os.path.lexists(os.path.join(root, OWN)):
        above = os.path.dirname(root)
        if above == root:
            return directory, directory
        root = above
    own = os.path.join(root, OWN)
    if os.path.isdir(own):
        return root, os.path.realpath(own)
    part = _part_of(root)
    return root, os.path.dirname(os.path.dirname(part)) if part else own


def _is_repository(path: str) -> bool:
    return all(os.path.exists(os.path.join(path, each)) for each in ("HEAD", "objects"))


def _moved(path: str) -> bool:
    return os.path.realpath(path) != path


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""
