"""Nothing that descends from an agent of this home answers asks or loosens modes, rules or
settings. `burglar.py` tries, from inside real agents: one that a worker started, one that was
started cold, one forked from the warm process; with Landlock and by descent alone."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.client import warm_agent
from rookery.core.json.events import kind_of
from rookery.processes import cgroups, roots, tree
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, SCRIPT, surroundings, write_settings
from tests.agent.driving import allow_all, run
from tests.conftest import end_all
from tests.e2e.house import CALM, GUARDS, House, unconfine, until
from tests.worker.aviary import Aviary

TRIES = 26


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with serving(SCRIPT) as model:
        yield model


def refused(tries: dict[str, str]) -> None:
    """Each was tried, and told no where it could be told anything."""
    assert len(tries) == TRIES
    for name, came in tries.items():
        assert all(_is_no(part) for part in came.split("|")), (name, came)


def _is_no(came: str) -> bool:
    signs = ("_rejected from_the_agent", "_rejected wrong_socket", "PermissionError")
    signs += ("An agent cannot", "A session created by an agent", "not waited for", "unshare")
    return any(sign in came for sign in signs)


@pytest.mark.parametrize("guard", GUARDS)
async def test_an_agent_of_a_worker_cannot_approve_itself(aviary: Aviary, guard: str) -> None:
    """A program of another vendor's, as a worker starts it."""
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    begun = await own.prompt([{"spawn": house.argv(own)}, *CALM])
    await own.ask(begun)
    assert own.header().process["guard"] == guard
    refused(await house.tries())
    house.check(own)


@pytest.mark.parametrize("guard", GUARDS)
async def test_a_command_in_a_terminal_cannot_approve_itself(aviary: Aviary, guard: str) -> None:
    """Which the worker starts for it."""
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    tries = ["path socket", "control socket", "double fork", "gone at once", "sibling"]
    words = " ".join(f"'{word}'" for word in [*house.argv(own), *tries])
    # What has not left the command's group when that ends is ended with it.
    there = f"until [ -e '{house.out}' ]; do sleep 0.05; done"
    command = f"setsid -f {words} >/dev/null 2>&1; {there}"
    begun = await own.prompt([{"command": command}, *CALM])
    await own.ask(begun)
    assert any(kind_of(event.update) == "_terminal" for event in own.events())
    came = await house.tries()
    assert set(came) == set(tries)
    house.check(own)


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize(
    "warm",
    [pytest.param(False, id="cold", marks=pytest.mark.long), pytest.param(True, id="warm")],
)
async def test_our_own_agent_cannot_approve_itself(
    aviary: Aviary, model: ScriptedModel, guard: str, warm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command it was allowed to run leaves a job, which then tries to answer for the next."""
    home = Path(aviary.home)
    (aviary.root / "person").mkdir()
    monkeypatch.setenv("HOME", str(aviary.root / "person"))
    write_settings(home, model)
    if warm:
        (home / "config.toml").write_text("")
    unconfine(aviary, guard, "player", "rookery")
    if warm:
        await asyncio.to_thread(warm_up, aviary.home)
    house = House(aviary)
    await house.lock()
    own = aviary.hatch(agent="rookery", argv=[])
    line = " ".join(house.argv(own))
    steps = [run(f"nohup {line} >/dev/null 2>&1 & sleep 0.1"), run("true"), {"text": "Done."}]
    begun = await own.prompt(json.dumps({"play": steps}))
    ask = await own.ask(begun)
    if warm:
        assert forks(aviary.home), "it was not forked from the warm process"
    answered = await own.answer(ask, "allow-once")
    await own.ask(answered)
    assert own.header().process["guard"] == guard
    refused(await house.tries())
    house.check(own, answered=1)
    if warm:
        await asyncio.to_thread(end_all, home)


def warm_up(home: str) -> None:
    warm_agent.start(home, 0.0)
    path = warm_agent.socket_path(home)
    until(lambda: os.path.exists(path), "no warm process came up")


def forks(home: str) -> list[int]:
    locks = Path(home, "run").glob("warm-*.lock")
    pids = {int(lock.read_text()) for lock in locks}
    return [row.pid for row in tree.table() if row.parent in pids]


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS)
async def test_an_agent_started_by_an_editor_cannot_approve_itself(
    aviary: Aviary, model: ScriptedModel, guard: str
) -> None:
    """No worker is above it: it has a keeper, which also ends what it leaves behind."""
    home = Path(aviary.home)
    (home / "person").mkdir()
    write_settings(home, model)
    unconfine(aviary, guard, "player", "rookery")
    house = House(aviary)
    await house.lock()
    agent = await Agent.start(ARGV, environment=surroundings(home))
    try:
        allow_all(agent)
        session = await agent.begin(str(aviary.work))
        recorded = os.listdir(roots.directory(aviary.home))
        keeper = agent.process.pid
        [below] = [row for row in tree.table() if row.parent == keeper]
        assert f"{below.pid}-{below.start}" in recorded
        tries = ["path socket", "control socket", "double fork", "cleared environment", "rule"]
        line = " ".join(house.argv(house.other))
        words = " ".join(f"'{name}'" for name in tries)
        await agent.turn(session, [run(f"{line} {words} >/dev/null 2>&1"), {"text": "Done."}])
        came = await house.tries()
        assert set(came) == set(tries)
        left = aviary.root / "left"
        command = f"setsid -f sh -c 'echo $$ > {left}; exec sleep 1000' >/dev/null 2>&1"
        await agent.turn(session, [run(command), {"text": "Done."}])
        await asyncio.to_thread(until, lambda: left.exists() and left.read_text(), "no job")
        job = tree.process(int(left.read_text()))
        assert job is not None
        os.kill(below.pid, signal.SIGKILL)
        assert not await asyncio.to_thread(tree.wait_gone, [job], 60.0)
        assert await agent.process.wait() == 128 + signal.SIGKILL
    finally:
        await agent.kill()
    house.check(house.other)
    assert f"{below.pid}-{below.start}" not in os.listdir(roots.directory(aviary.home))


@pytest.mark.parametrize("guard", GUARDS)
async def test_an_orphan_of_a_dead_agent_cannot_approve(aviary: Aviary, guard: str) -> None:
    """It left its parents and outlives the agent by the grace that a worker gives."""
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    begun = await own.prompt([{"spawn": [*house.argv(own), "after the agent's end"]}, *CALM])
    await own.ask(begun)
    agent = own.agent
    waiting = Path(f"{house.out}.waits")
    await asyncio.to_thread(until, waiting.exists, "it does not wait")
    os.kill(agent.pid, signal.SIGKILL)
    orphan = tree.process(int(waiting.read_text()))
    if orphan is not None:
        assert not await asyncio.to_thread(tree.wait_gone, [orphan], 60.0)
    assert len(house.other.header().asks) == 1
    assert house.other.header().confirm == "every"


@pytest.mark.parametrize("guard", GUARDS)
async def test_an_orphan_that_killed_worker_and_warden_cannot_approve(
    aviary: Aviary, guard: str
) -> None:
    """By its control group, where descent tells nothing any more; the kernel does not let a
    confined one kill them."""
    if guard == "lineage" and not grouped():
        pytest.skip("no control group can be made here")
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    own = aviary.hatch()
    begun = await own.prompt([{"spawn": house.accomplice(own, "orphan")}, {"until": "cancel"}])
    assert begun
    [came] = (await house.tries()).values()
    assert "_rejected" in came
    assert tree.alive(*own.worker[:2]) == (guard == "landlock")
    assert len(house.other.header().asks) == 1


def grouped() -> bool:
    return bool(cgroups._parents())
