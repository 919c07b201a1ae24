"""What a call does, from what is judged, whatever its agent calls it."""

from typing import Any

import pytest

from rookery.core.ask import from_agent
from rookery.core.blocks import ask_details, asks
from rookery.core.blocks.document import OP_BYTES, Document, size_of
from rookery.core.header import EMPTY
from rookery.core.json.events import Event
from rookery.core.policy import call_input, danger, rules
from rookery.core.view.doing import wants
from rookery.core.view.reduce import fold, reduce
from tests.spoofs import EVIL, SPOOFS, Spoof

type Json = dict[str, Any]


ASK: Json = {"sessionUpdate": "_ask", "id": "q", "state": "asked", "kind": "permission"}


def call(**fields: Any) -> Json:
    return {"toolCallId": "t", "kind": "execute", "title": "Look around", **fields}


def does(**fields: Any) -> list[tuple[str, str]]:
    found = ask_details.of([call(**fields)], "/w", [], "/home/me")
    return [(item["what"], item.get("text", item.get("path"))) for item in found]


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda spoof: spoof.name)
def test_no_title_hides_what_runs(spoof: Spoof) -> None:
    items = ask_details.of([call(title=spoof.title, rawInput=spoof.given)], "/w", [], "/home/me")
    assert spoof.seen in items[0]["text"]
    if "invisible" in spoof.note:
        assert spoof.note.split()[0] == str(items[0]["removed"])


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda spoof: spoof.name)
def test_what_is_shown_is_judged(spoof: Spoof) -> None:
    """Each line that is shown is one that rules read; here the last of them is denied."""
    lines = [
        command.whole
        for each in call_input.judged(call(title=spoof.title, rawInput=spoof.given))
        for command in rules.call_of("a", danger.gist(each), ["/w"], "/home/me").commands
    ]
    plain = [line.encode("ascii", "ignore").decode() for line in lines]
    assert any(EVIL in line for line in plain)


def test_the_words_of_a_line_are_not_listed_once_more() -> None:
    given = call(title="make all", rawInput={"command": ["bash", "-lc", "make all"]})
    assert [item["text"] for item in ask_details.of([given], "/w", [], "/home/me")] == ["make all"]


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        ({"command": ["bash", "-lc", "make all"]}, ["make all"]),
        ({"argv": ["git", "commit", "-m", "a b"]}, ["git commit -m 'a b'"]),
        ({"program": "/bin/rm", "args": ["-r", "x"]}, ["/bin/rm -r x"]),
        ({"commands": ["cd x", "make"]}, ["cd x", "make"]),
        ({"commands": ["make", "all"]}, ["make all"]),
        ({"arguments": {"cmd": "ls", "args": ["-l"]}}, ["ls -l"]),
        (["rm", "-r", "x"], ["rm -r x"]),
        ("rm -r x", ["rm -r x"]),
        ({"command": "ls", "shell": "/bin/zsh", "run": True}, ["ls"]),
        ({"command": "ls", "argv": ["rm", "x"]}, ["ls", "rm x"]),
        ({"Command": "ls"}, ["ls"]),
    ],
)
def test_lines_by_any_name(raw: Any, lines: list[str]) -> None:
    assert call_input.lines(call(rawInput=raw)) == lines


def test_what_goes_with_a_command_is_shown_too() -> None:
    raw = {"command": "python3 -", "stdin": "import os\nos.abort()", "cwd": "/etc", "timeout": 9}
    assert does(rawInput=raw) == [
        ("command", "python3 -"),
        ("input", "stdin:\n  import os\n  os.abort()\ncwd: /etc"),
    ]
    assert does(rawInput={"command": "ls", "cwd": "/w", "description": "List"}) == [
        ("command", "ls")
    ]


def test_an_edit_is_its_path_and_its_change_whole() -> None:
    new = "".join(f"line {n}\n" for n in range(5000))
    change = {"type": "diff", "path": "/w/a.py", "oldText": None, "newText": new}
    raw = {"file_path": "/w/a.py", "content": new}
    [path, diff] = ask_details.of(
        [call(kind="edit", rawInput=raw, content=[change])], "/w", [], "/home/me"
    )
    assert (path["what"], path["text"]) == ("path", "/w/a.py")
    assert diff["new"] == new


def test_an_input_that_its_change_does_not_show_is_shown() -> None:
    """A harmless diff over another text."""
    change = {"type": "diff", "path": "/w/a.py", "oldText": "a", "newText": "b"}
    raw = {"path": "/w/a.py", "command": "create", "file_text": "evil()"}
    assert does(kind="edit", rawInput=raw, content=[change]) == [
        ("path", "/w/a.py"),
        ("input", "file_text: evil()"),
        ("diff", "/w/a.py"),
    ]


def test_a_tool_that_nobody_knows_is_shown_with_all_its_arguments() -> None:
    raw = {"repo": "x", "labels": ["a"], "body": "one\ntwo"}
    shown = does(kind="other", name="mcp__github__open", rawInput=raw)
    assert shown == [
        ("tool", "mcp__github__open"),
        ("input", 'repo: x\nlabels: ["a"]\nbody:\n  one\n  two'),
    ]


