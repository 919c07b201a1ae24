"""A home on a network file system is refused with a sentence that says what to do."""

import os
from pathlib import Path

import pytest

from rookery.log.errors import BadPlace
from rookery.log.place import check_home, parse

LINUX = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
30 22 0:40 / /net/home rw,relatime shared:5 master:1 - nfs4 server:/export/home rw,vers=4.2
31 30 0:41 / /net/home/me/disk rw,relatime - xfs /dev/vdb rw
32 22 0:42 / /mnt/with\\040blank rw - cifs //server/share rw
33 22 0:43 / /mnt/ssh rw - fuse.sshfs me@server: rw
34 22 0:44 / /mnt/c rw - 9p drvfs rw,aname=drvfs
35 22 0:45 / /over rw - nfs server:/a rw
36 22 0:46 / /over rw - ext4 /dev/vdc rw
37 22 0:47 / /fuse rw - fuse.mergerfs a rw
38 22 0:48 / /odd\\x rw - nfs server:/b rw
"""

MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//me@server/share on /Volumes/my share (smbfs, nodev, nosuid, mounted by me)
server:/export on /Volumes/nfs (nfs)
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/net/home", "nfs4"),
        ("/net/home/me/.rookery", "nfs4"),
        ("/mnt/with blank/a", "cifs"),
        ("/mnt/ssh/a", "fuse.sshfs"),
        ("/mnt/c/Users/me", "9p"),
        ("/odd\\x/a", "nfs"),
    ],
)
def test_a_network_home_is_refused(path: str, kind: str) -> None:
    with pytest.raises(BadPlace) as refused:
        check_home(path, LINUX)
    said = str(refused.value)
    assert path in said
    assert kind in said
    assert "Set ROOKERY_HOME to a directory on a local disk." in said


@pytest.mark.parametrize(
    "path",
    ["/home/me", "/", "/net/homes", "/net/home/me/disk/.rookery", "/over/a", "/fuse/a", "/mnt"],
)
def test_a_local_home_is_taken(path: str) -> None:
    check_home(path, LINUX)


def test_macos_prints_its_mounts_another_way() -> None:
    check_home("/Users/me/.rookery", MACOS)
    for path in ("/Volumes/my share/.rookery", "/Volumes/nfs"):
        with pytest.raises(BadPlace):
            check_home(path, MACOS)


def test_a_sandbox_whose_root_is_9p_is_taken() -> None:
    check_home("/home/me", "1 0 0:1 / / rw - 9p none rw")


def test_a_link_does_not_hide_where_a_home_lies(tmp_path: Path) -> None:
    real = tmp_path / "share"
    real.mkdir()
    os.symlink(real, tmp_path / "link")
    table = LINUX + f"40 22 0:50 / {os.path.realpath(real)} rw - nfs server:/c rw\n"
    with pytest.raises(BadPlace):
        check_home(str(tmp_path / "link" / "home"), table)


@pytest.mark.parametrize("table", ["", "\n\n", "nonsense", "a b - ", "1 2 3 4 5 6 7"])
def test_no_table_is_no_opinion(table: str) -> None:
    assert parse(table) == []
    check_home("/net/home", table)


def test_the_table_of_this_machine_is_read(tmp_path: Path) -> None:
    check_home(str(tmp_path))
