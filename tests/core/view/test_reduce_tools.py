"""Tool calls: one block each, wherever and in whatever order their news comes."""

import pytest

from tests.core.making import (
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


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("pending", "pending"),
        ("in_progress", "running"),
        ("completed", "done"),
        ("failed", "failed"),
        ("_vendor_word", "_vendor_word"),
    ],
)
def test_each_status_has_its_word(said: str, shown: str) -> None:
    assert only(play(call("t", status=said)), "tool")["status"] == shown


def test_a_call_and_its_news_are_one_block() -> None:
    content = [{"type": "content", "content": text("out")}]
    document = play(
        call("t", title="Read x", kind="read", status="pending", rawInput={"path": "x"}),
        news("t", status="in_progress", locations=[{"path": "/p/x", "line": 3}]),
        news("t", status="completed", content=content, rawOutput={"n": 1}),
    )
    block = only(document, "tool")
    assert (block["title"], block["kind"], block["status"]) == ("Read x", "read", "done")
    assert block["parts"] == [{"type": "markdown", "text": "out"}]
    assert block["locations"] == ["/p/x"]
    assert block["input"] == {"type": "json", "value": {"path": "x"}}
    assert block["output"] == {"type": "json", "value": {"n": 1}}
    assert block["seconds"] == 2.0


def test_what_an_update_does_not_state_stays_as_it_was() -> None:
    document = play(
        call("t", title="T", kind="edit", content=[{"type": "content", "content": text("c")}]),
        news("t"),
        news("t", title=None, kind=None, status=None, content=None),
    )
    block = only(document, "tool")
    assert (block["title"], block["kind"], block["status"]) == ("T", "edit", "pending")
    assert block["parts"] == [{"type": "markdown", "text": "c"}]


def test_content_is_replaced_not_added() -> None:
    first, second = ([{"type": "content", "content": text(words)}] for words in "ab")
    document = play(call("t", content=first), news("t", content=second), news("t", content=[]))
    assert only(document, "tool")["parts"] == []


def test_the_first_news_of_a_call_may_be_an_update() -> None:
    document = play(news("t", title="T", status="completed"))
    assert look(document) == [("tool", "T")]
    assert only(document, "tool")["status"] == "done"


def test_the_first_news_of_a_call_may_be_an_ask() -> None:
    tool = {"toolCallId": "t", "title": "Run ls", "kind": "execute"}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    document = play(
        prompt(), asked(toolCall=tool, options=options), news("t", status="in_progress")
    )
    block, ask = only(document, "tool"), only(document, "ask")
    assert (block["title"], block["kind"], block["status"]) == ("Run ls", "execute", "running")
    assert (ask["parent"], ask["title"], ask["kind"]) == (block["id"], "Run ls", "execute")
    assert len({block["id"], ask["id"]}) == 2


def test_an_ask_about_a_known_call_updates_it() -> None:
    tool = {"toolCallId": "t", "title": "Run ls -l"}
    document = play(call("t", title="Run", status="pending"), asked(toolCall=tool))
    assert only(document, "tool")["title"] == "Run ls -l"
    assert only(document, "ask")["parent"] == only(document, "tool")["id"]


def test_a_late_update_of_a_finished_turn_reaches_its_call() -> None:
    document = play(prompt(), running(), call("t"), idle(), news("t", status="completed"))
    assert only(document, "tool")["status"] == "done"


def test_a_late_update_in_the_next_turn_reaches_an_unfinished_call() -> None:
    document = play(prompt(), call("t"), idle(), prompt(), news("t", status="failed"))
    block = only(document, "tool")
    assert (block["id"], block["status"]) == ("1.2", "failed")


def test_a_call_id_used_again_in_a_later_turn_is_another_call() -> None:
    document = play(
        *(prompt(), call("1", title="A"), news("1", status="completed"), idle()),
        *(prompt(), call("1", title="B"), news("1", status="failed"), idle()),
        *(prompt(), news("1", title="C")),
    )
    shown = [(block["title"], block["status"]) for block in blocks(document, "tool")]
    assert shown == [("A", "done"), ("B", "failed"), ("C", "pending")]


def test_an_unfinished_call_whose_id_is_used_again_is_left_as_it_was() -> None:
    document = play(prompt(), call("1", title="A"), idle("cancelled"), prompt(), call("1"))
    assert [block["status"] for block in blocks(document, "tool")] == ["interrupted", "pending"]


def test_the_same_call_said_twice_in_one_turn_is_one_block() -> None:
    document = play(call("1", title="A"), call("1", title="B", status="completed"))
    assert look(document) == [("tool", "B")]


