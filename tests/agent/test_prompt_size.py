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
    for name in ("terminal", "task"):
        assert {"security_risk", "summary"} <= tools[name]["properties"].keys()
    sent = json.dumps(asked[-1])
    assert sent.count("[exit code 0]") == STEPS
    assert "Python interpreter" not in sent
