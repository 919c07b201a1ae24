"""What every vendor's agent must stand under a worker, step by step in one session. The tests take
these steps, and so does the table of docs/vendors.md: what is told there is what is tested.

A step returns what its cell says, and raises where it went wrong.
"""

import asyncio
import os
import re
from collections import Counter
from contextlib import suppress

from rookery.core.json.events import Event, kind_of
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.worker.aviary import is_agent, is_idle, is_text, text_of
from tools.vendors.marks import conversation_of, heard
from tools.vendors.perch import FACT, Perch

CODE = re.compile(r"exit(ed)?( with)?( code)?:? 3\b", re.IGNORECASE)
"""As some agents say it in the output itself."""

OK = "ok"


async def start(perch: Perch) -> str:
    """Seconds from the spawn to the answer to session/new; memory of the agent's processes."""
    ready = await perch.wake()
    starting = [event for event in perch.events() if is_agent(event, "starting")]
    megabytes, processes = memory_mb(perch)
    return f"{(ready.at - starting[-1].at) / 1000:.1f} s, {megabytes:.0f} MB ({processes})"


async def stream(perch: Perch) -> str:
    """The answer comes in pieces, each word once."""
    turn = await perch.say(FACT)
    assert turn[-1].update["reason"] == "end_turn"
    check_said(turn, FACT)
    assert len([event for event in turn if is_text(event)]) > 1, "in one piece"
    check_log(perch)
    return OK


async def approve(perch: Perch) -> str:
    """Asked, answered, and the command really ran."""
    turn, asks = await perch.play("[[run echo approved > approved.txt]]", "allow_once")
    assert asks, "it did not ask"
    assert turn[-1].update["reason"] == "end_turn"
    assert (perch.work / "approved.txt").read_text() == "approved\n"
    assert "The tool said:" in text_of(turn)
    check_asks(perch, asks, "echo approved > approved.txt")
    check_log(perch)
    return OK


async def reject(perch: Perch) -> str:
    """What was rejected is not run, and the next turn works."""
    turn, asks = await perch.play("[[run echo rejected > rejected.txt]]", "reject_once")
    assert asks, "it did not ask"
    assert not (perch.work / "rejected.txt").exists()
    reason = turn[-1].update["reason"]
    assert reason == perch.vendor.rejected, reason
    await check_here(perch)
    return OK if reason == "end_turn" else f"ok, ends `{reason}`"


async def edit(perch: Perch) -> str:
    """A file is changed, and the change can be seen."""
    file = perch.work / "note.txt"
    file.write_text("an old line\nanother\n")
    turn, asks = await perch.play(f"[[edit {file}|an old line|a new line]]", "allow_once")
    assert turn[-1].update["reason"] == "end_turn"
    assert file.read_text() == "a new line\nanother\n"
    check_asks(perch, asks, "note.txt")
    sight = perch.sight()
    diffs = [diff for block in sight.blocks("tool") for diff in sight.diffs(block)]
    shown = [diff for diff in diffs if "a new line" in str(diff.get("new"))]
    assert shown, "the change is not shown"
    assert all("note.txt" in diff["path"] for diff in shown)
    return OK


async def command(perch: Perch) -> str:
    """What a command wrote is shown, with its exit code."""
    turn, asks = await perch.play("[[run echo se''en; exit 3]]", "allow_once")
    assert turn[-1].update["reason"] == "end_turn"
    check_asks(perch, asks, "echo se''en; exit 3")
    sight = perch.sight()
    call = sight.blocks("tool")[-1]
    assert "seen" in sight.output(call), f"no output: {call}"
    code = sight.exit_code(call)
    in_words = CODE.search(sight.output(call))
    assert code == 3 or (code is None and in_words), f"exit code {code}: {call}"
    return OK


