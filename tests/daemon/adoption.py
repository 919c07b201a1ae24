"""A daemon that finds a worker of another build at an ask: it reads the session, answers, and
drives it to the end of its turn, all by its API."""

import asyncio
from functools import partial
from pathlib import Path

from rookery.client.daemon import local
from rookery.daemon.process import lifecycle
from tests.daemon.served import Served, awaited, serve
from tests.worker.aviary import Bird, Json, is_ask, is_text


async def adopt(bird: Bird, build: str) -> None:
    """`build`: what its worker says of itself."""
    daemon = await asyncio.to_thread(serve, Path(bird.home))
    try:
        await _drive(daemon, bird, build)
    finally:
        if local.record(bird.home) is not None:
            lifecycle.stop(bird.home)


async def _drive(daemon: Served, bird: Bird, build: str) -> None:
    place, old = f"/api/sessions/{bird.id}", bird.worker
    row = daemon.ask("GET", place).json()
    assert (row["awake"], row["status"], row["asks"]) == (True, "needs-you", 1)
    assert row["process"]["build"] == build
    assert [each["id"] for each in daemon.ask("GET", "/api/sessions").json()["sessions"]] == [
        bird.id
    ]
    [ask] = _read(daemon, place, bird)["header"]["asks"].values()
    asked = await bird.until(is_ask)
    assert asked.update["id"] == ask["id"]

    said = {"ask": ask["id"], "nonce": ask["nonce"], "option": "allow"}
    answered = await asyncio.to_thread(daemon.ask, "POST", f"{place}/answer", said)
    assert answered.status == 200, answered.body
    await bird.until(lambda event: is_text(event, "still at it"), asked.seq)
    assert bird.worker == old, "nothing was replaced in mid-turn"
    cancel = await asyncio.to_thread(daemon.ask, "POST", f"{place}/commands", {"do": "cancel"})
    assert cancel.status == 200, cancel.body
    awaited(lambda: daemon.ask("GET", place).json()["state"] == "idle")
    texts = [block["text"] for block in _read(daemon, place, bird)["blocks"]]
    assert any("thank you" in text for text in texts)

    prompt = partial(daemon.ask, "POST", f"{place}/prompt", {"text": "one more"})
    assert (await asyncio.to_thread(prompt)).status == 200
    ended = {"state": "idle", "last": "You said: one more"}
    awaited(lambda: ended.items() <= daemon.ask("GET", place).json().items())
    assert not _read(daemon, place, bird)["header"]["asks"]


def _read(daemon: Served, place: str, bird: Bird) -> Json:
    """Return the document's tail. The daemon's events are those of the log, which may grow."""
    before = bird.events()
    events = daemon.ask("GET", f"{place}/events?limit=1000").json()["events"]
    assert len(events) >= len(before)
    logged = [event.seq for event in bird.events()]
    assert [event["seq"] for event in events] == logged[: len(events)]
    answer = daemon.ask("GET", f"{place}/document")
    assert answer.status == 200, answer.body
    return dict(answer.json())