@pytest.mark.parametrize("name", [None, 7, 1.5, ["x"], {"a": 1}, ""])
def test_an_odd_id_still_names_one_call(name: object) -> None:
    document = play(call(name, title="A"), news(name, status="completed"))
    assert only(document, "tool")["status"] == "done"


@pytest.mark.parametrize(
    ("reason", "left"), [("end_turn", "unfinished"), ("cancelled", "interrupted")]
)
def test_calls_that_did_not_end_are_left_at_a_turns_end(reason: str, left: str) -> None:
    document = play(
        *(prompt(), call("a"), call("b", status="in_progress")),
        *(call("c", status="completed"), call("d", status="failed"), idle(reason)),
    )
    assert [block["status"] for block in blocks(document, "tool")] == [left, left, "done", "failed"]


def test_the_end_of_a_later_turn_says_nothing_of_a_call_left_before() -> None:
    """Finished turns are frozen: only news of the call itself may change it."""
    document = play(prompt(), call("a"), idle(), prompt(), idle("cancelled"))
    assert only(document, "tool")["status"] == "unfinished"


def test_a_left_call_that_goes_on_in_the_next_turn_is_left_again() -> None:
    updates = [prompt(), call("a"), idle(), prompt(), news("a", status="in_progress")]
    assert only(play(*updates), "tool")["status"] == "running"
    assert only(play(*updates, idle("cancelled")), "tool")["status"] == "interrupted"


def test_seconds_are_counted_to_the_end_not_to_later_news() -> None:
    document = play(call("t"), news("t", status="completed"), message("x"), news("t", title="T"))
    assert only(document, "tool")["seconds"] == 1.0


def test_a_sub_agents_calls_are_nested() -> None:
    meta = {"claudeCode": {"toolName": "Read", "parentToolUseId": "task"}}
    document = play(
        call("task", title="Task"),
        call("one", title="One", _meta=meta),
        call("two", title="Two", _meta={"other": 1, **meta}),
    )
    parent = blocks(document, "tool")[0]
    assert [child["title"] for child in document.children(parent["id"])] == ["One", "Two"]
    assert [block["title"] for block in document.children(None)] == ["Task"]


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {"claudeCode": None},
        {"claudeCode": {"parentToolUseId": "unknown"}},
        {"claudeCode": {"parentToolUseId": ["task"]}},
    ],
)
def test_a_call_whose_parent_nobody_knows_is_at_the_top(meta: object) -> None:
    document = play(call("task"), call("t", _meta=meta))
    assert [block["parent"] for block in blocks(document, "tool")] == [None, None]


def test_a_call_without_a_title_is_called_by_its_name() -> None:
    assert only(play(call("t", name="Bash")), "tool")["title"] == "Bash"


def test_calls_beyond_what_is_remembered_begin_anew() -> None:
    many = [call(f"t{n}", title=str(n)) for n in range(1001)]
    document = play(prompt(), *many, news("t1000", title="last"), news("t0", title="again"))
    assert len(blocks(document, "tool")) == 1002
    assert blocks(document, "tool")[1000]["title"] == "last"
    assert blocks(document, "tool")[-1]["title"] == "again"


def test_a_terminal_belongs_to_its_call() -> None:
    document = play(
        call("t", content=[{"type": "terminal", "terminalId": "x"}]),
        update("_terminal", id="x", state="started", command="ls", toolCallId="t"),
        update("_terminal", id="x", state="output", text="a\n"),
        update("_terminal", id="x", state="output", text="b\n"),
        update("_terminal", id="x", state="ended", exitCode=0),
    )
    tool, terminal = only(document, "tool"), only(document, "terminal")
    assert tool["parts"] == [{"type": "terminal", "id": "x", "text": ""}]
    assert (terminal["title"], terminal["text"], terminal["status"]) == ("ls", "a\nb\n", "done")
    assert terminal["parent"] == tool["id"]


@pytest.mark.parametrize(("code", "status"), [(0, "done"), (1, "failed"), (None, "failed")])
def test_a_terminals_end_says_how_it_ended(code: int | None, status: str) -> None:
    started, ended = update("_terminal", id="x"), update("_terminal", id="x", state="ended")
    block = only(play(started, {**ended, "exitCode": code, "signal": "TERM"}), "terminal")
    assert (block["status"], block["exit"], block["signal"]) == (status, code, "TERM")


def test_a_terminal_that_outlives_its_turn_is_marked_once() -> None:
    started, out = (
        update("_terminal", id="x"),
        update("_terminal", id="x", state="output", text="o"),
    )
    document = play(prompt(), started, idle(), prompt(), out, idle("cancelled"))
    block = only(document, "terminal")
    assert (block["status"], block["text"], block["id"]) == ("unfinished", "o", "1.2")
