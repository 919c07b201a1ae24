"""Folders without a file that is kept. Git does not know them, so a snapshot names them itself: one
that was there comes back, and one that was not goes.

Those that are ignored are left out, as files are, and so are repositories of their own.
"""

import os
from collections.abc import Callable, Iterable, Sequence

MOST = 200
"""Folders that git is asked about by name; of more it is asked about all."""

type Ignored = Callable[[list[str]], set[str]]
"""Which of some paths are."""


def bare(top: str, listed: Iterable[str], kept: Iterable[str], ignored: Ignored) -> list[str]:
    """The innermost of them. `listed`: where to look, all of them without files that git knew;
    `kept`: those that it knows now."""
    full = {folder for path in kept for folder in above(path)}
    found, level = list[str](), sorted(listed)
    while level:
        inside = {folder: _folders(top, folder) for folder in level}
        skipped = ignored([path for paths in inside.values() for path in paths or ()])
        level = []
        for folder, paths in inside.items():
            if paths is None:
                continue
            deeper = [path for path in paths if path not in skipped and not _nested(top, path)]
            if not deeper and folder not in full:
                found.append(folder)
            level += deeper
    return sorted(found)


def above(path: str) -> Iterable[str]:
    """The folders that a path is in, the innermost first."""
    while path := os.path.dirname(path):
        yield path


def emptied(top: str, gone: Iterable[str]) -> set[str]:
    """The folders that are left of those in which files were."""
    return {
        folder
        for path in {os.path.dirname(path) for path in gone}
        if (
            folder := next(
                (each for each in (path, *above(path)) if is_folder(os.path.join(top, each))), ""
            )
        )
    }


def asked(names: Sequence[str], all_: str) -> list[str]:
    """By which paths git is asked about folders. `all_`: the one that has all of them."""
    return list(names) if len(names) <= MOST else [all_]


def _folders(top: str, folder: str) -> list[str] | None:
    """None: there is no such folder, it is not to be read, or it is a repository of its own."""
    try:
        with os.scandir(os.path.join(top, folder)) as entries:
            found = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    except OSError:
        return None
    if any(name == ".git" for name, _ in found):
        return None
    return [os.path.join(folder, name) for name, is_folder in found if is_folder]


def _nested(top: str, folder: str) -> bool:
    return os.path.lexists(os.path.join(top, folder, ".git"))


def is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
