"""Unpacks archives of programs into an empty folder: tar (gz, bz2, xz), zip, or a bare program.

The contents come from a stranger. An archive is refused as a whole for: paths and links that leave
the folder, devices, set-uid and set-gid files, programs of another platform, and contents of more
than MAX_BYTES. Symbolic links are created last, so that nothing is written through one."""

import os
import platform
import stat
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, NamedTuple

MAX_BYTES = 1024**3
"""Most bytes of an archive, and of its contents."""
MAX_ENTRIES = 100_000
CHUNK = 1 << 20

TARS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
ZIP = b"PK\x03\x04"
MACHINES = {"x86_64": 62, "aarch64": 183}
"""The machine numbers of ELF."""


class BadArchive(Exception):
    """An archive was refused as a whole; the message is a sentence that says why."""


class Entry(NamedTuple):
    name: str
    mode: int
    content: IO[bytes] | None = None
    link: str = ""
    """The target of a symbolic link."""
    hard: str = ""
    """The earlier entry that a hard link names."""


def unpack(path: str, folder: str, program: str) -> str:
    """Unpack an archive; return the path of `program` below `folder`, which must be empty. Raises
    BadArchive, OSError."""
    links, size, count = list[Entry](), 0, 0
    try:
        for entry in _entries(path, program):
            count += 1
            if count > MAX_ENTRIES:
                raise BadArchive(f"It has more than {MAX_ENTRIES:,} files.")
            place = _inside(folder, entry.name)
            if entry.mode & (stat.S_ISUID | stat.S_ISGID):
                raise BadArchive(f"{entry.name[:200]} is set-uid or set-gid.")
            if entry.link:
                links.append(entry)
            elif entry.hard:
                os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
                os.link(_inside(folder, entry.hard), place, follow_symlinks=False)
            elif entry.content is None:
                os.makedirs(place, 0o700, exist_ok=True)
            else:
                size = _write(place, entry, size)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise BadArchive(f"It cannot be read: {error}") from None
    except RuntimeError as error:  # zipfile: it is encrypted
        raise BadArchive(f"It cannot be read: {error}") from None
    except FileExistsError as error:
        raise BadArchive(f"{os.path.relpath(error.filename, folder)} is in it twice.") from None
    for entry in links:
        _link(folder, entry)
    return _program(folder, program)


def _entries(path: str, program: str) -> Iterator[Entry]:
    with open(path, "rb") as file:
        begins = file.read(512)
        file.seek(0)
        if begins.startswith(ZIP):
            yield from _of_zip(file)
        elif begins.startswith(TARS) or begins[257:262] == b"ustar":
            yield from _of_tar(file)
        else:
            yield Entry(program, 0o755, file)


def _of_tar(file: IO[bytes]) -> Iterator[Entry]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for member in archive:
            name, mode = member.name, member.mode
            if member.isdir():
                yield Entry(name, mode & ~stat.S_ISGID)
            elif member.isfile():
                yield Entry(name, mode, archive.extractfile(member))
            elif member.issym():
                yield Entry(name, mode, link=member.linkname)
            elif member.islnk():
                yield Entry(name, mode, hard=member.linkname)
            else:
                raise BadArchive(f"{name[:200]} is a device, or something else that is no file.")


def _of_zip(file: IO[bytes]) -> Iterator[Entry]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name, mode = info.orig_filename, info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if kind == stat.S_IFLNK:
                with archive.open(info) as content:
                    yield Entry(name, 0, link=content.read(4096).decode(errors="replace"))
            elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise BadArchive(f"{name[:200]} is a device, or something else that is no file.")
            elif info.is_dir():
                yield Entry(name, 0)
            else:
                with archive.open(info) as content:
                    yield Entry(name, mode, content)


def _inside(folder: str, name: str) -> str:
    """The path of an entry in the folder. Raises BadArchive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    strange = "\\" in name or name[1:2] == ":" or not name.isprintable() or name.startswith("/")
    if strange or ".." in parts or len(name) > 1000:
        raise BadArchive(f"{name[:200]!r} is a path out of its folder, or none of this platform.")
    return os.path.join(folder, *parts)


def _write(place: str, entry: Entry, size: int) -> int:
    """Write an entry; return the total bytes written so far. The size that an entry claims is
    ignored."""
    os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    mode = 0o700 if entry.mode & 0o111 else 0o600
    assert entry.content is not None
    with open(os.open(place, flags, mode), "wb") as file:
        while data := entry.content.read(CHUNK):
            size += len(data)
            if size > MAX_BYTES:
                raise BadArchive(f"It unpacks to more than {MAX_BYTES // 1024**2:,} MiB.")
            file.write(data)
    return size


def _link(folder: str, entry: Entry) -> None:
    place = _inside(folder, entry.name)
    os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
    if os.path.isabs(entry.link) or "\\" in entry.link or not _is_below(folder, place, entry.link):
        raise BadArchive(f"{entry.name[:200]} is a link out of its folder.")
    try:
        os.symlink(entry.link, place)
    except FileExistsError:
        raise BadArchive(f"{entry.name[:200]} is in it twice.") from None


def _is_below(folder: str, place: str, target: str) -> bool:
    """Whether a link stays below the folder, through whatever links exist already."""
    root = os.path.realpath(folder)
    real = os.path.realpath(os.path.join(os.path.dirname(place), target))
    parent = os.path.realpath(os.path.dirname(place))
    return all(each == root or each.startswith(root + os.sep) for each in (real, parent))


def _program(folder: str, name: str) -> str:
    place = _inside(folder, name)
    root = os.path.realpath(folder)
    if not os.path.isfile(place) or not os.path.realpath(place).startswith(root + os.sep):
        raise BadArchive(f"It has no program {name[:200]}.")
    with open(place, "rb") as file:
        begins = file.read(20)
    if not _runs_here(begins):
        raise BadArchive(f"{name[:200]} is a program of another platform.")
    with suppress(OSError):
        os.chmod(os.path.realpath(place), 0o700)
    return place


def _runs_here(begins: bytes) -> bool:
    if begins.startswith(b"#!"):
        return True
    if platform.system() == "Linux":
        machine = struct.unpack_from("<H", begins, 18)[0] if len(begins) >= 20 else 0
        return begins.startswith(b"\x7fELF") and MACHINES.get(platform.machine()) == machine
    macho = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
    return platform.system() == "Darwin" and begins.startswith(macho)
