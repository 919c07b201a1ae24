"""A sub-agent's answers end as the main agent's do, and hooks after a tool see its tools, too, by
the names that rules have for them."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import profiles_of
from tests.agent.dialects.speaking import saved
from tests.agent.driving import allow_all, calls, run, shown, stop_reason, words
from tests.agent.test_mcp_servers import opened, server, use
from tests.agent.test_subagents import approving, reloaded, task

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILTER: Json = {"status": 400, "message": "Output blocked by content filtering policy"}
ENDINGS: dict[str, tuple[Json, list[str]]] = {
    "cut off": ({"text": "Half of it", "finish": "length"}, ["output limit", "Half of it"]),
    "cut off in thought": ({"thought": "Hm", "finish": "length"}, ["output limit"]),
    "refused": ({"refusal": "I will not do that."}, ["refused", "I will not do that."]),
    "filtered": ({"finish": "content_filter"}, ["refused"]),
    "request refused": ({"error": FILTER, "times": 9}, ["content filter", FILTER["message"]]),
    "key": (
        {"error": {"status": 401, "message": "No such key"}, "times": 9},
        ["refused the key", "rookery setup"],
    ),
}
CLUTTER = ("litellm", "Exception", "Error:", "Conversation run failed", "Traceback")


async def test_a_sub_agents_answer_ends_as_the_main_agents_does(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Cut off, refused, filtered, failed: asked once, told in words, also after a load; the parent
    goes on."""
    session = await approving(agent, tmp_path)
    for name, (answer, said) in ENDINGS.items():
        count = len(model.asked)
        steps = [task([answer, {"text": "Never said"}]), {"text": "Went on"}]
        assert stop_reason(await agent.turn(session, steps)) == "end_turn", name
        updates = agent.news(session)
        [above] = calls(updates)
        assert above["status"] == "failed", name
        assert all(each in shown(above) for each in said), (name, shown(above))
        assert not [sign for sign in (*CLUTTER, "Never said") if sign in shown(above)], name
        assert words(updates) == "Went on"
        assert len(model.asked) - count == 3, name
    again = await reloaded(agent, session, tmp_path)
    told = "".join(map(shown, calls(again)))
    assert not [sign for sign in (*CLUTTER, "Never said") if sign in told]


@pytest.mark.long
async def test_a_model_with_too_small_a_window_is_no_sub_agent(
    agent: Agent, agent_home: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """It is not asked at all, and its parent hears how much there would have to be."""
    small = profiles_of(model)["first"] | {"max_input_tokens": 30_000}
    with saved(agent_home, model, small=small):
        session = await approving(agent, tmp_path)
        chosen = {"sessionId": session, "configId": "model", "value": "small"}
        await agent.call("session/set_config_option", **chosen)
        long = {"prompt": "$result" * 8, "subagent_type": "bash-runner", "description": "long"}
        steps = [
            run("yes information | head -1700 | tr '\\n' ' '"),
            {"call": {"name": "task", "arguments": long}},
            {"text": "Went on"},
        ]
        count = len(model.asked)
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    _, above = calls(agent.news(session))
    assert above["status"] == "failed"
    assert "tokens, this model has 30,000" in shown(above)
    assert len(model.asked) - count == 3


async def test_post_tool_hooks_see_sub_agents_and_full_tool_names(
    agent: Agent, tmp_path: Path
) -> None:
    """`mcp__server__tool`, as in rules, for the matcher and in what the hook is given; the
    server's own name for the tool matches, too."""
    note = "cat >> {}.log; echo >> {}.log"
    table: Json = {
        "post_tool_use": [
            {"matcher": "terminal", "hooks": [{"command": note.format("after", "after")}]},
            {"matcher": "mcp__birds__find", "hooks": [{"command": note.format("mcp", "mcp")}]},
            {"matcher": "terminal", "hooks": [{"command": "echo no disk >&2; exit 1"}]},
        ],
        "pre_tool_use": [
            {"matcher": "mcp__birds__.*", "hooks": [{"command": note.format("pre", "pre")}]},
            {"matcher": "find", "hooks": [{"command": note.format("plain", "plain")}]},
            {"matcher": "mcp__other__find", "hooks": [{"command": note.format("no", "no")}]},
        ],
    }
    (tmp_path / ".rookery").mkdir()
    (tmp_path / ".rookery" / "hooks.json").write_text(json.dumps(table))
    allow_all(agent)
    session = await opened(agent, tmp_path, server(tmp_path, "birds", "find"))
    below = task([run("echo $((6*7))"), use("mcp__birds__find", "below"), {"text": "done"}])
    steps = [use("mcp__birds__find", "above"), below, {"text": "ok"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"

    def noted(name: str) -> list[Json]:
        lines = (tmp_path / f"{name}.log").read_text().split("\n")
        return [json.loads(line) for line in lines if line]

    [after] = noted("after")
    assert after["tool_input"]["command"] == "echo $((6*7))"
    assert "42" in json.dumps(after["tool_response"])
    for name in ("mcp", "pre", "plain"):
        assert [each["tool_name"] for each in noted(name)] == ["mcp__birds__find"] * 2, name
        assert ["above" in str(each) for each in noted(name)] == [True, False]
    assert not (tmp_path / "no.log").exists()
    told = [each for each in agent.news(session) if "no disk" in str(each)]
    assert told, "a hook that failed is told of where the sub-agent's words are"
