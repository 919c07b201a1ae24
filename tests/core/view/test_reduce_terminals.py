"""Terminals under the calls that they belong to, and asks that cannot be undone."""

from itertools import permutations
from typing import Any

import pytest

from rookery.core.blocks.document import join
from rookery.core.tools.terminals import KEPT
from tests.core.making import (
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
    update,
    watch,
)

type Json = dict[str, Any]


def terminal(state: str, name: str = "term", **fields: Any) -> Json:
    return update("_terminal", id=name, state=state, **fields)


def names(name: str = "term") -> list[Json]:
    return [{"type": "terminal", "terminalId": name}]


START = terminal("started", command="make", cwd="/w")
OUT = terminal("output", text="one\n")
END = terminal("ended", exitCode=0, signal=None)


def test_a_terminal_runs_and_ends() -> None:
    document = play(prompt(), START, OUT, terminal("output", text="two\n"), END)
    block = only(document, "terminal")
    assert (block["title"], block["text"], block["status"]) == ("make", "one\ntwo\n", "done")
    assert (block["exit"], block["parent"]) == (0, None)
    failed = only(play(prompt(), START, terminal("ended", exitCode=2)), "terminal")
    assert (failed["status"], failed["exit"]) == ("failed", 2)


@pytest.mark.parametrize("place", range(4))
def test_the_call_that_names_it_is_its_parent_whenever_that_comes(place: int) -> None:
    """Before it starts, while it runs, after its end: a quick command is over before its call
    says which terminal it was."""
    told = [START, OUT, END]
    told.insert(place, news("t", content=names()))
    document = play(prompt(), call("t", title="make", kind="execute"), *told)
    tool = only(document, "tool")
    assert only(document, "terminal")["parent"] == tool["id"]
    assert only(document, "terminal")["text"] == "one\n"
    assert [block["role"] for block in document.children(tool["id"])] == ["terminal"]


def test_a_call_that_comes_first_or_says_it_twice_changes_nothing_more() -> None:
    document = play(prompt(), START, call("t", content=names()), news("t", content=names()), END)
    assert only(document, "terminal")["parent"] == only(document, "tool")["id"]


def test_the_workers_own_word_counts_too() -> None:
    document = play(prompt(), call("t"), terminal("started", command="x", toolCallId="t"))
    assert only(document, "terminal")["parent"] == only(document, "tool")["id"]


def test_the_last_call_that_names_it_has_it() -> None:
    document = play(prompt(), START, call("a", content=names()), call("b", content=names()))
    assert only(document, "terminal")["parent"] == blocks(document, "tool")[1]["id"]


def test_two_terminals_of_one_call() -> None:
    both = [*names("x"), *names("y")]
    document = play(
        prompt(), terminal("started", "x"), terminal("started", "y"), call("t", content=both)
    )
    tool = only(document, "tool")["id"]
    assert [block["parent"] for block in blocks(document, "terminal")] == [tool, tool]


def test_an_ask_names_it_as_well() -> None:
    document = play(prompt(), START, asked(toolCall={"toolCallId": "t", "content": names()}))
    assert only(document, "terminal")["parent"] == only(document, "tool")["id"]


@pytest.mark.parametrize(
    ("reason", "status"), [("end_turn", "unfinished"), ("cancelled", "interrupted")]
)
def test_what_still_runs_at_the_end_of_a_turn(reason: str, status: str) -> None:
    document = play(
        prompt(), START, terminal("started", "old"), terminal("ended", "old"), idle(reason)
    )
    assert [block["status"] for block in blocks(document, "terminal")] == [status, "failed"]


def test_a_terminal_outlives_its_turn() -> None:
    events = log(prompt(), START, idle(), prompt(), OUT, news("t", content=names()), END, idle())
    whole = watch(events)
    first, second, third = pages(events)
    joined = join(join(first, second), third)
    assert joined.blocks == whole.blocks
    block = only(whole, "terminal")
    assert (block["text"], block["status"]) == ("one\n", "done")
    assert block["parent"] == only(whole, "tool")["id"]


def test_every_order_folds_the_same_page_by_page() -> None:
    told = [START, OUT, END, call("t", content=names()), idle(), prompt()]
    for order in permutations(told):
        events = log(prompt(), *order)
        whole = watch(events)
        paged = pages(events)
        joined = paged[0]
        for page in paged[1:]:
            joined = join(joined, page)
        assert joined.blocks == whole.blocks
        assert joined.header == whole.header


def test_a_flood_of_names_is_forgotten() -> None:
    many = [call("t", content=names(f"n{number}")) for number in range(KEPT + 50)]
    header = play(prompt(), START, *many, names_too_long()).header
    assert len(header.terminals) == KEPT


def names_too_long() -> Json:
    return call("t", content=[*names("x" * 1000), {"type": "terminal", "terminalId": 7}, None])


# --- asks that cannot be undone ---------------------------------------------------------------

OPTIONS = [
    {"optionId": "a", "name": "Once", "kind": "allow_once"},
    {"optionId": "b", "name": "Always", "kind": "allow_always"},
    {"optionId": "c", "name": "No", "kind": "reject_once"},
    {"optionId": "d", "name": "Never", "kind": "reject_always"},
    {"optionId": "e", "name": "Odd", "kind": "of the future"},
]


def test_a_dangerous_ask_says_so_and_its_buttons_confirm() -> None:
    block = only(play(prompt(), asked(options=OPTIONS, danger="deletes files")), "ask")
    assert block["danger"] == "deletes files"
    assert [bool(action.get("danger")) for action in block["actions"]] == [True, *[False] * 4]
    assert [bool(action.get("disabled")) for action in block["actions"]] == [
        False,
        True,
        *[False] * 3,
    ]
    confirmed = [action["command"].get("confirm") for action in block["actions"]]
    assert confirmed == [True, None, None, None, None]


def test_a_calm_ask_has_none_of_it() -> None:
    block = only(play(prompt(), asked(options=OPTIONS)), "ask")
    assert "danger" not in block
    assert not any(
        {"danger", "disabled"} & action.keys() or "confirm" in action["command"]
        for action in block["actions"]
    )


@pytest.mark.parametrize("danger", ["x" * 100_000, 7, None, {"a": 1}, "\ud800"])
def test_any_danger_is_shown(danger: object) -> None:
    play(prompt(), asked(options=OPTIONS, danger=danger))
