"""The recap, to the character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.blocks.document import Document
from rookery.core.json.events import Event
from rookery.core.view.recap import (
    END,
    HEAD,
    LEFT_OUT,
    MAX_RECAP_LENGTH,
    MAX_TURNS,
    TITLE,
    recap_of,
    turn_words,
)
from rookery.core.view.reduce import fold
from tests.core.hostile import logs, shapely_logs
from tests.core.making import Json, call, idle, log, message, prompt, running, text, update

OVERHEAD = len(HEAD) + 2 + len(LEFT_OUT) + 2 + len(END)
"""Of a recap with one turn: then each has two newlines before it."""


def page(n: int, *updates: Json, reason: str = "end_turn", words: str = "go") -> Document:
    before = fold(None, []).header.with_(turn=n - 1)
    return fold(before, log(prompt(words), running(), *updates, idle(reason), first=n * 100))


def sized(n: int, size: int) -> Document:
    """A turn whose words are so long."""
    bare = len(turn_words(page(n, message("x"))))
    made = page(n, message("x" * (size - bare + 1)))
    assert len(turn_words(made)) == size
    return made


def turns_of(recap: str) -> list[int]:
    lines = recap.split("\n")
    return [int(line.removeprefix("## Turn ")) for line in lines if line.startswith("## Turn ")]


def test_a_turn_is_told_in_words() -> None:
    big = {"rawInput": {"x": "i" * 5000}, "rawOutput": "o" * 5000}
    made = page(
        3,
        message("Let me see.\n"),
        call("t1", title="Read  a\nfile", status="completed", **big),
        call("t2", title="T" * 500, status="failed", content=[{"type": "content", **big}]),
        message("hm", "agent_thought_chunk"),
        message("Done."),
        words="Fix it",
    )
    assert turn_words(made) == "\n\n".join(
        [
            "## Turn 3",
            "**Person:** Fix it",
            "**Agent:** Let me see.",
            f"- Read a file (done)\n- {'T' * (TITLE - 1)}… (failed)",
            "**Agent:** Done.",
        ]
    )


BASH = {"rawInput": {"cmd": "npm test"}, "status": "completed"}
DIFF = {"type": "diff", "path": "/w/src/a.py", "oldText": "a\nb\n", "newText": "a\nc\nd\n"}


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (call("t", title="exec_command", kind="execute", **BASH), "Ran npm test (done)"),
        (call("t", title="exec_command", **BASH), "Ran npm test (done)"),
        (
            call("t", title="bash", kind="execute", rawOutput={"exit_code": 1}, **BASH),
            "Ran npm test (exit code 1)",
        ),
        (
            call("t", title="npm test", kind="execute", status="failed"),
            "Tried to run npm test (failed)",
        ),
        (
            call("t", title="Write a.py", kind="edit", status="completed", content=[DIFF]),
            "Edited src/a.py (+2 −1 lines)",
        ),
        (
            call("t", title="write", kind="edit", status="failed", rawInput={"filePath": "/w/b"}),
            "Tried to edit b (failed)",
        ),
        (
            call("t", title="read_file", kind="read", status="completed", rawInput={"path": "b"}),
            "Read b (done)",
        ),
        (
            call("t", title="web_fetch", status="completed", rawInput={"url": "http://x"}),
            "web_fetch http://x (done)",
        ),
        (call("t", title="Look around", status="completed"), "Look around (done)"),
        (call("t"), "a tool (unfinished)"),
    ],
)
def test_a_recap_gives_verb_object_and_result(made: Json, line: str) -> None:
    """Verb, object, result; never `exec_command (done)`."""
    before = fold(None, []).header.with_(cwd="/w")
    page = fold(before, log(prompt("go"), running(), made, idle()))
    assert f"- {line}" in turn_words(page).split("\n\n")


def test_the_newest_whole_turns_are_told_oldest_first() -> None:
    recap = recap_of(page(n, message(f"answer {n}")) for n in (3, 2, 1)).recap
    assert turns_of(recap) == [1, 2, 3]
    assert recap.startswith(HEAD)
    assert recap.endswith(END)
    assert LEFT_OUT not in recap


@pytest.mark.parametrize(("turns", "kept"), [(MAX_TURNS, MAX_TURNS), (MAX_TURNS + 1, MAX_TURNS)])
def test_a_recap_has_at_most_20_turns(turns: int, kept: int) -> None:
    recap = recap_of(page(n, message("x")) for n in range(turns, 0, -1)).recap
    assert turns_of(recap) == list(range(turns - kept + 1, turns + 1))
    assert (LEFT_OUT in recap) == (turns > kept)


def test_one_character_decides_whether_an_older_turn_comes_whole() -> None:
    room = MAX_RECAP_LENGTH - OVERHEAD - 2
    newest = sized(2, 1000)
    exact = recap_of([newest, sized(1, room - 1000 - 2)]).recap
    assert turns_of(exact) == [1, 2]
    assert len(exact) == MAX_RECAP_LENGTH - len(LEFT_OUT) - 2
    over = recap_of([newest, sized(1, room - 1000 - 1)]).recap
    assert turns_of(over) == [2]
    assert LEFT_OUT in over
    assert turn_words(newest) in over


def test_a_single_larger_turn_is_cut_in_its_middle() -> None:
    room = MAX_RECAP_LENGTH - OVERHEAD - 2
    whole = recap_of([sized(1, room)]).recap
    assert "left out" not in whole
    long = page(1, message("a" * 20_000 + "MIDDLE" + "z" * 20_000 + "THE END"), words="BEGIN")
    cut = recap_of([long, page(1)]).recap
    assert len(cut) == MAX_RECAP_LENGTH
    assert "BEGIN" in cut
    assert "THE END" in cut
    assert "MIDDLE" not in cut
    assert "middle of this turn is omitted" in cut


@pytest.mark.parametrize(
    ("reason", "said", "unprocessed"),
    [
        ("rate_limited", False, True),
        ("rate_limited", True, True),
        ("agent_exited", False, True),
        ("agent_exited", True, False),
        ("cancelled", False, True),
        ("failed", True, False),
        ("end_turn", False, False),
        ("refusal", False, False),
    ],
)
def test_an_unprocessed_prompt_is_included(reason: str, said: bool, unprocessed: bool) -> None:
    work = [message("I begin")] if said else []
    made = recap_of([page(2, *work, reason=reason, words="Do that"), page(1, message("hi"))])
    assert made.prompt == ("Do that" if unprocessed else "")
    assert turns_of(made.recap) == ([1] if unprocessed and not said else [1, 2])
    assert made.text().endswith("Do that" if unprocessed else END)


def test_an_unprocessed_prompt_can_be_the_whole_recap() -> None:
    words = "p" * 100_000
    made = recap_of([page(1, reason="rate_limited", words=words)])
    assert (made.recap, made.text()) == ("", words)


def test_the_unprocessed_prompt_is_known_after_a_second_switch() -> None:
    """The header forgets the limit with the agent that met it."""
    gone = update("_agent", state="switched", **{"from": "crow", "to": "jay"})
    events = log(prompt("Do that"), running(), idle("rate_limited"), gone)
    assert recap_of([fold(None, events)]).prompt == "Do that"


def test_the_open_turn_goes_to_the_new_agent_and_is_left_out() -> None:
    waking = fold(fold(None, []).header.with_(turn=1), log(prompt("new"), running(), first=9))
    made = recap_of([waking, page(1, message("hi"))])
    assert "new" not in made.text()
    assert turns_of(made.recap) == [1]


def test_an_earlier_recap_is_left_out() -> None:
    first = recap_of([page(1, message("the secret is 42"))]).text()
    again = recap_of([page(2, message("ok"), words=f"{first} Go on."), page(1)]).recap
    assert again.count(HEAD) == 1
    assert "**Person:** (a recap)\nGo on." in again


def test_attachments_are_named() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    events = log(update("_prompt", prompt=[text("Look"), image]), running(), idle("cancelled"))
    assert recap_of([fold(None, events)]).prompt == "Look\n[attached: image/png]"


def test_a_session_without_words_has_no_recap() -> None:
    assert recap_of([]).text() == ""
    assert recap_of([fold(None, [])]).text() == ""


@given(
    st.lists(st.tuples(st.integers(30, 9000), st.booleans()), max_size=30),
    st.integers(OVERHEAD + 200, MAX_RECAP_LENGTH),
    st.integers(1, MAX_TURNS),
)
def test_a_recap_is_bounded_and_keeps_the_newest_turn_whole(
    sizes: list[tuple[int, bool]], longest: int, most: int
) -> None:
    pages = [
        page(n, message("x" * size), *([call(n, title="t" * size)] if tool else []))
        for n, (size, tool) in zip(range(len(sizes), 0, -1), sizes, strict=True)
    ]
    recap = recap_of(pages, longest, most).recap
    assert len(recap) <= longest
    kept = turns_of(recap)
    assert len(kept) <= most
    assert kept == list(range(len(pages) - len(kept) + 1, len(pages) + 1))
    if len(kept) > 1:
        assert all(turn_words(each) in recap for each in pages[: len(kept)])
    assert bool(kept) == bool(pages)


@given(logs | shapely_logs, st.integers(0, 2000))
def test_any_log_has_a_recap(events: list[Event], longest: int) -> None:
    made = recap_of([fold(None, events)], longest)
    assert len(made.recap) <= max(longest, OVERHEAD + 2)
    assert isinstance(made.text(), str)
