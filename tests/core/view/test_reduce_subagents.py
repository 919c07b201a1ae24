"""Sub-agents: what each says and does is nested in its own block, and is never the agent's."""

from typing import Any

from rookery.core.agent.chunks import Lanes
from rookery.core.blocks.document import Document
from rookery.core.header import Header
from rookery.core.json.events import dumps, loads
from rookery.core.view.recap import turn_words
from rookery.core.view.reduce import fold
from tests.core.making import (
    Json,
    asked,
    blocks,
    call,
    idle,
    log,
    message,
    news,
    pages,
    play,
    prompt,
    running,
    text,
    update,
)


def child(name: str, inner: Json) -> Json:
    return update("_child", session=name, update=inner)


def about(name: str, state: str = "", **fields: Any) -> Json:
    given = {"state": {"state": state, **fields.pop("more", {})}} if state else {}
    return update("subagent_update", sessionId=name, **given, **fields)


def letter(name: str, words: str, sender: str, recipient: str, **fields: Any) -> Json:
    ends = {"senderSessionId": sender, "recipientSessionId": recipient}
    return update("session_message", messageId=name, content=[text(words)], **ends, **fields)


BEGIN = [prompt(), running(), about("s", "running", title="Look", description="Explore")]


def tree(document: Document) -> list[tuple[int, str, str]]:
    depth: dict[str, int] = {}
    found = []
    for block in blocks(document):
        depth[block["id"]] = depth[block["parent"]] + 1 if block["parent"] else 0
        found.append((depth[block["id"]], block["role"], block["title"] or block["text"]))
    return found


def test_its_words_and_calls_are_nested_and_it_ends_with_a_result() -> None:
    document = play(
        *BEGIN,
        child("s", message("I am ", messageId="m")),
        child("s", message("looking.", messageId="m")),
        child("s", call("1", title="ls", kind="execute", status="completed")),
        child("s", message("Two files.\nMore.", messageId="n")),
        about("s", "idle", more={"stopReason": "end_turn"}),
        message("There are two."),
    )
    assert tree(document) == [
        (0, "prompt", "go"),
        (0, "tool", "Look (Explore)"),
        (1, "message", "I am looking."),
        (1, "tool", "ls"),
        (1, "message", "Two files.\nMore."),
        (0, "answer", "There are two."),
    ]
    head = blocks(document, "tool")[0]
    told = {key: head[key] for key in ("kind", "status", "calls", "result", "seconds")}
    assert told == {
        "kind": "subagent",
        "status": "done",
        "calls": 1,
        "result": "Two files.",
        "seconds": 5.0,
    }


def test_its_words_are_not_the_agents_in_a_recap() -> None:
    said = child("s", message("secret of the child"))
    end = about("s", "idle", more={"stopReason": "end_turn"})
    words = turn_words(play(*BEGIN, said, end, message("mine"), idle()))
    assert "**Agent:** mine" in words
    assert "**Agent:** secret" not in words
    assert words.count("secret of the child") == 1, "as its result"


def test_parallel_ones_stay_apart_even_with_the_same_ids() -> None:
    document = play(
        *BEGIN,
        about("t", "running", title="Other"),
        child("s", message("one ", messageId="m")),
        child("t", message("two ", messageId="m")),
        child("s", call("1", title="a")),
        child("t", call("1", title="b")),
        child("s", news("1", status="failed")),
        child("t", news("1", status="completed")),
        child("s", message("three", messageId="m")),
    )
    tools = {block["title"]: block for block in blocks(document, "tool")}
    assert (tools["a"]["status"], tools["b"]["status"]) == ("failed", "done")
    assert tools["a"]["parent"] == tools["Look (Explore)"]["id"]
    assert tools["b"]["parent"] == tools["Other"]["id"]
    assert [block["text"] for block in blocks(document, "message")] == ["one ", "two ", "three"]


def test_the_agents_message_goes_on_while_a_sub_agent_speaks() -> None:
    document = play(*BEGIN, message("mine, "), child("s", message("its")), message("still mine"))
    assert [block["text"] for block in blocks(document, "answer")] == ["mine, still mine"]


def test_sub_agents_of_sub_agents_nest() -> None:
    document = play(
        *BEGIN,
        child("s", about("g", "running", title="Grandchild")),
        child("g", message("deep down")),
        child("s", about("g", "idle", more={"stopReason": "error", "error": {"message": "no"}})),
    )
    assert tree(document)[-2:] == [(1, "tool", "Grandchild"), (2, "message", "deep down")]
    grandchild = blocks(document, "tool")[-1]
    assert (grandchild["status"], grandchild["result"]) == ("failed", "no")


def test_a_message_that_both_transcripts_have_is_shown_once_with_its_reply() -> None:
    document = play(
        *BEGIN,
        letter("m1", "Look at it.", "root", "s", recipientMessageId="i1"),
        child("s", letter("i1", "Look at it.", "root", "s", senderMessageId="m1")),
        child("s", message("It is fine.")),
        letter("r1", "It is fine.", "s", "root"),
        letter("r2", "And more.", "s", "root"),
    )
    said = [(block["title"], block["text"]) for block in blocks(document, "message")]
    assert said == [("Task", "Look at it."), ("", "It is fine."), ("Result", "And more.")]
    assert blocks(document, "tool")[0]["result"] == "And more."


