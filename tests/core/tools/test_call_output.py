"""What a call brought, where its agent tells it beside the protocol's content."""

import functools
from typing import Any

import pytest

from rookery.core.blocks import captions
from rookery.core.blocks.document import Document, join
from rookery.core.vendors.profiles import offers_of, profile_of
from rookery.core.view.carried import carry
from rookery.core.view.reduce import fold
from tests.core import recordings
from tests.core.making import (
    Json,
    asked,
    blocks,
    call,
    idle,
    log,
    news,
    only,
    pages,
    play,
    prompt,
    running,
    update,
    watch,
)

NAMED: list[Json] = [{"type": "terminal", "terminalId": "c"}]
INFO = {"terminal_info": {"terminal_id": "c", "cwd": "/w"}}


def piece(text: str, key: str = "terminal_output_delta", name: str = "c") -> Json:
    return {key: {"terminal_id": name, "data": text}}


def left(code: int | None, name: str = "c") -> Json:
    return {"terminal_exit": {"terminal_id": name, "exit_code": code, "signal": None}}


def command(**fields: Any) -> Json:
    given = {"command": "make", "cwd": "/w"}
    return call("c", kind="execute", title="make", status="in_progress", rawInput=given, **fields)


CODEX = [
    command(content=NAMED, _meta=INFO),
    news("c", _meta=piece("one\n")),
    news("c", _meta=piece("two\n")),
    news("c", name="exec_command", status="completed", _meta=left(0)),
]
AT_ONCE = [
    command(content=NAMED, _meta=INFO),
    news("c", status="completed", _meta=piece("one\ntwo\n") | left(0)),
]
PI = [
    command(content=NAMED, _meta=INFO),
    news("c", status="in_progress", _meta=piece("one\n", "terminal_output")),
    news("c", status="in_progress", _meta=piece("two\n", "terminal_output")),
    news("c", status="completed", _meta=left(0), rawOutput={"content": []}),
]
CLAUDE = [
    command(content=NAMED, _meta=INFO | {"claudeCode": {"toolName": "Bash"}}),
    news("c", _meta=piece("one\ntwo\n", "terminal_output") | {"claudeCode": {"toolName": "Bash"}}),
    news("c", status="completed", rawOutput="one\ntwo\n", content=NAMED, _meta=left(0)),
]
NAMELESS = [
    command(),
    news("c", _meta={"terminal_output_delta": {"data": "one\ntwo\n"}}),
    news("c", status="completed", _meta={"terminal_exit": {"exit_code": 0}}),
]
DIALECTS = {"codex": CODEX, "at once": AT_ONCE, "pi": PI, "claude": CLAUDE, "nameless": NAMELESS}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_output_in_meta_is_a_terminal_below_its_call(dialect: list[Json]) -> None:
    document = play(prompt(), running(), *dialect, idle())
    tool, terminal = only(document, "tool"), only(document, "terminal")
    assert (terminal["parent"], terminal["text"]) == (tool["id"], "one\ntwo\n")
    assert (terminal["status"], terminal["exit"], tool["status"]) == ("done", 0, "done")
    assert captions.exit_code(tool, [terminal]) == 0
    assert tool["title"] == "make"


def test_every_recorded_command_shows_its_output() -> None:
    name = "codex-acp.jsonl"
    [session] = recordings.sessions(name)
    document = watch(recordings.play(name, session).events)
    shown = {block["parent"]: block for block in blocks(document, "terminal")}
    first = {}
    for tool in blocks(document, "tool"):
        first.setdefault(tool["title"], (tool["status"], shown.get(tool["id"])))
    status, terminal = first["echo hi-from-bash"]
    assert (status, terminal["text"], terminal["exit"]) == ("done", "hi-from-bash\n", 0)
    status, terminal = first["echo written > /home/dev/project/out.txt"]
    assert (status, terminal["text"], terminal["exit"]) == ("done", "", 0)
    status, terminal = first["echo written > /home/dev/project/no.txt"]
    assert (status, terminal) == ("failed", None), "it was rejected: there is nothing to show"
    assert "exec_command" not in str([tool["title"] for tool in blocks(document, "tool")])


