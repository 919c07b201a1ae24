"""What a model is sent besides the user's words is short, in every family of models, and says all
that it must."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.prompt_tokens import FAMILIES, STEPS, tokens
from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, run, stop_reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOST = 5_000
ARGUMENTS = {
    "terminal": {"command", "is_input", "timeout", "reset"},
    "file_editor": {
        *("command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"),
    },
    "apply_patch": {"patch"},
    "read_file": {"file_path", "offset", "limit"},
    "write_file": {"file_path", "content"},
    "edit": {"file_path", "old_string", "new_string", "expected_replacements"},
    "list_directory": {"dir_path", "recursive"},
    "grep": {"pattern", "path", "include"},
    "glob": {"pattern", "path"},
    "task_tracker": {"command", "task_list"},
    "task": {"description", "prompt", "subagent_type", "resume"},
}
ALSO = {"summary", "security_risk"}
RULES = (
    *("explicit consent", "pip.conf", "~/.ssh", "holds secrets", "GITHUB_TOKEN", "illegal"),
    *("LOW:", "MEDIUM:", "HIGH:", "<UNTRUSTED_CONTENT>", "extra-index-url", "postinstall"),
    *("Do not push", "pkill -f", "an AI agent", "ends your turn"),
)


async def ten_requests(
    family: str, home: Path, model: ScriptedModel, cwd: Path
) -> tuple[list[Json], str]:
    """Of a task in ten steps, and the user's words."""
    name, path = FAMILIES[family]
    url = model.url.removesuffix("/v1") + path
    given = {"LLM_MODEL": name, "LLM_API_KEY": "sk-x-y-z", "LLM_BASE_URL": url}
    argv = [*ARGV, "--override-with-envs"]
    agent = await Agent.start(argv, environment=surroundings(home, **given), forked=True)
    try:
        await agent.call("initialize", protocolVersion=1, clientCapabilities={})
        allow_all(agent)
        session = await agent.new(str(cwd))
        since = len(model.asked)
        words = json.dumps({"play": [*(run(f"echo {n}") for n in range(STEPS)), {"text": "Done."}]})
        assert stop_reason(await agent.turn(session, words)) == "end_turn"
    finally:
        await agent.kill()
    return [each.body for each in list(model.asked)[since:] if each.body.get("tools")], words


def declared(body: Json) -> dict[str, Json]:
    """The arguments of each tool, as the dialects have them."""
    listed: list[Any] = body["tools"]
    if "function_declarations" in listed[0]:
        listed = listed[0]["function_declarations"]
    tools = [each.get("function", each) for each in listed]
    return {each["name"]: each.get("parameters") or each["input_schema"] for each in tools}


@pytest.mark.parametrize("family", FAMILIES)
async def test_requests_are_short(
    agent_home: Path, model: ScriptedModel, tmp_path: Path, family: str
) -> None:
    """Also after nine commands, whose results have one footer each."""
    asked, words = await ten_requests(family, agent_home, model, tmp_path)
    assert len(asked) == STEPS + 1
    assert tokens(asked[0], words) < MOST
    assert tokens(asked[-1], words) < MOST
    assert asked[0]["tools"] == asked[-1]["tools"], "the provider's cache has them"
    tools = declared(asked[-1])
    assert not {"finish", "think"} & tools.keys()
    known = {name: tools[name]["properties"].keys() - ALSO for name in tools if name in ARGUMENTS}
    assert known == {name: ARGUMENTS[name] for name in known}, "none is lost"
    for name in ("terminal", "task"):
        assert tools[name]["properties"].keys() >= ALSO
    sent = json.dumps(asked[-1])
    assert [rule for rule in RULES if rule not in sent] == []
    assert sent.count("[exit code 0]") == STEPS
    assert "Python interpreter" not in sent


async def test_an_edit_is_answered_in_its_own_lines(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Without a reminder; a file's own lines are left alone."""
    allow_all(agent)
    path = tmp_path / "a.txt"
    reminder = "Review the changes and make sure they are as expected."
    path.write_text(f"one\n{reminder}\n")
    view = {"command": "view", "path": str(path)}
    replace = {"command": "str_replace", "path": str(path), "old_str": "one", "new_str": "two"}
    steps: list[Json] = [
        {"call": {"name": "file_editor", "arguments": arguments}} for arguments in (view, replace)
    ]
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [*steps, {"text": "ok"}])
    sent = model.asked[-1].body["messages"]
    viewed, edited = (each["content"][0]["text"] for each in sent if each["role"] == "tool")
    lines = f"     1\tone\n     2\t{reminder}"
    assert viewed.rstrip() == lines
    assert edited == f"The file {path} has been edited.\n{lines.replace('one', 'two')}"
