"""Undoes a change: a hunk or a whole file, as it was shown and not as it may be by now. The content
that is replaced is kept beside the session's log, so that the undo can itself be undone."""

import base64
import json
import os
import re
import secrets
import threading
from contextlib import suppress
from typing import Any, NamedTuple

from rookery.client.work_tree import git
from rookery.client.work_tree.changes import (
    CONFLICT,
    NO_NEWLINE,
    SUBMODULE,
    File,
    Hunk,
    NoDiff,
    changes,
)
from rookery.snapshots import place
from rookery.snapshots.place import ABSENT, FILE, LINK, NOTHING, Content

KEPT = 50
"""Undone changes of a session that can be put back."""
KEPT_BYTES = 96 * 1024 * 1024
FOLDER = "undone"
ID = re.compile(r"[0-9a-f]{16}")

_one_at_a_time = threading.Lock()


class Step(NamedTuple):
    """The replacement of one file's content."""

    path: str
    now: Content
    then: Content


class Undone(NamedTuple):
    id: str
    """To put it back."""
    paths: list[str]


def undo(cwd: str, kept: str, base: str, path: str, digest: str, hunk: str = "") -> Undone:
    """Undo a change. `digest`: that of the file as it was shown. `hunk`: one of its hunks; "": all
    of it. `kept`: the session's directory. Raises NoDiff."""
    with _one_at_a_time:
        current = changes(cwd, base)
        file = current.file(path)
        if file is None:
            raise NoDiff("unchanged", f"{path} no longer has changes.")
        if reason := _unfit(cwd, file):
            raise NoDiff("not_undoable", reason)
        if not digest or file.digest != digest:
            raise _changed(path)
        try:
            steps = _hunk_undone(cwd, file, hunk) if hunk else _file_undone(cwd, file, current.base)
            return _done(cwd, kept, steps)
        except (place.Outside, OSError) as error:
            raise NoDiff("not_undoable", f"{path} cannot be changed: {error}") from error


def put_back(cwd: str, kept: str, name: str) -> Undone:
    """Undo an undo. Raises NoDiff."""
    with _one_at_a_time:
        steps = _kept(kept, name)
        try:
            for step in steps:
                if not _stands(cwd, step):
                    raise _changed(step.path)
            for step in steps:
                place.write(cwd, step.path, step.then)
        except (place.Outside, OSError) as error:
            raise NoDiff("not_undoable", f"Cannot restore it: {error}") from error
        with suppress(OSError):
            os.unlink(os.path.join(kept, FOLDER, name))
        return Undone("", [step.path for step in steps])


def _stands(cwd: str, step: Step) -> bool:
    return place.digest_of(place.read(cwd, step.path)) == place.digest_of(step.now)


def _changed(path: str) -> NoDiff:
    return NoDiff("changed_since", f"{path} changed since it was shown. Nothing was undone.")


def _unfit(cwd: str, file: File) -> str:
    """Why the change cannot be undone here; "" if it can."""
    path = file.change.path
    if file.note == SUBMODULE:
        return f"{path} is a submodule. Use git in it."
    if file.note == CONFLICT:
        return f"{path} has a merge conflict. Resolve it first."
    output = git.run(cwd, ["check-attr", "-z", "filter", "--", path])
    values = output.data.split(b"\0") if output else []
    if len(values) > 2 and values[2] not in (b"unspecified", b"unset", b""):
        name = values[2].decode("utf-8", "replace")
        return f"{path} goes through the git filter {name!r}. Use git restore."
    return ""


def _done(cwd: str, kept: str, steps: list[Step]) -> Undone:
    for step in steps:
        if not _stands(cwd, step):
            raise _changed(step.path)
    name = _keep(kept, steps)
    for step in steps:
        place.write(cwd, step.path, step.then)
    _forget_staged(cwd, [step.path for step in steps])
    return Undone(name, [step.path for step in steps])


def _forget_staged(cwd: str, paths: list[str]) -> None:
    """Unstage the paths: what is undone must not be committed because it was staged before."""
    args = ["--literal-pathspecs", "reset", "-q", "--", *paths]
    git.run(cwd, args)


# --- a file --------------------------------------------------------------------------------------


def _file_undone(cwd: str, file: File, base: str) -> list[Step]:
    change = file.change
    now = _small(cwd, change.path)
    was = change.before or change.path
    if file.modes[0] == "000000":
        return [Step(change.path, now, NOTHING)]
    then = _committed(cwd, base, was, file.modes[0], now)
    if was == change.path:
        return [Step(was, now, then)]
    if (there := place.read(cwd, was)).kind != ABSENT:
        raise NoDiff("not_undoable", f"{was} exists again, so the rename cannot be undone.")
    return [Step(was, there, then), Step(change.path, now, NOTHING)]