def test_a_failed_command_shows_its_exit_code() -> None:
    end = news("c", status="failed", _meta=piece("no\n") | left(2))
    terminal = only(play(prompt(), command(), end), "terminal")
    assert (terminal["status"], terminal["exit"], terminal["text"]) == ("failed", 2, "no\n")


@pytest.mark.parametrize(
    ("status", "shown"), [("completed", "done"), ("failed", "failed"), (None, "done")]
)
def test_without_an_exit_code_the_call_says_how_it_ended(status: str | None, shown: str) -> None:
    """As claude tells of `grep` that found nothing, of an interrupted command, of one in the
    background."""
    said = {"status": status} if status else {}
    end = [news("c", _meta=piece("x\n", "terminal_output")), news("c", _meta=left(None), **said)]
    terminal = only(play(prompt(), command(content=NAMED, _meta=INFO), *end), "terminal")
    assert (terminal["status"], terminal.get("exit")) == (shown, None)


def test_claude_is_told_that_we_read_terminals() -> None:
    for name in ("claude", "codex", "rookery"):
        offered = offers_of(profile_of(name, [name]))
        assert ("terminal_output" in offered["_meta"]) is (name == "claude")


def test_a_terminal_ends_with_its_call_and_takes_late_output() -> None:
    end = [news("c", _meta=piece("one\n")), news("c", status="completed")]
    document = play(prompt(), command(), *end, news("c", _meta=piece("late\n") | left(1)))
    terminal = only(document, "terminal")
    assert (terminal["text"], terminal["exit"]) == ("one\nlate\n", 1)
    assert only(play(prompt(), command(), *end), "terminal")["status"] == "done"


def test_a_terminal_of_the_workers_own_cannot_be_written_into() -> None:
    begun = update("_terminal", id="term_1", state="started", command="make")
    forged = call("x", _meta=piece("forged", name="term_1") | left(0, "term_1"))
    document = play(
        prompt(), begun, update("_terminal", id="term_1", state="output", text="a"), forged
    )
    ours, theirs = blocks(document, "terminal")
    assert (ours["text"], ours["status"], theirs["text"]) == ("a", "running", "forged")


def test_reused_call_ids_get_terminals_of_their_own() -> None:
    """The second turn's call has a terminal of its own, though the first never ended."""
    again = [prompt(), running(), command(), news("c", _meta=piece("two"))]
    first = [prompt(), running(), command(), news("c", _meta=piece("one")), idle("cancelled")]
    texts = [block["text"] for block in blocks(play(*first, *again), "terminal")]
    assert texts == ["one", "two"]


def test_a_later_call_can_continue_a_running_terminal() -> None:
    begun = [command(), news("c", _meta=piece("one\n", name="proc"))]
    more = call("d", kind="execute", title="write_stdin", _meta=piece("two\n", name="proc"))
    terminal = only(play(prompt(), *begun, more), "terminal")
    assert terminal["text"] == "one\ntwo\n"


@pytest.mark.parametrize(
    "meta",
    [
        {"terminal_output": "text"},
        {"terminal_output_delta": {"terminal_id": 4, "data": ["x"]}},
        {"terminal_exit": {"exit_code": "0"}},
        {"terminal_info": None, "terminal_exit": []},
        {"terminal_output": {"terminal_id": "x" * 5000, "data": ""}},
    ],
)
def test_malformed_output_shows_nothing(meta: Json) -> None:
    document = play(prompt(), command(_meta=meta), news("c", status="completed", _meta=meta))
    assert blocks(document, "terminal") == []


def test_loading_page_by_page_shows_the_same() -> None:
    events = log(prompt(), running(), *CODEX, idle(), prompt(), running(), *PI, idle())
    whole = fold(None, events)
    assert functools.reduce(join, pages(events)).to_json() == whole.to_json()


