"""The changes in a directory since a commit, by file and by hunk, as git reports them; new files
that git does not track yet count as changes, too."""

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from rookery.client.work_tree import git
from rookery.core.refusals import Refused
from rookery.snapshots import place

PATCH_BYTES = 2 * 1024 * 1024
FILE_BYTES = 256 * 1024
"""Up to this size a new file is shown whole."""
MOST_FILES = 2000
NAME_BYTES = 4 * 1024 * 1024
BASE = re.compile(r"[A-Za-z0-9_@][\w./@{}~^+-]{0,199}", re.ASCII)
"""How a base may be written: no option, no range, no pathspec."""

DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
UNTRACKED = "untracked"
BINARY, LARGE, CONFLICT, SUBMODULE, CUT, MODE = (
    *("binary", "large", "conflict", "submodule", "cut", "mode"),
)
NO_NEWLINE = b"\\"

_STATES = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "modified"}
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_TRIES = 3
_JUST_NOW = 20_000_000
"""Nanoseconds: the clock of files is coarse."""
_SKEWED = 1_000_000_000
"""A file from further in the future has another machine's clock."""


REMEDIES = {
    "no_git": "Run git init there to see changes.",
    "bad_base": "Name another base.",
    "unknown_base": "Name another base.",
    "changed_since": "Look at the new changes first.",
    "unchanged": "Reload the changes.",
    "no_identity": "Run git config user.name and git config user.email in the directory.",
    "busy": "Try again when it is done.",
    "untrusted_program": "If you trust it, run rookery config trust-git in the directory.",
    "new_hooks": "Read them. To run them, commit again with their fingerprint as hooks.",
    "hook_failed": "Correct what the hook found, or commit in a terminal.",
}


