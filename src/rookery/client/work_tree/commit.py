"""Commits the changes that were shown, as the user would: hooks run, and their output is
returned."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from rookery.client.work_tree import drivers, git
from rookery.client.work_tree import hooks as commit_hooks
from rookery.client.work_tree.changes import UNTRACKED, File, NoDiff, changes
from rookery.git import places
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.home import paths

SECONDS = 300.0
"""For hooks, which may run tests."""

_FROM = ("--pathspec-from-file=-", "--pathspec-file-nul")


class Shown(NamedTuple):
    path: str
    digest: str


class NewHooks(NoDiff):
    """Hooks would run that the user may not know about."""

    def __init__(self, hooks: Sequence[commit_hooks.Unknown]) -> None:
        listed = "; ".join(map(str, hooks))
        message = f"Since the session began, commit hooks changed: {listed}. Nothing was committed."
        super().__init__("new_hooks", message)
        shown = commit_hooks.shown(hooks)
        self.question = {"fingerprint": commit_hooks.fingerprint(hooks), "shown": shown}


class Commit(NamedTuple):
    id: str
    summary: str
    output: str
    """What hooks printed."""


def commit(
    cwd: str, message: str, shown: Sequence[Shown], directory: str, agreed: str = ""
) -> Commit:
    """Commit these files and nothing else, whatever else is staged. `directory`: the session's own.
    `agreed`: the fingerprint of new hooks that the user agreed to. Raises NoDiff."""
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
    run = _known_hooks(place, directory, agreed)
    fresh = [file for file in files if file.change.state == UNTRACKED]
    if fresh:
        added = git.do(cwd, ["add", "--intent-to-add", *_FROM], _paths(fresh))
        if added.code != 0:
            raise _failed("no_commit", "git cannot add the new files.", added.output)
    args = ["commit", "--quiet", "--only", f"--message={message}", *_FROM]
    try:
        with commit_hooks.guarded(paths.home(), run) as folder:
            made = git.do(cwd, args, _paths(files), SECONDS, hooks=folder)
    except OSError as error:
        made = git.GitResult(None, b"", str(error))
    if made.code != 0:
        if fresh:
            git.do(cwd, ["rm", "--quiet", "--cached", "--force", *_FROM], _paths(fresh))
        raise _failure(made, hooked=bool(run))
    output = git.run(cwd, ["log", "-1", "--format=%H%x00%s"])
    name, _, summary = (output.data if output else b"").decode("utf-8", "replace").partition("\0")
    return Commit(name, summary.strip(), made.output)


def _known_hooks(place: Place, directory: str, agreed: str) -> list[commit_hooks.Hook]:
    """Raises NoDiff, and NewHooks if the user has to agree first."""
    try:
        active = commit_hooks.active(place)
    except NoGit as error:
        raise NoDiff("no_git", str(error)) from error
    unknown = commit_hooks.unknown(directory, active)
    if unknown:
        if agreed != commit_hooks.fingerprint(unknown):
            raise NewHooks(unknown)
        commit_hooks.agree(directory, [each.hook for each in unknown])
    return active


def _check_filters(cwd: str, place: Place, files: Sequence[File]) -> None:
    """Raises NoDiff for a filter that is only in the repository's configuration: it is not
    trusted."""
    try:
        if not drivers.configured(place):
            return
        outcome = git.do(cwd, ["check-attr", "-z", "--stdin", "filter"], _paths(files))
        if outcome.code != 0:
            raise _failed(
                "no_commit", "git cannot tell which filters the files need.", outcome.output
            )
        named = outcome.data.decode("utf-8", "surrogateescape").split("\0")[2::3]
        chosen = drivers.untrusted(paths.home(), place, [("filter", name) for name in named])
    except NoGit as error:
        raise NoDiff("no_git", str(error)) from error
    if chosen:
        listed = "; ".join(f"{each.name} ({each})" for each in chosen)
        message = f"These files need a git filter that only the repository names: {listed}."
        raise NoDiff("untrusted_program", f"{message} Nothing was committed.")


def _as_shown(cwd: str, shown: Sequence[Shown]) -> list[File]:
    """The changes of these files since the last commit. Raises NoDiff if one has changed since it
    was shown."""
    by_path = {file.change.path: file for file in changes(cwd).files}
    files: list[File] = []
    for path, digest in shown:
        file = by_path.get(path)
        if file is None:
            continue  # it is as it was committed
        if file.digest != digest:
            message = f"{path} changed since it was shown. Nothing was committed."
            raise NoDiff("changed_since", message)
        files.append(file)
    return files


def _paths(files: Sequence[File]) -> bytes:
    names = [name for file in files for name in (file.change.before, file.change.path) if name]
    return "\0".join(names).encode("utf-8", "surrogateescape")


def _failed(reason: str, message: str, printed: str = "") -> NoDiff:
    """An error with what git and its hooks printed, `printed`."""
    return NoDiff(reason, f"{message}\n{printed}".rstrip("\n"))


def _failure(made: git.GitResult, *, hooked: bool) -> NoDiff:
    output = made.output
    if made.code is None:
        return _failed("no_commit", "git did not finish the commit.", output)
    if "tell me who you are" in output or "empty ident" in output or "no email was given" in output:
        return _failed("no_identity", "git does not know who commits here.", output)
    if "index.lock" in output:
        return _failed("busy", "Another git command is at work in this directory.", output)
    if "nothing to commit" in output or "no changes added" in output or "nothing added" in output:
        return _failed("nothing_to_commit", "Nothing to commit.")
    if hooked:
        return _failed("hook_failed", "A commit hook refused the commit.", output)
    return _failed("no_commit", "git made no commit.", output)


def hooks(cwd: str) -> list[str]:
    """Return the names of the hooks that a commit runs here."""
    place = places.find(cwd)
    try:
        return [hook.name for hook in commit_hooks.active(place)] if place else []
    except NoGit:
        return []