async def mcp(perch: Perch) -> str:
    """The tool of an MCP server is called, and what it gave is shown."""
    turn, asks = await perch.play("[[mcp peck]]", "allow_once")
    assert "pecked at a worm" in text_of(turn), text_of(turn)
    check_asks(perch, asks, "peck")
    sight = perch.sight()
    call = sight.blocks("tool")[-1]
    assert "pecked at a worm" in sight.output(call), f"the result is not shown: {call}"
    assert "peck" in call["title"], f"the tool is not named: {call}"
    return OK


async def inside(perch: Perch) -> str:
    """What it runs sees nothing of the user's home but what the agent keeps there, and writes
    nowhere else. What it sees."""
    key, secret, out = perch.person / ".ssh" / "id_key", "of-nobodys-business", perch.work.parent
    key.parent.mkdir(exist_ok=True)
    key.write_text(secret)
    command = f"cat {key}; echo out > {out}/out.txt; ls -A {perch.person} > seen.txt"
    turn, _ = await perch.play(f"[[run {command}]]", "allow_once")
    assert turn[-1].update["reason"] == "end_turn"
    assert not (out / "out.txt").exists(), "it wrote outside of its directories"
    asked = [each for each in perch.llm.main() if heard(each, secret)]
    assert not asked, "it read a key"
    own = os.readlink("/proc/self/ns/mnt")
    for process in tree.descendants(perch.bird.agent.pid)[1:]:
        with suppress(FileNotFoundError):
            assert os.readlink(f"/proc/{process.pid}/ns/mnt") != own, _words(process)
    seen = sorted((perch.work / "seen.txt").read_text().split())
    return " ".join(f"`{name}`" for name in seen) or "nothing"


async def options(perch: Perch) -> str:
    """Each option is set to another of its values, and back."""
    told = []
    for option in perch.bird.header().options:
        others = [each["value"] for each in option["choices"] if each["value"] != option["value"]]
        if not others or option["id"] in perch.vendor.untouched:
            continue
        await _set(perch, option["id"], others[-1])
        # The first model may be of its settings alone: once it is left, the list has it no more.
        offered = perch.option(option["id"])["choices"]
        if option["value"] in [each["value"] for each in offered]:
            await _set(perch, option["id"], option["value"])
        told.append(option["category"] or option["id"])
    await check_here(perch)
    return ", ".join(dict.fromkeys(told)) or "none offered"


async def _set(perch: Perch, id: str, value: str) -> None:
    await perch.bird.send("set", option=id, value=value)
    assert perch.option(id)["value"] == value, f"{id} is {perch.option(id)['value']}"


async def cancel(perch: Perch) -> str:
    """The turn ends as cancelled, and the model is not listened to any more."""
    begun = await perch.ramble()
    sent = await perch.bird.send("cancel")
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "cancelled", ended.update["reason"]
    asked = perch.llm.main()[-1]
    await asyncio.to_thread(perch.llm.wait, 1, lambda each: each is asked and bool(each.ended))
    assert asked.ended == "hung up", asked.ended
    await check_here(perch)
    return f"{ended.at - sent.at} ms"


async def kill_agent(perch: Perch) -> str:
    """Kill -9 of the agent in mid-turn; the conversation comes back with the next prompt. Returns
    how."""
    begun = await perch.ramble()
    family = _family(perch.bird.agent)
    tree.kill([perch.bird.agent])
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "agent_exited"
    how = await _remembers(perch)
    await perch.bird.gone(*family)
    return how


async def kill_worker(perch: Perch) -> str:
    """Kill -9 of the worker in mid-turn takes all that it started with it."""
    begun = await perch.ramble()
    family = [perch.bird.warden, *_family(perch.bird.worker)]
    tree.kill([perch.bird.worker])
    await perch.bird.gone(*family)
    ended = await perch.bird.ended(begun)
    assert ended.update["reason"] == "interrupted"
    return await _remembers(perch)


async def stop(perch: Perch) -> str:
    """Nothing is left after a stop, and the session answers again after it."""
    await perch.say("before the stop")
    family = [perch.bird.warden, *_family(perch.bird.worker)]
    assert len(family) >= 3, "a warden, a worker and an agent"
    await perch.bird.send("stop")
    await perch.bird.gone(*family)
    left = await asyncio.to_thread(perch.aviary.wait_empty)
    assert not left, f"still there: {[_words(process) for process in left]}"
    await _remembers(perch)
    return "nothing left"


