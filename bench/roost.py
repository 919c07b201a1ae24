"""A home for one measurement, on a short path: sessions with the player, and every worker ended
after it, however it went."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.client.session import SessionClient
from rookery.core.json.events import Event, Json, kind_of
from rookery.home import paths
from rookery.log.lock import is_locked
from tests.rigs.player import player

PLAYER = tuple(player("demo"))


class Roost:
    """Sessions in one home."""

    def __init__(self, home: str) -> None:
        self.home = home

    def session(self) -> str:
        return create_session(self.home, agent="player", argv=PLAYER, cwd=self.home)

    def client(self, session: str) -> SessionClient:
        return SessionClient(self.home, session, "bench")

    def worker(self, session: str) -> Json:
        """worker.json: the pids of the worker, its warden and the agent."""
        path = os.path.join(paths.session_dir(self.home, session), paths.WORKER)
        found = paths.read_json(path)
        if found is None:
            raise LookupError(f"{path} is not there")
        return found

    def end(self) -> None:
        """End every worker; one that resists keeps no other alive."""
        with ExitStack() as ending:
            for session in paths.session_ids(self.home):
                directory = paths.session_dir(self.home, session)
                had_one = os.path.exists(os.path.join(directory, paths.WORKER))
                if had_one or is_locked(directory):
                    ending.callback(fleet.kill, self.home, session)


@contextmanager
def roost(max_workers: int = 100) -> Iterator[Roost]:
    home = tempfile.mkdtemp(prefix="rkb-")
    # The player keeps its sessions in the home, too: it inherits this.
    before = os.environ.get("ROOKERY_HOME")
    os.environ["ROOKERY_HOME"] = home
    made = Roost(paths.ensure_home(home))
    with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(f"[worker]\nmax_workers = {max_workers}\n")
    try:
        yield made
    finally:
        if before is None:
            del os.environ["ROOKERY_HOME"]
        else:
            os.environ["ROOKERY_HOME"] = before
        try:
            made.end()
        finally:
            shutil.rmtree(home)


def play(*steps: Json) -> list[Json]:
    """A prompt that tells the player what to do."""
    return [{"type": "text", "text": json.dumps({"play": steps})}]


async def take_turn(client: SessionClient, prompt: list[Json]) -> Event:
    """Send a prompt and wait until its turn is over; the event that ended it."""
    sent = await client.send({"do": "prompt", "prompt": prompt})
    async for event in client.follow(sent.seq):
        if kind_of(event.update) == "_turn" and event.update["state"] == "idle":
            if event.update.get("reason") != "end_turn":
                raise RuntimeError(f"the turn ended with {event.update}")
            return event
    raise AssertionError  # following has no end


def private_mb(*pids: int) -> float:
    """Memory that the processes share with nobody, together, in MB (10^6 bytes). Linux alone."""
    return _memory_mb("Private_", *pids)


def proportional_mb(*pids: int) -> float:
    """All their memory, what is shared counted once (PSS)."""
    return _memory_mb("Pss:", *pids)


def _memory_mb(rows: str, *pids: int) -> float:
    kilobytes = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            words = [line.split() for line in file]
        kilobytes += sum(int(row[1]) for row in words if row[0].startswith(rows))
    return kilobytes * 1024 / 1e6