def _small(cwd: str, path: str) -> Content:
    if (content := place.read(cwd, path)).kind in (FILE, LINK, ABSENT):
        return content
    raise NoDiff("not_undoable", f"{path} is neither a file nor a link.")


def _committed(cwd: str, base: str, path: str, mode: str, now: Content) -> Content:
    """The file's content at `base`, as a checkout would write it."""
    args = ["cat-file", "--filters", f"{base}:./{path}"]
    output = git.run(cwd, args, most=place.LARGEST)
    if output is None or output.cut:
        raise NoDiff("not_undoable", f"git cannot read {path} as it was, or it is too large.")
    if mode == "120000":
        return Content(LINK, 0, output.data)
    bits = now.mode if now.kind == FILE else 0o644 & ~_umask()
    bits = bits | (bits & 0o444) >> 2 if mode == "100755" else bits & ~0o111
    return Content(FILE, bits, output.data)


def _umask() -> int:
    return 0o022  # the process's own cannot be read without changing it for a moment


# --- a hunk --------------------------------------------------------------------------------------


def _hunk_undone(cwd: str, file: File, name: str) -> list[Step]:
    change = file.change
    hunk = next((each for each in file.hunks if each.id == name), None)
    if hunk is None:
        raise _changed(change.path)
    if "000000" in file.modes or "120000" in file.modes:
        raise NoDiff("not_undoable", f"{change.path} can only be undone as a whole.")
    now = _small(cwd, change.path)
    data = without(now.data, hunk)
    if data is None:
        message = f"This hunk no longer applies to {change.path}. Undo the whole file."
        raise NoDiff("not_undoable", message)
    return [Step(change.path, now, now._replace(data=data))]


def without(data: bytes, hunk: Hunk) -> bytes | None:
    """Return a text as it was before the hunk; None if the hunk does not match this text. Lines end
    like those around them: git may show other line endings than the file has."""
    lines = _lines(data)
    at = max(0, hunk.new - (1 if _has_new(hunk) else 0))
    restored, last = lines[:at], at
    for number, line in enumerate(hunk.lines):
        sign, text = line[:1], line[1:]
        if sign == NO_NEWLINE:
            continue
        bare = hunk.lines[number + 1 : number + 2] and hunk.lines[number + 1][:1] == NO_NEWLINE
        if sign == b"-":
            restored.append(text + (b"" if bare else _ending(lines, last, text)))
            continue
        if last >= len(lines) or _bare(lines[last]) not in (text, text.removesuffix(b"\r")):
            return None
        if sign == b" ":
            restored.append(lines[last])
        last += 1
    return b"".join([*restored, *lines[last:]])


def _lines(data: bytes) -> list[bytes]:
    """The lines, split at newlines only, unlike bytes.splitlines."""
    pieces = data.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _bare(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _has_new(hunk: Hunk) -> bool:
    """Whether the hunk has lines after the change: for one that only removes, git gives the line
    before it."""
    return any(line[:1] in (b" ", b"+") for line in hunk.lines)


def _ending(lines: list[bytes], at: int, text: bytes) -> bytes:
    near = next((line for line in (*lines[at:][:1], *lines[:at][-1:]) if b"\n" in line), b"\n")
    return b"\r\n" if near.endswith(b"\r\n") and not text.endswith(b"\r") else b"\n"


# --- kept ----------------------------------------------------------------------------------------


def _keep(kept: str, steps: list[Step]) -> str:
    folder = os.path.join(kept, FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = secrets.token_hex(8)
    body = [[step.path, _json(step.then), _json(step.now)] for step in steps]
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(os.path.join(folder, name), flags, 0o600), "w", encoding="ascii") as file:
        json.dump(body, file)
    _prune(folder)
    return name


def _prune(folder: str) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        newest_first = sorted(entries, key=lambda each: each.stat().st_mtime_ns, reverse=True)
        size = 0
        for number, each in enumerate(newest_first):
            size += each.stat().st_size
            if number and (number >= KEPT or size > KEPT_BYTES):
                os.unlink(each.path)


def _kept(kept: str, name: str) -> list[Step]:
    gone = NoDiff("unknown_undo", "This can no longer be restored.")
    if not ID.fullmatch(name):
        raise gone
    try:
        with open(os.path.join(kept, FOLDER, name), encoding="ascii") as file:
            return [Step(path, _read(now), _read(then)) for path, now, then in json.load(file)]
    except (OSError, ValueError, TypeError, KeyError):
        raise gone from None


def _json(content: Content) -> list[Any]:
    return [content.kind, content.mode, base64.b64encode(content.data).decode()]


def _read(saved: list[Any]) -> Content:
    return Content(str(saved[0]), int(saved[1]), base64.b64decode(saved[2]))
