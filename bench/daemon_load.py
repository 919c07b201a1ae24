"""fanout_delay_ms_p50 and fanout_delay_ms_p99: from an agent's write to a client's receipt through
worker, log and daemon, the window of 30 ms included, while 50 sessions stream 50 chunks a second
each to 2 clients each, for ten seconds. All must be delivered in order, else the run counts for
nothing. `fanout_cpu_percent`: of one core, the daemon and all workers together meanwhile.

throughput_vs_sdk: chunks per CPU second of one session's worker and the daemon together (log and
two clients included), as a multiple of the ACP Python SDK's client process on the same bytes.
"""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from time import sleep

from bench.bytecode import HERE
from bench.daemons import Place, served
from bench.figures import Aim, Benchmark, progress, run_alone, spread
from bench.flood import wake
from bench.idle_cpu import spent
from bench.roost import PLAYER, play, roost, take_turn
from tests.acp.packages import PYTHON_SDK, python_with

SESSIONS, CLIENTS = 50, 2
EVERY = 1 / 50
CHUNKS = 500
SIZE = 40
FLOOD = 100_000
PATIENCE = 180.0


class Followers:
    """Processes that follow all sessions."""

    def __init__(self, place: Place, sessions: list[str]) -> None:
        argv = [sys.executable, "-m", "bench.followers", place.stream, place.token, *sessions]
        self._running = [
            subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.path.dirname(HERE)
            )
            for _ in range(CLIENTS)
        ]
        for each in self._running:
            assert each.stdout is not None
            if each.stdout.readline() != b"ready\n":
                raise RuntimeError("a follower did not come up")

    def report(self) -> list[dict[str, list[tuple[int, str]]]]:
        return [json.loads(each.communicate(b"\n", PATIENCE)[0]) for each in self._running]

    def end(self) -> None:
        for each in self._running:
            each.kill()
            each.wait()


def cpu_seconds(*pids: int) -> float:
    return sum(each.seconds for each in spent(list(pids)).values())


async def load(place: Place) -> dict[str, float]:
    sessions = [await wake(place.roost) for _ in range(SESSIONS)]
    followers = await asyncio.to_thread(Followers, place, sessions)
    workers = [place.roost.worker(session)["pid"] for session in sessions]
    clients = [place.roost.client(session) for session in sessions]
    step = {"flood": CHUNKS, "size": SIZE, "every": EVERY, "stamp": True}
    with ExitStack() as closing:
        closing.callback(followers.end)
        for client in clients:
            closing.callback(client.close)
        before = cpu_seconds(place.pid, *workers)
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(take_turn(client, play(step)) for client in clients))
        took = asyncio.get_running_loop().time() - began
        spent = cpu_seconds(place.pid, *workers) - before
        await asyncio.sleep(1)
        reports = await asyncio.to_thread(followers.report)
    delays = [delay for report in reports for came in report.values() for delay in delays_of(came)]
    if len(delays) != SESSIONS * CLIENTS * CHUNKS:
        raise ValueError("not all chunks were delivered")
    found = spread([delay / 1e9 for delay in delays])
    progress(f"daemon_load: {took:.1f} s, {len(delays)} chunks, at most {found.most:.0f} ms")
    return {
        "fanout_delay_ms_p50": found.middle,
        "fanout_delay_ms_p99": found.p99,
        "fanout_cpu_percent": spent / took * 100,
    }


def delays_of(came: list[tuple[int, str]]) -> list[float]:
    """Of each chunk, in nanoseconds. Raises ValueError where they are not all there in order."""
    found, number = [], 0
    for at, text in came:
        for start in range(0, len(text), SIZE):
            stamp, told = text[start : start + SIZE].replace(".", "").split()
            if int(told) != number:
                raise ValueError(f"chunk {told} came where {number} was due")
            found.append(at - int(stamp))
            number += 1
    return found


async def throughput(place: Place) -> float:
    """Chunks per CPU second of worker and daemon, two clients included."""
    session = await wake(place.roost)
    followers = await asyncio.to_thread(Followers, place, [session])
    pids = (place.pid, place.roost.worker(session)["pid"])
    client = place.roost.client(session)
    try:
        before = cpu_seconds(*pids)
        async with asyncio.timeout(PATIENCE):
            await take_turn(client, play({"flood": FLOOD, "size": 20}))
        expected = "".join(f"{number} ".ljust(20, ".") for number in range(FLOOD))
        await asyncio.sleep(2)
        spent = cpu_seconds(*pids) - before
        for report in await asyncio.to_thread(followers.report):
            if "".join(text for _, text in report[session]) != expected:
                raise ValueError("a client did not receive all chunks in order")
    finally:
        client.close()
        followers.end()
    return FLOOD / spent


PEER = """
import asyncio, json, resource, sys
import acp

class Client(acp.Client):
    def __init__(self):
        self.text = []
    async def session_update(self, session_id, update, **kwargs):
        content = getattr(update, "content", None)
        if content is not None and hasattr(content, "text"):
            self.text.append(content.text)
    async def request_permission(self, *args, **kwargs):
        raise acp.RequestError.method_not_found("")

async def main():
    client = Client()
    argv = json.loads(sys.argv[1])
    prompt = sys.argv[2]
    async with acp.spawn_agent_process(client, *argv) as (link, process):
        await link.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await link.new_session(cwd="/tmp", mcp_servers=[])
        before = resource.getrusage(resource.RUSAGE_SELF)
        await link.prompt(session_id=session.session_id, prompt=[acp.text_block(prompt)])
        wanted = int(sys.argv[3])
        while sum(map(len, client.text)) < wanted * 20:
            await asyncio.sleep(0.05)
        after = resource.getrusage(resource.RUSAGE_SELF)
        print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, flush=True)

asyncio.run(main())
"""


def peer_throughput() -> float:
    """Chunks per CPU second of the SDK's client process."""
    chunks = FLOOD // 10
    prompt = play({"flood": chunks, "size": 20})[0]["text"]
    argv = [str(python_with(PYTHON_SDK)), "-c", PEER, json.dumps(PLAYER), prompt, str(chunks)]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if said.returncode:
        raise RuntimeError(f"the peer did not run: {said.stderr[-2000:]}")
    return chunks / float(said.stdout)


def measure() -> dict[str, float]:
    with roost(max_workers=SESSIONS + 5) as place, served(place) as there:
        figures = asyncio.run(load(there))
        sleep(1)
        ours = asyncio.run(throughput(there))
        theirs = peer_throughput()
    progress(f"daemon_load: {ours:,.0f} chunks per CPU second against {theirs:,.0f}")
    return {**figures, "throughput_vs_sdk": ours / theirs}


BENCHMARK = Benchmark(
    (
        Aim("fanout_delay_ms_p50", "ms", below=60),
        Aim("fanout_delay_ms_p99", "ms", below=250),
        Aim("fanout_cpu_percent", "%"),
        Aim("throughput_vs_sdk", "x", least=3),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
