"""Profiles: what is particular about an agent's tools, and only where its profile says so."""

from typing import Any

import pytest

from rookery.agents.registry import AGENTS
from rookery.core.blocks.document import Block
from rookery.core.vendors.profiles import Profile, profile_of
from tests.core.making import Json, call, news, play, update


def tool(agent: str, *updates: Json) -> Block:
    """The last block of a session of that agent's."""
    [*_, block] = play(update("_session", agent=agent), *updates).blocks.values()
    return block


def claude(name: str, **fields: Any) -> Json:
    return call("t", title="Tool", _meta={"claudeCode": {"toolName": name}}, **fields)


@pytest.mark.parametrize(
    ("agent", "kind", "shown"),
    [
        ("claude", {"kind": "other"}, "execute"),
        ("claude", {}, "execute"),
        ("claude", {"kind": "read"}, "read"),
        ("crow", {"kind": "other"}, "other"),
    ],
)
def test_an_alias_counts_only_where_the_kind_is_other(agent: str, kind: Json, shown: str) -> None:
    assert tool(agent, claude("Bash", **kind))["kind"] == shown


def test_an_update_without_a_kind_keeps_the_kind() -> None:
    meta = {"claudeCode": {"toolName": "Bash"}}
    assert tool("claude", claude("Bash", kind="read"), news("t", _meta=meta))["kind"] == "read"


def test_opencode_names_its_tools_in_their_titles() -> None:
    assert tool("opencode", call("t", title="bash", kind="other"))["kind"] == "execute"


@pytest.mark.parametrize(
    ("agent", "title", "shown"),
    [
        ("claude", "mcp__tracker__list_issues", "tracker: list_issues"),
        ("claude", "mcp__a__b__c", "a: b__c"),
        ("claude", "mcp__tracker", "mcp__tracker"),
        ("claude", "mcp____x", "mcp____x"),
        ("crow", "mcp__tracker__list_issues", "mcp__tracker__list_issues"),
    ],
)
def test_mcp_tools_are_named_as_people_say_them(agent: str, title: str, shown: str) -> None:
    assert tool(agent, call("t", title=title))["title"] == shown


@pytest.mark.parametrize(
    ("agent", "space", "nested"),
    [
        ("claude", "claudeCode", True),
        ("claude", "somebodyElse", False),
        ("crow", "somebodyElse", True),
    ],
)
def test_the_parent_call_is_where_the_profile_says(agent: str, space: str, nested: bool) -> None:
    child = call("c", title="Child", _meta={space: {"parentToolUseId": "p"}})
    document = play(update("_session", agent=agent), call("p", title="Parent"), child)
    first, second = document.blocks.values()
    assert (second["parent"] == first["id"]) is nested


PLAN = {"plan": "# Do it"}
TODOS = {"todos": [{"content": "one", "status": "completed"}, {"content": "two"}]}


@pytest.mark.parametrize(
    ("name", "given", "title", "part"),
    [
        ("ExitPlanMode", PLAN, "The plan is ready", {"type": "markdown", "text": "# Do it"}),
        (
            "TodoWrite",
            TODOS,
            "To do",
            {
                "type": "checklist",
                "items": [
                    {"text": "one", "status": "completed"},
                    {"text": "two", "status": "pending"},
                ],
            },
        ),
        ("Skill", {"skill": "pdf"}, "Skill: pdf", None),
        ("ScheduleWakeup", {"delaySeconds": 90}, "Sleeps for 1 min 30 s", None),
    ],
)
def test_special_tools_look_special_only_if_the_profile_says_so(
    name: str, given: Json, title: str, part: Json | None
) -> None:
    special = tool("claude", claude(name, rawInput=given))
    assert special["title"] == title
    assert special["parts"] == ([part] if part else [])
    plain = tool("crow", claude(name, rawInput=given))
    assert (plain["title"], plain["parts"]) == ("Tool", [])


@pytest.mark.parametrize("name", ["ExitPlanMode", "TodoWrite", "Skill", "ScheduleWakeup"])
def test_a_special_tool_without_its_input_is_an_ordinary_tool(name: str) -> None:
    assert tool("claude", claude(name, rawInput={"other": 1}))["title"] == "Tool"


def test_an_agent_without_a_profile_is_generic() -> None:
    assert profile_of("goose", ["goose", "acp"]) == Profile()
    assert set(AGENTS) >= {"claude", "codex", "gemini", "opencode", "qwen"}


def test_what_a_model_writes_as_input_is_not_shown_as_output() -> None:
    """Kimi sends it as text of the call; a result replaces it."""
    text = {"type": "content", "content": {"type": "text", "text": '{"command": "ls"}'}}
    begun = call("t", title="Bash", kind="execute", content=[text])
    assert tool("kimi", begun)["parts"] == []
    assert tool("crow", begun)["parts"] != []
    assert tool("kimi", begun, news("t", status="completed", content=[text]))["parts"] != []