async def refuse(perch: Perch) -> str:
    """A model that wants a login (401) fails the turn, once, and the next one works."""
    turn = await perch.bird.turn("[[fail 401]]")
    reason = turn[-1].update["reason"]
    await check_here(perch)
    assert reason == "failed", reason
    return OK


async def limit(perch: Perch) -> str:
    """A model that has had enough (429). Who tries again for ever can be cancelled."""
    known = len(perch.llm.main())
    begun = await perch.bird.prompt("[[fail 429]]")
    if perch.vendor.insists:
        await perch.requests(known + 3)  # it tried again, and again
        assert not [event for event in perch.bird.events(begun.seq) if is_idle(event)]
        await perch.bird.send("cancel")
    ended = await perch.bird.ended(begun)
    reason = ended.update["reason"]
    assert reason == perch.vendor.limited, reason
    await check_here(perch)
    return OK if reason == "rate_limited" else f"ends `{reason}`"


async def look(perch: Perch) -> str:
    """Nothing raw that has a look, nothing twice, and every ask says what it is about."""
    sent = [event.update for event in perch.events() if kind_of(event.update) == "_prompt"]
    texts = ["".join(block["text"] for block in each["prompt"]) for each in sent]
    found = perch.sight().complaints(texts)
    assert not found, "\n".join(found)
    return OK


async def _remembers(perch: Perch) -> str:
    """One more turn, in a session that was opened again; how it was."""
    known = len(perch.llm.main())
    since = perch.events()[-1].seq
    turn = await perch.say("once more")
    assert turn[-1].update["reason"] == "end_turn", turn[-1].update
    check_said(turn, "once more")
    ready = [event for event in perch.bird.events(since) if is_agent(event, "ready")]
    ways = [event.update["how"] for event in ready]
    assert len(perch.llm.main()) > known
    if perch.vendor.forgets:
        assert ways in (["new"], ["load"], ["resume"]), ways
        check_log(perch)
        return "begins anew" if ways == ["new"] else str(ways[0])
    assert ways in (["resume"], ["load"]), ways
    asked = perch.llm.main()[-1]
    history = [(each.role, each.text[-60:]) for each in conversation_of(asked).messages]
    assert heard(asked, f"[[say {FACT}]]", "user"), f"the prompt was forgotten: {history}"
    assert heard(asked, FACT, "model"), "the answer was forgotten"
    check_log(perch)
    # A replay that was logged would say it again.
    own = perch.bird.events(perch.begun)
    assert text_of(own).count(FACT) == 1, "the log has it twice"
    return str(ready[0].update["how"])


async def check_here(perch: Perch) -> None:
    """The next turn works."""
    check_said(await perch.say("still here"), "still here")
    check_log(perch)


def check_said(turn: list[Event], words: str) -> None:
    """Once, and last: codex says a warning first."""
    said = text_of(turn).strip()
    assert said.endswith(words), said
    assert said.count(words) == 1, said


def check_asks(perch: Perch, asks: list[str], words: str) -> None:
    """What each asks about can be read in it."""
    shown = {block["id"]: block for block in perch.sight().blocks("ask")}
    told = [perch.asked[ask] for ask in asks]
    assert all(words in each for each in told), f"{words!r} is not in the ask: {told}"
    assert len(shown) >= len(asks)


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
    if perch.vendor.forgets:
        return
    own = perch.bird.events(perch.begun)
    agents = {event.update.get("sessionId") for event in own if is_agent(event, "ready")}
    assert len(agents) <= 1, "the agent's own session changed"
    assert not [event for event in own if kind_of(event.update) == "_context"]


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


def _family(process: Process) -> list[Process]:
    return [process, *tree.descendants(process.pid)]


def _words(process: Process) -> str:
    with open(f"/proc/{process.pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode(errors="replace")