class NoDiff(Refused):
    """The changes cannot be determined, undone or committed."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message, REMEDIES.get(reason, ""))


class Change(NamedTuple):
    path: str
    """From the directory."""
    state: str
    before: str = ""
    """Its path before, where it was renamed."""
    added: int | None = None
    removed: int | None = None
    """Lines; None: it is binary, or too large to count."""


class Hunk(NamedTuple):
    id: str
    """A digest of all the rest."""
    old: int
    new: int
    """Its first line on each side."""
    head: str
    """The function that it is in, as git guesses."""
    lines: list[bytes]
    """With their signs and without their ends; NO_NEWLINE stands after one that has none."""


class File(NamedTuple):
    change: Change
    modes: tuple[str, str] = ("", "")
    """As git writes them, before and after."""
    hunks: tuple[Hunk, ...] = ()
    note: str = ""
    """Why there are no hunks, or not all of them."""
    digest: str = ""
    """Of what stands there now; "": it changed while it was looked at."""
    patch: bytes = b""
    blob: str = ""
    """What git calls its content after the change; zeros: it has no name for it."""


class Changes(NamedTuple):
    base: str
    """The commit; "": there is none yet."""
    files: list[File]
    cut: bool
    """There is more than is shown."""

    def file(self, path: str) -> File | None:
        return next((each for each in self.files if each.change.path == path), None)


def changes(cwd: str, base: str = "") -> Changes:
    """Return the changes since a commit; "": the last one. Raises NoDiff."""
    if (why := git.unusable(cwd)) is not None:
        raise NoDiff("no_git", why)
    commit = commit_of(cwd, base)
    against = commit or _empty_tree(cwd)
    for left in reversed(range(_TRIES)):
        began = time.time_ns() - _JUST_NOW
        diff = _read(cwd, against)
        files = [each._replace(digest=_digest(cwd, each, began)) for each in diff.files]
        if all(each.digest or each.note == SUBMODULE for each in files) or not left:
            break
        time.sleep(_JUST_NOW / 1e9)
    return Changes(commit, files, diff.cut)


def commit_of(cwd: str, base: str) -> str:
    """Return the full hash of a commit, "" if there is none yet. Raises NoDiff."""
    if base and not BASE.fullmatch(base):
        raise NoDiff("bad_base", f"{base[:100]!r} is not a commit, branch or tag.")
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{base or 'HEAD'}^{{commit}}"]
    output = git.run(cwd, args)
    if output is None:
        plain = [*args[:-1], base or "HEAD"]
        if (named := git.run(cwd, plain)) is not None:
            _check_objects(cwd, named.data.decode("ascii", "replace").strip())
    if output is None and base:
        raise NoDiff("unknown_base", f"There is no commit, branch or tag {base!r}.")
    return output.data.decode("ascii", "replace").strip() if output else ""


def _check_objects(cwd: str, commit: str) -> None:
    """Raises NoDiff if the repository lacks objects that the commit needs."""
    if git.run(cwd, ["cat-file", "-e", commit]) is None:
        missing = commit
    else:
        args = ["rev-list", "--objects", "--no-walk", "--missing=print", commit]
        output = git.run(cwd, args, most=NAME_BYTES)
        lines = output.data.decode("ascii", "replace").splitlines() if output else []
        missing = next((line[1:] for line in lines if line.startswith("?")), "")
    if missing:
        raise NoDiff(
            "missing_objects",
            f"The repository lacks objects that its commit needs, such as {missing[:12]}, so its "
            "files cannot be compared. Fetch them again, or look for them: git fsck",
        )


def commit_at(cwd: str, seconds: int) -> str:
    """Return the commit that HEAD was at a time, as far back as its reflog goes; "" if unknown."""
    when = time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime(max(0, seconds)))
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"HEAD@{{{when}}}^{{commit}}"]
    output = git.run(cwd, args)
    return output.data.decode("ascii", "replace").strip() if output else ""


def _empty_tree(cwd: str) -> str:
    output = git.run(cwd, ["hash-object", "-t", "tree", os.devnull])
    if output is None:
        raise NoDiff("no_diff", "git does not respond.")
    return output.data.decode("ascii", "replace").strip()


def _digest(cwd: str, file: File, began: int) -> str:
    if file.note == SUBMODULE:
        return ""
    try:
        changed = os.lstat(os.path.join(cwd, file.change.path)).st_ctime_ns
        if began <= changed <= time.time_ns() + _SKEWED:
            return ""
    except (OSError, ValueError):
        pass
    return place.digest(cwd, file.change.path)


def _read(cwd: str, against: str) -> Changes:
    args = [*DIFF, "-M", "--relative", "-z", "--raw", "--numstat", "--patch", against, "--", "."]
    output = git.run(cwd, args, most=NAME_BYTES + PATCH_BYTES)
    if output is None:
        _check_objects(cwd, against)
        raise NoDiff("no_diff", "git could not compare the files in time.")
    files, patch, cut = _files_of(output.data, cut=output.cut)
    unmerged = _unmerged(cwd)
    files = [
        file._replace(note=CONFLICT) if file.change.path in unmerged else file for file in files
    ]
    left = PATCH_BYTES - len(patch)
    for path in _untracked(cwd):
        if len(files) >= MOST_FILES:
            return Changes("", files, cut=True)
        file = _new_file(cwd, path, left)
        left -= len(file.patch)
        cut = cut or file.note == CUT
        files.append(file)
    return Changes("", files, cut)


def parsed(data: bytes) -> Changes:
    """Parse the changes from a diff that git printed with the records of all files first."""
    files, _, cut = _files_of(data, cut=False)
    return Changes("", files, cut)


# --- what git knows ------------------------------------------------------------------------------


def _files_of(data: bytes, *, cut: bool) -> tuple[list[File], bytes, bool]:
    """The files, the patch of all, and whether there is more than that."""
    files, patch, whole = _records(data)
    cut = cut or not whole or len(patch) > PATCH_BYTES or len(files) > MOST_FILES
    return _with_hunks(files[:MOST_FILES], patch[:PATCH_BYTES], cut=cut), patch, cut


def _records(data: bytes) -> tuple[list[File], bytes, bool]:
    """The files that git names, the patch after them, and whether all names were there."""
    fields = _Fields(data)
    files: dict[str, File] = {}
    while fields.peek() == b":":
        modes, blob, mark = _about(fields.next())
        before = _name(fields.next()) if mark[:1] in ("R", "C") else ""
        path = _name(fields.next())
        note = SUBMODULE if "160000" in modes else ""
        change = Change(path, _STATES.get(mark[:1], "modified"), before)
        files[path] = File(change, modes, note=note, blob=blob)
    while fields.peek() not in (b"\0", b""):
        added, _, rest = fields.next().partition(b"\t")
        removed, _, name = rest.partition(b"\t")
        if not name:  # renamed: both names follow
            fields.next()
            name = fields.next()
        if (file := files.get(_name(name))) is not None:
            change = file.change._replace(added=_number(added), removed=_number(removed))
            files[change.path] = file._replace(change=change)
    whole = fields.peek() == b"\0" or not data
    return list(files.values()), fields.rest()[1:], whole


def _unmerged(cwd: str) -> set[str]:
    output = git.run(cwd, ["ls-files", "-z", "--unmerged", "--", "."], most=NAME_BYTES)
    rows = output.data.split(b"\0")[:-1] if output else []
    return {_name(row.partition(b"\t")[2]) for row in rows}


class _Fields:
    """A sequence of NUL-terminated fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def peek(self) -> bytes:
        return self._data[self._at : self._at + 1]

    def next(self) -> bytes:
        end = self._data.find(b"\0", self._at)
        end = len(self._data) if end < 0 else end
        field, self._at = self._data[self._at : end], end + 1
        return field

    def rest(self) -> bytes:
        return self._data[self._at :]


