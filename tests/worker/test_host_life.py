"""A worker's life: what it outlives, what ends it, and that nothing outlives it."""

import asyncio
import json
import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.build import build
from rookery.client import fleet
from rookery.client.start import connectable
from rookery.home import paths
from rookery.log.lock import is_held
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.worker.aviary import Aviary, Bird, Steps, is_agent, is_ask, is_idle, is_text, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ASK: Steps = [{"ask": "Go on?", "allowed": [{"text": "went on"}]}]
STARTER = """
import asyncio, fcntl, json, signal, sys, termios
from rookery.client.session import SessionClient
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
async def main():
    client = SessionClient(sys.argv[1], sys.argv[2])
    await client.send({"do": "prompt", "prompt": json.loads(sys.argv[3])})
    print("sent", flush=True)
    async for _ in client.follow():
        pass
asyncio.run(main())
"""
FAMILY: Steps = [
    {"spawn": ["sleep", "1000"]},
    {"text": "plain $pid;"},
    {"spawn": ["sleep", "1000"], "detach": True},
    {"text": "orphan $pid;"},
    {"spawn": ["sh", "-c", "trap '' TERM; exec sleep 1000"], "detach": True},
    {"text": "stubborn $pid;"},
    {"spawn": ["env", "-i", "sleep", "1000"], "detach": True},
    {"text": "unmarked $pid;"},
]


def family(text: str) -> list[Process]:
    """Who the script said that it spawned."""
    pids = [int(part.split()[1]) for part in text.split(";") if part.strip()]
    rows = {row.pid: row for row in tree.table()}
    return [rows[pid] for pid in pids]


async def test_hang_up_of_the_starters_terminal_ends_no_turn(aviary: Aviary) -> None:
    bird = aviary.hatch()
    prompt = json.dumps([{"type": "text", "text": json.dumps({"play": ASK})}])
    master, slave = pty.openpty()
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, aviary.home, bird.id, prompt),
        stdin=slave,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(slave)
    assert starter.stdout is not None
    assert await starter.stdout.readline() == b"sent\n"
    ask = (await bird.until(is_ask)).update
    os.close(master)
    assert await starter.wait() == -signal.SIGHUP
    await bird.answer(ask, "allow")
    assert (await bird.until(is_idle)).update["reason"] == "end_turn"


async def test_worker_stands_apart(aviary: Aviary) -> None:
    """A session and groups of its own, cwd /, stdio to its log."""
    bird = aviary.hatch()
    await bird.turn("hello")
    worker, warden, agent = bird.worker.pid, bird.warden.pid, bird.agent.pid
    assert len({os.getsid(0), os.getsid(worker), os.getsid(agent)}) == 3
    assert (os.getsid(worker), os.getpgid(worker)) == (warden, worker)
    assert os.getpgid(agent) == agent
    files = {
        name: os.readlink(f"/proc/{worker}/{name}") for name in ("cwd", "fd/0", "fd/1", "fd/2")
    }
    log = str(bird.directory / paths.WORKER_LOG)
    assert files == {"cwd": "/", "fd/0": "/dev/null", "fd/1": log, "fd/2": log}
    assert os.readlink(f"/proc/{agent}/cwd") == str(aviary.work)


async def test_worker_json_informs(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    record = bird.record
    assert tree.alive(record["pid"], record["start"])
    assert tree.alive(record["warden"], record["wardenStart"])
    assert tree.alive(record["agentPid"], record["agentStart"])
    assert record["socket"] == bird.socket
    assert (record["agent"], record["argv"]) == ("player", bird.header().argv)
    assert record["agentSession"] == bird.header().agent_session["id"]
    assert record["build"] == build()
    assert record["started"] <= record["attached"]
    assert stat.S_IMODE((bird.directory / paths.WORKER).stat().st_mode) == 0o600
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert bird.record["ended"] >= record["started"]


@pytest.mark.parametrize("way", ["stop", "restart", "kill", "kill -9", "warden killed"])
async def test_every_ending_ends_the_agents_whole_tree(aviary: Aviary, way: str) -> None:
    """Orphans, a process that ignores TERM and one that hides its mark included."""
    aviary.configure(stop_grace=0.2)
    bird = aviary.hatch()
    events = await bird.turn(FAMILY)
    born = family(text_of(events))
    assert len(born) == 4
    worker, warden, agent = bird.worker, bird.warden, bird.agent
    match way:
        case "stop" | "restart":
            await bird.send(way)
        case "kill":
            await asyncio.to_thread(fleet.kill, aviary.home, bird.id)
        case "kill -9":
            tree.kill([worker])
        case _:
            tree.kill([warden])
    await bird.gone(agent, *born)
    if way == "restart":
        assert tree.still_alive([worker, warden]) == [worker, warden]
        ready = await bird.until(lambda event: is_agent(event, "ready"), events[-1].seq)
        assert ready.update["how"] == "resume"
    else:
        await bird.gone(worker, warden)
        assert not connectable(bird.socket)


async def test_stop_after_restart_starts_nothing(aviary: Aviary) -> None:
    """The restart's wish ends with the worker."""
    aviary.configure(stop_grace=0.2)
    bird = aviary.hatch()
    await bird.turn(FAMILY)
    async with bird.client() as one, bird.client() as other:
        await asyncio.gather(one.send({"do": "restart"}), other.send({"do": "stop"}))
    await bird.gone(bird.worker)
    starts = [event for event in bird.events() if is_agent(event, "starting")]
    assert len(starts) <= 2
    assert bird.header().process["state"] in ("exited", "stopped")


@pytest.mark.long
async def test_worker_whose_session_is_gone_ends(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([*FAMILY, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "unmarked"), begun.seq)
    born = family(text_of(bird.events()))
    everyone = [bird.worker, bird.warden, bird.agent, *born]
    shutil.rmtree(bird.directory)
    await bird.gone(*everyone)
    assert not bird.directory.exists()


async def test_killed_worker_is_buried_by_the_next_client(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"text": "half"}, *ASK])
    await bird.ask(begun)
    before = bird.events()
    tree.kill([bird.worker])
    ended = await bird.ended(begun)
    assert ended.update["reason"] == "interrupted"
    assert bird.events()[: len(before)] == before
    header = bird.header()
    assert (header.state, header.process["state"]) == ("idle", "exited")
    assert len(header.asks) == 1, "what was asked is kept"
    await bird.send("cancel")
    assert await bird.reason("again") == "end_turn"
    assert "You said: again" in text_of(bird.events(ended.seq))


