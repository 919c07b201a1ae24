"""An ask under an id of its own belongs to the call that was announced, in the turn in which it is
asked, and adds no call that never runs."""

import pytest

from rookery.core.ask import from_agent
from rookery.core.turn.calls import TurnCalls
from tests.core.making import Json, asked, blocks, call, idle, news, play, prompt, running, update

ALLOW = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
RUN = {"kind": "execute", "rawInput": {"command": "make"}}
EDIT = {"kind": "edit", "rawInput": {"file_path": "/w/a", "old_string": "x", "new_string": "y"}}


def permission(given: Json) -> Json:
    return asked(toolCall=given, options=ALLOW)


def announced(given: Json, *told: Json) -> Json:
    calls = TurnCalls()
    for each in told:
        calls.remember(each)
    return calls.asked(from_agent(permission(given)), calls.stands_for(given))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"toolCallId": "confirm", "title": "Confirm Agent Actions"}, RUN),  # OpenHands
        ({"toolCallId": "perm-check-1", "title": "rm: make", **RUN}, RUN),  # hermes
        ({"toolCallId": "perm-check-2", **RUN}, {"kind": "execute", "title": "terminal: make"}),
        (  # deepagents
            {"toolCallId": "7f", "title": "Edit `/w/a`", "rawInput": EDIT["rawInput"]},
            {**EDIT, "locations": [{"path": "/w/a"}]},
        ),
    ],
)
def test_an_ask_under_an_id_of_its_own_names_the_call_that_was_announced(
    given: Json, told: Json
) -> None:
    over = [call("old", **told), news("old", status="completed")]
    assert announced(given, *over, call("c", **told)) == {"announced": ["c"]}


def test_one_ask_for_several_calls_names_them_all() -> None:
    two = [call("c", **RUN), call("d", **EDIT)]
    assert announced({"toolCallId": "confirm"}, *two) == {"announced": ["c", "d"]}


def test_an_edit_is_not_taken_for_the_read_before_it() -> None:
    """hermes never says that its read is over."""
    read = call("r", kind="read", locations=[{"path": "/w/a"}])
    given = {"toolCallId": "approval-1", **EDIT}
    assert announced(given, read, call("e", **EDIT)) == {"announced": ["e"]}


@pytest.mark.parametrize(
    "given",
    [
        {"toolCallId": "c", **RUN},
        {"toolCallId": "other", "kind": "execute", "rawInput": {"command": "rm -rf /"}},
        {"toolCallId": "other", "kind": "edit", "rawInput": {"path": "/w/b", "content": "x"}},
    ],
)
def test_an_ask_about_something_else_names_none(given: Json) -> None:
    assert announced(given, call("c", **RUN)) == {}


def test_each_ask_stands_at_its_call_in_its_turn() -> None:
    """OpenHands asks under the same id in every turn."""
    updates = []
    for key in ("one", "two"):
        ask = {**permission({"toolCallId": "confirm", "title": "Confirm"}), "announced": [key]}
        answer = update("_ask", id="a1", state="answered", name="Yes")
        updates += [prompt(), running(), call(key, title=key, status="in_progress", **RUN)]
        updates += [ask, answer, news(key, status="completed"), idle()]
    document = play(*updates)
    assert [block["title"] for block in blocks(document, "tool")] == ["one", "two"]
    parents = [document.blocks[block["parent"]]["title"] for block in blocks(document, "ask")]
    assert parents == ["one", "two"]


def test_an_unannounced_call_is_shown_from_its_ask() -> None:
    ask = {**permission({"toolCallId": "confirm", "title": "Confirm"}), "announced": ["lost"]}
    document = play(prompt(), running(), ask)
    [tool] = blocks(document, "tool")
    assert blocks(document, "ask")[0]["parent"] == tool["id"]
