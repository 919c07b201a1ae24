"""A session's events as text: each word once, streamed or at the end, never a control code."""

import io
from itertools import count
from typing import Any

import pytest

from rookery.cli.output.screen import Screen
from rookery.cli.output.transcript import Transcript
from rookery.core.blocks.document import Document
from rookery.core.json.events import Event
from rookery.core.view.reduce import fold, reduce

type Json = dict[str, Any]


def events(*updates: Json) -> list[Event]:
    start = [
        {"sessionUpdate": "_session", "id": "abc", "cwd": "/w", "agent": "demo"},
        {"sessionUpdate": "_prompt", "prompt": [{"type": "text", "text": "Do it"}]},
        {"sessionUpdate": "_turn", "state": "running"},
    ]
    numbers = count(1)
    return [Event(n := next(numbers), n * 1000, None, None, each) for each in (*start, *updates)]


def streamed(*updates: Json, live: bool = False, **options: Any) -> str:
    out = io.StringIO()
    transcript = Transcript(Screen(out, io.StringIO(), live=live), **options)
    document = Document()
    for event in events(*updates):
        transcript.feed(document, reduce(document, event))
        transcript.status(document, 0)
    transcript.finish()
    return out.getvalue()


def printed(*updates: Json, **options: Any) -> str:
    out = io.StringIO()
    Transcript(Screen(out, io.StringIO(), live=False), **options).page(fold(None, events(*updates)))
    return out.getvalue()


def test_a_markdown_plan_is_written_again_only_where_it_changed_and_says_when_it_is_gone() -> None:
    plan = {"type": "markdown", "planId": "m", "content": "# Way\n\n- first"}
    told = {"sessionUpdate": "plan_update", "plan": plan}
    gone = {"sessionUpdate": "plan_removed", "planId": "m"}
    text = streamed(told, told, gone)
    assert text.count("Plan\n  # Way\n") == 1
    assert text.count("Plan removed") == 1


def say(text: str, kind: str = "agent_message_chunk") -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def think(text: str) -> Json:
    return say(text, "agent_thought_chunk")


def call(name: str = "t", **fields: Any) -> Json:
    return {"sessionUpdate": "tool_call", "toolCallId": name, **fields}


def update(name: str = "t", **fields: Any) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name, **fields}


def output(text: str) -> list[Json]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


END = {"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"}


def test_text_streams_without_repeating() -> None:
    found = streamed(say("Hel"), say("lo\n"), say("\nthere"), END, prompts=False)
    assert found == "Hello\n\nthere\n"
    assert printed(say("Hel"), say("lo\n"), say("\nthere"), END, prompts=False) == found


def test_newlines_around_a_message_do_not_pile_up() -> None:
    found = streamed(say("\n\nOne\n\n\n"), think("hm"), say("\n\nTwo\n"), END, prompts=False)
    assert found == "One\n\n∴ Thought\n\nTwo\n"


def test_a_thought_is_one_line_with_its_duration() -> None:
    found = streamed(think("a" * 200), think("b" * 40), say("So."), END, prompts=False)
    assert found == "∴ Thought for 1 s\n\nSo.\n"


def test_a_withdrawn_thought_is_not_printed() -> None:
    back = {"messageId": "1", "_meta": {"rookery": {"takenBack": True}}}
    told = streamed(think("hm, hm") | {"messageId": "1"}, think("") | back, say("Yes."))
    assert told == streamed(say("Yes."))


def test_a_prompt_has_a_rule_at_its_left() -> None:
    assert streamed(say("Yes.")) == "▎ Do it\n\nYes.\n"


def test_a_card_is_written_when_its_call_ends() -> None:
    ran = call(title="`pytest -q`", kind="execute", status="in_progress")
    assert streamed(ran, prompts=False) == ""
    over = update(status="completed", content=output("1 passed\n"), rawOutput={"exitCode": 0})
    found = streamed(ran, over, prompts=False)
    assert found == "✓ run pytest -q · 1 s · exit 0\n  1 passed\n"


def test_text_that_goes_on_beside_a_call_is_not_lost() -> None:
    found = streamed(
        call(title="Look", kind="search"), say("One "), update(status="completed"), say("two"), END
    )
    assert "One \n" in found
    assert found.endswith("✓ Look · 2 s\n\ntwo\n")


def test_an_edit_counts_its_lines_and_shows_its_diff() -> None:
    old = "".join(f"{n}\n" for n in range(1, 41))
    diff = {
        "type": "diff",
        "path": "/w/a.txt",
        "oldText": old,
        "newText": old.replace("30\n", "x\n"),
    }
    found = streamed(
        call(title="Edit a.txt", kind="edit", content=[diff], status="completed"), prompts=False
    )
    assert found.splitlines()[0] == "✓ edit a.txt +1 −1"
    assert "  27   27\n" in found
    assert "  30 - 30\n  30 + x\n" in found


