"""The window on a session's pages: the same items however its blocks came."""

import random

from hypothesis import given
from hypothesis import strategies as st

from rookery.core.blocks.document import Op, make_block
from rookery.tui.transcript.window import Page, Window
from tests.tui import gallery


def names(window: Window) -> list[str]:
    return [item.key for item in window.items()]


def filled(ops: list[Op]) -> Window:
    window = Window()
    window.apply(ops)
    return window


def tool(name: str, kind: str = "read", status: str = "done", parent: str | None = None) -> Op:
    return ["put", make_block(name, "tool", kind=kind, status=status, parent=parent, title=name)]


def test_three_quiet_calls_fold_into_one_line_and_two_do_not() -> None:
    two = filled([tool("1.1"), tool("1.2")])
    assert [item.members for item in two.items()] == [[], []]
    three = filled([tool("1.1"), tool("1.2"), tool("1.3", "search")])
    assert [len(item.members) for item in three.items()] == [3]
    three.toggle("1.1*", to=True)
    assert [len(item.members) for item in three.items()] == [3, 0, 0, 0]


def test_a_call_that_runs_or_edits_is_not_quiet() -> None:
    window = filled([tool("1.1"), tool("1.2"), tool("1.3", status="running"), tool("1.4", "edit")])
    assert len(window.items()) == 4
    window.apply([["set", "1.3", {"status": "done"}]])
    assert [len(item.members) for item in window.items()] == [3, 0]


def test_nested_calls_stand_under_their_parent() -> None:
    ops = [tool("1.1", "think", "running"), tool("1.2", "edit"), tool("1.3", "edit", parent="1.1")]
    window = filled(ops)
    assert [(item.block["id"], item.depth) for item in window.items()] == [
        ("1.1", 0),
        ("1.3", 1),
        ("1.2", 0),
    ]


def test_parents_in_a_circle_hide_nothing() -> None:
    window = filled([tool("1.1", "edit", parent="1.2"), tool("1.2", "edit", parent="1.1")])
    assert {item.block["id"] for item in window.items()} == {"1.1", "1.2"}


def test_a_terminal_is_shown_by_its_call() -> None:
    terminal = make_block("1.2", "terminal", parent="1.1", text="out", status="running")
    window = filled([tool("1.1", "execute", "running"), ["put", terminal]])
    (item,) = window.items()
    assert [each["text"] for each in item.terminals] == ["out"]
    item.lines = []
    window.apply([["append", "1.2", "put"]])
    assert window.items()[0].lines is None


def test_a_late_update_waits_for_its_page() -> None:
    window = filled([["put", make_block("2.1", "answer", text="b")]])
    window.apply([["set", "1.1", {"status": "failed"}]])
    window.add_older([Page(1, {"1.1": make_block("1.1", "tool", kind="edit", status="running")})])
    assert names(window) == ["1.1#0", "2.1#0"]
    block = window.block("1.1")
    assert block is not None
    assert block["status"] == "failed"


def test_only_the_end_of_a_growing_text_is_repainted() -> None:
    window = filled([["put", make_block("1.1", "answer", text="Words.\n\n" * 2000)]])
    for item in window.items():
        item.lines = []
    before = window.items()
    assert len(before) > 3
    window.apply([["append", "1.1", "more"]])
    assert [item.lines is None for item in window.items()] == [*[False] * (len(before) - 1), True]


@given(st.integers(0, 10_000))
def test_items_do_not_depend_on_when_they_were_asked_for(seed: int) -> None:
    chance = random.Random(seed)
    document = gallery.document_of([*gallery.TALK, *gallery.WORK, *gallery.ASKS])
    ops: list[Op] = [["put", block] for block in document.blocks.values()]
    step, whole = Window(), Window()
    for op in ops:
        step.apply([op])
        if chance.random() < 0.5:
            step.items()
    whole.apply(ops)
    assert names(step) == names(whole)
    assert [item.gap for item in step.items()] == [item.gap for item in whole.items()]
