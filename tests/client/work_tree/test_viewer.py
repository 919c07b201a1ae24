"""Files of a session's directories: what can be read of them, and what cannot."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from rookery.client.work_tree import viewer
from rookery.client.work_tree.viewer import LINES, Directories, Unreadable

KEY = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"


@pytest.fixture
def places(tmp_path: Path) -> Directories:
    for name in ("work/src", "other", "home/sessions", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/src/app.py").write_text("one = 1\ntwo = 2\n")
    (tmp_path / "other/notes.txt").write_text("noted\n")
    (tmp_path / "outside/secret.txt").write_text("not yours\n")
    return Directories((str(tmp_path / "work"), str(tmp_path / "other")), str(tmp_path / "home"))


def refusal(places: Directories, path: str) -> str:
    assert not places.known([path])
    with pytest.raises(Unreadable) as error:
        places.read(path)
    return error.value.reason


def test_a_file_is_read_by_any_of_its_names(places: Directories) -> None:
    work, other = map(Path, places.roots)
    (work / "again.py").symlink_to("src/app.py")
    (work / "there").symlink_to(other)
    for path in ("src/app.py", "./src/../src/app.py", str(work / "src/app.py"), "again.py"):
        part = places.read(path)
        assert (part.path, part.rows) == ("src/app.py", ("one = 1", "two = 2"))
        assert places.known([path]) == [path]
    for path in ("../other/notes.txt", str(other / "notes.txt"), "there/notes.txt"):
        assert places.read(path).rows == ("noted",)


def test_nothing_outside_the_directories_is_read(places: Directories) -> None:
    work = Path(places.roots[0])
    outside = work.parent / "outside"
    (work / "link.txt").symlink_to(outside / "secret.txt")
    (work / "folder").symlink_to(outside)
    (work / "loop").symlink_to("loop")
    for path in ("../outside/secret.txt", str(outside / "secret.txt"), "link.txt", "/etc/passwd"):
        assert refusal(places, path) == "outside"
    for path in ("folder/secret.txt", "src/../../outside/secret.txt", "/proc/self/environ"):
        assert refusal(places, path) == "outside"
    assert refusal(places, "loop") in ("not_a_file", "no_file", "outside")
    assert refusal(Directories(("/",), places.home), "proc/self/environ") == "outside"
    assert refusal(places, "a\0b") == "bad_path"


def test_what_is_no_file_is_not_opened(places: Directories) -> None:
    work = Path(places.roots[0])
    os.mkfifo(work / "pipe")
    (work / ".git").mkdir()
    (work / ".git/config").write_text("[remote]\n")
    for path in ("pipe", "src", ".git/config"):
        assert refusal(places, path) == "not_a_file"
    assert refusal(places, "src/none.py") == "no_file"
    with (work / "large").open("wb") as file:
        file.truncate(viewer.LARGEST + 1)
    with pytest.raises(Unreadable, match="too large to show"):
        places.read("large")
    (work / "blob").write_bytes(b"\x7fELF\0\0")
    assert places.read("blob").binary


def test_a_file_that_becomes_a_link_while_it_is_read_leads_nowhere(places: Directories) -> None:
    work = Path(places.roots[0])
    outside = work.parent / "outside"
    (outside / "app.py").write_text("not yours\n")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (work / "src").rename(work / "kept")
            (work / "src").symlink_to(outside)
            (work / "src").unlink()
            (work / "kept").rename(work / "src")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(2_000):
            with suppress(Unreadable):
                assert places.read("src/app.py").rows == ("one = 1", "two = 2")
    finally:
        stop.set()
        thread.join()


def test_secrets_are_masked_and_files_of_keys_are_not_shown(
    places: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Path(places.roots[0])
    body = "\n".join("A" * 64 for _ in range(40))
    (work / "notes.txt").write_text(
        "x\n" * 300 + f"token ghp_{'a' * 36}\n{KEY.format(body)}\nend\n"
    )
    whole = "".join("\n".join(places.read("notes.txt", first=n).rows) for n in (1, 290, 310, 330))
    assert "aaaa" not in whole
    assert "AAAA" not in whole
    assert places.read("notes.txt", first=330).rows[-1] == "end"
    (work / ".env").write_text("# tell nobody: x=y\nexport A=b c\nLONG='one\ntwo'\n\nEMPTY=\n")
    (work / "settings").symlink_to(".env")
    for path in (".env", "settings"):
        rows = places.read(path).rows
        assert rows == ("•••", "export A=•••", "LONG=•••", "•••", "", "EMPTY=")
    (work / ".env.example").write_text("A=b\n")
    assert places.read(".env.example").rows == ("A=b",)
    for name in (".env~", ".npmrc", "prod.tfvars", "secrets.yaml"):
        (work / name).write_text("a = hush\n")
        assert places.read(name).rows == ("a = •••",)
    for name in ("id_ed25519", "server.pem", "prod.KEY", "credentials.json", "kubeconfig"):
        (work / name).write_text("secret\n")
        (work / f"{name}.txt").symlink_to(name)
        assert refusal(places, name) == refusal(places, f"{name}.txt") == "secret"
    monkeypatch.setenv("HOME", str(work))
    (work / ".aws").mkdir()
    (work / ".aws/config").write_text("x\n")
    assert refusal(places, ".aws/config") == "secret"
    around = Directories((str(work.parent),), places.home)
    (Path(places.home) / "sessions/token").write_text("x\n")
    assert refusal(around, "home/sessions/token") == "secret"
    within = Directories((str(Path(places.home) / "sessions"),), places.home)
    assert within.read("token").rows == ("x",)


def test_a_long_file_comes_in_parts_and_a_long_line_is_cut(places: Directories) -> None:
    work = Path(places.roots[0])
    (work / "long.txt").write_text("".join(f"{n}\n" for n in range(1, 5_001)))
    part = places.read("long.txt", line=3_000)
    assert (part.lines, len(part.rows)) == (5_000, LINES)
    assert part.rows[3_000 - part.first] == "3000"
    assert places.read("long.txt", first=4_990).rows[-1] == "5000"
    assert places.read("long.txt", first=11, last=20).rows == tuple(map(str, range(11, 21)))
    assert places.read("long.txt", line=10**9).rows[-1] == "5000"
    (work / "wide.js").write_text("x" * 1_000_000)
    (row,) = places.read("wide.js").rows
    assert row.endswith("… 999,000 more characters")
