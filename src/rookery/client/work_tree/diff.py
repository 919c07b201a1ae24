"""What changed in a directory since a commit, as git tells it; new files that git does not know yet
are changes, too."""

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from rookery.client.work_tree import git

PATCH_BYTES = 2 * 1024 * 1024
FILE_BYTES = 256 * 1024
"""Of a new file that is shown whole."""
MOST_FILES = 2000
NAME_BYTES = 4 * 1024 * 1024
BASE = re.compile(r"[A-Za-z0-9_@][\w./@{}~^+-]{0,199}", re.ASCII)
"""How a base may be written: no option, no range, no pathspec."""

_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_STATES = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "modified"}
UNTRACKED = "untracked"


class NoDiff(Exception):
    """It cannot be told; `name` for programs, the message for people."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Change(NamedTuple):
    path: str
    """From the directory."""
    state: str
    before: str = ""
    """Its path before, where it was renamed."""
    added: int | None = None
    removed: int | None = None
    """Lines; None: it is binary, or too large to count."""


class Diff(NamedTuple):
    base: str
    """The commit; "": there is none yet."""
    files: list[Change]
    patch: str
    cut: bool
    """There is more than is shown."""


def diff(cwd: str, base: str = "") -> Diff:
    """Against a commit; "": the last one. Raises NoDiff."""
    if git.run(cwd, ["rev-parse", "--is-inside-work-tree"]) is None:
        raise NoDiff("no_git", f"{cwd} is not in a git repository.")
    commit = _commit(cwd, base)
    against = commit or _empty_tree(cwd)
    settings = git.harmless(cwd)
    files, many = _changed(cwd, against, settings)
    words = [*_DIFF, "-M", "--relative", "--patch", against, "--", "."]
    patch = git.run(cwd, words, most=PATCH_BYTES, more=settings)
    if patch is None:
        raise NoDiff("no_diff", "git could not compare the files in time.")
    texts, left = [patch.data], PATCH_BYTES - len(patch.data)
    cut = many or patch.cut
    for path in _untracked(cwd):
        if len(files) >= MOST_FILES:
            cut = True
            break
        lines, text = _new_file(cwd, path)
        files.append(Change(path, UNTRACKED, "", lines, 0 if lines is not None else None))
        cut = cut or len(text) > left
        texts.append(text[: max(0, left)])
        left -= len(text)
    return Diff(commit, files, b"".join(texts).decode("utf-8", "replace"), cut)


def _commit(cwd: str, base: str) -> str:
    if base and not BASE.fullmatch(base):
        raise NoDiff("bad_base", f"{base[:100]!r} is not a commit, branch or tag.")
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{base or 'HEAD'}^{{commit}}"]
    found = git.run(cwd, words)
    if found is None and base:
        raise NoDiff("unknown_base", f"There is no commit, branch or tag {base!r}.")
    return found.data.decode("ascii", "replace").strip() if found else ""


def _empty_tree(cwd: str) -> str:
    found = git.run(cwd, ["hash-object", "-t", "tree", os.devnull])
    if found is None:
        raise NoDiff("no_diff", "git does not respond.")
    return found.data.decode("ascii", "replace").strip()


def _changed(cwd: str, against: str, settings: dict[str, str]) -> tuple[list[Change], bool]:
    """The files that git knows, and whether there are more."""
    counts = _counts(cwd, against, settings)
    words = [*_DIFF, "-M", "--relative", "-z", "--name-status", against, "--", "."]
    found = git.run(cwd, words, most=NAME_BYTES, more=settings)
    if found is None:
        raise NoDiff("no_diff", "git could not compare the files in time.")
    files: list[Change] = []
    fields = _fields(found)
    for mark in fields:
        before = next(fields, "") if mark[:1] in ("R", "C") else ""
        path = next(fields, "")
        if not path:
            break
        if len(files) >= MOST_FILES:
            return files, True
        state = _STATES.get(mark[:1], "modified")
        files.append(Change(path, state, before, *counts.get(path, (None, None))))
    return files, found.cut


def _counts(
    cwd: str, against: str, settings: dict[str, str]
) -> dict[str, tuple[int | None, int | None]]:
    words = [*_DIFF, "-M", "--relative", "-z", "--numstat", against, "--", "."]
    found = git.run(cwd, words, most=NAME_BYTES, more=settings)
    counts: dict[str, tuple[int | None, int | None]] = {}
    fields = _fields(found) if found else iter(())
    for row in fields:
        added, _, rest = row.partition("\t")
        removed, _, path = rest.partition("\t")
        if not path:  # renamed: both names follow
            next(fields, "")
            path = next(fields, "")
        counts[path] = _number(added), _number(removed)
    return counts


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _fields(output: git.Output) -> Iterator[str]:
    names = output.data.decode("utf-8", "replace").split("\0")
    return iter(names[:-1])  # what stands after the last mark is nothing, or half a name


def _untracked(cwd: str) -> Iterator[str]:
    words = ["ls-files", "-z", "-o", "--exclude-standard", "--", "."]
    found = git.run(cwd, words, most=NAME_BYTES)
    return _fields(found) if found else iter(())


def _new_file(cwd: str, path: str) -> tuple[int | None, bytes]:
    """How many lines it has (None: it is binary, too large, or gone), and its patch. No link is
    followed: of one, its target is told, as git does."""
    name = path.encode("utf-8", "replace")
    place = os.path.join(cwd, path)
    try:
        mode = os.lstat(place).st_mode
        if stat.S_ISLNK(mode):
            data, kind = os.fsencode(os.readlink(place)), b"120000"
        else:
            data, kind = _read(place), b"100755" if mode & stat.S_IXUSR else b"100644"
    except (OSError, ValueError):
        return None, b""
    head = b"diff --git a/%b b/%b\nnew file mode %b\n" % (name, name, kind)
    if len(data) > FILE_BYTES or b"\0" in data[:8000]:
        return None, head + b"Binary files /dev/null and b/%b differ\n" % name
    lines = data.split(b"\n")
    whole = lines[-1] == b""
    lines = lines[:-1] if whole else lines
    if not lines:
        return 0, head
    body = b"".join(b"+%b\n" % line for line in lines)
    body += b"" if whole else b"\\ No newline at end of file\n"
    place_of = b"--- /dev/null\n+++ b/%b\n@@ -0,0 +1,%d @@\n" % (name, len(lines))
    return len(lines), head + place_of + body


def _read(place: str) -> bytes:
    """Raises OSError: no plain file."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(place, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(None, "not a regular file")
        return file.read(FILE_BYTES + 1)
