"""The private git directory of a sandboxed session: inside the sandbox, it takes the place of the
repository's. Its refs, index, logs and new objects are the agent's own. The repository's objects
are visible beside them, read-only, through alternates. Git outside reads nothing of it.

After each turn, and before the branch is read outside, the two sides are synchronised: git imports
the agent's objects, then the branch moves. If the user moved it, the agent's follows."""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from rookery.client.worktrees import objects
from rookery.client.worktrees.repository import NoWorktree, text_of
from rookery.core.json import Json, dumps, lenient
from rookery.home import paths
from rookery.snapshots import place as files

FOLDER, LOCK, STATE = "sandbox.git", "sandbox.lock", "sandbox.json"
SHARED = "shared-objects"
BESIDE = ("hooks", "lfs", "annex", "modules")
"""Folders of the repository that are read inside as they are."""
COPIED = ("HEAD", "config", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout")
LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is copied or read: an index, packed refs."""
ALTERNATES = 5
_ID, _NAME = re.compile("[0-9a-f]{40}|[0-9a-f]{64}"), re.compile(r"refs/[^\s\0]+")


class Mount(NamedTuple):
    host: str
    inside: str
    writable: bool = False


class Side(NamedTuple):
    """The commits that one side's branch and worktree are at."""

    branch: str
    head: str
    attached: bool
    """The worktree is on the branch."""


def folder_of(tree: Json) -> str:
    return os.path.join(os.path.dirname(tree["path"]), FOLDER)


def exists(tree: Json) -> bool:
    return os.path.isdir(folder_of(tree)) and os.path.isdir(tree["git"])


def prepare(tree: Json) -> list[Mount]:
    """Create the git directory, or bring it up to date; return what a sandbox mounts. Raises
    NoWorktree, OSError."""
    with _locked(tree):
        if not exists(tree):
            _make(tree)
        _exchange(tree)
        _mend(tree)
        _write_refs(tree)
    own, shared = folder_of(tree), os.path.realpath(tree["git"])
    mounts = [Mount(own, shared, True)]
    mounts += [Mount(os.path.join(shared, "objects"), os.path.join(shared, SHARED))]
    for name in BESIDE:
        if os.path.isdir(os.path.join(shared, name)) and files.is_folder(own, name):
            mounts.append(Mount(os.path.join(shared, name), os.path.join(shared, name)))
    return [*mounts, *(Mount(each, each) for each in _alternates(shared))]


def exchange(tree: Json) -> None:
    """Synchronise the two sides. Raises NoWorktree."""
    if not exists(tree):
        return
    try:
        with _locked(tree):
            _exchange(tree)
    except (OSError, files.Outside) as error:
        raise NoWorktree("not_taken", f"The agent's commits cannot be read: {error}") from None


def give_up(tree: Json) -> None:
    """Remove the git directory: the session sees the repository itself from now on."""
    if exists(tree):
        with _locked(tree):
            _exchange(tree)
            shutil.rmtree(folder_of(tree))


@contextmanager
def _locked(tree: Json) -> Iterator[None]:
    path = os.path.join(os.path.dirname(tree["path"]), LOCK)
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# --- made and refreshed ---------------------------------------------------------------------------


def _make(tree: Json) -> None:
    own, shared = folder_of(tree), os.path.realpath(tree["git"])
    fresh = f"{own}.{secrets.token_hex(4)}"
    part = os.path.join(fresh, "worktrees", os.path.basename(tree["admin"]))
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "logs", "info", SHARED):
        os.makedirs(os.path.join(fresh, name))
    os.makedirs(os.path.dirname(part))
    for name in BESIDE:
        os.makedirs(os.path.join(fresh, name), exist_ok=True)
    for name in COPIED:
        if (content := files.read(shared, name, LARGEST)).kind == files.FILE:
            _write(os.path.join(fresh, name), content.data)
    _write(os.path.join(fresh, "objects", "info", "alternates"), f"../{SHARED}\n".encode())
    _copy_part(tree["admin"], part)
    _write(os.path.join(part, "commondir"), b"../..\n")
    _write(os.path.join(part, "gitdir"), os.fsencode(os.path.join(tree["path"], ".git")) + b"\n")
    os.makedirs(
        os.path.join(fresh, "refs", "heads", os.path.dirname(tree["branch"])), exist_ok=True
    )
    tip = _outside(tree)
    if not tip:
        raise NoWorktree("no_branch", f"The branch {tree['branch']} is gone from {tree['git']}.")
    _write(os.path.join(fresh, "refs", "heads", tree["branch"]), f"{tip}\n".encode())
    _note(tree, tip)
    shutil.rmtree(own, ignore_errors=True)
    os.rename(fresh, own)


