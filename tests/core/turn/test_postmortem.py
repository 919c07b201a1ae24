"""The post-mortem: what a dead worker left open is ended once, and truly."""

import pytest

from rookery.core.turn.worker_idle import post_mortem
from tests.core.making import Json, asked, call, idle, only, play, prompt, running, update

READY = update("_agent", state="ready", name="crow", sessionId="x")


@pytest.mark.parametrize(
    "updates",
    [
        [],
        [prompt(), running(), idle()],
        [READY, update("_agent", state="exited", name="crow", status=1)],
        [READY, prompt(), running(), idle(), update("_agent", state="stopped", name="crow")],
    ],
)
def test_a_session_with_nothing_open_gets_no_post_mortem(updates: list[Json]) -> None:
    assert post_mortem(play(*updates).header) == []


@pytest.mark.parametrize("state", ["running", "quiet"])
def test_an_open_turn_is_interrupted(state: str) -> None:
    updates = [READY, prompt(), running(), call("t"), asked(), update("_turn", state=state)]
    drafts = post_mortem(play(*updates).header, "killed")
    said = [(draft.update["sessionUpdate"], draft.update["state"]) for draft in drafts]
    assert said == [("_turn", "idle"), ("_agent", "exited")]
    document = play(*updates, *(draft.update for draft in drafts))
    assert document.header.reason == "interrupted"
    assert only(document, "tool")["status"] == "interrupted"
    assert only(document, "error")["text"].startswith("killed\n")
    assert only(document, "ask")["status"] == "asked", "nobody answered it: it is kept"
    assert document.header.asks["a1"]["away"] == {"turn": 1, "ran": False}
    assert post_mortem(document.header) == [], "said once"


def test_the_queue_and_the_agents_session_are_kept() -> None:
    waiting = update("_queue", op="add", id="q", prompt=[])
    updates = [READY, prompt(), running(), waiting]
    drafts = post_mortem(play(*updates).header)
    after = play(*updates, *(draft.update for draft in drafts)).header
    assert [item["id"] for item in after.queue] == ["q"]
    assert after.agent_session == {"name": "crow", "id": "x"}


def test_an_agent_that_was_starting_is_gone() -> None:
    [draft] = post_mortem(play(update("_agent", state="starting", name="crow")).header)
    assert draft.update["state"] == "exited"
    assert draft.update["name"] == "crow"
    assert not play(draft.update).blocks, "it is no news to a person"