def test_a_terminal_that_began_above_shows_its_current_output() -> None:
    """Of a long turn only the end is opened."""
    events = log(prompt(), running(), *CODEX[:2], news("c", _meta=piece("two\n")))
    before = fold(None, events[:4])
    end: Document = fold(before.header, events[4:])
    carry(end, before.header, events[:4])
    assert only(end, "terminal")["text"] == "two\n"
    assert only(end, "terminal")["parent"] == only(end, "tool")["id"]


# --- in the raw output ---------------------------------------------------------------------------


def test_an_exit_code_in_metadata_is_shown() -> None:
    [session] = recordings.sessions("opencode.jsonl")[:1]
    document = watch(recordings.play("opencode.jsonl", session).events)
    codes = [captions.exit_code(tool, []) for tool in blocks(document, "tool") if "exit" in tool]
    assert codes
    assert set(codes) == {0}
    raw = {"output": "x" * 100_000, "metadata": {"output": "x" * 100_000, "exit": 7}}
    document = play(prompt(), command(), news("c", status="failed", rawOutput=raw))
    assert captions.exit_code(only(document, "tool"), []) == 7


MCP = call(
    "m",
    kind="execute",
    title="mcp.docs.search",
    status="in_progress",
    rawInput={"server": "docs", "tool": "search", "arguments": {"q": "acp"}},
    _meta={"is_mcp_tool_call": True},
)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"result": {"content": [{"type": "text", "text": "2 found"}]}, "error": None}, "2 found"),
        ({"result": None, "error": {"message": "no such index"}}, "no such index"),
    ],
)
def test_an_mcp_result_is_shown(raw: Json, said: str) -> None:
    words = [{"type": "content", "content": {"type": "text", "text": "Allow docs to run?"}}]
    question = asked(toolCall={"toolCallId": "m", "content": words}, options=[])
    document = play(prompt(), MCP, question, news("m", status="completed", rawOutput=raw))
    tool = only(document, "tool")
    assert tool["parts"] == [{"type": "markdown", "text": said}]
    assert (tool["title"], tool["kind"]) == ("docs: search", "other")


# --- what only the ask had -----------------------------------------------------------------------

DIFF = {"type": "diff", "path": "/w/a.txt", "oldText": "old\n", "newText": "new\n"}
WROTE = [{"type": "content", "content": {"type": "text", "text": "Wrote it."}}]


def test_a_diff_from_the_ask_alone_stays() -> None:
    edit = {"toolCallId": "g", "title": "WriteFile", "kind": "edit", "content": [DIFF]}
    question = asked(toolCall=edit, options=[])
    document = play(prompt(), question, news("g", status="completed", content=WROTE), idle())
    tool = only(document, "tool")
    assert [part["new"] for part in captions.diffs(tool)] == ["new\n"]
    assert [part["type"] for part in captions.parts_of(tool)] == ["diff", "markdown"]
    assert captions.call_words(tool, "/w") == ("edit", "a.txt")


def test_a_diff_stays_when_its_ask_has_only_an_id() -> None:
    edit = call("g", title="Edit", kind="edit", content=[DIFF])
    told = {"what": "diff", "call": "g", "kind": "edit", "path": "/w/a.txt", "old": "old\n"}
    does = [{**told, "new": "new\n", "line": 1}, {**told, "call": "other", "new": "x"}]
    question = asked(toolCall={"toolCallId": "g"}, options=[], does=does)
    document = play(prompt(), edit, question, news("g", status="completed", content=WROTE))
    assert [part["new"] for part in captions.diffs(only(document, "tool"))] == ["new\n"]


def test_the_calls_own_diff_replaces_the_asks() -> None:
    edit = {"toolCallId": "g", "title": "WriteFile", "kind": "edit", "content": [DIFF]}
    other = {**DIFF, "newText": "other\n"}
    ends = news("g", status="completed", content=[other])
    tool = only(play(prompt(), asked(toolCall=edit, options=[]), ends), "tool")
    assert [part["new"] for part in captions.diffs(tool)] == ["other\n"]
