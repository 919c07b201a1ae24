"""Messages: which chunks make one block, and which begin another."""

import pytest

from rookery.core.blocks import Document, captions
from rookery.core.blocks.document import PIECE
from rookery.core.header import Header
from rookery.core.json import Event
from rookery.core.view.reduce import fold, reduce
from tests.core.making import (
    Json,
    asked,
    blocks,
    call,
    idle,
    look,
    message,
    news,
    only,
    play,
    prompt,
    running,
    text,
    update,
)

THOUGHT = "agent_thought_chunk"


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("user_message_chunk", "prompt"),
        ("agent_message_chunk", "answer"),
        ("agent_thought_chunk", "thought"),
    ],
)
def test_each_kind_of_chunk_has_its_role_and_grows(kind: str, role: str) -> None:
    document = play(message("one ", kind), message("two", kind))
    assert look(document) == [(role, "one two")]


def test_a_prompt_begins_a_turn_and_shows_its_words() -> None:
    document = play(update("_session", title="t"), prompt("first\nlines"), prompt("second"))
    assert look(document) == [("prompt", "first\nlines"), ("prompt", "second")]
    assert list(document.blocks) == ["1.2", "2.3"], "an id says where a block lives"
    assert document.header.turn == 2


def test_a_prompt_shows_what_is_not_text_as_parts() -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    file = {"type": "resource_link", "uri": "file:///x.py", "name": "x.py"}
    block = only(play(update("_prompt", prompt=[text("see"), picture, file])), "prompt")
    assert block["text"] == "see"
    assert [part["type"] for part in block["parts"]] == ["image", "link"]
    assert block["parts"][0] == {"type": "image", "mime": "image/png", "bytes": 3}


def test_a_thought_between_two_answers_parts_them() -> None:
    document = play(message("a"), message("hm", THOUGHT), message("b"))
    assert look(document) == [("answer", "a"), ("thought", "hm"), ("answer", "b")]


def test_a_thought_says_how_long_it_took() -> None:
    """From its first chunk to its last, whatever comes later; alone, a chunk took no time."""
    thought = [message("hm", THOUGHT), message(", hm", THOUGHT), message(", so", THOUGHT)]
    document = play(prompt(), *thought, prompt(), message("b"))
    block = only(document, "thought")
    assert (block["seconds"], captions.thought(block)) == (2, "Thought for 2 s")
    assert captions.thought(block, live=True) == "Thinking · 2 s"
    short = only(play(message("hm", THOUGHT), message("b")), "thought")
    assert (captions.thought(short), captions.thought(short, live=True)) == ("Thought", "Thinking")


