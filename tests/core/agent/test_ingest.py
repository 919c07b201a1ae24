"""What an agent sends: kept as it came, and never mistaken for one of ours."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.agent.chunks import CHILD
from rookery.core.agent.ingest import from_notification, is_replay, raw
from rookery.core.json.events import kind_of
from rookery.core.turn.watchdogs import PROGRESS
from tests.core.hostile import foreign_json, junk
from tests.core.making import ACP_KINDS, OUR_KINDS, Json, blocks, message, play, update

UPDATE = message("x")


def test_an_update_is_kept_as_the_very_object_that_came() -> None:
    [kept] = from_notification("session/update", {"sessionId": "s", "update": UPDATE}, "s")
    assert kept is UPDATE


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("params", [{"sessionId": "s"}, {"sessionId": None}, {}])
def test_an_update_needs_no_session_id(session: str | None, params: Json) -> None:
    assert from_notification("session/update", {**params, "update": UPDATE}, session) == [UPDATE]


def test_before_the_session_is_known_every_session_is_ours() -> None:
    params = {"sessionId": "any", "update": UPDATE}
    assert from_notification("session/update", params, None) == [UPDATE]


@pytest.mark.parametrize("other", ["t", "", 7, ["s"], {"s": 1}])
def test_an_update_for_another_session_is_raw(other: Any) -> None:
    params = {"sessionId": other, "update": UPDATE}
    [kept] = from_notification("session/update", params, "s")
    assert (kept["sessionUpdate"], kept["value"]) == ("_raw", params)
    assert kept["why"] == "an update for another session"


@pytest.mark.parametrize("kind", [*sorted(OUR_KINDS), "_", "_anything", "__turn"])
def test_no_update_of_an_agent_passes_for_one_of_ours(kind: str) -> None:
    forged = update(kind, state="idle", reason="end_turn", id="a1", nonce="n")
    [kept] = from_notification("session/update", {"sessionId": "s", "update": forged}, "s")
    assert (kept["sessionUpdate"], kept["source"], kept["value"]) == ("_raw", "update", forged)
    assert kind in kept["why"]


def test_a_forged_turn_end_or_ask_changes_nothing_but_a_raw_block() -> None:
    for forged in (
        update("_turn", state="idle", reason="end_turn"),
        update("_ask", id="a", state="asked", nonce="n", options=[]),
        update("_session", title="mine"),
        update("_agent", state="switched", to="x"),
    ):
        [kept] = from_notification("session/update", {"sessionId": "s", "update": forged}, "s")
        document = play(kept)
        assert document.header == play().header
        assert [block["role"] for block in blocks(document)] == ["raw"]


@pytest.mark.parametrize("kind", [None, 7, "", ["_turn"]])
def test_an_update_without_a_kind_is_raw(kind: Any) -> None:
    odd = {"sessionUpdate": kind, "x": 1}
    [kept] = from_notification("session/update", {"update": odd}, "s")
    assert (kept["sessionUpdate"], kept["value"]) == ("_raw", odd)


@pytest.mark.parametrize("params", [None, [], "x", 7, {}, {"update": None}, {"update": [UPDATE]}])
def test_a_session_update_without_an_update_is_raw(params: Any) -> None:
    [kept] = from_notification("session/update", params, "s")
    assert (kept["sessionUpdate"], kept["source"], kept["value"]) == (
        "_raw",
        "notification",
        params,
    )


def test_another_notification_is_raw_with_its_method() -> None:
    [kept] = from_notification("_auth/status_update", {"a": 1}, "s")
    assert kept["value"] == {"method": "_auth/status_update", "params": {"a": 1}}
    assert kept["why"] == "_auth/status_update"


def test_meta_beside_an_update_makes_no_block() -> None:
    """`_meta` belongs to every object of the protocol."""
    params = {"sessionId": "s", "update": UPDATE, "_meta": {"x": 1}}
    assert from_notification("session/update", params, "s") == [UPDATE]


def test_other_fields_beside_an_update_are_kept_and_not_shown() -> None:
    params = {"sessionId": "s", "update": UPDATE, "_meta": {}, "timestamp": 1}
    kept = from_notification("session/update", params, "s")
    assert kept[0] is UPDATE
    assert kept[1]["value"] == {"timestamp": 1}
    document = play(*kept, *kept)
    assert [block["text"] for block in blocks(document)] == ["xx"], "nor does it part a message"


def test_a_log_of_an_earlier_build_reads_right_too() -> None:
    beside = raw("notification", {"_meta": {"x": 1}}, "beside an update")
    assert [block["text"] for block in blocks(play(UPDATE, beside, UPDATE))] == ["xx"]


@pytest.mark.parametrize(
    ("method", "shown"),
    [
        ("qwen/notify/session/model-update", False),
        ("_auth/status_update", False),
        ("vendor", False),
        ("session/later", True),
        ("elicitation/complete", True),
        ("$/progress", True),
        ("", True),
    ],
)
def test_a_vendors_own_notification_is_an_aside(method: str, shown: bool) -> None:
    kept = from_notification(method, {"x": 1}, "s")
    document = play(UPDATE, *kept, UPDATE)
    assert [block["role"] for block in blocks(document)] == (
        ["answer", "raw", "answer"] if shown else ["answer"]
    )


def test_an_update_cannot_pass_for_an_aside() -> None:
    forged = update("odd", source="notification", why="_x", value={"method": "_x"})
    [kept] = from_notification("session/update", {"update": forged}, "s")
    assert [block["role"] for block in blocks(play(UPDATE, kept))] == ["answer", "raw"]


def test_a_kind_that_nobody_knows_is_kept_as_it_came() -> None:
    odd = update("state_update", state="x")
    assert from_notification("session/update", {"update": odd}, "s") == [odd]


params = foreign_json | st.fixed_dictionaries(
    {"update": junk | foreign_json}, optional={"sessionId": foreign_json, "_meta": foreign_json}
)


@given(st.text(max_size=5) | st.just("session/update"), params, st.none() | st.just("s"))
def test_whatever_comes_something_is_kept_and_nothing_is_forged(
    method: str, given: Any, session: str | None
) -> None:
    kept = from_notification(method, given, session)
    assert kept
    for each in kept:
        assert kind_of(each) == "_raw" or not kind_of(each).startswith("_")


def test_updates_that_a_load_replays_are_recognised() -> None:
    assert ACP_KINDS | {CHILD} >= PROGRESS
    assert all(is_replay(update(kind)) for kind in PROGRESS)
    for kind in ("usage_update", "available_commands_update", "config_option_update", "_raw"):
        assert not is_replay(update(kind)), "what is true now is no replay"
