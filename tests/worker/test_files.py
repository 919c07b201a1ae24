"""The agent's file calls stay inside the session's directories, whatever it tries."""

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from rookery.wire.params import NOT_FOUND
from rookery.worker.agent.files import Files
from tests.worker.aviary import Aviary, text_of

ROUNDS = 2_000
SECRET = "SECRET of somebody else"


class Place:
    """A root with a file, and a neighbour that must never be touched."""

    def __init__(self, top: Path) -> None:
        self.root, self.outside = top / "root", top / "outside"
        for folder in (self.root / "deep" / "er", self.outside / "deep"):
            folder.mkdir(parents=True)
        (self.root / "file").write_text("one\ntwo\nthree\n")
        (self.outside / "file").write_text(SECRET)
        (self.outside / "deep" / "file").write_text(SECRET)
        self.files = Files([str(self.root)], 0o022)

    def at(self, name: str) -> str:
        return f"{self.root}/{name}"

    def untouched(self) -> None:
        found = sorted(
            str(path.relative_to(self.outside))
            for path in self.outside.rglob("*")
            if path.is_file()
        )
        assert found == ["deep/file", "file"]
        assert (self.outside / "file").read_text() == SECRET
        assert (self.outside / "deep" / "file").read_text() == SECRET


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.untouched()


def refused(work: Callable[[], object]) -> int:
    with pytest.raises(RpcError) as told:
        work()
    return told.value.code


# --- reading and writing ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "limit", "text"),
    [
        (None, None, "one\ntwo\nthree\n"),
        (1, None, "one\ntwo\nthree\n"),
        (0, 1, "one\n"),
        (2, 1, "two\n"),
        (2, None, "two\nthree\n"),
        (None, 2, "one\ntwo\n"),
        (3, 9, "three\n"),
        (4, 1, ""),
        (9, 1, ""),
        (1, 0, ""),
    ],
)
def test_lines_are_counted_from_one(
    place: Place, line: int | None, limit: int | None, text: str
) -> None:
    assert place.files.read(place.at("file"), line, limit) == text


def test_only_a_newline_ends_a_line(place: Place) -> None:
    (place.root / "odd").write_text("a\x0cb\u2028c\r\nd", newline="")
    assert place.files.read(place.at("odd"), 1, 1) == "a\x0cb\u2028c\r\n"
    assert place.files.read(place.at("odd"), 2) == "d"


@pytest.mark.parametrize(("line", "limit"), [(-1, None), (None, -1)])
def test_negative_places_are_refused(place: Place, line: int | None, limit: int | None) -> None:
    assert refused(lambda: place.files.read(place.at("file"), line, limit)) == INVALID_PARAMS


def test_missing_file_has_a_code_of_its_own(place: Place) -> None:
    """-32002"""
    assert NOT_FOUND == -32002
    assert refused(lambda: place.files.read(place.at("none"))) == NOT_FOUND
    assert refused(lambda: place.files.read(place.at("none/deeper"))) == NOT_FOUND


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_write_makes_folders_with_the_sessions_umask(place: Place, umask: int) -> None:
    Files([str(place.root)], umask).write(place.at("a/b/new"), "text")
    for name, most in (("a", 0o777), ("a/b", 0o777), ("a/b/new", 0o666)):
        assert stat.S_IMODE(os.stat(place.at(name)).st_mode) == most & ~umask
    assert (place.root / "a" / "b" / "new").read_text() == "text"


def test_write_keeps_the_mode_and_replaces_at_once(place: Place) -> None:
    path = place.root / "file"
    path.chmod(0o751)
    with path.open() as before:
        place.files.write(str(path), "changed")
        assert before.read() == "one\ntwo\nthree\n"  # whoever has it open reads the whole old one
    assert path.read_text() == "changed"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert sorted(os.listdir(place.root)) == ["deep", "file"]


