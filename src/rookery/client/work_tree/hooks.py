"""Git hooks that a commit runs. An agent may have installed one, so those that are new or changed
since the session began are shown to the user first. What was checked is what runs: git finds a
guard in place of each, which checks once more."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from rookery.client.project_hooks import named
from rookery.client.work_tree import hook_guard
from rookery.core.json import dumps, lenient
from rookery.git import places, settings, shadow
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.home import paths

NAMES = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("reference-transaction", "post-index-change"),
)
TEXT = 200_000
"""Bytes of a script that is read for names of files."""
ENDLESS = "names more files than can be checked"


class Hook(NamedTuple):
    name: str
    path: str
    top: str
    files: Mapping[str, str]
    """Itself and what it names, each as it is now."""

    @property
    def known_as(self) -> dict[str, str]:
        """The files by paths that are the same in each work tree of a repository."""
        inside = self.top + os.sep
        return {path.removeprefix(inside): each for path, each in self.files.items()}


class Unknown(NamedTuple):
    hook: Hook
    reason: str

    def __str__(self) -> str:
        return f"{self.hook.name} {self.reason}"


def active(place: Place) -> list[Hook]:
    """Return the hooks that a commit runs. Raises NoGit."""
    folder = _folder(place)
    spots = [(name, os.path.join(folder, name)) for name in NAMES]
    return [
        Hook(name, path, place.top, _files(name, path, place.top))
        for name, path in spots
        if os.path.isfile(path) and os.access(path, os.X_OK)
    ]


def _folder(place: Place) -> str:
    """The folder in which git looks for hooks."""
    chosen = settings.read(place).hooks
    usual = os.path.join(place.shared, "hooks")
    return os.path.join(place.top, os.path.expanduser(chosen)) if chosen else usual


def _files(name: str, path: str, top: str) -> dict[str, str]:
    """The hook's files, with the file of the same name in the folder above, which husky runs."""
    folder = os.path.dirname(path)
    result = dict[str, str]()
    waiting = [path, os.path.join(os.path.dirname(folder), name)]
    while waiting:
        script = os.path.normpath(waiting.pop(0))
        if script in result or not os.path.isfile(script):
            continue
        result[script] = hook_guard.signature(script)
        text = _text(script)
        try:
            for root in dict.fromkeys((top, folder)):
                more = named.digests([text], root, root, hook_guard.signature)
                below = {os.path.normpath(os.path.join(root, key)): more[key] for key in more}
                waiting += [each for each in below if os.path.dirname(each) == folder]
                result |= {key: value for key, value in below.items() if key not in waiting}
        except named.TooMuch:
            result[ENDLESS] = script
    return result


def _text(path: str) -> str:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            data = file.read(TEXT)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


# ---------------------------------------------------------------- what the user knows


def keep(directory: str, cwd: str) -> None:
    """Record the hooks that exist when a session begins. Raises OSError."""
    place = places.find(cwd)
    if place is None or not place.top:
        return
    try:
        _write(directory, {hook.name: hook.known_as for hook in active(place)})
    except NoGit:
        return  # each of them is a new one, then


def unknown(directory: str, hooks: Sequence[Hook]) -> list[Unknown]:
    """Return the hooks that the user has not been told about."""
    kept = paths.read_json(os.path.join(directory, paths.GIT_HOOKS))
    if kept is None:
        return [Unknown(hook, "may be new") for hook in hooks]
    result: list[Unknown] = []
    for hook in hooks:
        before, now = lenient.mapping(lenient.mapping(kept, "hooks"), hook.name), hook.known_as
        if before == now and ENDLESS not in now:
            continue
        others = [each for each in {**before, **now} if before.get(each) != now.get(each)]
        reason = f"changed ({', '.join(others)})" if before and others else "is new"
        result.append(Unknown(hook, ENDLESS if before and not others else reason))
    return result


def agree(directory: str, hooks: Sequence[Hook]) -> None:
    """Record that the user agreed to these hooks."""
    kept = lenient.mapping(paths.read_json(os.path.join(directory, paths.GIT_HOOKS)), "hooks")
    _write(directory, {**kept, **{hook.name: hook.known_as for hook in hooks}})


def _write(directory: str, hooks: Mapping[str, object]) -> None:
    data = dumps({"v": 1, "hooks": dict(hooks)}).encode("ascii")
    paths.write_atomic(os.path.join(directory, paths.GIT_HOOKS), data)


def fingerprint(hooks: Sequence[Unknown]) -> str:
    whole = [[each.hook.path, dict(each.hook.files)] for each in hooks]
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def shown(hooks: Sequence[Unknown]) -> str:
    """Return the hooks' scripts, to read before agreeing."""
    return "\n\n".join(f"# {each.hook.path}\n{_text(each.hook.path)}" for each in hooks)


# ---------------------------------------------------------------- what runs


@contextmanager
def guarded(home: str, hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield a folder for git to look in, with a guard for each hook. Raises OSError."""
    if not hooks:
        yield ""
        return
    folder = shadow.private_folder(home)
    try:
        listed = os.path.join(folder, "hooks.json")
        with open(listed, "x", encoding="utf-8") as file:
            json.dump(
                {each.name: {"path": each.path, "files": _exact(each)} for each in hooks}, file
            )
        for each in hooks:
            argv = [sys.executable, "-I", "-S", hook_guard.__file__, "hook", listed, each.name]
            with open(path := os.path.join(folder, each.name), "x", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
            os.chmod(path, 0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _exact(hook: Hook) -> dict[str, str]:
    return {path: each for path, each in hook.files.items() if path != ENDLESS}
