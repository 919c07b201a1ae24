"""page(k) = fold(events of turn k, header(k−1)), whatever came in whatever batches."""

import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.core.json.events import Draft
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, commands, folded, idle, prompt, renamed, running, tool, usage

asks = st.builds(
    lambda name, state: Draft({"sessionUpdate": "_ask", "id": name, "state": state}),
    st.sampled_from("ab"),
    st.sampled_from(["asked", "closed"]),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
strange = st.builds(
    lambda kind, value: Draft({"sessionUpdate": kind, "entries": value, "configOptions": value}),
    st.sampled_from(["plan", "config_option_update", "_rate_limit", "never_heard_of"]),
    values,
)
names = st.sampled_from(["t1", "t2", "t3"])
drafts = st.one_of(
    st.builds(prompt, st.integers(0, 9)),
    st.builds(idle, st.integers(0, 9)),
    st.builds(running, st.integers(0, 9)),
    st.builds(chunk, st.text(max_size=5)),
    st.builds(usage, st.integers(0, 10**6)),
    st.builds(renamed, st.text(max_size=5)),
    st.builds(commands, st.integers(0, 30)),
    st.builds(tool, names, st.sampled_from(["pending", "completed"]), st.just("tool_call")),
    st.builds(tool, names, st.sampled_from(["completed", "failed"])),
    asks,
    strange,
)
batches = st.lists(st.tuples(st.lists(drafts, max_size=6), st.booleans()), max_size=12)


@pytest.mark.long
@settings(max_examples=150)
@given(batches)
def test_any_page_is_folded_from_the_header_before_it(
    batches: list[tuple[list[Draft], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        writer = Writer.open(directory, create=True)
        heard = []
        for batch, reopen in batches:
            heard += writer.append(batch)
            if reopen:
                before = writer.header
                writer.close()
                writer = Writer.open(directory)
                assert writer.header == before
        with writer, Reader.open(directory) as reader:
            stored = reader.read(0, limit=10**6)
            check(reader, writer)
        assert [(event.seq, event.cause, event.by) for event in stored] == [
            (event.seq, event.cause, event.by) for event in heard
        ]


def check(reader: Reader, writer: Writer) -> None:
    stored = reader.read(0, limit=10**6)
    assert [event.seq for event in stored] == list(range(1, writer.last_seq + 1))
    assert writer.header == folded(stored)
    assert reader.turns() == writer.header.turn
    paged = []
    header = reader.header_before(0)
    for n in range(reader.turns() + 1):
        assert reader.header_before(n) == header
        page = reader.page(n)
        paged += page
        header = folded(page, header)
    assert paged == stored
    assert header == writer.header
    assert reader.part()[:2] == (reader.header_before(reader.turns()), reader.page(reader.turns()))
