"""daemon_memory_mb: the most memory that the daemon takes (PSS: what it shares is divided) while a
hundred long sessions are opened one after the other, by one client; daemon_memory_growth_mb: what
the last fifty of them leave behind.

Each session has 10,000 events, half of them in its last turn, of whose end as much is sent as a
daemon sends at once. The search index is brought up to date first.
"""

import sys
from itertools import batched
from threading import Event, Thread
from time import sleep

from bench.daemons import served, snapshot, streaming
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.log_scale import TURN, turn
from bench.roost import Roost, roost
from rookery.client.create import create_session
from rookery.core.json.events import Draft, Json
from rookery.home import paths
from rookery.log.store import Writer
from rookery.search.update import update

SESSIONS = 100
EVENTS = 10_000
BATCH = 1000
EVERY = 0.1
REST = 3.0
"""Seconds until what an opening used is given back."""
LINE = "A line of text, as agents write them: neither short nor very long, with a full stop.\n"


def session(place: Roost) -> None:
    name = create_session(place.home, agent="demo", argv=[], cwd=place.home)
    turns = EVENTS // 2 // TURN
    drafts = [draft for number in range(1, turns + 1) for draft in turn(number)]
    *begin, end = (turn(turns + 1)[place] for place in (0, 1, -1))
    drafts += begin
    for number in range(EVENTS // 2 - 3):
        text: Json = {"type": "text", "text": f"{number}. {LINE * 3}"}
        chunk: Json = {"sessionUpdate": "agent_message_chunk", "content": text}
        drafts.append(Draft(chunk | {"messageId": f"m{number // 10}"}))
    with Writer.open(paths.session_dir(place.home, name)) as writer:
        for some in batched([*drafts, end], BATCH):
            writer.append(list(some))


def pss_mb(pid: int) -> float:
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        [found] = [int(line.split()[1]) for line in file if line.startswith("Pss:")]
    return found * 1024 / 1e6


class Peak:
    """Looks all the time."""

    def __init__(self, pid: int) -> None:
        self.most = pss_mb(pid)
        self._pid = pid
        self._over = Event()
        self._looking = Thread(target=self._look)
        self._looking.start()

    def _look(self) -> None:
        while not self._over.wait(EVERY):
            self.most = max(self.most, pss_mb(self._pid))

    def end(self) -> float:
        self._over.set()
        self._looking.join()
        return self.most


def measure() -> dict[str, float]:
    with roost() as place:
        for _ in range(SESSIONS):
            session(place)
        update(place.home)
        names = sorted(paths.session_ids(place.home))
        with served(place) as there, streaming(there) as link:
            sleep(REST)
            left = [pss_mb(there.pid)]
            peak = Peak(there.pid)
            try:
                for some in batched(names, SESSIONS // 2):
                    size = sum(len(snapshot(link, name)) for name in some)
                    sleep(REST)
                    left.append(pss_mb(there.pid))
            finally:
                most = peak.end()
        before, half, whole = left
        progress(f"daemon_memory: {before:.1f} MB, {half:.1f} after half, {whole:.1f} after all")
        progress(f"daemon_memory: {size / (SESSIONS // 2) / 1e6:.2f} MB for each opening")
    return {"daemon_memory_mb": most, "daemon_memory_growth_mb": whole - half}


BENCHMARK = Benchmark(
    (Aim("daemon_memory_mb", "MB", below=120), Aim("daemon_memory_growth_mb", "MB", below=2)),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