def test_a_message_may_stream_before_it_is_known_whose_it_is() -> None:
    def piece(words: str) -> Json:
        return update("session_message_chunk", messageId="m", content=text(words))

    ends = {"senderSessionId": "root", "recipientSessionId": "s"}
    document = play(*BEGIN, piece("Look "), update("session_message", messageId="m", **ends))
    document = play(
        *BEGIN, piece("Look "), update("session_message", messageId="m", **ends), piece("there.")
    )
    [block] = blocks(document, "message")
    assert (block["title"], block["text"]) == ("Task", "Look there.")
    assert block["parent"] == blocks(document, "tool")[0]["id"]


def test_what_belongs_to_a_call_is_nested_in_it() -> None:
    def below(inner: Json) -> Json:
        return update("_child", call="task", update=inner)

    meta = {"claudeCode": {"parentToolUseId": "task"}}
    document = play(
        *(prompt(), call("task", title="Delegate")),
        below(message("looking")),
        call("inner", title="ls", _meta=meta),
        below(message("found")),
    )
    assert [depth for depth, *_ in tree(document)] == [0, 0, 1, 1, 1]
    assert blocks(document, "tool")[0]["calls"] == 1
    unknown = play(prompt(), update("_child", call="never seen", update=message("hello")))
    assert tree(unknown)[1:] == [(0, "tool", "Sub-agent"), (1, "message", "hello")]


def test_one_that_never_ends_is_closed_with_its_calls_when_the_turn_ends() -> None:
    begun = [*BEGIN, child("s", call("1", title="sleep", status="in_progress"))]
    for reason, status in (("end_turn", "unfinished"), ("cancelled", "interrupted")):
        document = play(*begun, idle(reason))
        assert [block["status"] for block in blocks(document, "tool")] == [status, status]


def test_words_after_its_end_are_still_its_own() -> None:
    end = about("s", "idle", more={"stopReason": "end_turn"})
    document = play(*BEGIN, child("s", message("one")), end, child("s", message("late")))
    assert [(depth, role) for depth, role, _ in tree(document)[-2:]] == [(1, "message")] * 2
    assert blocks(document, "tool")[0]["status"] == "done"


def test_in_a_later_turn_it_has_a_block_of_its_own() -> None:
    events = log(*BEGIN, idle(), prompt("more"), child("s", message("again")), idle())
    last = pages(events)[-1]
    assert tree(last) == [
        (0, "prompt", "more"),
        (0, "tool", "Look (Explore)"),
        (1, "message", "again"),
    ]


def test_an_ask_names_the_sub_agent_and_stands_at_its_call() -> None:
    document = play(
        *BEGIN,
        child("s", call("1", title="rm x", kind="execute")),
        asked(session="s", agent="claude", toolCall={"toolCallId": "1", "title": "rm x"}),
    )
    [ask] = blocks(document, "ask")
    assert ask["agent"] == "Look (sub-agent of claude)"
    assert document.blocks[ask["parent"]]["title"] == "rm x"
    assert document.blocks[document.blocks[ask["parent"]]["parent"]]["kind"] == "subagent"


def test_an_unknown_kind_is_raw_inside_and_state_is_not_shown() -> None:
    document = play(*BEGIN, child("s", update("mystery", x=1)), child("s", update("usage_update")))
    assert tree(document)[-1] == (1, "raw", "mystery")


def test_the_fold_is_the_same_page_by_page_and_in_bounds() -> None:
    chunks = [child(f"s{n % 100}", message("x", messageId=str(n))) for n in range(2000)]
    calls = [child("s", call(str(n), title="t")) for n in range(500)]
    document = fold(None, log(*BEGIN, *chunks, *calls))
    header = Header(loads(dumps(document.header.raw)))
    assert len(header.children) == 64
    assert len(header.children["s"]["_tools"]) == 200
    assert document.blocks[header.children["s"]["block"]]["calls"] == 500


def test_what_several_say_at_once_is_merged_for_each() -> None:
    lanes, logged = Lanes(0.03), []
    for n in range(3000):
        logged += lanes.push(child("st"[n % 2], message(f"{n} ", messageId="m")), n / 100_000)
    logged += lanes.flush(1.0)
    assert len(logged) < 20
    for name, first in (("s", 0), ("t", 1)):
        said = [each["update"]["content"]["text"] for each in logged if each["session"] == name]
        assert "".join(said) == "".join(f"{n} " for n in range(first, 3000, 2))


def test_a_sub_agents_notice_is_nested_in_its_block() -> None:
    """Codex warns in every session, also in those of its sub-agents."""
    warned = update("notice", severity="warning", title="No such model", description="A fallback")
    document = play(*BEGIN, child("s", warned), message("Done."))
    assert tree(document) == [
        (0, "prompt", "go"),
        (0, "tool", "Look (Explore)"),
        (1, "notice", "No such model"),
        (0, "answer", "Done."),
    ]
