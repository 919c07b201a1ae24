"""No way leads out of a sandbox: of at least 30 none succeeds. The same agent without one shows
that its ways are real.

What a way reached is seen from outside (prison.py): the agent's own word counts for nothing.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rookery.processes import tree
from tests.sandbox import images
from tests.sandbox.prison import NETWORK, PROXY, Prison
from tests.worker.aviary import Aviary, Bird, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")

PIDS = 64
OFF = f"[sandbox]\nnetwork = 'off'\npids = {PIDS}\n"
ON = f"[sandbox]\nnetwork = 'on'\npids = {PIDS}\n"
LISTED = f"[sandbox]\nnetwork = 'listed'\npids = {PIDS}\n"


@pytest.fixture
def jail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Aviary, Prison]]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    around = Prison(tmp_path, aviary.home)
    try:
        around.furnish()
        yield aviary, around
    finally:
        around.close()
        aviary.end()


def hatch(aviary: Aviary, around: Prison, settings: str = "", **fields: Any) -> Bird:
    """Its command names the player: so it is offered files and terminals."""
    Path(aviary.home, "config.toml").write_text(settings)
    aviary.trust()
    argv = [os.path.realpath(sys.executable), "-I", "-S", str(around.work / "prisoner")]
    given = {**os.environ, **around.environment}
    fields = {"agent": "demo", "cwd": str(around.work), **fields}
    return aviary.hatch(argv=[*argv, "rookery.acp.player"], environment=given, **fields)


async def attempt(bird: Bird, around: Prison, *ways: str) -> dict[str, str]:
    """What the prisoner says that they brought."""
    events = await bird.turn(json.dumps({**around.plan, "ways": ways}))
    assert events[-1].update["reason"] == "end_turn", [event.update for event in events[-4:]]
    return dict(json.loads(text_of(events)))


async def begin(bird: Bird, around: Prison) -> list[str]:
    """All ways that can be tried here."""
    await attempt(bird, around)
    record = bird.record
    control = {"path": record["socket"], "name": record.get("control", "")}
    around.meet(record["pid"], control)
    for name in ("command-by-path", "command-by-name"):
        around.special[name] = lambda name=name: name in titles(bird)
    return around.possible()


def titles(bird: Bird) -> set[str]:
    return {event.update.get("title", "") for event in bird.events()}


async def led_out(bird: Bird, around: Prison, ways: list[str]) -> dict[str, str]:
    """Those that did, with what they brought."""
    counting = asyncio.create_task(crowd(bird, around))
    found = await attempt(bird, around, *ways)
    counted = await counting
    print(*(f"{name}: {said[:300]}" for name, said in found.items()), sep="\n")
    around.special["many-processes"] = lambda: counted > PIDS
    return {name: found[name] for name in ways if around.led_out(name, found[name])}


async def crowd(bird: Bird, around: Prison) -> int:
    """How many the prisoner is, once it has made all it can."""
    made = around.work / "many-processes.made"
    async with asyncio.timeout(300):
        while not made.exists() or not made.read_text():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
    prisoner = str(around.work / "prisoner").encode()
    found = [row for row in tree.descendants(bird.worker.pid) if prisoner in words_of(row.pid)]
    (around.work / "many-processes.counted").touch()
    return len(found)


def words_of(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


NEVER = {"write-inherited", "client-write", "client-write-dotdot", "client-write-link"} | {
    "write-proc-1-root",  # the first process may be protected from root, too
    *("client-write-race", "client-read", "client-read-proc", "terminal-directory"),
    *("terminal-option", "terminal-path", "terminal-loader", "terminal-python", "environment"),
}
"""Closed with or without a sandbox, or open only where there is one."""


@pytest.mark.skipif(os.getuid() != 0, reason="mounts and devices are root's: nothing to compare")
async def test_without_a_sandbox_every_way_out_works(jail: tuple[Aviary, Prison]) -> None:
    """The control: the same attempts by the same agent lead out where nothing is around it."""
    aviary, around = jail
    bird = hatch(aviary, around, '[agents.demo]\nconfined = false\ncommand = ["x"]\n')
    ways = await begin(bird, around)
    out = await led_out(bird, around, ways)
    assert set(ways) - set(out) <= NEVER, "these did not even work without a sandbox"
    assert len(out) >= 45


def settings(kind: str, given: str) -> str:
    """With what a container needs; without an engine that works, nothing can be said of it."""
    if kind != "container":
        return given
    if fault := images.fault():
        pytest.skip(fault)
    engine = " ".join(images.ENGINE)
    return f"{given}engine = '{engine}'\nimage = '{images.image()}'\nargs = '{images.LIMITS}'\n"


KINDS = ["bwrap", pytest.param("container", marks=pytest.mark.long)]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_way_leads_out_of_the_sandbox(jail: tuple[Aviary, Prison], kind: str) -> None:
    """With the network off."""
    aviary, around = jail
    bird = hatch(aviary, around, settings(kind, OFF), sandbox=kind)
    ways = await begin(bird, around)
    assert len(ways) >= 30
    assert await led_out(bird, around, ways) == {}
    assert await led_out_alone(bird, around) == {}


async def led_out_alone(bird: Bird, around: Prison) -> dict[str, str]:
    """Those that come last: the session's directory swapped, the worker killed, and what stays
    behind when the session is stopped."""
    found = await attempt(bird, around, "swap-root", "kill-worker", "stay-behind")
    worker, out = bird.worker, {}
    if around.led_out("swap-root", ""):
        out["swap-root"] = found["swap-root"]
    if not tree.alive(worker.pid, worker.start):
        out["kill-worker"] = found["kill-worker"]
    assert orphans(around), "it was never there"
    await bird.send("stop")
    await bird.gone(worker)
    if orphans(around):
        out["stay-behind"] = found["stay-behind"]
    return out


def orphans(around: Prison) -> list[int]:
    """Whatever of it the machine still runs, in any namespace."""
    mark, pids = around.plan["orphan"].encode(), Path("/proc").glob("[0-9]*")
    return [int(path.name) for path in pids if mark in words_of(int(path.name))]


@pytest.mark.long
async def test_with_the_network_on_only_the_network_is_open(
    jail: tuple[Aviary, Prison],
) -> None:
    """Neither sockets of the file system nor abstract ones, which are the network's, too."""
    aviary, around = jail
    bird = hatch(aviary, around, ON, sandbox="bwrap")
    out = await led_out(bird, around, await begin(bird, around))
    assert set(out) == set(NETWORK) & set(around.possible())


@pytest.mark.parametrize("kind", KINDS)
async def test_the_proxy_leads_to_what_is_listed_and_nowhere_else(
    jail: tuple[Aviary, Prison], kind: str
) -> None:
    """The name that is listed leads to this machine itself: so it leads nowhere. What is listed
    later is reached, by the same request."""
    aviary, around = jail
    around.plan["allowed"] = name = around.own_name()
    listed = f"{LISTED}allow = '{name}:{around.plan['listed']}'\n"
    bird = hatch(aviary, around, settings(kind, listed), sandbox=kind)
    ways = [*await begin(bird, around), *PROXY]
    ways.remove("many-processes")
    found = await attempt(bird, around, *ways)
    assert {way: found[way] for way in ways if around.led_out(way, found[way])} == {}
    refused = ("HTTP/1.1 403", "HTTP/1.1 502")
    assert [way for way in PROXY if not found[way].startswith(refused)] == []

    port = around.plan["tcp"]
    open_one = hatch(
        aviary, around, settings(kind, f"{LISTED}allow = 'localhost:{port}'\n"), sandbox=kind
    )
    await attempt(open_one, around, "proxy-forbidden-host")
    assert around.led_out("proxy-forbidden-host", ""), "it is listed now"