def test_write_keeps_the_owner_and_the_other_names_of_a_file(place: Place) -> None:
    path, twin = place.root / "file", place.root / "deep" / "twin"
    owner = (1234, 1235) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(path, *owner)
    path.chmod(0o2751)
    place.files.write(str(path), "shorter")
    found = path.stat()
    assert (found.st_uid, found.st_gid) == owner
    os.link(path, twin)
    place.files.write(str(path), "s")
    assert twin.read_text() == "s"
    assert twin.samefile(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o2751


def test_write_that_fails_leaves_nothing(place: Place) -> None:
    (place.root / "deep" / "er").chmod(0o500)
    try:
        with suppress(RpcError):  # root may write everywhere
            place.files.write(place.at("deep/er/new"), "x")
        assert refused(lambda: place.files.write(place.at("file"), "\ud800")) == INVALID_PARAMS
    finally:
        (place.root / "deep" / "er").chmod(0o700)
    assert [name for name in os.listdir(place.root) if name.endswith(".tmp")] == []
    assert (place.root / "file").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("name", ["x" * 255, "日" * 85, "🐦" * 63, "a b\n\t*?'\"", ".hidden"])
def test_odd_names_are_taken(place: Place, name: str) -> None:
    place.files.write(place.at(name), "odd")
    assert place.files.read(place.at(name)) == "odd"


def test_large_files_are_refused_both_ways(place: Place) -> None:
    with (place.root / "big").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert refused(lambda: place.files.read(place.at("big"))) == INVALID_PARAMS
    assert (
        refused(lambda: place.files.write(place.at("b"), "x" * (16 * 1024 * 1024 + 1)))
        == INVALID_PARAMS
    )


def test_what_is_no_text_is_refused(place: Place) -> None:
    (place.root / "binary").write_bytes(b"\xff\xfe\x00")
    assert refused(lambda: place.files.read(place.at("binary"))) == INVALID_PARAMS


# --- hostile paths ----------------------------------------------------------------------------


def outside_names(place: Place) -> list[str]:
    return [
        str(place.outside / "file"),
        f"{place.root}/../outside/file",
        f"{place.root}/deep/../../outside/file",
        f"{place.root}/./deep/er/../../../outside/./file",
        f"{place.root}//..//outside//file",
        f"{place.root}-neighbour",  # the root is a prefix of its name
        f"{place.root}/..",
        str(place.root),
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "/dev/stdin",
        "/",
        f"/proc/self/root{place.outside}/file",
        "/proc/self/cwd/../outside/file",
    ]


def test_paths_that_lead_outside_are_refused(place: Place) -> None:
    for path in outside_names(place):
        assert refused(lambda path=path: place.files.read(path)) == INVALID_PARAMS, path
        assert refused(lambda path=path: place.files.write(path, "x")) == INVALID_PARAMS, path


@pytest.mark.parametrize(
    "name",
    ["relative", "", "./file", "~/file", "file://x", "/nul\0byte", "/lone\ud800", "/" + "x" * 5000],
)
def test_names_that_are_none_are_refused(place: Place, name: str) -> None:
    assert refused(lambda: place.files.read(name)) == INVALID_PARAMS
    assert refused(lambda: place.files.write(name, "x")) == INVALID_PARAMS
    assert refused(lambda: place.files.check(name)) == INVALID_PARAMS


def test_a_component_of_256_letters_is_refused(place: Place) -> None:
    assert refused(lambda: place.files.write(place.at("x" * 256 + "/y"), "x")) == INVALID_PARAMS


def test_links_out_are_refused_and_links_inside_are_followed(place: Place) -> None:
    (place.root / "out").symlink_to(place.outside / "file")
    (place.root / "out-folder").symlink_to(place.outside)
    (place.root / "chain").symlink_to("chain2")
    (place.root / "chain2").symlink_to("deep/chain3")
    (place.root / "deep" / "chain3").symlink_to("../out-folder/deep")
    (place.root / "dangling").symlink_to(place.outside / "new")
    for name in ("out", "out-folder/file", "chain/file", "dangling", "out-folder/new"):
        assert refused(lambda name=name: place.files.read(place.at(name))) == INVALID_PARAMS, name
        assert (
            refused(lambda name=name: place.files.write(place.at(name), "x")) == INVALID_PARAMS
        ), name
    (place.root / "in").symlink_to("file")
    (place.root / "in-folder").symlink_to(place.root / "deep")
    place.files.write(place.at("in"), "through a link")
    assert (place.root / "in").is_symlink()
    assert (place.root / "file").read_text() == "through a link"
    place.files.write(place.at("in-folder/new"), "deep")
    assert (place.root / "deep" / "new").read_text() == "deep"


def test_links_that_run_in_circles_end(place: Place) -> None:
    (place.root / "a").symlink_to("b")
    (place.root / "b").symlink_to("a")
    (place.root / "self").symlink_to("self/self")
    for name in ("a", "b/x", "self", "self/x"):
        assert refused(lambda name=name: place.files.read(place.at(name))) in (
            INVALID_PARAMS,
            INTERNAL_ERROR,
        )
        assert refused(lambda name=name: place.files.write(place.at(name), "x")) in (
            INVALID_PARAMS,
            INTERNAL_ERROR,
        )


def test_a_root_that_is_a_link_is_its_target(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "link").symlink_to(place.root)
    files = Files([str(tmp_path / "link")], 0o022)
    assert files.read(f"{tmp_path}/link/file", 1, 1) == "one\n"
    assert files.read(place.at("file"), 1, 1) == "one\n"


def test_what_is_no_file_is_refused_without_waiting(place: Place) -> None:
    os.mkfifo(place.root / "pipe")
    (place.root / "null").symlink_to("/dev/null")
    names = ["pipe", "deep", "null", "file/below"]
    with suppress(PermissionError):  # only root makes devices
        os.mknod(place.root / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        names.append("zero")
    for name in names:
        assert refused(lambda name=name: place.files.read(place.at(name))) == INVALID_PARAMS, name
        assert (
            refused(lambda name=name: place.files.write(place.at(name), "x")) == INVALID_PARAMS
        ), name


# --- while somebody swaps ---------------------------------------------------------------------


@contextmanager
def swapped_for_ever(place: Place, name: str, target: Path) -> Iterator[list[int]]:
    """In turns: a real folder (or file), and a link to the one outside; how often, so far."""
    path, spare = place.root / name, place.root / (name + ".spare")
    stop, swaps = threading.Event(), [0]

    def swap() -> None:
        while not stop.is_set():
            os.rename(path, spare)
            with suppress(FileExistsError):  # a write made what was missing
                os.symlink(target, path)
                swaps[0] += 1
            while os.path.lexists(path):
                remove(path)
            with suppress(OSError):  # a write made it again, and fuller than this one
                os.rename(spare, path)
            remove(spare)

    racing = threading.Thread(target=swap)
    racing.start()
    try:
        yield swaps
    finally:
        stop.set()
        racing.join()


def remove(path: Path) -> None:
    """As far as it goes: somebody may be writing below."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["deep", "file"])
def test_a_link_that_is_swapped_in_during_the_call_leads_nowhere(place: Place, name: str) -> None:
    """The figure: no byte from outside is read or written, in 2,000 rounds and more."""
    (place.root / "deep" / "file").write_text("mine")
    path = place.at("file" if name == "file" else "deep/file")
    outcomes = {"read": 0, "written": 0, "refused": 0}
    with swapped_for_ever(place, name, place.outside / name) as swaps:
        for number in range(100 * ROUNDS):
            try:
                assert SECRET not in place.files.read(path)
                outcomes["read"] += 1
                place.files.write(path, f"mine {number}")
                outcomes["written"] += 1
            except RpcError:
                outcomes["refused"] += 1
            if number % 100 == 0:
                place.untouched()
            if number >= ROUNDS and swaps[0] >= ROUNDS and all(outcomes.values()):
                break
    place.untouched()
    assert swaps[0] >= ROUNDS
    assert all(outcomes.values()), outcomes


def test_a_folder_that_is_swapped_while_folders_are_made_leads_nowhere(place: Place) -> None:
    with swapped_for_ever(place, "deep", place.outside):
        for number in range(ROUNDS // 4):
            with suppress(RpcError):
                place.files.write(place.at(f"deep/a{number}/b/c"), "x")
    place.untouched()


# --- through a worker -------------------------------------------------------------------------


async def test_the_agent_reads_and_writes_inside_and_nowhere_else(aviary: Aviary) -> None:
    """With a second root."""
    extra, outside = aviary.root / "extra", aviary.root / "outside"
    extra.mkdir()
    outside.mkdir()
    (outside / "file").write_text(SECRET)
    (aviary.work / "link").symlink_to(outside)
    (aviary.work / "notes").write_text("one\ntwo\nthree\n")
    bird = aviary.hatch(roots=[str(extra)])
    events = await bird.turn(
        [
            {"read": "notes", "line": 2, "limit": 1},
            {"text": "line two: $content"},
            {"write": "made/by/agent", "content": "inside"},
            {"write": str(extra / "too"), "content": "extra"},
            {"read": "link/file"},
            {"text": "link: $content"},
            {"write": "link/new", "content": "x"},
            {"write": "../outside/new", "content": "x"},
            {"read": "missing"},
            {"text": "end: $content"},
        ]
    )
    assert "line two: two\n" in text_of(events)
    assert "outside the session's directories" in text_of(events)
    assert "No such file yet." in text_of(events)
    assert (aviary.work / "made" / "by" / "agent").read_text() == "inside"
    assert (extra / "too").read_text() == "extra"
    assert sorted(os.listdir(outside)) == ["file"]
    assert SECRET not in text_of(events)


async def test_codes_that_the_agent_is_told(aviary: Aviary) -> None:
    bird = aviary.hatch()
    told = []
    for method, params in (
        ("fs/read_text_file", {"path": str(aviary.work / "none")}),
        ("fs/read_text_file", {"path": "none"}),
        ("fs/read_text_file", {}),
        ("fs/write_text_file", {"path": str(aviary.work / "x"), "content": 7}),
        ("fs/remove", {"path": str(aviary.work / "x")}),
    ):
        steps = [{"request": method, "params": params}, {"text": "$answer"}]
        told.append(text_of(await bird.turn(steps)).partition(":")[0])
    assert told == ["-32002", "-32602", "-32602", "-32602", "-32601"]
    assert os.listdir(aviary.work) == []


async def test_only_our_own_agents_are_offered_files_and_terminals(aviary: Aviary) -> None:
    """A stranger gets neither the offer nor the service."""
    player = aviary.player()
    (aviary.root / "stranger.py").write_text(
        "import sys; from rookery.acp.player.entry import main; sys.exit(main(sys.argv[1:]))"
    )
    argv = [player[0], "-P", str(aviary.root / "stranger.py"), *player[4:]]
    bird = aviary.hatch(argv=argv, agent="stranger")
    path = str(aviary.work / "x")
    events = await bird.turn(
        [
            {"write": "x", "content": "never"},
            {"request": "fs/write_text_file", "params": {"path": path, "content": "x"}},
            {"text": "files $answer; "},
            {"request": "terminal/create", "params": {"command": "true"}},
            {"text": "terminals $answer; "},
        ]
    )
    assert text_of(events).count("-32601") == 2
    assert os.listdir(aviary.work) == []