def _copy_part(source: str, target: str) -> None:
    """Copy the worktree's own part: its HEAD, index and logs, and the state of an unfinished
    rebase. Earlier builds let the agent write it, so anything but regular files is left out."""
    os.makedirs(target)
    for above, folders, names in os.walk(source):
        inside = os.path.relpath(above, source)
        for name in folders:
            if not os.path.islink(os.path.join(above, name)):
                os.makedirs(os.path.join(target, inside, name), exist_ok=True)
        for name in names:
            with suppress(files.Outside, OSError):
                content = files.read(source, os.path.normpath(os.path.join(inside, name)), LARGEST)
                if content.kind == files.FILE:
                    _write(os.path.join(target, inside, name), content.data)


def _mend(tree: Json) -> None:
    """Restore what the agent removed and git inside cannot do without. Raises NoWorktree."""
    own, part = folder_of(tree), _part(tree)
    pointer = os.fsencode(os.path.join(tree["path"], ".git")) + b"\n"
    branch = f"refs/heads/{tree['branch']}"
    wanted = {
        "objects/info/alternates": f"../{SHARED}\n".encode(),
        f"{part}/commondir": b"../..\n",
        f"{part}/gitdir": pointer,
        f"{part}/HEAD": f"ref: {branch}\n".encode(),
    }
    for name in ("HEAD", "config"):
        wanted[name] = files.read(os.path.realpath(tree["git"]), name, LARGEST).data
    if not _id_of(tree, branch):
        wanted[branch] = f"{_outside(tree) or tree['base']}\n".encode()
    try:
        for name in ("objects/pack", "refs/tags", SHARED, *BESIDE):
            files.make_folder(own, name)
        for name, data in wanted.items():
            if name == branch or files.read(own, name, LARGEST).kind != files.FILE:
                files.write(own, name, files.Content(files.FILE, 0o644, data))
    except (files.Outside, OSError) as error:
        raise NoWorktree(
            "broken_git",
            f"The agent broke the git directory of its sandbox: {error}",
            f"Remove {own}: it is made again. Commits since its last turn are lost.",
        ) from None


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _write_refs(tree: Json) -> None:
    """Write the repository's current refs, and beside them those that the agent packed."""
    own = folder_of(tree)
    output = objects.run(tree["git"], "for-each-ref", "--format=%(objectname) %(refname)")
    rows = dict(row.split(" ", 1)[::-1] for row in text_of(output).splitlines())
    rows.pop(f"refs/heads/{tree['branch']}", None)
    rows = _packed(own) | rows
    data = "".join(f"{rows[name]} {name}\n" for name in sorted(rows))
    fresh = f"{own}.refs"
    _write(fresh, data.encode("utf-8", "surrogateescape"))
    os.replace(fresh, os.path.join(own, "packed-refs"))


def _alternates(shared: str, depth: int = ALTERNATES) -> list[str]:
    """The other places where the repository has objects, according to its own files."""
    folder = os.path.join(shared, "objects")
    alternates: list[str] = []
    with suppress(OSError), open(os.path.join(folder, "info", "alternates"), "rb") as file:
        lines = [os.fsdecode(line) for line in file.read(65536).splitlines()]
        for line in lines if depth else ():
            path = os.path.normpath(os.path.join(folder, line))
            if line and not line.startswith("#") and os.path.isdir(path):
                alternates += [path, *_alternates(os.path.dirname(path), depth - 1)]
    return alternates


# --- both sides -----------------------------------------------------------------------------------


def _exchange(tree: Json) -> None:
    inside, outside, known = _inside(tree), _outside(tree), _noted(tree)
    if inside.branch == known and outside not in (known, ""):
        _follow(tree, inside, outside)
        return
    if inside.branch == outside == known and _head(tree) == inside.head:
        return
    tips = list(dict.fromkeys((inside.branch, inside.head)))
    kept = objects.take(tree["git"], os.path.join(folder_of(tree), "objects"), _above(tree), tips)
    try:
        _move(tree, inside, outside, known)
    finally:
        objects.release(kept)