def _about(record: bytes) -> tuple[tuple[str, str], str, str]:
    """Parse `:100644 100755 1234… 5678… M`: the modes, the new object, and the status."""
    fields = record.decode("ascii", "replace").lstrip(":").split()
    return (fields[0], fields[1]), fields[3], fields[-1]


def _name(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _number(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None


def _with_hunks(files: list[File], patch: bytes, *, cut: bool) -> list[File]:
    """Each file with its part of the patch: both are in the same order."""
    parts = iter(_parts(patch))
    complete: list[File] = []
    for file in files:
        part = next(parts, None)
        if part is not None and _changes_kind(file):  # it is deleted, and made
            part += next(parts, b"")
        if part is None:
            complete.append(file._replace(note=file.note or (CUT if cut else "")))
            continue
        last = cut and part.startswith(b"diff ") and patch.endswith(part)
        complete.append(_with_part(file, part, last=last))
    return complete


def _changes_kind(file: File) -> bool:
    return "000000" not in file.modes and file.modes[0][:2] != file.modes[1][:2]


def _with_part(file: File, part: bytes, *, last: bool) -> File:
    hunks = tuple(_hunks(part))
    if last:  # it may be half a hunk
        hunks = hunks[:-1]
    note = file.note or (CUT if last else "")
    if not note and not hunks:
        binary = file.change.added is None or b"\nBinary files " in part
        note = BINARY if binary else MODE if file.modes[0] != file.modes[1] else ""
    return file._replace(hunks=hunks, note=note, patch=part)


def _parts(patch: bytes) -> Iterator[bytes]:
    starts = [match.start() for match in re.finditer(rb"^diff --git ", patch, re.MULTILINE)]
    for at, start in enumerate(starts):
        yield patch[start : starts[at + 1] if at + 1 < len(starts) else len(patch)]


def _hunks(part: bytes) -> Iterator[Hunk]:
    starts = [match.start() for match in re.finditer(rb"^@@ ", part, re.MULTILINE)]
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(part)
        text = part[start:end].partition(b"\ndiff --git ")[0]
        lines = text.split(b"\n")
        head = _HUNK.fullmatch(lines[0])
        body = [line for line in lines[1:] if line]
        if head is not None:
            name = hashlib.sha256(text.rstrip(b"\n")).hexdigest()[:16]
            yield Hunk(name, int(head[1]), int(head[3]), _name(head[5]), body)


# --- what it does not know -----------------------------------------------------------------------


def _untracked(cwd: str) -> Iterator[str]:
    args = ["ls-files", "-z", "-o", "--exclude-standard", "--", "."]
    output = git.run(cwd, args, most=NAME_BYTES)
    names = output.data.decode("utf-8", "replace").split("\0")[:-1] if output else []
    # What stands after the last mark is nothing, or half a name; a name that ends with a slash is
    # a repository of its own.
    return (name for name in names if not name.endswith("/"))


def _new_file(cwd: str, path: str, room: int) -> File:
    """A new file as a change. No link is followed: its target is shown, as git does."""
    change = Change(path, UNTRACKED)
    try:
        mode = os.lstat(os.path.join(cwd, path)).st_mode
        kind = "120000" if stat.S_ISLNK(mode) else "100755" if mode & stat.S_IXUSR else "100644"
        data = place.read(cwd, path, FILE_BYTES).data
    except (place.Outside, OSError, ValueError) as error:
        large = isinstance(error, OSError) and "large" in str(error)
        return File(change, ("000000", "100644"), note=LARGE if large else BINARY)
    modes, name = ("000000", kind), path.encode("utf-8", "replace")
    head = b"diff --git a/%b b/%b\nnew file mode %b\n" % (name, name, kind.encode())
    if b"\0" in data[:8000]:
        patch = head + b"Binary files /dev/null and b/%b differ\n" % name
        return File(change, modes, note=BINARY, patch=patch)
    lines = data.split(b"\n")
    whole = lines[-1] == b""
    lines = lines[:-1] if whole else lines
    change = change._replace(added=len(lines), removed=0)
    if not lines:
        return File(change, modes, patch=head)
    body = b"".join(b"+%b\n" % line for line in lines)
    body += b"" if whole else b"\\ No newline at end of file\n"
    hunk = b"@@ -0,0 +1,%d @@\n" % len(lines) + body
    if len(hunk) > room:
        return File(change, modes, note=CUT)
    patch = head + b"--- /dev/null\n+++ b/%b\n" % name + hunk
    return File(change, modes, tuple(_hunks(hunk)), patch=patch)
