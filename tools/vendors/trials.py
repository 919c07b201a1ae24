"""What every vendor's agent must stand under a worker. The tests run them, and so does the table of
docs/vendors.md: what is measured there is what is tested here."""

import asyncio
import json
import shutil
import time
from collections import Counter
from contextlib import suppress

from rookery.core.events import kind_of
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.worker.aviary import PATIENCE, is_agent, is_idle, text_of
from tools.vendors.install import install
from tools.vendors.marks import conversation_of, heard
from tools.vendors.perch import Perch
from tools.vendors.roster import surroundings

FACT = "the-owl-is-grey"
"""Said before a death, and to be remembered after it."""


async def approve(perch: Perch) -> None:
    """P1, P2: asked, answered, and the tool really ran. W10: a new process asks as the old one."""
    await perch.set_asking()
    turn = await perch.run("echo approved > approved.txt", "allow_once")
    assert turn[-1].update["reason"] == "end_turn"
    assert (perch.work / "approved.txt").read_text() == "approved\n"
    assert "The tool said:" in text_of(turn)
    await perch.wake()
    await perch.run("echo again > again.txt", "allow_once")
    assert (perch.work / "again.txt").read_text() == "again\n"
    check_log(perch)


async def reject(perch: Perch) -> None:
    """P1: what was rejected is not run, and the next turn works."""
    await perch.set_asking()
    turn = await perch.run("echo rejected > rejected.txt", "reject_once")
    assert turn[-1].update["reason"] == perch.vendor.rejected
    assert not (perch.work / "rejected.txt").exists()
    assert text_of(await perch.say("still here")).endswith("still here")
    check_log(perch)


async def cancel(perch: Perch) -> float:
    """T5: the turn ends as cancelled, by the agent's own word, and the model is not listened to any
    more. Seconds from the command to the end."""
    begun = await perch.ramble()
    command = await perch.bird.send("cancel")
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "cancelled"
    asked = perch.llm.main()[-1]
    await asyncio.to_thread(perch.llm.wait, 1, lambda each: each is asked and each.ended)
    assert asked.ended == "hung up"
    assert not [event for event in perch.events() if is_agent(event, "exited")]
    assert text_of(await perch.say("still here")).endswith("still here")
    check_log(perch)
    return (ended.at - command.at) / 1000


async def kill_agent(perch: Perch) -> str:
    """A2, A4: kill -9 of the agent in mid-turn; the conversation comes back with the next prompt.
    Returns how."""
    await perch.say(FACT)
    begun = await perch.ramble()
    family = _family(perch.bird.agent)
    tree.kill([perch.bird.agent])
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "agent_exited"
    how = await _remembers(perch)
    await perch.bird.gone(*family)
    return how


async def kill_worker(perch: Perch) -> str:
    """W4, W8: kill -9 of the worker in mid-turn takes all that it started with it."""
    await perch.say(FACT)
    begun = await perch.ramble()
    family = [perch.bird.warden, *_family(perch.bird.worker)]
    tree.kill([perch.bird.worker])
    await perch.bird.gone(*family)
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "interrupted"
    return await _remembers(perch)


async def stop(perch: Perch) -> None:
    """W4: nothing is left after a stop, and the session answers again after it."""
    await perch.say(FACT)
    family = [perch.bird.warden, *_family(perch.bird.worker)]
    assert len(family) >= 3, "a warden, a worker and an agent"
    await perch.bird.send("stop")
    await perch.bird.gone(*family)
    left = await asyncio.to_thread(perch.aviary.wait_empty)
    assert not left, f"still there: {[_words(process) for process in left]}"
    await _remembers(perch)


async def refuse(perch: Perch) -> None:
    """T1: a model that wants a login (401) fails the turn, once, and the next one works."""
    turn = await perch.bird.turn("[[fail 401]]")
    assert turn[-1].update["reason"] == "failed"
    assert text_of(await perch.say("still here")).endswith("still here")
    check_log(perch)


