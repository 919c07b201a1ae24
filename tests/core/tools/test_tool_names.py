"""By what name a tool is known, and what an ask says that carries only an id."""

from typing import Any

import pytest

from rookery.core.ask import from_agent
from rookery.core.blocks import ask_details
from rookery.core.blocks import asks as blocks_asks
from rookery.core.header import EMPTY
from rookery.core.policy import call_input, rules
from rookery.core.policy.danger import gist
from rookery.core.tools.names import name_of
from rookery.core.turn.calls import TurnCalls
from tests.core import recordings
from tests.core.making import Json, asked, call, news, only, play, prompt, running

DOCS: Json = {"server": "docs", "tool": "search", "arguments": {"query": "rm -rf /", "n": 2}}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"_meta": {"toolName": "save_memory"}}, "save_memory"),
        ({"_meta": {"tool_name": "bash", "effect_kind": "shell"}}, "bash"),
        ({"_meta": {"claudeCode": {"toolName": "mcp__docs__search"}}}, "mcp__docs__search"),
        ({"name": "exec", "_meta": {"toolName": "other"}}, "exec"),
        ({"title": "mcp.docs.search", "rawInput": DOCS}, "mcp__docs__search"),
        ({"rawInput": DOCS, "_meta": {"is_mcp_tool_call": True}}, "mcp__docs__search"),
        ({"rawInput": DOCS, "title": "Look it up"}, ""),
        ({"rawInput": {**DOCS, "more": 1}, "title": "mcp.docs.search"}, ""),
        (
            {"name": "mcp__evil__run", "rawInput": DOCS, "title": "mcp.docs.search"},
            "mcp__evil__run",
        ),
    ],
)
def test_a_tools_name_is_read_where_each_agent_puts_it(fields: Json, name: str) -> None:
    """Qwen's and vibe's in `_meta` itself, claude's in a space of it, codex's in the input of an
    MCP call, where a model cannot write it."""
    assert name_of(call("t", **fields)) == name
    assert gist(call("t", **fields)).get("name", "") == name


def test_a_rule_matches_the_tool_that_qwen_names_in_meta() -> None:
    rule = rules.Rule("mine", "allow", tool=("save_memory",))
    known = TurnCalls()
    known.remember(call("t", title="Save", kind="other", _meta={"toolName": "save_memory"}))
    [about] = known.stands_for({"toolCallId": "t", "rawInput": {"fact": "x"}})
    seen = rules.call_of("qwen", gist(about), ("/w",), "/home/me", ())
    assert rules.decide((rule,), seen).do == "allow"


def asks(*updates: Json, given: Json | None = None) -> tuple[str, list[str]]:
    """The question of an ask that carries only an id, and what stands below it."""
    known = TurnCalls()
    for each in updates:
        known.remember(each)
    about = known.stands_for(given or {"toolCallId": "t"})
    items = ask_details.of(about, "/w", [], "/home/me")
    ask = {"toolCall": given or {"toolCallId": "t"}, "does": items}
    block = blocks_asks.block_of(from_agent(ask), EMPTY.with_(agent="a", cwd="/w"))
    pieces = blocks_asks.pieces(block, "a")
    return blocks_asks.question(block, "a", "/w"), [piece.text for piece in pieces]


def announced(**fields: Any) -> Json:
    return call("t", status="pending", **fields)


def test_an_ask_that_carries_only_an_id_shows_the_command() -> None:
    shell = announced(title="bash", kind="execute", rawInput={"command": "make test"})
    assert asks(shell) == ("a wants to run: make test", [])
    spelled = announced(title="bash", kind="execute", rawInput='{"command": "make test"}')
    assert asks(spelled) == ("a wants to run: make test", []), "vibe: JSON in a text"


def test_an_ask_about_an_mcp_tool_shows_the_tool_and_its_arguments() -> None:
    """What it is given may look like a command, and is none."""
    said = ("a wants to use mcp__docs__search", ["query: rm -rf /\nn: 2"])
    codex = announced(title="mcp.docs.search", kind="execute", rawInput=DOCS)
    assert asks(codex) == said
    given = {"toolCallId": "t", "status": "pending"}
    assert asks(codex, news("t", _meta={"progress": 1}), given=given) == said
    claude = announced(
        title="mcp__docs__search", _meta={"claudeCode": {"toolName": "mcp__docs__search"}}
    )
    inputs = news("t", rawInput=DOCS["arguments"])
    given = {"toolCallId": "t", "_meta": {"claudeCode": {"mcpServer": {"name": "docs"}}}}
    assert asks(claude, inputs, given=given) == said


def test_an_mcp_tools_arguments_are_judged_as_before() -> None:
    known = TurnCalls()
    known.remember(announced(title="mcp.docs.search", kind="execute", rawInput=DOCS))
    [about] = known.stands_for({"toolCallId": "t"})
    assert "rm -rf /" in call_input.lines(about)


RECORDED = [path.name for path in recordings.FOLDER.glob("*.jsonl") if "-v2" not in path.name]


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_recorded_ask_shows_its_command_path_or_tool(name: str) -> None:
    """Also where it would carry nothing but its id, as long as its call was announced."""
    for session in recordings.sessions(name):
        known, announced = TurnCalls(), set()
        for each in recordings.play(name, session).updates:
            kind, call = each["sessionUpdate"], each.get("toolCall")
            if kind == "_prompt":
                known.clear()
            elif kind.startswith("tool_call"):
                announced.add(each["toolCallId"])
                known.remember(each)
            elif kind == "_ask" and call:
                for given in ({"toolCallId": call["toolCallId"]}, call):
                    if given is call or call["toolCallId"] in announced:
                        about = known.stands_for(given)
                        found = ask_details.of(about, "/home/dev/project", [], "/home/dev")
                        whats = {item["what"] for item in found}
                        assert whats & {"command", "path", "tool", "diff", "address"}, given


def test_a_call_keeps_its_tools_name_when_its_ask_is_titled_with_the_arguments() -> None:
    """qwen: of an MCP tool the ask's title is `{}`."""
    meta = {"toolName": "mcp__rook__peck"}
    bare = {"toolCallId": "t", "title": "{}", "rawInput": {}, "_meta": meta}
    told = announced(title="peck (rook MCP Server): {}", kind="other", _meta=meta)
    document = play(prompt(), running(), told, asked(toolCall=bare, options=[]))
    assert only(document, "tool")["title"] == "rook: peck"
    assert only(document, "ask").get("called", "") == ""
    nameless = play(prompt(), running(), announced(title="{}", kind="other"))
    assert only(nameless, "tool")["title"] == "{}"


def test_a_gemini_ask_about_an_mcp_tool_names_the_tool() -> None:
    told = announced(title="peck (rook MCP Server)", kind="other")
    assert asks(told)[0] == "a wants to use peck (rook MCP Server)"
    assert name_of(told) == "", "it is nothing that rules go by"
