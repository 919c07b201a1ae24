"""The page under a stream: what a browser has after any changes is what it would get anew."""

import random
from collections.abc import Iterator, Sequence

import pytest

from rookery.core.json import Event, Json
from rookery.core.view.reduce import fold, step
from rookery.daemon.pieces.live import Live
from rookery.daemon.pieces.transcript import view_of
from tests.core import recordings
from tests.daemon.applied import Page

NOW = 1_800_000_000_000
RECORDED = sorted(path.name for path in recordings.FOLDER.glob("*.jsonl"))


def events_of(updates: Sequence[Json]) -> list[Event]:
    return [Event(n, NOW + n * 1000, None, None, each) for n, each in enumerate(updates, 1)]


def live_at(events: Sequence[Event]) -> Live:
    document = fold(None, events)
    return Live(document, lambda header: view_of(header, "s", NOW))


def anew(events: Sequence[Event]) -> str:
    return Page(live_at(events).html()).shown()


def windows(events: Sequence[Event], chance: random.Random) -> Iterator[Sequence[Event]]:
    at = 0
    while at < len(events):
        size = chance.choice((1, 1, 2, 5, 20))
        yield events[at : at + size]
        at += size


def check(events: Sequence[Event], seed: int, begin: int = 0) -> None:
    """Open the page after some events, and follow the others in windows of any size."""
    chance = random.Random(seed)
    live, seq = live_at(events[:begin]), begin
    page = Page(live_at(events[:begin]).html())  # which another daemon rendered
    header = fold(None, events[:begin]).header
    for window in windows(events[begin:], chance):
        for event in window:
            header, ops = step(header, event)
            live.take(ops)
        page.apply(live.flush())
        seq += len(window)
        assert page.shown() == anew(events[:seq]), f"after the event {seq}"
        assert Page(live.html()).shown() == page.shown()


@pytest.mark.parametrize("name", RECORDED)
def test_V3_changes_give_what_is_rendered_anew(name: str) -> None:
    for session_ in recordings.sessions(name)[:2]:
        events = list(recordings.play(name, session_).events)[:120]
        check(events, seed=1)
        check(events, seed=2, begin=len(events) // 2)