async def limit(perch: Perch) -> None:
    """T11: a model that has had enough (429). Who tries again for ever can be cancelled."""
    begun = await perch.bird.prompt("[[fail 429]]")
    if perch.vendor.insists:
        await asyncio.to_thread(
            perch.llm.wait, 3, lambda each: bool(conversation_of(each).tools)
        )  # it tried again, and again
        assert not [event for event in perch.events() if is_idle(event)]
        await perch.bird.send("cancel")
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == perch.vendor.limited
    told = [event for event in perch.events() if kind_of(event.update) == "_rate_limit"]
    assert len(told) == (perch.vendor.limited == "rate_limited")
    assert text_of(await perch.say("still here")).endswith("still here")
    check_log(perch)


async def _remembers(perch: Perch) -> str:
    """One more turn, in a session that was opened again; how it was."""
    known = len(perch.llm.main())
    since = perch.events()[-1].seq
    turn = await perch.say("once more")
    assert turn[-1].update["reason"] == "end_turn"
    assert text_of(turn).endswith("once more")
    ready = [event for event in perch.bird.events(since) if is_agent(event, "ready")]
    assert [event.update["how"] for event in ready] in (["resume"], ["load"])
    assert len(perch.llm.main()) > known
    asked = perch.llm.main()[-1]
    assert heard(asked, f"[[say {FACT}]]", "user"), "the prompt was forgotten"
    assert heard(asked, FACT, "model"), "the answer was forgotten"
    check_log(perch)
    # A replay that was logged would say it again.
    assert text_of(perch.events()).count(FACT) == 1
    return str(ready[0].update["how"])


def check_log(perch: Perch) -> None:
    """What holds at the end of every turn, whatever was killed."""
    events = perch.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    prompts = Counter(
        event.update["turn"] for event in events if kind_of(event.update) == "_prompt"
    )
    ends = Counter(event.update["turn"] for event in events if is_idle(event))
    assert prompts == ends
    assert set(prompts.values()) <= {1}
    agents = {event.update.get("sessionId") for event in events if is_agent(event, "ready")}
    assert len(agents) == 1, "the agent's own session changed"
    assert not [event for event in events if kind_of(event.update) == "_context"]


def _family(process: Process) -> list[Process]:
    return [process, *tree.descendants(process.pid)]


def _words(process: Process) -> str:
    with open(f"/proc/{process.pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode(errors="replace")


# ---------------------------------------------------------------- figures


def memory_mb(perch: Perch) -> tuple[float, int]:
    """Of the agent and all below it: proportional memory, and how many processes they are."""
    found: list[int] = []
    for process in _family(perch.bird.agent):
        # One that ended since the look holds nothing any more: agents run small programs first.
        with suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
                rows = [line.split() for line in file]
            found.append(sum(int(row[1]) for row in rows if row[0] == "Pss:"))
    assert found, "the agent itself is gone"
    return sum(found) * 1024 / 1e6, len(found)


async def start_seconds(perch: Perch) -> float:
    """From the spawn to the end of session/new, as the log has it."""
    ready = await perch.wake()
    starting = [event for event in perch.events() if is_agent(event, "starting")]
    return (ready.at - starting[-1].at) / 1000


async def init_seconds(perch: Perch) -> float:
    """From the spawn to the answer to initialize, of an agent by itself."""
    vendor = perch.vendor
    programs = await asyncio.to_thread(install, vendor)
    environment = surroundings(vendor, programs, perch.aviary.root / "alone", perch.llm.address)
    hello = {"protocolVersion": 1, "clientCapabilities": {}}
    line = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    found = shutil.which(vendor.argv[0], path=environment["PATH"])
    assert found is not None
    argv = [found, *vendor.argv[1:]]
    begun = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=perch.work,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(line).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            answer = json.loads(await process.stdout.readline())
        assert answer["id"] == 0
        return time.monotonic() - begun
    finally:
        start = tree.start_time(process.pid)
        tree.kill(_family(Process(process.pid, start)) if start else [])
        await process.wait()
