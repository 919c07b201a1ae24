"""The ask for a plan's "go" in every face: the plan itself is read where it is agreed to, once, and
no option of it is called "always"."""

from typing import Any

from rookery.acp.bridge.questions import _permission, told_call
from rookery.cli.output.commands import Commands
from rookery.core.ask import Ask, from_agent
from rookery.core.blocks import ask_actions, ask_details, asks
from rookery.core.header import EMPTY
from rookery.core.view.doing import wants
from rookery.daemon.pieces import ask_form
from rookery.export.html import block as html
from rookery.export.html.view import View
from rookery.render.ask_choices import asks_twice, choices
from rookery.render.lines import block as lines
from rookery.render.lines.view import View as LinesView
from rookery.render.runs import Line
from rookery.wire.jsonrpc import Answer

type Json = dict[str, Any]

PLAN = "# Plan: a CSV export\n\n1. Write `export.py`."
OPTIONS: list[Json] = [
    {"optionId": "always-ask", "name": "Go, ask always", "kind": "allow_once"},
    {"optionId": "always-approve", "name": "Go, approve all", "kind": "allow_always"},
    {"optionId": "keep-planning", "name": "Keep planning", "kind": "reject_once"},
]
HEADER = EMPTY.with_(agent="rookery", vendor="rookery", cwd="/w")


def asked(name: str) -> tuple[Ask, Json]:
    """An ask of the header, and its block."""
    call: Json = {"toolCallId": "c", "title": "Ready to code?", "name": name, "kind": "switch_mode"}
    call["rawInput"] = {"plan": PLAN}
    given: Json = {"id": "a", "nonce": "n", "kind": "permission", "toolCall": call}
    given |= {"options": OPTIONS, "does": ask_details.of([call], "/w", [], "/h")}
    ask = from_agent(given)
    return ask, asks.block_of(ask, HEADER) | {"actions": ask_actions.answers(ask)}


def words(drawn: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in drawn)


def test_the_plan_is_shown_with_its_ask() -> None:
    """Ours stands above its ask in a transcript: there its title is enough. Claude's stands nowhere
    else."""
    for name, own in (("exit_plan_mode", True), ("ExitPlanMode", False)):
        ask, block = asked(name)
        assert asks.question(block, "rookery") == "rookery wants to carry out its plan"
        assert wants(ask, "/w") == "wants to carry out its plan (Plan: a CSV export)"
        [piece] = asks.pieces(block, "rookery", "/w")
        assert (piece.look, piece.text, bool(piece.title)) == ("plan", PLAN, own)
        printed = LinesView(80, "rookery", "/w", printed=True, controls=Commands())
        alone = words(lines.rendered(block, [], printed._replace(alone=True)))
        assert "Write export.py." in alone
        inline = words(lines.rendered(block, [], printed))
        assert ("Write" in inline, "Plan: a CSV export" in inline) == (not own, True)
        page = html.rendered(block, View("rookery", "/w"))
        assert "<code>export.py</code>" in page
        assert ("<details" in page) == own
        assert "<details" not in html.rendered(block, View("rookery", "/w", alone=True))
        told = told_call(ask.call, ask, HEADER)
        shown = [part["content"]["text"] for part in told.get("content", [])]
        assert shown == ([] if own else [PLAN])


def test_no_answer_to_a_plan_is_permanent() -> None:
    ask, block = asked("exit_plan_mode")
    seen, more = choices(block)
    words = {each.name: each.label for each in (*seen, *more)}
    assert words["ask.allow"] == "Go, ask always"
    assert words["ask.reject"] == "keep planning, and say how"
    assert not {"ask.always", "ask.all", "ask.risky"} & words.keys()
    assert not any(asks_twice(block, action) for action in block["actions"])
    buttons = ask_form.actions(block, "s")
    assert "data-lasting" not in buttons
    assert 'data-question="What should change?"' in buttons
    outcome: Json = {"outcome": "selected", "optionId": "keep-planning"}
    outcome["_meta"] = {"rookery": {"reason": "As TSV"}}
    answered = _permission(ask, Answer({"outcome": outcome}, None))
    assert answered == {"option": "keep-planning", "reason": "As TSV"}