def _move(tree: Json, inside: Side, outside: str, known: str) -> None:
    """Move the branch outside, and the worktree's HEAD; the objects are already there."""
    ref, new = f"refs/heads/{tree['branch']}", inside.branch
    if outside not in (known, new, "") and not _is_in(tree, outside, new):
        own = f"refs/rookery/{os.path.basename(_above(tree))}"
        objects.run(tree["git"], "update-ref", own, new)
        raise NoWorktree(
            "diverged",
            f"The branch {tree['branch']} was moved in {tree['git']}, and by the agent in its "
            f"sandbox; the agent's commits are kept at {own}.",
            f"To take the agent's: git update-ref {ref} {own}",
        )
    if outside != new:
        objects.run(tree["git"], "update-ref", "-m", "sandbox", ref, new, outside or "0" * len(new))
    if inside.attached:
        objects.run(tree["admin"], "symbolic-ref", "HEAD", ref)
    else:
        objects.run(tree["admin"], "update-ref", "--no-deref", "HEAD", inside.head)
    _renew_index(tree, inside.head, os.path.join(tree["admin"], "index"))
    _note(tree, new)


def _follow(tree: Json, inside: Side, outside: str) -> None:
    """Follow the user, who moved the branch: move the agent's, with an index that fits."""
    ref = os.path.join("refs", "heads", tree["branch"])
    files.write(folder_of(tree), ref, files.Content(files.FILE, 0o644, f"{outside}\n".encode()))
    if inside.attached:
        fresh = os.path.join(_above(tree), f"index.{secrets.token_hex(4)}")
        _renew_index(tree, outside, fresh)
        with open(fresh, "rb") as file:
            content = files.Content(files.FILE, 0o644, file.read())
        os.unlink(fresh)
        files.write(folder_of(tree), os.path.join(_part(tree), "index"), content)
    _note(tree, outside)


def _renew_index(tree: Json, commit: str, path: str) -> None:
    if not os.path.lexists(f"{path}.lock"):  # else somebody is at it
        objects.run(tree["admin"], "read-tree", f"--index-output={path}", commit)


def _outside(tree: Json) -> str:
    output = objects.run(
        tree["git"], "for-each-ref", "--format=%(objectname)", f"refs/heads/{tree['branch']}"
    )
    return text_of(output).partition("\n")[0]


def _head(tree: Json) -> str:
    with suppress(NoWorktree):
        return text_of(objects.run(tree["admin"], "rev-parse", "--verify", "--quiet", "HEAD"))
    return ""


def _is_in(tree: Json, commit: str, tip: str) -> bool:
    try:
        objects.run(tree["git"], "merge-base", "--is-ancestor", commit, tip)
    except NoWorktree:
        return False
    return True


def _inside(tree: Json) -> Side:
    """The agent's side, from the files that the agent writes: only names of objects are taken from
    them. A branch that it removed stays outside as it was."""
    ref = f"refs/heads/{tree['branch']}"
    branch = _id_of(tree, ref) or _noted(tree)
    text = _text(tree, os.path.join(_part(tree), "HEAD"))
    at = text.removeprefix("ref:").strip()
    if at == ref or not text:
        return Side(branch, branch, attached=True)
    head = at if _ID.fullmatch(at) else _id_of(tree, at) if _NAME.fullmatch(at) else ""
    return Side(branch, head or branch, attached=not head)


def _id_of(tree: Json, ref: str) -> str:
    object_id = _text(tree, ref) or _packed(folder_of(tree)).get(ref, "")
    return object_id if _ID.fullmatch(object_id) and len(object_id) == len(tree["base"]) else ""


def _text(tree: Json, path: str) -> str:
    with suppress(files.Outside, OSError, ValueError):
        content = files.read(folder_of(tree), os.path.normpath(path), 4096)
        if content.kind == files.FILE:
            return content.data.decode("utf-8", "surrogateescape").strip()
    return ""


def _packed(own: str) -> dict[str, str]:
    with suppress(files.Outside, OSError):
        data = files.read(own, "packed-refs", LARGEST).data.decode("utf-8", "surrogateescape")
        rows = [line.split(" ", 1) for line in data.splitlines() if " " in line]
        return {name: ref for ref, name in rows if _ID.fullmatch(ref) and _NAME.fullmatch(name)}
    return {}


def _part(tree: Json) -> str:
    return os.path.join("worktrees", os.path.basename(tree["admin"]))


def _above(tree: Json) -> str:
    return os.path.dirname(str(tree["path"]))


def _noted(tree: Json) -> str:
    return lenient.text(paths.read_json(os.path.join(_above(tree), STATE)), "tip")


def _note(tree: Json, tip: str) -> None:
    data = dumps({"tip": tip}).encode("ascii")
    paths.write_atomic(os.path.join(_above(tree), STATE), data, 0o600)
