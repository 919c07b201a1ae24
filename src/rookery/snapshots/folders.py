"""Folders that contain no tracked file. Git does not know them, so a snapshot records them itself:
one that existed is restored, and one that did not is removed.

Ignored folders are left out, like ignored files, and so are repositories of their own."""

import os
from collections.abc import Callable, Iterable, Sequence

MAX_ASKED = 200
"""Up to this many folders, git is asked about each by name; for more, about all."""

type Ignored = Callable[[list[str]], set[str]]
"""Which of some paths are."""


def bare(top: str, listed: Iterable[str], kept: Iterable[str], ignored: Ignored) -> list[str]:
    """Return the innermost such folders. `listed`: where to look, all of them without files that
    git knew; `kept`: the files that it knows now."""
    full = {folder for path in kept for folder in above(path)}
    innermost, level = list[str](), sorted(listed)
    while level:
        inside = {folder: _folders(top, folder) for folder in level}
        skipped = ignored([path for paths in inside.values() for path in paths or ()])
        level = []
        for folder, paths in inside.items():
            if paths is None:
                continue
            deeper = [path for path in paths if path not in skipped and not _nested(top, path)]
            if not deeper and folder not in full:
                innermost.append(folder)
            level += deeper
    return sorted(innermost)


def above(path: str) -> Iterable[str]:
    """Yield the folders that a path is in, the innermost first."""
    while path := os.path.dirname(path):
        yield path


def emptied(top: str, gone: Iterable[str]) -> set[str]:
    """Return the folders, still there, that files have gone from; if one is gone itself, the
    nearest above it."""
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
    """Return the paths by which to ask git about folders. `all_`: the one that contains all of
    them."""
    return list(names) if len(names) <= MAX_ASKED else [all_]


def _folders(top: str, folder: str) -> list[str] | None:
    """The folders in a folder. None if it does not exist, is unreadable, or is a repository of its
    own."""
    try:
        with os.scandir(os.path.join(top, folder)) as entries:
            children = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    except OSError:
        return None
    if any(name == ".git" for name, _ in children):
        return None
    return [os.path.join(folder, name) for name, is_folder in children if is_folder]


def _nested(top: str, folder: str) -> bool:
    return os.path.lexists(os.path.join(top, folder, ".git"))


def is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