def test_reading_is_told_by_its_length() -> None:
    read = call(title="a/b.py", kind="read", status="completed", content=output("1\n2\n3\n"))
    assert streamed(read, prompts=False) == "✓ read a/b.py · 3 lines\n"
    assert "  2\n" in streamed(read, prompts=False, full=True)


def test_long_output_is_cut_in_the_middle_with_a_count() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    ran = call(title="ls", kind="execute", status="completed", content=output(text))
    found = streamed(ran, prompts=False)
    assert "  line 0\n" in found
    assert "  … 84 more lines\n" in found
    assert found.endswith("  line 99\n")
    assert "  line 50\n" in streamed(ran, prompts=False, full=True)


def test_a_failed_call_says_so() -> None:
    found = streamed(call(title="ls", kind="execute", status="failed"), prompts=False)
    assert found == "✗ run ls · failed\n"


def test_what_the_turn_left_open_is_told_at_its_end() -> None:
    found = streamed(call(title="ls", kind="execute", status="in_progress"), END, prompts=False)
    assert found == "■ run ls · unfinished\n"


def test_calls_of_a_sub_agent_are_indented() -> None:
    child = call("c", title="Look", kind="search", status="completed")
    child["_meta"] = {"claudeCode": {"parentToolUseId": "p"}}
    found = streamed(call("p", title="Task"), child, update("p", status="completed"), prompts=False)
    assert found.splitlines()[0].startswith("│ ✓ Look")


def test_a_plan_is_written_again_only_where_it_changed() -> None:
    def plan(*states: str) -> Json:
        entries = [{"content": f"Step {n}", "status": s} for n, s in enumerate(states, 1)]
        return {"sessionUpdate": "plan", "entries": entries}

    found = streamed(
        plan("in_progress", "pending"), plan("completed", "in_progress"), prompts=False
    )
    assert found == ("Plan 0/2\n  ◐ Step 1\n  ○ Step 2\n\nPlan 1/2\n  ✓ Step 1\n  ◐ Step 2\n")
    assert printed(plan("completed", "pending"), prompts=False) == (
        "Plan 1/2\n  ✓ Step 1\n  ○ Step 2\n"
    )


ASKED = {
    "sessionUpdate": "_ask",
    "id": "q",
    "state": "asked",
    "nonce": "n",
    "kind": "permission",
    "toolCall": {"toolCallId": "t", "title": "rm -rf build", "kind": "execute"},
    "options": [
        {"optionId": "y", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "n", "name": "Reject", "kind": "reject_once"},
    ],
}
ANSWERED = {
    "sessionUpdate": "_ask",
    "id": "q",
    "state": "closed",
    "name": "Allow once",
    "outcome": {"outcome": "selected", "optionId": "y"},
}


def test_an_ask_has_its_options_numbered_and_then_its_outcome() -> None:
    found = streamed(ASKED, ANSWERED, prompts=False)
    assert found == (
        "┃ ◆ Demo wants to run:\n┃   │ rm -rf build\n┃ 1  Allow once [y]\n┃ 2  Reject [n]\n"
        "  ✓ Allowed\n"
    )


def test_an_ask_that_a_policy_answers_is_told_with_its_outcome() -> None:
    found = streamed(ASKED, ANSWERED, prompts=False, asks=False)
    assert found == "◆ Demo wants to run: rm -rf build  Allowed\n"


def test_an_end_that_was_not_wished_for_has_its_remedy() -> None:
    error = {"code": -32000, "message": "Not logged in"}
    found = streamed(END | {"reason": "failed", "error": error}, prompts=False)
    assert found == (
        "✗ The agent returned an error\n  Not logged in\n"
        "  Log in to demo, and the prompt is sent again: rookery agents login demo\n"
        "  Send again: rookery retry abc\n"
        "  Continue with another agent: rookery switch-agent abc AGENT\n"
    )


def test_notices_dividers_and_unknown_kinds() -> None:
    notice = {"sessionUpdate": "_notice", "level": "warn", "text": "Careful\nof this"}
    context = {"sessionUpdate": "_context", "state": "reset", "reason": "gone"}
    found = streamed(notice, context, {"sessionUpdate": "news", "x": 1}, prompts=False)
    assert found.startswith("▲ Careful\n  of this\n\n─── The agent's context was reset ───")
    assert '· news  {"x": 1}\n' in found


HOSTILE = "a\x1b[2J\x1b]52;c;aGk=\x07b\r\ud800\u202e\x9b"


