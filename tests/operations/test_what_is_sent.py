"""Commands of the catalogue over HTTP: what is sent is checked by the row, and completed with what
the sender was not shown."""

import asyncio
from pathlib import Path
from typing import Any

from tests.daemon.served import Answer, serve
from tests.worker.aviary import Aviary

SECRET = "sk-" + "heron" * 8


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


async def test_what_waits_is_edited_with_the_secret_that_is_not_shown(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.prompt([{"until": "cancel"}])
    await bird.prompt(f"later {SECRET}")
    [item] = bird.header().queue
    daemon = await asyncio.to_thread(serve, Path(aviary.home))

    async def queue(**given: Any) -> Answer:
        place = f"/api/v1/sessions/{bird.id}/queue"
        return await asyncio.to_thread(daemon.ask, "POST", place, {"item": item["id"], **given})

    try:
        edited = await queue(op="edit", prompt=text("edited sk-••• there"))
        assert edited.status == 200, edited.body
        [now] = bird.header().queue
        assert now["prompt"] == text(f"edited {SECRET} there")
        unclear = await queue(op="edit", prompt=text("••• and •••"))
        assert (unclear.status, unclear.json()["error"]) == (409, "hidden_secret")
        assert (await queue(op="fly")).status == 422
        assert (await queue(op="edit", prompt=["words"])).status == 422
        assert (await queue(op="remove")).status == 200
        assert bird.header().queue == []
    finally:
        await asyncio.to_thread(daemon.stop)


async def test_an_answer_is_meant_and_counts_once(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"ask": "Go on?", "kind": "edit"}])
    ask = await bird.ask(begun)
    daemon = await asyncio.to_thread(serve, Path(aviary.home))

    async def answer(**given: Any) -> Answer:
        place = f"/api/v1/sessions/{bird.id}/answer"
        return await asyncio.to_thread(daemon.ask, "POST", place, {"ask": ask["id"], **given})

    try:
        assert (await answer(ask="", option="y")).json()["error"] == "no_ask"
        assert (await answer(always="perhaps")).status == 422
        stale = await answer(option="y", nonce="of another")
        assert (stale.status, stale.json()["error"]) == (409, "wrong_nonce")
        done = await answer(option="n", reason="not yet")
        assert done.json()["update"]["state"] == "closed", done.body
        late = await answer(option="y")
        assert late.json()["kind"] == "_done", late.body
    finally:
        await asyncio.to_thread(daemon.stop)
