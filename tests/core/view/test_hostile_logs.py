"""Hostile logs and updates: `reduce` takes any JSON, and the fold is one fold however it is cut."""

import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.blocks.document import Document, join, size_of
from rookery.core.header import EMPTY
from rookery.core.json.events import Event, dumps, loads
from rookery.core.turn.worker_idle import post_mortem
from rookery.core.view.fleet import head_of
from rookery.core.view.reduce import fold, reduce
from tests.core.hostile import FIELDS, KINDS, junk, logs, nested, shapely_logs
from tests.core.making import ACP_KINDS, OUR_KINDS, log, pages, through_a_wire, watch


@given(logs)
def test_any_log_has_a_document_and_a_client_that_applies_ops_sees_it(events: list[Event]) -> None:
    """Every op is small and survives a trip as JSON (watch checks it at each event)."""
    document = watch(events)
    assert fold(None, events).to_json() == document.to_json()
    assert all(name == block["id"] for name, block in document.blocks.items())


@given(st.lists(junk, max_size=4))
def test_junk_in_known_fields_is_survived(updates: list[Any]) -> None:
    watch(log(*updates, *updates))


@given(logs)
def test_the_empty_header_is_never_touched(events: list[Event]) -> None:
    before = dumps(EMPTY)
    fold(None, events)
    assert dumps(EMPTY) == before


@given(logs)
def test_a_log_that_was_stored_folds_the_same(events: list[Event]) -> None:
    """Law 1: live, or after a restart from what is on the disk."""
    stored = [event._replace(update=loads(dumps(event.update))) for event in events]
    assert fold(None, stored).to_json() == fold(None, events).to_json()


@given(logs | shapely_logs)
def test_any_header_makes_a_head_and_a_post_mortem(events: list[Event]) -> None:
    header = fold(None, events).header
    assert loads(dumps(head_of(header, 1, 2))) == head_of(header, 1, 2)
    drafts = post_mortem(header)
    more = log(*(draft.update for draft in drafts), first=len(events) + 1)
    after = fold(header, more).header
    assert (after.state, after.asks) == ("idle", {})
    assert after.process["state"] not in ("starting", "ready")
    assert post_mortem(after) == []


# --- pages ---


@given(shapely_logs | logs, st.randoms(use_true_random=False))
def test_pages_joined_in_any_grouping_are_the_fold_in_one_go(
    events: list[Event], chance: Any
) -> None:
    """page(k) = fold(events of turn k, header(k-1)); finished turns are frozen, late news joins."""
    whole, parts = fold(None, events), pages(events)
    assert sum(len(page.blocks) for page in parts) == len(whole.blocks)
    while len(parts) > 1:
        place = chance.randrange(len(parts) - 1)
        parts[place : place + 2] = [join(parts[place], parts[place + 1])]
    same(parts[0], whole)


@given(shapely_logs)
def test_a_session_opened_at_its_end_and_read_upwards_is_the_same(events: list[Event]) -> None:
    whole, parts = fold(None, events), pages(events)
    same(functools.reduce(lambda newer, older: join(older, newer), reversed(parts)), whole)
    same(functools.reduce(join, parts), whole)


@given(shapely_logs, shapely_logs)
def test_live_news_meets_a_document_that_has_only_the_last_page(
    past: list[Event], news: list[Event]
) -> None:
    """The newest page is shown, news comes in as ops, and then the older pages are prepended."""
    coming = [event._replace(seq=event.seq + len(past)) for event in news]
    parts = pages(past)
    shown, source = parts[-1], fold(None, past)
    for event in coming:
        shown.apply(through_a_wire(reduce(source, event)))
    for page in reversed(parts[:-1]):
        shown = join(page, shown)
    assert shown.blocks == source.blocks
    assert list(shown.blocks) == list(source.blocks)
    assert not shown.late


def same(document: Document, whole: Document) -> None:
    assert document.header == whole.header
    assert list(document.blocks) == list(whole.blocks), "the order is kept"
    assert document.blocks == whole.blocks
    assert not document.late


# --- by name ---


VALUES = {
    "100 levels": nested(100),
    "5,000 levels": nested(5_000),
    "5,000 levels of objects": nested(5_000, of=dict),
    "100,000 levels": nested(100_000),
    "an integer of 5,000 digits": 10**5_000,
    "an integer of 4,000 digits": 10**4_000,
    "NaN": float("nan"),
    "infinity": float("-inf"),
    "a lone surrogate": "\ud800",
    "many lone surrogates": "\udfff" * 70_000,
    "a key that is one": {"\ud800": 1},
    "a wide list": list(range(8_000)),
    "a wide object": {str(n): "x" * 20 for n in range(2_000)},
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("kind", sorted(OUR_KINDS | ACP_KINDS | set(KINDS)))
def test_named_values_in_every_field_of_every_kind(kind: str, value: object) -> None:
    everywhere = dict.fromkeys(FIELDS, value) | {"sessionUpdate": kind}
    inside = {"sessionUpdate": kind, "state": "asked", "content": [value]}
    inside |= {
        "toolCall": {"toolCallId": value, "content": [value]},
        "entries": [{"content": value}],
    }
    document, client = Document(), Document()
    for update in (everywhere, inside, everywhere):
        event = Event(len(document.blocks) + 1, 1, None, None, update)
        ops = reduce(document, event)
        assert all(size_of(op) <= 64 * 1024 for op in ops)
        client.apply(loads(dumps(ops)))
    assert list(client.blocks) == list(document.blocks)
    assert dumps(client.to_json()).isascii()
