"""A commit of what was shown, as the user would make it: hooks run, and what they print is told."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from rookery.client.work_tree import drivers, git
from rookery.client.work_tree.changes import UNTRACKED, File, NoDiff, changes
from rookery.git import places, settings
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.home import paths

SECONDS = 300.0
"""For hooks, which may run tests."""

_FROM = ("--pathspec-from-file=-", "--pathspec-file-nul")


class Shown(NamedTuple):
    path: str
    digest: str


class Failed(NoDiff):
    """git made no commit; `said` is what it and its hooks printed."""

    def __init__(self, name: str, message: str, said: str = "") -> None:
        super().__init__(name, message)
        self.said = said


class Commit(NamedTuple):
    id: str
    summary: str
    said: str
    """What hooks printed."""


def commit(cwd: str, message: str, shown: Sequence[Shown]) -> Commit:
    """These files and nothing else, whatever else is staged. Raises NoDiff, Failed."""
    if not message.strip():
        raise NoDiff("no_message", "A commit needs a message.")
    files = _as_shown(cwd, shown)
    if not files:
        raise NoDiff("nothing_to_commit", "Nothing to commit.")
    place = places.find(cwd)
    if place is None:
        raise NoDiff("no_git", f"{cwd} is not in a git repository.")
    if os.path.lexists(os.path.join(place.own, "MERGE_HEAD")):
        raise NoDiff("merging", "A merge is not finished. Commit it in a terminal.")
    _check_filters(cwd, place, files)
    fresh = [file for file in files if file.change.state == UNTRACKED]
    if fresh:
        added = git.do(cwd, ["add", "--intent-to-add", *_FROM], _paths(fresh))
        if added.code != 0:
            raise Failed("no_commit", "git cannot add the new files.", added.said)
    words = ["commit", "--quiet", "--only", f"--message={message}", *_FROM]
    made = git.do(cwd, words, _paths(files), SECONDS, hooks=_folder(place))
    if made.code != 0:
        if fresh:
            git.do(cwd, ["rm", "--quiet", "--cached", "--force", *_FROM], _paths(fresh))
        raise _failure(cwd, made)
    found = git.run(cwd, ["log", "-1", "--format=%H%x00%s"])
    name, _, summary = (found.data if found else b"").decode("utf-8", "replace").partition("\0")
    return Commit(name, summary.strip(), made.said)


def _check_filters(cwd: str, place: Place, files: Sequence[File]) -> None:
    """Raises NoDiff: one that only the repository's configuration has is not trusted."""
    try:
        if not drivers.found(place):
            return
        told = git.do(cwd, ["check-attr", "-z", "--stdin", "filter"], _paths(files))
        if told.code != 0:
            raise Failed("no_commit", "git cannot tell which filters the files need.", told.said)
        named = told.data.decode("utf-8", "surrogateescape").split("\0")[2::3]
        chosen = drivers.untrusted(paths.home(), place, [("filter", name) for name in named])
    except NoGit as error:
        raise NoDiff("no_git", str(error)) from error
    if chosen:
        listed = "; ".join(f"{each.name} ({each})" for each in chosen)
        words = f"These files need a git filter that only the repository names: {listed}."
        raise NoDiff("untrusted_program", f"{words} Nothing was committed.")


def _as_shown(cwd: str, shown: Sequence[Shown]) -> list[File]:
    """The changes of these files since the last commit. Raises NoDiff: one is not as it was."""
    found = {file.change.path: file for file in changes(cwd).files}
    files: list[File] = []
    for path, digest in shown:
        file = found.get(path)
        if file is None:
            continue  # it is as it was committed
        if file.digest != digest:
            words = f"{path} changed since it was shown. Nothing was committed."
            raise NoDiff("changed_since", words)
        files.append(file)
    return files


def _paths(files: Sequence[File]) -> bytes:
    names = [name for file in files for name in (file.change.before, file.change.path) if name]
    return "\0".join(names).encode("utf-8", "surrogateescape")


def _failure(cwd: str, made: git.Told) -> Failed:
    said = made.said
    if made.code is None:
        return Failed("no_commit", "git did not finish the commit.", said)
    if "tell me who you are" in said or "empty ident" in said or "no email was given" in said:
        return Failed("no_identity", "git does not know who commits here.", said)
    if "index.lock" in said:
        return Failed("busy", "Another git command is at work in this directory.", said)
    if "nothing to commit" in said or "no changes added" in said or "nothing added" in said:
        return Failed("nothing_to_commit", "Nothing to commit.")
    if hooks(cwd):
        return Failed("hook_failed", "A commit hook refused the commit.", said)
    return Failed("no_commit", "git made no commit.", said)


HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")


def hooks(cwd: str) -> list[str]:
    """Those that a commit runs here."""
    place = places.find(cwd)
    folder = _folder(place) if place else ""
    return [name for name in HOOKS if folder and os.access(os.path.join(folder, name), os.X_OK)]


def _folder(place: Place) -> str:
    """Where git looks for hooks; "": nowhere."""
    try:
        named = settings.read(place).hooks
    except NoGit:
        return ""
    usual = os.path.join(place.shared, "hooks")
    return os.path.join(place.top, os.path.expanduser(named)) if named else usual
