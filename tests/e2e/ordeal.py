"""Several sessions at once under blows, and what must hold of them and their home afterwards."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from rookery.core.json.events import kind_of
from rookery.processes import tree
from tests.e2e import log_checks
from tests.e2e.fate import TARGETS, Fate
from tests.e2e.log_checks import LONG
from tests.e2e.remains import Remains
from tests.worker.aviary import PATIENCE, Aviary, Steps, is_idle

SEED = int(os.environ.get("KILLS_SEED", "20"))
SESSIONS = 4

WAKES = 3
SLEEP = f"86400.{os.getpid():08}"
"""Seconds that nobody else sleeps, nor another test of these: by this word a left one is known."""

SCENES: list[Steps] = [
    [{"text": "one two three four five six seven eight nine ten", "chunks": 10, "every": 0.04}],
    [{"flood": 400, "size": 30, "every": 0.001}, {"tool": "Look", "status": "completed"}],
    [{"spawn": ["sleep", SLEEP], "detach": True}, {"thought": "left $pid"}, {"wait": 0.3}],
    [{"wait": 0.1}, {"ask": "May I?", "allowed": [{"wait": 0.2}, {"text": "thank you"}]}],
    [{"plan": ["a", "b"], "done": 1}, {"wait": 0.3}, {"late": [{"text": "by the way"}]}],
    [{"spawn": ["sleep", SLEEP]}, {"wait": 0.2}, {"error": "of the agent's own"}],
    [{"tool": {"toolCallId": "t", "title": "Dig"}}, {"wait": 0.3}, {"stop": "max_tokens"}],
    [{"repeat": 20, "steps": [{"write": "notes/$session-$turn", "content": LONG}]}],
    [{"command": f"for n in 1 2 3 4 5; do echo $n; sleep 0.05; done; sleep {SLEEP} & echo bye"}],
    [{"command": "rm -rf no-such-folder; sleep 0.2; echo gone", "ask": True}, {"text": "$output"}],
    [{"question": "Which?", "accepted": [{"wait": 0.1}, {"text": "that one"}]}, {"read": "none"}],
]


async def undergo(
    aviary: Aviary, kills: int, seed: int, *, scenes: list[Steps] = SCENES, agent: str = "player"
) -> None:
    """So many blows, over players; `agent`: by whose name they go."""
    random = Random(seed)
    aviary.configure(stop_grace=0.5, worker_crash_most=1000)
    fates = [
        Fate(aviary.hatch(agent=agent), Random(random.random()), aviary.root, scenes, TARGETS)
        for _ in range(SESSIONS)
    ]
    await endure(aviary, fates, kills, seed)


async def endure(
    aviary: Aviary,
    fates: Sequence[Fate],
    kills: int,
    seed: int,
    end: Callable[[], object] = lambda: None,
) -> None:
    """`end`: ends what belongs to no session."""
    print(f"\nseed {seed}")
    began = time.monotonic()
    try:
        async with asyncio.TaskGroup() as group:
            for number, fate in enumerate(fates):
                share = kills // len(fates) + (number < kills % len(fates))
                group.create_task(fate.suffer(share))
    finally:
        for fate in fates:
            await fate.sender.kill()
            await fate.watcher.kill()
    for fate in fates:
        check(fate)
    log_checks.check_files(aviary.work)
    await fall_asleep(aviary, end)
    print(summary(fates, time.monotonic() - began))


def check(fate: Fate) -> None:
    events = fate.bird.events()
    log_checks.check_order(events)
    log_checks.check_prompts(events, fate.sent)
    log_checks.check_asks(events)
    log_checks.check_terminals(events)
    log_checks.check_conversation(events)
    log_checks.check_document(fate.bird, events)
    for shown in (fate.sender.shown(), fate.watcher.shown()):
        assert shown == events[: len(shown)]
        assert len(shown) >= fate.last


async def fall_asleep(aviary: Aviary, end: Callable[[], object]) -> None:
    """Stop what is awake: then nothing is left. Again, where a client was killed while it started a
    worker: that one may come awake when the one before it is stopped. Records of the dead go with
    the next worker of the home; that one's own agent may leave one where its warm process is ended
    in the same moment."""
    remains = Remains(aviary, SLEEP)
    await stop_all(aviary, remains, end)
    for _ in range(WAKES):
        async with aviary.birds[0].client() as client:
            await client.send({"do": "rename", "title": "the last"}, wake=True)
        await stop_all(aviary, remains, end)
        if not (left := remains.things()):
            return
    raise AssertionError(left)


async def stop_all(aviary: Aviary, remains: Remains, end: Callable[[], object]) -> None:
    deadline = time.monotonic() + 2 * PATIENCE
    while processes := remains.processes():
        assert time.monotonic() < deadline, remains.told(processes)
        for bird in aviary.birds:
            await bird.send("stop")
        end()
        words = [sys.executable, "-P", "-m", "rookery", "ps"]
        await asyncio.to_thread(subprocess.run, words, check=True, stdout=subprocess.DEVNULL)
        await asyncio.to_thread(tree.wait_gone, processes, PATIENCE / 10)


def summary(fates: Sequence[Fate], seconds: float) -> str:
    killed: Counter[str] = sum((fate.killed for fate in fates), Counter())
    events = [event for fate in fates for event in fate.bird.events()]
    ends = Counter(event.update["reason"] for event in events if is_idle(event))
    kept = Counter(kind_of(event.update) for event in events)
    return (
        f"{killed.total()} kills {dict(killed)} in {seconds:.0f} s, {len(fates)} sessions, "
        f"{ends.total()} turns {dict(ends)}, {len(events)} events ({kept['_ask']} of asks, "
        f"{kept['_queue']} changes of queues, {kept['_terminal']} of terminals): none lost, none "
        f"twice, nobody left"
    )
