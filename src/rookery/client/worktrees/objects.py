"""Imports objects that an agent made in a sandbox into the repository, by git itself.

They are copied out of the agent's reach, without following links; git packs what the wanted commits
need and the repository lacks, and `index-pack --strict` names and checks each object anew. Anything
wrong, incomplete or too large is refused, and the repository stays as it was."""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress

from rookery.client.work_tree import git
from rookery.client.worktrees.repository import SECONDS, NoWorktree, text_of
from rookery.git import places

MOST_FILES = 300_000
MOST_BYTES = 1024**3
"""Most bytes of all copied files, and of the pack."""
COPIES = "taking-"
_FAN, _LOOSE = re.compile("[0-9a-f]{2}"), re.compile("[0-9a-f]{38}|[0-9a-f]{62}")
_PACK = re.compile(r"pack-[0-9a-f]{40,64}\.pack")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_EMPTY = b"\0\0\0\0"
PLAIN = {"GIT_NO_REPLACE_OBJECTS": "1"}


def take(shared: str, source: str, folder: str, tips: Sequence[str]) -> str:
    """Give the repository `shared` everything that the commits need, from the object directory
    `source`. Returns a file that keeps `git gc` from deleting it until a ref leads there, or "" if
    there is none. `folder`: for the copies. Raises NoWorktree."""
    forget(shared, folder)
    with tempfile.TemporaryDirectory(prefix=COPIES, dir=folder) as copy:
        _make(copy, shared, tips[0])
        _copy(shared, source, copy)
        known = text_of(run(shared, "for-each-ref", "--format=%(objectname)")).split()
        revisions = "".join(f"{each}\n" for each in (*tips, "--not", *known))
        args = ("pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--threads=1")
        pack = run(copy, *args, given=revisions.encode())
    if len(pack) > MOST_BYTES:
        raise too_large()
    kept = _index(shared, pack, folder) if pack[8:12] != _EMPTY else ""
    try:
        run(shared, "rev-list", "--objects", "--quiet", *tips, "--not", "--all")
        if other := [
            tip for tip in tips if text_of(run(shared, "cat-file", "-t", tip)) != "commit"
        ]:
            raise refused(f"{other[0]} is not a commit.")
    except NoWorktree:
        release(kept)
        raise
    return kept


def release(kept: str) -> None:
    if kept:
        with suppress(FileNotFoundError):
            os.unlink(kept)


def forget(shared: str, folder: str) -> None:
    """Remove what a killed process left."""
    for name in os.listdir(folder):
        if name.startswith(COPIES):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    packs = os.path.join(shared, "objects", "pack")
    with suppress(OSError):
        for name in os.listdir(packs):
            if name.endswith(".keep") and _is_ours(os.path.join(packs, name), folder):
                release(os.path.join(packs, name))


def refused(why: str) -> NoWorktree:
    return NoWorktree(
        "refused_objects",
        f"git refuses what the agent committed in its sandbox: {why}",
        "Have the agent commit again, or drop the worktree.",
    )


def too_large() -> NoWorktree:
    return NoWorktree(
        "too_large",
        f"The agent's commits are larger than {MOST_BYTES >> 20} MiB, or have more than "
        f"{MOST_FILES} objects.",
        "Have the agent commit less, or copy the files yourself.",
    )


def _is_ours(path: str, folder: str) -> bool:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read(4096).strip() == _reason(folder)
    return False


def _reason(folder: str) -> str:
    return f"rookery {os.path.basename(folder)}"


def _index(shared: str, pack: bytes, folder: str) -> str:
    args = ("index-pack", "--stdin", "--strict", "--threads=1", f"--max-input-size={MOST_BYTES}")
    output = run(shared, *args, f"--keep={_reason(folder)}", given=pack)
    name = text_of(output).rpartition("\t")[2]
    return os.path.join(shared, "objects", "pack", f"pack-{name}.keep")


def run(directory: str, *args: str, given: bytes = b"") -> bytes:
    """Run git in a git directory that no agent can write to. Raises NoWorktree."""
    place = places.at(directory, "")
    outcome = git.do(directory, args, given, SECONDS, place=place, environment=PLAIN)
    if outcome.code != 0:
        raise refused(f"{args[0]}: {outcome.output or 'it took too long.'}")
    return outcome.data


def _make(copy: str, shared: str, tip: str) -> None:
    """Create a repository of ours that sees the other one's objects."""
    for name in ("objects/info", "objects/pack", "refs"):
        os.makedirs(os.path.join(copy, name))
    extension = "[extensions]\n\tobjectFormat = sha256\n" if len(tip) == 64 else ""
    settings = f"[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n{extension}"
    for name, text in (("HEAD", "ref: refs/heads/none\n"), ("config", settings)):
        with open(os.path.join(copy, name), "w", encoding="ascii") as file:
            file.write(text)
    with open(os.path.join(copy, "objects", "info", "alternates"), "wb") as alternates:
        alternates.write(os.fsencode(os.path.join(shared, "objects")) + b"\n")
    with suppress(FileNotFoundError):
        shutil.copyfile(os.path.join(shared, "shallow"), os.path.join(copy, "shallow"))


def _copy(shared: str, source: str, copy: str) -> None:
    """Copy the objects that the repository lacks. Their names may be wrong: git renames each
    later."""
    left = MOST_BYTES
    loose, packs = _listed(source)
    given = "".join(f"{fan}{name}\n" for fan, name in loose).encode()
    there = run(shared, "cat-file", "--batch-check", given=given)
    missing = {line.split()[0] for line in there.splitlines() if line.endswith(b" missing")}
    for fan, name in loose:
        if f"{fan}{name}".encode() in missing:
            place = os.path.join(copy, "objects", fan)
            os.makedirs(place, exist_ok=True)
            data = _read(source, (fan, name), left)
            left -= len(data)
            with open(os.path.join(place, name), "wb") as file:
                file.write(data)
    for name in packs:
        data = _read(source, ("pack", name), left)
        left -= len(data)
        if data:
            run(copy, "index-pack", "--stdin", "--fix-thin", "--threads=1", given=data)


def _listed(source: str) -> tuple[list[tuple[str, str]], list[str]]:
    top = os.open(source, _FOLDER)
    try:
        loose = [
            (fan, name)
            for fan in sorted(os.listdir(top))
            if _FAN.fullmatch(fan)
            for name in _names(top, fan)
            if _LOOSE.fullmatch(name)
        ]
        packs = [name for name in _names(top, "pack") if _PACK.fullmatch(name)]
    finally:
        os.close(top)
    if len(loose) + len(packs) > MOST_FILES:
        raise too_large()
    return loose, packs


def _names(top: int, folder: str) -> Iterator[str]:
    try:
        fd = os.open(folder, _FOLDER, dir_fd=top)
    except OSError:  # a link, a file, or nothing
        return
    try:
        yield from sorted(os.listdir(fd))
    finally:
        os.close(fd)


def _read(source: str, names: tuple[str, str], most: int) -> bytes:
    """The content of a file, b"" if it is not a regular file. Raises NoWorktree."""
    opened = [os.open(source, _FOLDER)]
    try:
        opened.append(os.open(names[0], _FOLDER, dir_fd=opened[-1]))
        opened.append(os.open(names[1], _READ, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            return b""
        with open(opened[-1], "rb", closefd=False) as file:
            data = file.read(most + 1)
    except OSError:
        return b""
    finally:
        for each in opened:
            os.close(each)
    if len(data) > most:
        raise too_large()
    return data
