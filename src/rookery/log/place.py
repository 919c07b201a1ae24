"""Checking where a home is: `flock` and a WAL's shared memory do not work across a network. Also
reading a log where nothing can be written."""

import os
import sys
from contextlib import suppress

from rookery.log.errors import BadPlace

_NAMES = """
nfs nfs3 nfs4 cifs smb2 smb3 smbfs ncpfs afs afpfs coda ceph lustre gpfs beegfs orangefs pvfs2 ocfs2
gfs2 webdav davfs 9p vboxsf prl_fs macfuse osxfuse fuse.sshfs fuse.davfs2 fuse.ceph fuse.ceph-fuse
fuse.glusterfs fuse.rclone fuse.s3fs fuse.goofys fuse.gcsfuse fuse.vmhgfs-fuse fuse.smbnetfs
fuse.juicefs fuse.mfs
"""
REFUSED = frozenset(_NAMES.split())

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

type Mount = tuple[str, str]
"""Where, and the type of file system."""


def check_home(path: str, table: str | None = None) -> None:
    """Raise BadPlace if `path` is on a network file system; `table` is the text of the mount
    table."""
    mounts = parse(_mount_table() if table is None else table)
    inside = os.path.join(os.path.realpath(path), "")
    around = [mount for mount in mounts if inside.startswith(os.path.join(mount[0], ""))]
    if not around:
        return  # no table to be had: no opinion
    # The innermost; where several are mounted on one point, the last covers the others.
    point, kind = max(enumerate(around), key=lambda item: (len(item[1][0]), item[0]))[1]
    # A sandbox may have 9p for its own root, which one kernel alone uses: that is no share.
    if kind not in REFUSED or (kind == "9p" and point == "/"):
        return
    raise BadPlace(
        f"{path} is on a network file system ({kind}, mounted on {point}), where locks do not "
        "hold. Set ROOKERY_HOME to a directory on a local disk."
    )


def has_wal(path: str) -> bool:
    """Return whether part of a log is still in its WAL."""
    with suppress(OSError):
        return os.path.getsize(f"{path}-wal") > 0
    return False


def copied(path: str) -> "TemporaryDirectory[str]":
    """Copy the log with its WAL to a directory in which SQLite can create what it needs to
    read it."""
    import shutil
    from tempfile import TemporaryDirectory

    copy = TemporaryDirectory(prefix="rookery-log-")
    with suppress(OSError):
        for name in (path, f"{path}-wal"):
            shutil.copyfile(name, os.path.join(copy.name, os.path.basename(name)))
    return copy


def parse(table: str) -> list[Mount]:
    """Parse Linux's /proc/self/mountinfo, or the output of `mount` on macOS."""
    mounts = []
    for line in table.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if dash and len(fields) > 5 and after:
            mounts.append((_unescaped(fields[4]), after.split(" ")[0]))
        elif " on /" in line and line.endswith(")"):
            place, _, options = line.rpartition(" (")
            point = "/" + place.partition(" on /")[2]
            mounts.append((point, options.rstrip(")").split(",")[0]))
    return mounts


def _unescaped(text: str) -> str:
    """Decode a mountinfo field: blanks, tabs, newlines and backslashes are three octal digits
    there."""
    head, *rest = text.split("\\")
    return head + "".join(
        chr(int(part[:3], 8)) + part[3:] if part[:3].isdigit() else "\\" + part for part in rest
    )


def _mount_table() -> str:
    try:
        if sys.platform == "darwin":
            with os.popen("/sbin/mount") as printed:  # noqa: S605 — nothing of it is given
                return printed.read()
        # Names in it may be of any encoding, as file names are.
        with open("/proc/self/mountinfo", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
