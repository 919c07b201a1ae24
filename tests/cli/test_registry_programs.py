"""`rookery agents install` of programs that the public registry offers: downloaded from a server on
loopback, with TLS; checked, unpacked, run and removed."""

import gzip
import io
import json
import os
import platform
import signal
import stat
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rookery.agents import archives
from rookery.agents.archives import BadArchive, unpack
from rookery.agents.downloads import this_platform
from rookery.home import config
from tests.cli.driving import PLAIN, Result, rookery
from tests.rigs.sockets import certificate

SCRIPT = b"#!/bin/sh\necho heron 1.0\n"


class Server:
    """What is under a path: bytes, or the address that it redirects to."""

    def __init__(self, folder: Path) -> None:
        made = certificate(folder)
        self.ca = str(made.file)
        self.found: dict[str, bytes | str] = {}
        self.asked = threading.Event()
        self.goes_on = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.set()
                match outer.found.get(self.path):
                    case str(address):
                        self.send_response(302)
                        self.send_header("Location", address)
                        self.end_headers()
                    case bytes(data):
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(data)))
                        self.end_headers()
                        self.wfile.write(data[:10])
                        if self.path.startswith("/slow"):
                            outer.goes_on.wait(60)
                        self.wfile.write(data[10:])
                    case _:
                        self.send_error(404)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = made.context().wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def end(self) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.end()