def test_no_part_of_a_session_brings_a_control_code_out() -> None:
    diff = {"type": "diff", "path": HOSTILE, "oldText": HOSTILE, "newText": HOSTILE + "x"}
    everything = [
        say(HOSTILE),
        think(HOSTILE),
        call(title=HOSTILE, kind="execute", status="completed", content=output(HOSTILE)),
        call("d", title=HOSTILE, kind="edit", status="completed", content=[diff]),
        call("j", title=HOSTILE, status="completed", rawInput={HOSTILE: HOSTILE}),
        {"sessionUpdate": "plan", "entries": [{"content": HOSTILE, "status": "pending"}]},
        ASKED | {"toolCall": {"toolCallId": "q", "title": HOSTILE}, "options": [{"optionId": "y"}]},
        ANSWERED | {"name": HOSTILE},
        {"sessionUpdate": "_notice", "text": HOSTILE},
        {"sessionUpdate": HOSTILE},
        END | {"reason": HOSTILE, "error": {"message": HOSTILE}},
    ]
    for found in (streamed(*everything), printed(*everything), streamed(*everything, full=True)):
        found.encode()
        assert not [c for c in found if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F]


def test_a_terminal_gets_colour_and_a_line_on_what_runs() -> None:
    ran = call(title="make", kind="execute", status="in_progress")
    found = streamed(ran, update(status="completed"), live=True, prompts=False)
    assert "\x1b[36m◐ run make\x1b[0m" in found
    assert "\r\x1b[2K\x1b[32m✓ \x1b[0mrun make" in found


def test_a_session_that_waits_for_a_person_shows_no_work() -> None:
    found = streamed(call(title="ls", kind="execute"), ASKED, live=True, prompts=False)
    assert found.rindex("Reject") > found.rindex("◐")


def test_colours_of_output_are_kept_on_a_terminal_only() -> None:
    ran = call(title="ls", kind="execute", status="completed", content=output("\x1b[34mdir\x1b[0m"))
    assert "\x1b[34mdir" in streamed(ran, live=True)
    assert "  dir\n" in streamed(ran)


def terminal(state: str, **fields: Any) -> Json:
    return {"sessionUpdate": "_terminal", "id": "term-1", "state": state, **fields}


RAN = [terminal("started", command="sh -c make", text="made\n"), terminal("ended", exitCode=0)]


def test_a_terminal_that_ends_before_its_call_names_it_is_written_once() -> None:
    names = [{"type": "terminal", "terminalId": "term-1"}]
    late = update(content=names, status="completed")
    found = streamed(
        call(title="make", kind="execute"), *RAN, late, END, prompts=False, durations=False
    )
    assert found == "✓ run make · exit 0\n  made\n"


@pytest.mark.parametrize("after", [[say("so")], []], ids=["then text", "then nothing"])
def test_a_terminal_that_no_call_names_stands_for_itself(after: list[Json]) -> None:
    found = streamed(*RAN, *after, END, prompts=False)
    assert found.startswith("✓ run sh -c make · exit 0\n  made\n")
    assert found.endswith("\n\nso\n") is bool(after)


def test_output_after_the_end_of_its_call_is_printed_too() -> None:
    """Each line once, below the name of its command; a line without an end when it is over."""

    def piece(text: str, **more: Any) -> Json:
        return update(_meta={"terminal_output_delta": {"data": text}}, **more)

    begun = call(title="make", kind="execute", status="in_progress")
    told = streamed(
        begun,
        piece("one\n"),
        update(status="completed"),
        piece("two\nth"),
        piece("ree\n"),
        say("Meanwhile."),
        piece("four\nfi"),
        update(_meta={"terminal_output_delta": {"data": "ve"}, "terminal_exit": {"exit_code": 0}}),
    )
    assert told.count("run make") == 3
    assert [line.strip() for line in told.split("\n") if line.startswith("  ")] == [
        *("one", "two", "three", "four", "five")
    ]
    assert told.index("three") < told.index("Meanwhile.") < told.index("four")
    first = streamed(begun, update(status="completed"), piece("only\nhalf"))
    assert first.count("only") == 1
    assert first.endswith("half\n")
    whole = [begun, piece("one\n"), update(status="completed"), piece("two\n")]
    assert printed(*whole).count("run make") == 1
    assert streamed(*whole, brief=True).count("\n") == 2


def test_signs_have_words_where_the_encoding_has_none() -> None:
    out = io.StringIO()
    transcript = Transcript(Screen(out, io.StringIO(), live=False, signs=False), prompts=False)
    transcript.page(fold(None, events(call(title="ls", kind="execute", status="completed"))))
    assert out.getvalue().isascii()