async def test_looking_at_the_list_buries_too_and_starts_nothing(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.ask(await bird.prompt(ASK))
    worker, warden = bird.worker, bird.warden
    tree.kill([worker])
    await bird.gone(worker, warden)
    [head] = fleet.heads(aviary.home)
    assert (head["state"], head["reason"], head["awake"]) == ("idle", "interrupted", False)
    assert not is_held(str(bird.directory / paths.LOCK))


async def test_both_killed_at_once_are_swept_by_the_next_worker(aviary: Aviary) -> None:
    """What carries the mark is found again."""
    bird = aviary.hatch()
    events = await bird.turn(FAMILY[:6])
    born = family(text_of(events))
    for process in (bird.warden, bird.worker):
        os.kill(process.pid, signal.SIGSTOP)  # so that neither sees the other die
    agent = bird.agent
    tree.kill([bird.warden, bird.worker])
    await bird.gone(bird.warden, bird.worker)
    assert await bird.reason("again") == "end_turn"
    await bird.gone(agent, *born)


async def test_two_clients_start_one_worker(aviary: Aviary) -> None:
    """One lock, one worker; each prompt is admitted once."""
    bird = aviary.hatch()
    ids = [f"prompt-{number}" for number in range(4)]
    admitted = await asyncio.gather(*(bird.prompt("hello", id=id) for id in ids))
    assert sorted(str(event.cause) for event in admitted) == ids
    await bird.until(lambda _: bird.header().queue == [] and bird.header().state == "idle")
    hosts = [row for row in aviary.processes() if is_host(row, bird)]
    mine = {bird.worker.pid, bird.warden.pid}
    # Those that came second find the lock taken, and go.
    await bird.gone(*(row for row in hosts if row.pid not in mine))
    assert {row.pid for row in hosts} >= mine
    assert sum(is_agent(event, "starting") for event in bird.events()) == 1


def is_host(row: Process, bird: Bird) -> bool:
    try:
        words = Path(f"/proc/{row.pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:
        return False  # it went while we looked
    return bird.id.encode() in words and b"--ready-fd" in words


async def test_removed_socket_is_bound_again(aviary: Aviary) -> None:
    """A cleaner of /tmp cuts nobody off."""
    bird = aviary.hatch()
    await bird.turn("hello")
    worker = bird.worker
    os.unlink(bird.socket)
    assert await bird.reason("again") == "end_turn"
    assert bird.worker == worker
    assert stat.S_IMODE(os.stat(bird.socket).st_mode) == 0o600


async def test_what_a_session_was_made_with_is_given_again(aviary: Aviary) -> None:
    """Cwd, roots and MCP servers at new and at resume."""
    heard = aviary.root / "heard"
    listen = 'tee -a "$0" | "$@"'  # what the agent is told, on its way to the player
    roots = [str(aviary.root / "one"), str(aviary.root / "two")]
    servers = [
        {"name": "files", "command": "/bin/mcp", "args": ["-x"], "env": []},
        {"type": "http", "name": "web", "url": "http://localhost:1", "headers": []},
    ]
    argv = ["sh", "-c", listen, str(heard), *aviary.player()]
    bird = aviary.hatch(argv=argv, roots=roots, mcp_servers=servers)
    await bird.turn("hello")
    await bird.send("restart")
    await bird.turn("again")
    await bird.send("stop")
    await bird.gone(bird.worker)
    await bird.turn("and again")
    told = [json.loads(line) for line in heard.read_text().splitlines()]
    openings = [line for line in told if line["method"] in ("session/new", "session/resume")]
    methods = [line["method"] for line in openings]
    assert methods == ["session/new", "session/resume", "session/resume"]
    session = bird.header().agent_session["id"]
    for line in openings:
        assert line["params"]["cwd"] == str(aviary.work)
        assert line["params"]["additionalDirectories"] == roots
        assert line["params"]["mcpServers"] == servers
        assert line["params"].get("sessionId") in (None, session)


async def test_title_is_a_persons_else_the_agents_else_the_first_line(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("first line\nsecond line")
    assert bird.header().title == "first line"
    await bird.turn([{"title": "The agent's"}])
    assert bird.header().title == "The agent's"
    await bird.send("rename", title="Mine")
    await bird.turn([{"title": "The agent's other"}])
    assert bird.header().title == "Mine"
    await bird.send("stop")
    await bird.gone(bird.worker)
    renamed = await bird.send("rename", title="Mine asleep")
    assert renamed.update == {"sessionUpdate": "_session", "title": "Mine asleep"}
    assert not is_held(str(bird.directory / paths.LOCK))
    await bird.turn("again")
    assert bird.header().title == "Mine asleep"
    [head] = fleet.heads(aviary.home)
    assert head["title"] == "Mine asleep"