def test_chunks_of_a_thought_within_a_second_are_one_op_each() -> None:
    document, ops = Document(), []
    for at in range(0, 3000, 30):
        event = Event(at // 30 + 1, at, None, None, message("hm", THOUGHT))
        ops += reduce(document, event)
    assert [op for op in ops if op[0] == "set"] == [
        ["set", "0.1", {"seconds": 1}],
        ["set", "0.1", {"seconds": 2}],
    ]


def test_a_header_of_an_earlier_build_does_not_time_its_thought() -> None:
    header = play(message("hm", THOUGHT)).header
    old = Header({key: header.raw[key] for key in header.raw if key != "_thinking"})
    events = [Event(2, 9000, None, None, message("hm", THOUGHT))]
    assert fold(old, events).late == {"0.1": [["append", "0.1", "hm"]]}


def test_a_withdrawn_half_answer_is_gone() -> None:
    back = {"_meta": {"rookery": {"takenBack": True}}}
    half = message("half an ans", messageId="1")
    document = play(half, message("", messageId="1", **back), message("whole", messageId="2"))
    assert look(document) == [("answer", "whole")]
    document = play(half, message("", messageId="2", **back), message("b", messageId="1"))
    assert look(document) == [("answer", "half an ans"), ("answer", "b")], "it was another's"
    assert look(play(message("", messageId="1", **back))) == []


def test_a_withdrawn_messages_thoughts_and_call_go_too() -> None:
    """Thoughts between words, a call that was never made: all of that message, and of no other."""
    back = {"_meta": {"rookery": {"takenBack": True}}}
    before = [prompt("p"), message("earlier", messageId="0")]
    half = [
        message("hm", THOUGHT, messageId="1-thought"),
        message("half", messageId="1"),
        call("t", title="T"),
        message(" an ans", messageId="1"),
        message("hm, hm", THOUGHT, messageId="1-thought"),
    ]
    void = [message("", messageId="1", **back), message("", THOUGHT, messageId="1-thought", **back)]
    shown = look(play(*before, *half, *void, message("whole", messageId="2")))
    assert [role for role, _ in shown] == ["prompt", "answer", "tool", "answer"]
    assert [words for role, words in shown if role == "answer"] == ["earlier", "whole"]
    late = [*before, update("_turn", state="idle", reason="end_turn"), prompt("q")]
    gone = message("", messageId="0", **back)
    assert ("answer", "earlier") in look(play(*late, gone)), "a turn that is over stands"


@pytest.mark.parametrize("kind", [THOUGHT, "notice"])
def test_our_agents_retry_is_a_state_not_a_thought(kind: str) -> None:
    """Shown while it lasts, as another vendor's is; clients without that state get the words."""
    about: Json = {"_meta": {"rookery": {"retry": {"attempt": 2, "of": 5, "in": 8.0}}}}
    why, when = "The model's provider failed.", "Trying again in 8 s (attempt 2 of 5)."
    told = message(f"{why}\n{when}\n", THOUGHT, **about)
    if kind == "notice":
        told = update("notice", severity="warning", title=why, description=when, **about)
    begun = [prompt("p"), running(), message("hm", THOUGHT)]
    document = play(*begun, told)
    assert document.header.retrying == f"{why} {when}"
    assert look(document)[1:] == [("thought", "hm"), ("notice", "The agent is trying again")]
    assert only(document, "notice")["text"] == f"{why} {when}"
    document = play(*begun, told, told, message("On."))
    assert document.header.retrying == ""
    assert look(document)[1:] == [("thought", "hm"), ("answer", "On.")]


def test_another_message_id_is_another_message() -> None:
    document = play(
        message("a", messageId="1"), message("b", messageId="2"), message("c", messageId="2")
    )
    assert look(document) == [("answer", "a"), ("answer", "bc")]


def test_interleaved_message_ids_keep_the_order_in_which_they_came() -> None:
    said = [message(words, messageId=name) for words, name in ("a1", "b2", "c1")]
    assert look(play(*said)) == [("answer", "a"), ("answer", "b"), ("answer", "c")]


@pytest.mark.parametrize("odd", [None, 7, ["x"], {"a": 1}])
def test_a_message_id_that_is_no_text_counts_as_none(odd: object) -> None:
    assert look(play(message("a", messageId=odd), message("b"))) == [("answer", "ab")]


BETWEEN = {
    "a tool call": call("t", title="T"),
    "news of a tool call that was not known": news("t", title="T"),
    "an ask": asked(),
    "a plan": update("plan", entries=[]),
    "a new context": update("_context", state="reset"),
    "a rate limit": update("_rate_limit", message="slow"),
    "a terminal": update("_terminal", id="x", state="started"),
    "the critic": update("_critic", score=0.5),
    "a kind that nobody knows": update("never_heard_of"),
    "something raw": update("_raw", value=1, why="w"),
    "an exit": update("_agent", state="exited", status=1, name="a"),
    "a switch": update("_agent", state="switched", to="b"),
    "a picture": update("agent_message_chunk", content={"type": "image", "data": "AAAA"}),
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN.keys())
def test_a_block_between_two_chunks_ends_the_message(between: dict) -> None:
    document = play(message("a"), between, message("b"))
    said = [block for block in blocks(document, "answer") if block["text"]]
    assert [block["text"] for block in said] == ["a", "b"]
    assert list(document.blocks.values())[-1]["text"] == "b"


BESIDE = {
    "a notice": update("_notice", text="n"),
    "a notice of the agent": update("notice", title="n", severity="info"),
    "a rejected command": update("_rejected", message="no"),
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE.keys())
def test_a_notice_never_splits_a_sentence(beside: dict) -> None:
    document = play(message("The par"), beside, message("ser."))
    assert [block["text"] for block in blocks(document, "answer")] == ["The parser."]
    assert list(document.blocks.values())[-1]["role"] == "notice", "it stands below"


UNSEEN = {
    "usage": update("usage_update", used=1, size=2),
    "commands": update("available_commands_update", availableCommands=[{"name": "c"}]),
    "a mode": update("current_mode_update", currentModeId="plan"),
    "options": update("config_option_update", configOptions=[]),
    "a title": update("session_info_update", title="t"),
    "a queued prompt": update("_queue", op="add", id="q", prompt=[text("later")]),
    "a done command": update("_done", command="cancel"),
    "the session": update("_session", pinned=True),
    "a vendor's own notification": update("_raw", source="notification", why="_auth/status"),
}


@pytest.mark.parametrize("between", UNSEEN.values(), ids=UNSEEN.keys())
def test_what_has_no_block_parts_no_message(between: dict) -> None:
    assert look(play(message("a"), between, message("b"))) == [("answer", "ab")]


def test_a_quiet_turn_says_so_and_splits_no_message() -> None:
    quiet = update("_turn", state="quiet", detail="no message for 30 s")
    document = play(prompt(), running(), message("a"), quiet)
    action, log = only(document, "notice")["actions"]
    assert (action["command"], log["window"]) == ({"do": "force_end"}, "log")
    document = play(prompt(), running(), message("a"), quiet, running(), message("b"))
    assert look(document)[-1] == ("answer", "ab")
    assert not blocks(document, "notice")


def test_news_of_a_known_call_parts_no_message() -> None:
    document = play(call("t", title="T"), message("a"), news("t", status="completed"), message("b"))
    assert look(document) == [("tool", "T"), ("answer", "ab")]


def test_a_message_ends_with_its_turn_and_a_late_chunk_stays_in_it() -> None:
    document = play(prompt(), running(), message("a"), idle(), message("late"), prompt("b"))
    assert [block["text"] for block in blocks(document, "answer")] == ["a", "late"]
    assert all(block["id"].startswith("1.") for block in blocks(document, "answer"))


def test_a_chunk_that_is_not_text_is_a_block_with_a_part() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    document = play(update("agent_message_chunk", content=link))
    assert only(document, "answer")["parts"] == [{"type": "link", "uri": "file:///a", "name": "a"}]


def test_a_long_text_comes_in_pieces_and_is_whole() -> None:
    words = "🪶" * (PIECE * 3 + 1)
    document = play(message(words), message(words))
    assert only(document, "answer")["text"] == words + words


def test_a_long_prompt_with_large_parts_is_whole() -> None:
    words = "🪶é" * 30_000
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "x" * 39_000}}
    block = only(play(update("_prompt", prompt=[text(words), resource])), "prompt")
    assert block["text"] == words
    assert block["parts"][0]["text"] == "x" * 39_000
