"""A worker that keeps dying is not started for ever, whoever starts it; the session says so, and a
user brings it back."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.client.daemon import local
from rookery.client.start import StartError, start_worker
from rookery.core.view.reduce import fold
from rookery.daemon.process import lifecycle
from rookery.processes import tree
from tests.cli.driving import rookery
from tests.daemon.served import serve
from tests.worker.aviary import Aviary, Bird, is_agent, text_of

STARTS = 5


async def die(bird: Bird) -> None:
    """Somebody, the kernel for want of memory say, ends its worker."""
    worker, warden = bird.worker, bird.warden
    tree.kill([worker])
    await bird.gone(worker, warden)


async def parked(aviary: Aviary) -> Bird:
    bird = aviary.hatch()
    for _ in range(STARTS):
        await bird.send("start")
        await die(bird)
    return bird


async def refusal(bird: Bird) -> StartError:
    with pytest.raises(StartError) as caught:
        await bird.prompt("hello")
    return caught.value


async def test_a_worker_that_keeps_dying_is_parked_with_one_notice(aviary: Aviary) -> None:
    bird = await parked(aviary)
    before = bird.record["pid"]
    for _ in range(2):
        error = await refusal(bird)
        assert error.reason == "parked"
        assert f"rookery restart {bird.id}" in error.message
    assert bird.record["pid"] == before, "none was started"
    assert sum(is_agent(event, "parked") for event in bird.events()) == 1
    [notice] = [each for each in fold(None, bird.events()).blocks.values() if each["actions"]]
    assert notice["title"].startswith("The session's worker did not start. It died after each")
    assert [action["label"] for action in notice["actions"]] == ["Retry", "Show the log"]
    assert "was killed by signal 9" in notice["text"]

    shown = rookery("ps").out
    assert "failed (parked)" in shown
    said = rookery("prompt", bird.id, "hello")
    assert said.code == 1
    assert "the session is parked. To start it again: rookery restart" in said.err
    assert rookery("restart", bird.id).code == 0
    assert text_of(await bird.turn("hello")) == "You said: hello"
    assert "parked" not in rookery("ps").out


async def test_retries_of_a_parked_worker_are_bounded_too(aviary: Aviary) -> None:
    bird = await parked(aviary)
    assert (await refusal(bird)).reason == "parked"
    await bird.send("restart")
    await die(bird)
    for _ in range(STARTS - 1):
        await bird.send("start")
        await die(bird)
    assert (await refusal(bird)).reason == "parked"
    assert sum(is_agent(event, "parked") for event in bird.events()) == 2


async def test_stopped_workers_are_no_crash_loop(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for _ in range(STARTS + 2):
        await bird.send("start")
        worker, warden = bird.worker, bird.warden
        await bird.send("stop")
        await bird.gone(worker, warden)
    assert text_of(await bird.turn("hello")) == "You said: hello"


async def test_old_deaths_are_no_crash_loop(aviary: Aviary) -> None:
    bird = await parked(aviary)
    file = bird.directory / "starts.json"
    found = json.loads(file.read_text())
    file.write_text(json.dumps({"starts": [at - 61_000 for at in found["starts"]]}))
    assert text_of(await bird.turn("hello")) == "You said: hello"


async def test_a_worker_that_never_gets_ready_is_parked(aviary: Aviary) -> None:
    bird, argv = aviary.hatch(), [sys.executable, "-c", "raise SystemExit('no such module')"]
    names = []
    for _ in range(STARTS + 1):
        with pytest.raises(StartError) as caught:
            await asyncio.to_thread(start_worker, bird.home, bird.id, argv=argv)
        names.append(caught.value.reason)
    assert names == ["died"] * STARTS + ["parked"]
    assert bird.header().process["stderr"][-1] == "no such module"
    [told] = [event.update for event in bird.events() if event.update.get("level") == "error"]
    assert "worker died while it started: no such module" in told["text"], "once"


@pytest.mark.long
async def test_the_daemon_reports_a_parked_worker_and_its_restart_retries(aviary: Aviary) -> None:
    def ask(method: str, path: str, body: Any = None) -> Any:
        return daemon.ask(method, f"/api/sessions/{bird.id}{path}", body)

    daemon = serve(Path(aviary.home))
    try:
        bird = await parked(aviary)
        refused = await asyncio.to_thread(ask, "POST", "/prompt", {"text": "hello"})
        assert refused.status == 409
        assert refused.json()["error"] == "parked"
        assert "restart" in refused.json()["remedy"]
        row = ask("GET", "").json()
        assert (row["parked"], row["status"], row["awake"]) == (True, "failed", False)
        again = await asyncio.to_thread(ask, "POST", "/commands", {"do": "restart"})
        assert again.status == 200
        await bird.until(lambda event: is_agent(event, "ready"), again.json()["seq"])
        assert not ask("GET", "").json()["parked"]

        await die(bird)
        for _ in range(STARTS - 1):
            await bird.send("start")
            await die(bird)
        assert (await refusal(bird)).reason == "parked"
        daemon.stop()
        daemon = await asyncio.to_thread(serve, Path(aviary.home))
        assert text_of(await bird.turn("hello")) == "You said: hello"
    finally:
        if local.record(aviary.home) is not None:
            lifecycle.stop(aviary.home)
