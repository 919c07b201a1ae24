"""What docs/security.md says is not covered, done: each of these gets through, as the page says, or
does not where it says that the kernel forbids it."""

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.house import GUARDS, House, closed, unconfine
from tests.worker.aviary import Aviary, Bird, is_idle

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


def says(*words: str) -> None:
    page = " ".join(PAGE.read_text().split())
    for word in words:
        assert word in page


async def let_in(house: House, own: Bird, way: str, *more: str) -> str:
    """What the accomplice says that came of its way."""
    steps = [{"spawn": house.accomplice(own, way, *more)}, {"until": "cancel"}]
    await own.prompt(steps)
    return next(iter((await house.tries()).values()))


async def answered(bird: Bird) -> bool:
    await bird.until(is_idle)
    return len(closed(bird)) == 1


@pytest.mark.long
async def test_a_tmux_that_ran_before(aviary: Aviary) -> None:
    says("a tmux, screen or terminal server that was running before")
    house = House(aviary)
    unconfine(aviary, "landlock")
    await house.lock()
    server = str(aviary.root / "tmux")
    await asyncio.to_thread(tmux, server, "-f", "/dev/null", "new-session", "-d")
    try:
        assert await let_in(house, aviary.hatch(), "tmux", server) == "typed"
        assert await answered(house.other)
    finally:
        await asyncio.to_thread(tmux, server, "kill-server")


def tmux(server: str, *words: str) -> None:
    subprocess.run(["tmux", "-S", server, *words], check=True)


async def test_a_shells_start_file(aviary: Aviary) -> None:
    says("your shell's start files")
    house = House(aviary)
    unconfine(aviary, "landlock")
    await house.lock()
    person = aviary.root / "person"
    person.mkdir()
    assert await let_in(house, aviary.hatch(), "start file", str(person)) == "written"
    given = os.environ | {"HOME": str(person)}
    await asyncio.to_thread(
        subprocess.run, ["bash", "-i", "-c", "true"], env=given, check=True, capture_output=True
    )
    assert await answered(house.other)


async def test_a_direct_write_to_the_log(aviary: Aviary) -> None:
    says("a direct write to `log.db`")
    house = House(aviary)
    unconfine(aviary, "landlock")
    house.other = house.asleep
    own = aviary.hatch()
    assert await let_in(house, own, "log") == "written"
    assert house.asleep.header().confirm == "all"


@pytest.mark.parametrize("guard", GUARDS)
async def test_an_orphan_that_killed_its_worker_and_left_its_group(
    aviary: Aviary, guard: str
) -> None:
    says("killing worker and warden first", "were not left")
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    more = ["control"] if guard == "landlock" else []
    came = await let_in(house, own, "orphan outside", *more)
    if guard == "lineage":
        assert await answered(house.other), came
    else:
        assert "PermissionError" in came
        assert not closed(house.other)


@pytest.mark.parametrize("guard", GUARDS)
async def test_a_connection_taken_out_of_a_persons_client(aviary: Aviary, guard: str) -> None:
    says("taking a socket out of it", "kernel.yama.ptrace_scope")
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.exists() and int(scope.read_text()):
        pytest.skip("this kernel lets nobody trace another's process")
    unconfine(aviary, guard, "player")
    house = House(aviary)
    ask = await house.lock()
    names = {"ask": ask["id"], "nonce": ask["nonce"], "option": "allow"}
    command = json.dumps({"command": {"id": "stolen", "do": "answer", **names}})
    control = f"\0{house.other.record['control']}"
    address = control if guard == "landlock" else house.other.socket
    with client(address):
        # An argument cannot hold the sign that an abstract name begins with.
        shown = address.replace("\0", "@").removesuffix(".s")  # bound as another, then renamed
        came = await let_in(house, aviary.hatch(), "steal", str(os.getpid()), command, shown)
        if guard == "lineage":
            assert came == "sent"
            assert await answered(house.other)
        else:
            assert came == "Operation not permitted"
            assert not closed(house.other)


@contextmanager
def client(address: str) -> Iterator[None]:
    """A person's, that is connected and welcome."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(address)
        hello = {"protocol": 1, "build": "x", "client": "person", "from": 0}
        link.sendall(json.dumps({"hello": hello}).encode() + b"\n")
        assert link.recv(10)
        yield


def test_the_page_is_linked() -> None:
    assert "(security.md)" in PAGE.with_name("policy.md").read_text()
