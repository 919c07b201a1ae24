"""Our own agent behind the editor's door, with a model that plays a script: a client that offers
what Zed does, and the Python SDK's."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from tests.acp.bridging import FORMS, SCREENS, asked
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json, texts
from tests.acp.whole_session import HERE
from tests.agent.conftest import surroundings, write_settings
from tests.agent.driving import run

pytestmark = pytest.mark.long


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def play(*steps: object) -> str:
    return json.dumps({"play": steps})


async def test_our_own_agent_in_an_editor(bridge: Door, tmp_path: Path) -> None:
    """New with modes and models, approve and reject, a terminal with its exit code, the model
    chosen, a cancel, and all of it again when the session is loaded."""
    home = bridge.home
    (home / "person").mkdir()
    here = {**HERE, "cwd": str(tmp_path)}
    with serving({"turns": [], "otherwise": {"text": "You said: $prompt"}}) as model:
        write_settings(home, model)
        agent = await bridge.start_own("--agent", "rookery", **surroundings(home))
        offered = {**SCREENS, **FORMS}
        await agent.call("initialize", protocolVersion=1, clientCapabilities=offered)
        made = await agent.call("session/new", **here)
        session = made["sessionId"]
        options = {option["id"]: option for option in made["configOptions"]}
        assert [each["name"] for each in options["model"]["options"]] == ["first", "second"]
        known = {"sessionId": session}
        await agent.call("session/set_config_option", **known, configId="confirm", value="every")
        prompt = agent.prompt(session, play(run("echo one; (exit 3)"), {"text": "It ran."}))
        request = await asked(agent)
        assert "echo one; (exit 3)" in str(request["params"]["toolCall"])
        agent.send(id=request["id"], result=_chosen(request, "allow_once"))
        assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
        news = agent.news(session)
        told = [each.get("_meta") or {} for each in news]
        [screen] = [
            each["terminal_info"]["terminal_id"] for each in told if "terminal_info" in each
        ]
        output = [each["terminal_output"]["data"] for each in told if "terminal_output" in each]
        assert "".join(output).split() == ["one"]
        left = [each["terminal_exit"] for each in told if "terminal_exit" in each]
        assert left == [{"terminal_id": screen, "exit_code": 3, "signal": None}]
        prompt = agent.prompt(session, play(run("touch never"), {"text": "I see."}))
        request = await asked(agent)
        agent.send(id=request["id"], result=_chosen(request, "reject_once"))
        assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert not (tmp_path / "never").exists()
        changed = await agent.call(
            "session/set_config_option", **known, configId="model", value="second"
        )
        values = {each["id"]: each["currentValue"] for each in changed["configOptions"]}
        assert values["model"] == "second"
        prompt = agent.prompt(session, play(run("echo begun; sleep 1000")))
        request = await asked(agent)
        agent.send(id=request["id"], result=_chosen(request, "allow_once"))
        await agent.until(lambda line: "begun\\n" in str(line))
        agent.notify("session/cancel", sessionId=session)
        assert (await agent.answer(prompt))["result"]["stopReason"] == "cancelled"
        agent.news()
        await agent.call("session/load", sessionId=session, **here)
        again = agent.news(session)
        assert "It ran." in (said := "".join(texts(again)))
        assert "I see." in said


def _chosen(request: Json, kind: str) -> Json:
    option = next(each for each in request["params"]["options"] if each["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
