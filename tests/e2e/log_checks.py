"""What holds of a log whatever was killed: order, prompts and asks that are there once, a document
that is the fold of it."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rookery.core.asks.kept_asks import ORIGIN
from rookery.core.blocks.document import Document, join
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.log.reader import Reader
from tests.worker.aviary import Bird, is_idle

LONG = "0123456789" * 2_000
"""What a file has whole, or not at all."""


def check_order(events: list[Event]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(one.at <= two.at for one, two in pairwise(events))


def check_prompts(events: list[Event], sent: Sequence[str]) -> None:
    """Each admitted exactly once, played in exactly one turn, which it begins or is steered into;
    each turn ended exactly once."""
    causes = Counter(event.cause for event in events if event.cause)
    assert {id: causes[id] for id in sent} == dict.fromkeys(sent, 1)
    played: Counter[str] = Counter()
    turns = []
    for event in events:
        if kind_of(event.update) == "_prompt":
            if event.update.get("steered") is True:
                assert event.update["turn"] == turns[-1]
            else:
                turns.append(event.update["turn"])
            if event.update.get("origin") != ORIGIN:  # else it brings back what was asked
                played.update(event.update.get("queued") or [event.cause])
    assert played == Counter(sent)
    assert turns == list(range(1, len(turns) + 1))
    ends = [event.update for event in events if is_idle(event)]
    assert [end["turn"] for end in ends] == turns
    assert all(end["reason"] for end in ends)


def check_asks(events: list[Event]) -> None:
    """Each is closed exactly once, however often it was asked again."""
    states: dict[str, list[str]] = {}
    for event in events:
        if kind_of(event.update) == "_ask":
            states.setdefault(event.update["id"], []).append(event.update["state"])
    for found in states.values():
        assert (found[0], found[-1], found.count("closed")) == ("asked", "closed", 1)


def check_terminals(events: list[Event]) -> None:
    """Each begins once and ends at most once; one that a kill took away has no end."""
    states: dict[str, list[str]] = {}
    for event in events:
        if kind_of(event.update) == "_terminal" and event.update["state"] != "output":
            states.setdefault(event.update["id"], []).append(event.update["state"])
    assert all(found in (["started"], ["started", "ended"]) for found in states.values())


def check_files(work: Path) -> None:
    """Whole, whoever was killed while it was written."""
    for path in work.glob("notes/*"):
        assert path.name.startswith(".") or path.read_text() == LONG


def check_document(bird: Bird, events: list[Event]) -> None:
    """The same in one go and page by page."""
    whole = fold(None, events)
    paged = Document()
    with Reader.open(str(bird.directory)) as log:
        for n in range(log.turns() + 1):
            paged = join(paged, fold(log.header_before(n), log.page(n)))
    assert paged.header == whole.header
    assert list(paged.blocks.items()) == list(whole.blocks.items())
    assert whole.header.state == "idle"
    assert not whole.header.asks


def check_conversation(events: list[Event]) -> None:
    """Its agent remembers: no kill makes a session begin anew that has ended a turn."""
    ended = 0
    for event in events:
        ended += is_idle(event) and event.update["reason"] == "end_turn"
        if kind_of(event.update) == "_context" and event.update["state"] == "reset":
            assert not ended, (event, events[max(0, event.seq - 12) : event.seq])
