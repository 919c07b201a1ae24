"""The log of a conversation says the same of every branch as the SDK's own, without its walk."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openhands.sdk.conversation.event_store import EventLog
from openhands.sdk.event import Event, PauseEvent
from openhands.sdk.io import LocalFileStore

from rookery.agent.sdk_patches import sdk_files

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
