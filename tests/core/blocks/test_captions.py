"""Calls and asks in a few words, the same for every look."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.blocks import captions
from rookery.core.blocks.captions import (
    call_words,
    exit_code,
    length_of,
    mark_of,
    outcome,
    question,
    short_path,
    unfenced,
)
from rookery.core.blocks.document import make_block
from rookery.core.json.events import Json
from rookery.core.json.safe_text import clean, count


def command(words: object) -> Json:
    return {"type": "json", "value": {"command": words}}


DIFFS = [{"type": "diff", "path": path} for path in ("/work/a.py", "/work/a.py", "/else/b.py", "")]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("```\n1\tone\n2\ttwo\n```", "1\tone\n2\ttwo\n"),
        ("````md\n# a\n```sh\nmake\n```\n````\n", "# a\n```sh\nmake\n```\n"),
        ("~~~\na\n~~~", "a\n"),
        ("```\ncut off in the mid", "cut off in the mid"),
        ("```\n```", ""),
        ("```\na\n```\nand more", "```\na\n```\nand more"),
        ("```\na\n```\n\n```\nb\n```", "```\na\n```\n\n```\nb\n```"),
        ("`a`", "`a`"),
        ("", ""),
    ],
)
def test_fences_around_a_whole_text_are_no_part_of_it(text: str, bare: str) -> None:
    assert captions.unfenced(text) == bare


CHANGE: Json = {"type": "diff", "path": "/a", "old": "one\n1. x\nsame\n", "new": "two\nsame\n"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("edited\n-1|one\n-2|1. x\n 3|same\n(after)\n+1|two\n 2|same", False),
        ("--- a\n+++ b\n-one\n-1. x\n+two\n same", False),
        ("-1|one\n+1|three", True),
        ("Edited a: 1 replacement", True),
        ("", True),
    ],
)
def test_a_change_is_not_shown_once_more_as_text(text: str, shown: bool) -> None:
    said = {"type": "markdown", "text": text}
    block = make_block("1.1", "tool", kind="edit", status="done", parts=[CHANGE, said])
    assert captions.parts_of(block) == ([CHANGE, said] if shown else [CHANGE])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "read", "title": "Read /work/src/a.py"}, ("read", "src/a.py")),
        ({"kind": "read", "title": "/work/src/a.py"}, ("read", "src/a.py")),
        ({"kind": "read", "title": "read"}, ("read", "read")),
        ({"kind": "read", "title": "Look at it"}, ("", "Look at it")),
        ({"kind": "read", "locations": ["/work/b.py"]}, ("read", "b.py")),
        ({"kind": "read"}, ("read", "")),
        ({"title": "/work/a.py"}, ("", "/work/a.py")),
        ({"locations": ["/work/b.py"]}, ("tool", "b.py")),
        ({}, ("", "a tool")),
        ({"kind": "execute", "title": "Running: `make  test`"}, ("run", "make test")),
        ({"kind": "execute", "title": "run"}, ("run", "run")),
        ({"kind": "execute", "title": "x", "input": command("make\x1b")}, ("run", "make␛")),
        ({"kind": "execute", "title": "x", "input": command(["make", 7, "a"])}, ("run", "make a")),
        ({"kind": "execute", "title": "x", "input": command(7)}, ("run", "x")),
        ({"kind": "execute"}, ("run", "a command")),
        ({"kind": "edit", "title": "Edit", "parts": DIFFS}, ("edit", "a.py, /else/b.py")),
        ({"kind": "edit", "title": "Edit it all", "parts": DIFFS[3:]}, ("edit", "it all")),
        ({"kind": "move", "title": "Rename", "parts": DIFFS}, ("", "Rename")),
    ],
    ids=str,
)
def test_a_call_in_a_verb_and_an_object(fields: Json, words: tuple[str, str]) -> None:
    assert call_words(make_block("1.1", "tool", **fields), "/work") == words


def test_a_terminal_of_its_own_is_run() -> None:
    block = make_block("1.1", "terminal", title="make all")
    assert call_words(block, "/work") == ("run", "make all")


PATH = st.text("ab./", max_size=12).map(lambda rest: f"/w{rest}")


@given(PATH)
def test_a_path_is_told_as_the_system_would(path: str) -> None:
    told = os.path.relpath(path, "/w") if path.startswith("/w/") else path
    assert short_path(path, "/w") == told
    assert short_path(path, "/w/") == told
    assert short_path(path, "") == path


@pytest.mark.parametrize(
    ("output", "terminal", "code"),
    [({"exitCode": 2}, 0, 2), ({"exit": True}, 3, 3), ({"exit_code": 0}, 3, 0), ("x", None, None)],
)
def test_the_exit_code_is_the_calls_own_or_its_terminals(
    output: object, terminal: int | None, code: int | None
) -> None:
    block = make_block("1.1", "tool", output={"type": "json", "value": output})
    assert exit_code(block, [make_block("1.2", "terminal", exit=terminal)]) == code


def test_marks_lengths_and_fences() -> None:
    assert [mark_of(make_block("1", "tool", status=s)) for s in ("unfinished", "new")] == [
        "stopped",
        "pending",
    ]
    parts = [{"type": "markdown", "text": "\na\nb\n"}, {"type": "image"}]
    assert length_of(make_block("1", "tool", parts=parts)) == 2
    assert unfenced("```sh\nout\n```\n") == "out\n"
    assert unfenced("```not a block```") == "```not a block```"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "edit", "title": "Edit a.py"}, "crow wants to edit a.py"),
        ({"kind": "execute", "title": "`make`"}, "crow wants to run: make"),
        ({"kind": "read", "title": "Read a"}, "crow asks: Read a"),
        ({}, "crow asks: may it go on?"),
    ],
    ids=str,
)
def test_an_ask_in_a_sentence(fields: Json, words: str) -> None:
    assert question(make_block("1.1", "ask", **fields), "crow") == words
    assert question(make_block("1.1", "ask"), "") == "the agent asks: may it go on?"


def test_an_answer_names_its_face_only_in_another_one() -> None:
    block = make_block("1", "ask", text="You allowed it", by="cli")
    assert outcome(block, "cli") == outcome(block) == "You allowed it"
    assert outcome(block, "terminal") == "You allowed it (on the command line)"
    assert outcome(make_block("1", "ask", status="cancelled")) == "cancelled"


def test_what_takes_no_cell_is_shown() -> None:
    assert clean("a\u200f\ufeffb\x00\u202e") == "a<200F><FEFF>b␀<202E>"


def test_counts_are_said_as_people_say_them() -> None:
    said = [count(1, "line"), count(1200, "line"), count(2, "process")]
    assert said == ["1 line", "1,200 lines", "2 processes"]