def tar(form: str, *members: tuple[str, bytes], **about: Any) -> bytes:
    """`about`: of each member."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{form}") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755
            for key, value in about.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def zipped(*members: tuple[str, bytes], mode: int = stat.S_IFREG | 0o755) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return data.getvalue()


def offered(
    home: Path, server: Server, path: str, data: bytes | str, name: str = "heron", **more: object
) -> Result:
    """The registry offers it, and the user imported that."""
    server.found[path] = data
    target = {"archive": server.address + path, "cmd": "./bin/heron", "args": ["acp"], **more}
    agent = {"id": name, "name": "Heron", "version": "1.0"}
    agent["distribution"] = {"binary": {this_platform(): target}}  # type: ignore[assignment]
    file = home.parent / "registry.json"
    file.write_text(json.dumps({"agents": [agent]}))
    done = rookery("agents", "import", "--yes", str(file))
    assert done.code == 0, done.err
    return done


def install(server: Server, name: str = "heron") -> Result:
    return rookery("agents", "install", "--yes", name, SSL_CERT_FILE=server.ca)


def is_installed(name: str = "heron") -> bool:
    rows = rookery("agents", "--json").events
    return any(row["name"] == name and row["installed"] for row in rows)


def left(home: Path) -> list[str]:
    return (
        [str(each) for each in (home / "agents").rglob("*")] if (home / "agents").exists() else []
    )


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/a.tar.gz", lambda: tar("gz", ("./bin/heron", SCRIPT), ("lib/x", b"y"))),
        ("/a.zip", lambda: zipped(("bin/heron", SCRIPT), ("lib/", b""), ("lib/x", b"y"))),
        ("/a.tar.bz2", lambda: tar("bz2", ("bin/heron", SCRIPT))),
        ("/a.tar.xz", lambda: tar("xz", ("bin/heron", SCRIPT))),
        ("/a.tar", lambda: tar("", ("bin/heron", SCRIPT))),
        ("/heron", lambda: SCRIPT),
    ],
)
def test_a_program_of_the_registry_is_installed_run_and_removed(
    home: Path, server: Server, path: str, make: Callable[[], bytes]
) -> None:
    data = make()
    said = offered(home, server, path, data)
    assert said.out == "heron runs acp-heron acp\n"
    assert "rookery agents install heron" in said.err
    assert not is_installed()
    done = install(server)
    assert done.code == 0, done.err
    assert f"sha256:{sha256(data).hexdigest()}" in done.err
    assert is_installed()
    program = home / "agents" / "heron" / "bin" / "acp-heron"
    assert subprocess.check_output([program]) == b"heron 1.0\n"
    assert rookery("agents", "remove", "--yes", "heron").code == 0
    assert left(home) == []
    assert not is_installed()


def test_a_newer_version_replaces_the_program_and_a_failure_leaves_the_old_one(
    home: Path, server: Server
) -> None:
    offered(home, server, "/a", SCRIPT)
    install(server)
    program = home / "agents" / "heron" / "bin" / "acp-heron"
    offered(home, server, "/b", tar("gz", ("../out", b"x")))
    failed = install(server)
    assert failed.code == 1
    assert subprocess.check_output([program]) == b"heron 1.0\n"
    server.found["/b"] = SCRIPT.replace(b"1.0", b"2.0")
    again = install(server)
    assert again.code == 1, "version 1.0 had another digest"
    assert "is not what it was when it was first installed" in again.err
    assert sha256(SCRIPT).hexdigest() in again.err
    assert subprocess.check_output([program]) == b"heron 1.0\n"
    newer = json.loads((home.parent / "registry.json").read_text())
    newer["agents"][0]["version"] = "2.0"
    (home.parent / "registry.json").write_text(json.dumps(newer))
    rookery("agents", "import", "--yes", str(home.parent / "registry.json"))
    assert install(server).code == 0
    assert subprocess.check_output([program]) == b"heron 2.0\n"
    assert len([each for each in os.listdir(home / "agents" / "heron") if each != "bin"]) == 1


def test_the_registrys_checksum_is_compared(home: Path, server: Server) -> None:
    offered(home, server, "/a", SCRIPT, sha256="0" * 64)
    done = install(server)
    assert done.code == 1
    assert "does not have the checksum that the registry names" in done.err
    assert left(home) == []
    offered(home, server, "/a", SCRIPT, sha256=sha256(SCRIPT).hexdigest().upper())
    assert install(server).code == 0


def test_only_https_is_spoken_redirects_too(home: Path, server: Server) -> None:
    skipped = offered(home, server, "/x", b"")
    file = home.parent / "registry.json"
    file.write_text(file.read_text().replace("https://", "http://"))
    skipped = rookery("agents", "import", "--yes", str(file))
    assert "Skipping heron: its archive is not an https address" in skipped.err
    offered(home, server, "/a", f"{server.address}/b")
    server.found["/b"] = SCRIPT
    assert install(server).code == 0, "from https to https"
    offered(home, server, "/c", "http://127.0.0.1:9/d")
    done = install(server)
    assert done.code == 1
    assert "redirects to an address that is not https" in done.err
    unknown = rookery("agents", "install", "--yes", "heron")  # no CA of ours
    assert "CERTIFICATE_VERIFY_FAILED" in unknown.err
    assert "404" in _missing(home, server).err


def _missing(home: Path, server: Server) -> Result:
    offered(home, server, "/e", SCRIPT)
    del server.found["/e"]
    return install(server)


def test_a_built_in_agent_is_matched_by_its_id_and_listed_once(home: Path, server: Server) -> None:
    said = offered(home, server, "/a", SCRIPT, name="goose")
    assert said.out == ""
    assert "goose" not in config.load(str(home)).agents
    [row] = [each for each in rookery("agents", "--json").events if each["name"] == "goose"]
    assert row["install"] == "rookery agents install goose"
    assert install(server, "goose").code == 0
    assert (home / "agents" / "goose" / "bin" / "goose").exists()
    again = offered(home, server, "/a", SCRIPT, name="mistral-vibe")
    assert "Skipping mistral-vibe: Rookery has it: rookery agents install vibe" in again.err


def test_another_platforms_program_is_refused(home: Path, server: Server, tmp_path: Path) -> None:
    there = {"binary": {"plan9-mips": {"archive": f"{server.address}/a", "cmd": "x"}}}
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"agents": [{"id": "heron", "distribution": there}]}))
    said = rookery("agents", "import", "--yes", str(file)).err
    assert f"it has no program for {this_platform()}, only for plan9-mips" in said
    offered(home, server, "/b", b"MZ" + bytes(100))
    assert "bin/heron is a program of another platform" in install(server).err
    assert left(home) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_installation_that_is_ended_in_the_middle_installs_nothing(
    home: Path, server: Server, number: signal.Signals
) -> None:
    offered(home, server, "/slow", SCRIPT)
    environment = os.environ | {"SSL_CERT_FILE": server.ca}
    words = [*PLAIN, "agents", "install", "--yes", "heron"]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        assert server.asked.wait(60)
        child.send_signal(number)
        assert b"Traceback" not in child.stderr.read()
    server.goes_on.set()
    assert not is_installed()
    if number == signal.SIGINT:
        assert (child.returncode, left(home)) == (130, [])
    assert install(server).code == 0
    assert not [each for each in left(home) if "/.new-" in each]


# --- hostile archives ----------------------------------------------------------------------------


def hostile(**about: Any) -> bytes:
    return tar("gz", ("x", b""), **about)


def _links_then_writes() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        link = tarfile.TarInfo("a")
        link.type, link.linkname = tarfile.SYMTYPE, "/tmp"
        archive.addfile(link)
        file = tarfile.TarInfo("a/written")
        file.size = 1
        archive.addfile(file, io.BytesIO(b"x"))
    return data.getvalue()


def _chained_links() -> bytes:
    """The second leaves the folder only through the first."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, target in (("d/e/up", "../.."), ("out", "d/e/up/../../..")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    return data.getvalue()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "dots": lambda: tar("gz", ("../evil", b"x")),
    "inner dots": lambda: tar("gz", ("a/../../evil", b"x")),
    "absolute": lambda: tar("gz", ("/tmp/evil", b"x")),
    "windows": lambda: tar("gz", ("..\\evil", b"x")),
    "drive": lambda: tar("gz", ("C:evil", b"x")),
    "control": lambda: tar("gz", ("a\x1b[31m", b"x")),
    "link out": lambda: hostile(type=tarfile.SYMTYPE, linkname="../../etc"),
    "absolute link": lambda: hostile(type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "through a link": _links_then_writes,
    "chain of links": _chained_links,
    "hard link": lambda: hostile(type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    "device": lambda: hostile(type=tarfile.CHRTYPE),
    "fifo": lambda: hostile(type=tarfile.FIFOTYPE),
    "set-uid": lambda: hostile(mode=0o4755),
    "set-gid": lambda: hostile(mode=0o2755),
    "twice": lambda: tar("gz", ("a", b"x"), ("a", b"y")),
    "no program": lambda: tar("gz", ("other", SCRIPT)),
    "cut": lambda: tar("gz", ("bin/heron", SCRIPT))[:60],
    "no archive": lambda: gzip.compress(b"nothing"),
    "zip dots": lambda: zipped(("../evil", b"x")),
    "zip windows": lambda: zipped(("..\\evil", b"x")),
    "zip link": lambda: zipped(("bin/heron", b"/bin/sh"), mode=stat.S_IFLNK | 0o777),
    "zip set-uid": lambda: zipped(("bin/heron", SCRIPT), mode=stat.S_IFREG | 0o4755),
    "zip device": lambda: zipped(("bin/heron", b""), mode=stat.S_IFCHR | 0o600),
    "empty": lambda: b"",
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_archive_that_reaches_out_is_refused(tmp_path: Path, make: Callable[[], bytes]) -> None:
    inside = tmp_path / "deep" / "files"
    inside.mkdir(parents=True)
    (tmp_path / "archive").write_bytes(make())
    before = {str(each) for each in tmp_path.rglob("*")}
    with pytest.raises(BadArchive):
        unpack(str(tmp_path / "archive"), str(inside), "./bin/heron")
    new = {str(each) for each in tmp_path.rglob("*")} - before
    assert all(each.startswith(f"{inside}/") for each in new)
    assert not Path("/tmp/written").exists()


@pytest.mark.parametrize(
    "make", [lambda data: tar("gz", ("bin/heron", data)), lambda data: zipped(("bin/heron", data))]
)
def test_a_bomb_is_refused_while_it_unpacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 3_000_000)
    (tmp_path / "archive").write_bytes(make(bytes(20_000_000)))
    (tmp_path / "files").mkdir()
    with pytest.raises(BadArchive, match="unpacks to more than"):
        unpack(str(tmp_path / "archive"), str(tmp_path / "files"), "bin/heron")
    assert sum(each.stat().st_size for each in (tmp_path / "files").rglob("*")) <= 3_000_000


def test_links_within_the_folder_are_kept(tmp_path: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, kind, target in (
            ("lib/heron.sh", tarfile.REGTYPE, ""),
            ("lib/same.sh", tarfile.LNKTYPE, "lib/heron.sh"),
            ("bin/heron", tarfile.SYMTYPE, "../lib/heron.sh"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, target, 0 if target else len(SCRIPT)
            archive.addfile(info, io.BytesIO(SCRIPT))
    (tmp_path / "archive").write_bytes(data.getvalue())
    (tmp_path / "files").mkdir()
    program = unpack(str(tmp_path / "archive"), str(tmp_path / "files"), "./bin/heron")
    assert subprocess.check_output([program]) == b"heron 1.0\n"
    assert (tmp_path / "files" / "lib" / "same.sh").read_bytes() == SCRIPT


def test_a_program_of_this_machine_is_taken(tmp_path: Path) -> None:
    if platform.system() != "Linux":
        pytest.skip("an ELF file is needed")
    (tmp_path / "files").mkdir()
    assert unpack("/bin/true", str(tmp_path / "files"), "true")
