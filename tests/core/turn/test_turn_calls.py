"""For which calls an ask stands."""

from typing import Any

from rookery.core.ask import from_agent
from rookery.core.turn.calls import KEPT, LOST, TurnCalls

type Json = dict[str, Any]

CONFIRM: Json = {
    "toolCallId": "confirmation",
    "title": "Confirm Agent Actions",
    "kind": "other",
    "status": "pending",
}
OPTIONS: Json = {
    "options": [
        {"optionId": "yes", "kind": "allow_once"},
        {"optionId": "no", "kind": "reject_once"},
    ]
}


def run(name: str, line: str, **fields: Any) -> Json:
    told = {"toolCallId": name, "kind": "execute", "rawInput": {"command": line}}
    return {**told, "status": "pending", **fields}


def names(calls: list[Json]) -> list[str]:
    return [call["toolCallId"] for call in calls]


def test_an_ask_that_says_nothing_stands_for_what_was_announced() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "ls"))
    calls.remember(run("b", "rm -rf build"))
    assert names(calls.stands_for(CONFIRM)) == ["a", "b"]
    assert names(calls.stands_for({})) == ["a", "b"]


def test_also_under_an_id_that_was_announced_itself() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "rm -rf build"))
    calls.remember(CONFIRM)
    assert names(calls.stands_for(CONFIRM)) == ["a"]


def test_what_has_ended_or_was_allowed_is_not_asked_again() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "ls"))
    calls.asked(from_agent({"id": "1", **OPTIONS}), calls.stands_for(CONFIRM))
    calls.answered("1", {"outcome": {"outcome": "selected", "optionId": "yes"}})
    calls.remember(run("b", "make"))
    assert names(calls.stands_for(CONFIRM)) == ["b"]
    calls.remember({"toolCallId": "b", "status": "completed"})
    assert names(calls.stands_for(CONFIRM)) == ["a"]  # something it must be about


def test_what_was_refused_may_be_asked_again() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "rm -rf build"))
    calls.asked(from_agent({"id": "1", **OPTIONS}), calls.stands_for(CONFIRM))
    calls.answered("1", {"outcome": {"outcome": "selected", "optionId": "no"}})
    calls.remember(run("b", "ls"))
    assert names(calls.stands_for(CONFIRM)) == ["a", "b"]


def test_an_ask_with_its_own_input_stands_for_itself() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "rm -rf build"))
    assert names(calls.stands_for(run("b", "ls"))) == ["b"]
    assert names(calls.stands_for({"toolCallId": "a"})) == ["a"]
    edit = {"toolCallId": "c", "kind": "edit", "locations": [{"path": "/w/x"}]}
    assert names(calls.stands_for(edit)) == ["c"]


def test_an_ask_does_not_take_back_what_was_announced() -> None:
    calls = TurnCalls()
    diff = {"type": "diff", "path": "/w/x", "newText": "x"}
    calls.remember(run("a", "rm -rf build", content=[diff]))
    [own] = calls.stands_for({"toolCallId": "a", "rawInput": {}, "content": [], "locations": []})
    assert own["rawInput"] == {"command": "rm -rf build"}
    assert own["content"] == [diff]
    calls.remember(run("b", "rm -rf build"))
    asked = calls.stands_for({"toolCallId": "b", "rawInput": {"mood": "good"}})
    assert [call["rawInput"] for call in asked] == [{"command": "rm -rf build"}, {"mood": "good"}]


def test_a_title_for_a_command_does_not_hide_what_was_announced() -> None:
    calls = TurnCalls()
    title = {"toolCallId": "g", "kind": "execute", "title": "ls"}
    assert names(calls.stands_for(title)) == ["g"]
    calls.remember(run("a", "rm -rf build"))
    assert names(calls.stands_for(title)) == ["g", "a"]
    odd = {"toolCallId": "o", "title": "Confirm", "rawInput": {"count": 1}}
    assert names(calls.stands_for(odd)) == ["a", "g"]


def test_a_question_alone_stands_for_itself() -> None:
    calls = TurnCalls()
    asked = {"toolCallId": "q", "title": "Go on?"}
    calls.remember({**asked, "status": "pending"})
    assert names(calls.stands_for(asked)) == ["q"]


def test_no_flood_of_calls_pushes_one_out_of_sight() -> None:
    calls = TurnCalls()
    calls.remember(run("a", "rm -rf build", content=[{"type": "diff", "newText": "x" * 1000}]))
    for number in range(KEPT - 2):
        calls.remember(run(str(number), "ls"))
    [first, *_] = calls.stands_for(CONFIRM)
    assert first["rawInput"]["command"] == "rm -rf build"
    for number in range(KEPT):
        calls.remember(run(f"more {number}", "ls"))
    assert calls.stands_for(CONFIRM)[-1] == LOST
    calls.clear()
    assert names(calls.stands_for(CONFIRM)) == ["confirmation"]


def writing(text: str, **fields: Any) -> Json:
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    return {"sessionUpdate": "tool_call_update", "toolCallId": "a", "content": content, **fields}


BASH: Json = {"toolCallId": "a", "title": "Bash", "kind": "execute"}


def test_an_ask_is_about_the_input_that_its_model_has_written() -> None:
    """Kimi asks before it sends `rawInput`: until then the input is the text of the call."""
    calls = TurnCalls()
    calls.remember(writing("", **BASH, status="pending"))
    calls.remember(writing('{"command": "rm -r', status="in_progress"))
    calls.remember(writing('{"command": "rm -rf build"}', status="in_progress"))
    [known] = calls.stands_for(writing("Requesting approval", **BASH))
    assert known["rawInput"] == {"command": "rm -rf build"}


def test_what_a_call_prints_is_not_its_input() -> None:
    calls = TurnCalls()
    calls.remember({**run("a", "make"), "title": "Bash"})
    calls.remember(writing('{"command": "ls"}', status="in_progress"))
    assert calls.stands_for(BASH)[0]["rawInput"] == {"command": "make"}
    calls = TurnCalls()
    calls.remember(writing('{"command": "ls"}', **{**BASH, "title": "rm -rf build"}))
    assert "rawInput" not in calls.stands_for(BASH | {"title": "rm -rf build"})[0]