def test_a_title_alone_stands_for_a_command_only_where_nothing_else_is_told() -> None:
    assert does(title="`make`") == [("command", "make")]
    assert does(kind="other", title="make") == []


def test_a_list_and_the_card_say_the_same() -> None:
    """Whatever kind the agent gave the call: a command is run."""
    clean = call(kind="delete", title="Clean up", rawInput={"command": "git clean -fdx"})
    ask = ASK | {"toolCall": clean, "does": ask_details.of([clean], "/w", [], "/home/me")}
    assert wants(from_agent(ask), "/w") == "wants to run `git clean -fdx`"
    shown = asks.block_of(from_agent(ask), EMPTY.with_(cwd="/w"))
    assert asks.question(shown, "a") == "a wants to run: git clean -fdx"
    assert asks.question(shown, "a", short=False) == "a wants to run:"


def test_a_tool_without_a_name_is_not_called_what_its_agent_calls_it() -> None:
    shown = block({"toolCall": call(kind="other", title="Look", rawInput={"payload": EVIL})})
    assert asks.question(shown, "a") == "a wants to use a tool it does not name"
    texts = [piece.text for piece in asks.pieces(shown, "a")]
    assert texts == [f"payload: {EVIL}", "a's description: Look"]


# --- the block -----------------------------------------------------------------------------------


def block(ask: Json) -> Json:
    return asks.block_of(from_agent(ask), EMPTY.with_(agent="a", cwd="/w"))


def test_an_older_log_shows_the_call_that_its_ask_carries() -> None:
    shown = block({"toolCall": call(title="Tests", rawInput={"command": EVIL})})
    assert asks.question(shown, "a") == f"a wants to run: {EVIL}"
    assert [piece.text for piece in asks.pieces(shown, "a")] == ["a's description: Tests"]


@pytest.mark.parametrize(
    ("title", "raw"),
    [
        ("make all", {"command": "make all"}),
        ("`make all`", {"command": "make all"}),
        ("run make all", {"command": "make all"}),
        ("make al…", {"command": "make all"}),
    ],
)
def test_a_title_that_says_the_same_is_not_said_twice(title: str, raw: Json) -> None:
    shown = block({"toolCall": call(title=title, rawInput=raw)})
    assert asks.pieces(shown, "a") == []


def test_what_is_long_stands_below_the_question_and_is_whole() -> None:
    line = "x" * 30_000
    shown = block({"toolCall": call(rawInput={"command": line})})
    assert asks.question(shown, "a") == "a wants to run this (30,000 characters)"
    assert asks.pieces(shown, "a")[0].text == line
    closed = {**shown, "status": "answered", "text": "Allow"}
    assert asks.question(closed, "a").startswith("a wants to run: xxx")


def test_in_the_past_several_calls_are_one_line() -> None:
    calls = [call(rawInput={"command": line}) | {"toolCallId": line} for line in ("ls", "a\nb")]
    shown = block({"toolCall": {}, "does": ask_details.of(calls, "/w", [], "")})
    closed = {**shown, "status": "answered", "text": "Allow"}
    said = "a wants to do 2 things: run: ls; run: a …"
    assert asks.question(closed, "a") == said


def test_many_calls_are_told_apart_and_all_are_there() -> None:
    calls = [call(rawInput={"command": f"echo {n}"}) | {"toolCallId": f"{n}"} for n in range(80)]
    shown = block({"toolCall": {}, "does": ask_details.of(calls, "/w", [], "")})
    text = "\n".join(piece.text for piece in asks.pieces(shown, "a"))
    assert all(f"echo {n}" in text for n in range(80))
    assert "wants to do 50 things" in asks.question(shown, "a")


def test_what_the_agent_says_to_it_is_whole_too() -> None:
    words = "\n".join(f"reason {n}" for n in range(9000))
    content = [{"type": "content", "content": {"type": "text", "text": words}}]
    document = fold(
        None,
        [
            Event(1, 1, None, None, {"sessionUpdate": "_prompt", "turn": 1, "prompt": []}),
            Event(2, 2, None, None, ASK | {"toolCall": call(rawInput="ls", content=content)}),
        ],
    )
    [shown] = [each for each in document.blocks.values() if each["role"] == "ask"]
    assert asks.pieces(shown, "a")[0].text == words
    assert not any(asks.says_more(part, shown) for part in shown["parts"])


def test_no_op_is_larger_than_a_wire_takes() -> None:
    new = "".join(f"line {n}\n" for n in range(20_000))
    change = {"type": "diff", "path": "/w/a.py", "oldText": "", "newText": new}
    update = ASK | {"toolCall": call(kind="edit", content=[change], rawInput="x" * 200_000)}
    document = Document(EMPTY.with_(turn=1))
    ops = reduce(document, Event(1, 1, None, None, update))
    assert max(map(size_of, ops)) <= OP_BYTES
    [shown] = [each for each in document.blocks.values() if each["role"] == "ask"]
    assert [item.part["new"] for item in asks.items(shown) if item.part] == [new]
