"""Asks that are open together: their numbers, and which of them one answer may be for."""

from rookery.core.json import Json
from tests.core.making import play

OPTIONS = [
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
]


def asked(name: str, line: str, alike: str = "", **more: object) -> Json:
    call = {"toolCallId": name, "kind": "execute", "title": line}
    does = [{"what": "command", "text": line, "call": name, "kind": "execute"}]
    ask: Json = {"sessionUpdate": "_ask", "id": name, "state": "asked", "nonce": f"n{name}"}
    ask |= {"kind": "permission", "toolCall": call, "options": OPTIONS, "does": does}
    return ask | ({"alike": alike} if alike else {}) | more


def closed(name: str) -> Json:
    outcome = {"outcome": "selected", "optionId": "yes"}
    return {"sessionUpdate": "_ask", "id": name, "state": "closed", "outcome": outcome}


def open_blocks(*updates: Json) -> list[Json]:
    blocks = play(*updates).blocks.values()
    return [each for each in blocks if each["role"] == "ask" and each["status"] == "asked"]


def test_each_says_which_of_how_many_it_is_also_once_others_are_answered() -> None:
    three = [asked(name, f"make {name}") for name in "abc"]
    assert [block["step"] for block in open_blocks(*three)] == [[1, 3], [2, 3], [3, 3]]
    assert [block["step"] for block in open_blocks(*three, closed("a"))] == [[2, 3], [3, 3]]
    assert "step" not in open_blocks(three[0])[0]
    assert "step" not in open_blocks(three[0], closed("a"), three[1])[0]


def test_what_a_rule_answers_at_once_is_not_counted() -> None:
    ruled = asked("r", "make r", ruled="allowed by rule x")
    assert "step" not in open_blocks(asked("a", "make a"), ruled, closed("r"))[0]


def test_alike_are_those_of_one_rule_and_each_is_shown_with_its_own_answer() -> None:
    first, second, other = open_blocks(
        asked("a", "git push x", "k"), asked("b", "git push y", "k"), asked("c", "rm z", "q")
    )
    assert [each["text"] for each in first["same"]] == ["git push x", "git push y"]
    assert first["same"] == second["same"]
    assert [(each["nonce"], each["allow"], each["reject"]) for each in first["same"]] == [
        ("na", "yes", "no"),
        ("nb", "yes", "no"),
    ]
    assert not other.get("same")


def test_one_that_is_left_alone_or_too_long_to_be_shown_is_like_no_other() -> None:
    [left] = open_blocks(asked("a", "ls", "k"), asked("b", "ls", "k"), closed("a"))
    assert left["same"] == []
    for block in open_blocks(asked("a", "ls", "k"), asked("b", "x" * 1001, "k")):
        assert not block.get("same")
