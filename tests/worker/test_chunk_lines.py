"""Runs of text in an agent's lines: what is merged says the same, and nothing else is merged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.agent.chunks import Chunks
from rookery.core.json import loads
from rookery.worker.agent.chunk_lines import HASTE, LARGE, MAX_LATE_REST, STREAMING, ChunkLines

WINDOW = 0.03


def splitter(*, may_merge: bool = True) -> ChunkLines:
    return ChunkLines(1 << 20, WINDOW, lambda: may_merge)


def update(text: str, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    said = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"update": said}}


def line(message: Any, **form: Any) -> bytes:
    return json.dumps(message, **form).encode() + b"\n"


def chunk(text: str, kind: str = "agent_message_chunk", **more: Any) -> bytes:
    return line(update(text, kind, **more))


def texts(lines: list[Any]) -> list[str]:
    return [loads(each)["params"]["update"]["content"]["text"] for each in lines]


def test_a_run_of_text_is_one_line() -> None:
    assert texts(splitter().feed(chunk("one ") + chunk('"two"\\ ') + chunk("th\u00e9"))) == [
        'one "two"\\ th\u00e9'
    ]


def test_the_last_line_may_be_cut() -> None:
    lines = splitter()
    data = chunk("one ") + chunk("two ") + chunk("three")
    assert texts(lines.feed(data[:-10])) == ["one two "]
    assert texts(lines.feed(data[-10:])) == ["three"]


@pytest.mark.parametrize(
    "other",
    [
        chunk("b", "agent_thought_chunk"),
        chunk("b", messageId="2"),
        line({"jsonrpc": "2.0", "id": 1, "result": {}}),
        line({**update("b"), "id": 7}),
        line({**update("b"), "method": "_other"}),
        b"not JSON\n",
        b"\n",
        chunk("b")[:-4] + b"\n",
        chunk("b").replace(b'"b"', b'"b\\x"'),
        chunk("b").replace(b'"b"', b'"b\x01"'),
        chunk("b").replace(b'"b"', b'"b\xff"'),
        chunk("b").replace(b'"b"', b'"b", "text": "c"'),
        chunk("\ude00"),
    ],
)
def test_what_differs_in_more_than_its_text_stays_a_line_in_its_place(other: bytes) -> None:
    found = splitter().feed(chunk("a") + chunk("a") + other + chunk("c") + chunk("c"))
    assert found == [chunk("aa")[:-1], other[:-1], chunk("cc")[:-1]]


def test_a_prompt_said_again_is_not_merged() -> None:
    """Repeats know it by its whole words."""
    said = [chunk(text, "user_message_chunk") for text in ("one ", "two")]
    assert splitter().feed(b"".join(said)) == [each[:-1] for each in said]


def test_no_text_is_found_where_another_field_has_that_name() -> None:
    tool = {"sessionUpdate": "agent_message_chunk", "_meta": {"text": "x"}, "content": {}}
    said = line({"jsonrpc": "2.0", "method": "session/update", "params": {"update": tool}})
    assert splitter().feed(said * 3) == [said[:-1]] * 3


def test_a_replay_is_heard_line_by_line() -> None:
    assert texts(splitter(may_merge=False).feed(chunk("a") + chunk("b"))) == ["a", "b"]


def test_an_agent_whose_lines_have_no_form_is_merged_again_once_they_have() -> None:
    lines = splitter()
    numbered = [chunk("n", _meta={"at": number}) for number in range(500)]
    assert lines.feed(b"".join(numbered)) == [each[:-1] for each in numbered]
    plain = lines.feed(b"".join(chunk("p") for _ in range(500)))
    assert len(plain) < 110
    assert "".join(texts(plain)) == "p" * 500


@given(
    st.lists(
        st.one_of(
            st.tuples(st.text(max_size=8), st.sampled_from(["message", "thought", "other"])),
            st.just(("", "junk")),
        ),
        max_size=30,
    ),
    st.lists(st.integers(1, 400), max_size=10),
    st.booleans(),
)
def test_however_it_is_cut_the_log_gets_the_same(
    said: list[tuple[str, str]], cuts: list[int], compact: bool
) -> None:
    form: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False} if compact else {}
    data = b""
    for text, kind in said:
        if kind == "junk":
            data += b"junk\n"
        elif kind == "other":
            data += line({"jsonrpc": "2.0", "method": "other", "params": text})
        else:
            message = update(text, f"agent_{kind}_chunk")
            data += json.dumps(message, **form).encode("utf-8", "surrogatepass") + b"\n"
    plain, merging = splitter(may_merge=False), splitter()
    wanted = _heard(plain.feed(data))
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(data[at : at + cut])
        at += cut
    found = [each for piece in [*pieces, data[at:]] for each in merging.feed(piece)]
    assert _heard(found) == wanted


def _heard(lines: list[Any]) -> list[Any]:
    """What the chunk window makes of it when all comes at once."""
    window, found = Chunks(WINDOW), list[Any]()
    window.push(update("", "none")["params"]["update"], 0.0)
    window.push(update("first")["params"]["update"], 0.0)
    for each in lines:
        try:
            message = loads(each)
        except ValueError:
            found += [*window.flush(0.0), each]
            continue
        body = message["params"]
        found += window.push(body["update"] if isinstance(body, dict) else {"other": body}, 0.0)
    return [*found, *window.flush(0.0)]


def test_a_pipe_rests_while_nothing_but_text_comes() -> None:
    lines = splitter()
    for _ in range(STREAMING):
        assert lines.rest(0.0) == 0.0
        lines.feed(chunk("a"))
    assert WINDOW <= lines.rest(0.0) < 2 * WINDOW
    lines.feed(line({"jsonrpc": "2.0", "id": 1, "result": {}}))
    assert lines.rest(0.0) == 0.0


def test_who_is_woken_late_rests_longer_up_to_a_limit() -> None:
    lines = splitter()
    for _ in range(STREAMING):
        lines.feed(chunk("a"))
    rests = [lines.rest(late) for late in (0.0, 0.01, 0.01, 9.0)]
    assert rests == sorted(set(rests)), rests
    assert rests[-1] == MAX_LATE_REST


def test_an_agent_that_writes_fast_is_not_held_by_a_full_pipe() -> None:
    lines = splitter()
    for _ in range(STREAMING):
        lines.feed(chunk("a"))
    assert lines.rest(0.0)
    lines.feed(chunk("much") * (LARGE // 100))
    for _ in range(HASTE):
        assert lines.rest(0.0) == 0.0
        lines.feed(chunk("a"))
    assert lines.rest(0.0)
