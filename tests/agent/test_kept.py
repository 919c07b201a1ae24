"""The log of a conversation says the same of every branch as the SDK's own, without its walk."""

import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openhands.sdk.conversation.event_store import EventLog
from openhands.sdk.conversation.state import ConversationState
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Event,
    PauseEvent,
    UserRejectObservation,
)
from openhands.sdk.io import LocalFileStore

from rookery.agent.sdk_patches import sdk_files
from rookery.agent.storage import behind
from tests.agent.test_translate_events import action, done

PLACES = st.lists(st.integers(0, 40), min_size=1, max_size=40)


@given(PLACES, PLACES)
def test_every_branch_is_walked_right(parents: list[int], leaves: list[int]) -> None:
    """Of any tree, in any order, also while it grows and where a walk is longer than a step."""
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sdk_files, "STEP", 3)
        ours = sdk_files.Branches(LocalFileStore(place))
        events: list[Event] = []
        for number, parent in enumerate(parents):
            above = events[parent % number].id if number else None
            events.append(PauseEvent(parent_id=above))
            ours.append(events[-1])
            leaf = events[leaves[number % len(leaves)] % len(events)].id
            assert ours.path_to_root(leaf) == EventLog.path_to_root(ours, leaf)
        for number in leaves:
            leaf = events[number % len(events)].id
            assert ours.path_to_root(leaf) == EventLog.path_to_root(ours, leaf)
            assert ours.path_to_root(leaf, limit=2) == EventLog.path_to_root(ours, leaf)[-2:]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 20)), min_size=1, max_size=30))
def test_calls_without_a_result_are_those_that_the_sdk_finds(steps: list[tuple[int, int]]) -> None:
    """Whatever ends them, in any order, in every branch, and also where ids are used twice."""
    with TemporaryDirectory() as place:
        ours = sdk_files.Branches(LocalFileStore(place))
        events: list[Event] = []
        calls: list[ActionEvent] = []
        for number, (kind, at) in enumerate(steps):
            call = calls[at % len(calls)] if calls else action("c", "r")
            match kind:
                case 0:
                    made: Event = done(call)
                case 1:
                    made = UserRejectObservation(
                        action_id=call.id, tool_name="terminal", tool_call_id=call.tool_call_id
                    )
                case 2:
                    made = AgentErrorEvent(
                        error="no", tool_name="terminal", tool_call_id=call.tool_call_id
                    )
                case 3:
                    made = action(f"c{number}", "r").model_copy(update={"action": None})
                case 4:
                    made = PauseEvent()
                case _:
                    made = action(f"c{number % 4}", f"r{number}")
                    calls.append(made)
            above = events[-1 - at % 2 * (len(events) > 1)].id if events else None
            events.append(made.model_copy(update={"parent_id": above}))
            ours.append(events[-1])
            plain = EventLog.path_to_root(ours, events[-1].id)
            branch = ours.path_to_root(events[-1].id)
            assert isinstance(branch, sdk_files.Branch)
            assert list(branch.waiting) == ConversationState.get_unmatched_actions(plain)


def test_only_what_came_since_is_looked_at_for_calls_without_a_result(tmp_path: Path) -> None:
    ours = sdk_files.Branches(LocalFileStore(str(tmp_path)))
    ours.append(waits := action("c0", "r0"))
    ours.append(last := action("c1", "r1").model_copy(update={"parent_id": waits.id}))
    ours.path_to_root(last.id)
    ours.append(result := done(last).model_copy(update={"parent_id": last.id}))
    branch = ours.path_to_root(result.id)
    assert isinstance(branch, sdk_files.Branch)
    assert sdk_files.waiting_in(ConversationState.get_unmatched_actions, branch) == [waits]
    assert branch.waiting == (waits,)
    branch.clear()
    assert ours.path_to_root(result.id) == [waits, last, result], "it is the caller's own"


def test_what_came_since_is_walked_alone(tmp_path: Path) -> None:
    ours = sdk_files.Branches(LocalFileStore(str(tmp_path)))
    events: list[Event] = []
    for _ in range(300):
        events.append(PauseEvent(parent_id=events[-1].id if events else None))
        ours.append(events[-1])
    assert [event.id for event in ours.path_to_root(events[-2].id)] == [e.id for e in events[:-1]]
    read: list[int] = []
    whole = ours.__class__.__getitem__

    class Watched(sdk_files.Branches):
        def __getitem__(self, place: int) -> Event:  # type: ignore[override]
            read.append(place)
            return whole(self, place)

    ours.__class__ = Watched
    assert len(ours.path_to_root(events[-1].id)) == 300
    assert read == [299]
    assert ours.path_to_root(None) == []


def test_an_event_is_one_file(tmp_path: Path) -> None:
    ours = sdk_files.Branches(sdk_files.DiscreetStore(str(tmp_path)))
    event = PauseEvent()
    assert ours.append(event) == 0
    behind.settle()
    folder = tmp_path / "events"
    assert [each.name for each in folder.iterdir()] == [f"event-00000-{event.id}.json"]
    assert EventLog(LocalFileStore(str(tmp_path)))[0] == event
    for again in (event, PauseEvent(parent_id="missing")):
        with pytest.raises(ValueError, match="the event"):
            ours.append(again)


def test_what_a_power_failure_left_empty_is_cut_off(tmp_path: Path) -> None:
    files = sdk_files.DiscreetStore(str(tmp_path))
    ours = sdk_files.Branches(files)
    events: list[Event] = []
    for _ in range(4):
        events.append(PauseEvent(parent_id=events[-1].id if events else None))
        ours.append(events[-1])
    (tmp_path / "events" / f"event-00002-{events[2].id}.json").write_text("")
    again = sdk_files.Branches(sdk_files.DiscreetStore(str(tmp_path)))
    assert list(again) == events[:2]
    assert again.append(PauseEvent(parent_id=events[1].id)) == 2
    assert len(sdk_files.Branches(sdk_files.DiscreetStore(str(tmp_path)))) == 3


def test_a_file_is_synced_before_the_wait_for_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.settle()
    synced: list[str] = []
    monkeypatch.setattr(behind, "flush", synced.append)
    files = sdk_files.DiscreetStore(str(tmp_path))
    for number in range(20):
        files.write(f"below/{number}", "x")
    behind.settle()
    assert {Path(each).name for each in synced} == {str(number) for number in range(20)}
    assert not [each for each in threading.enumerate() if each.name == "sync"]
