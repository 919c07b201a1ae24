"""Slash commands: answered by the agent itself, without its model."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent
from tests.agent.driving import allow_all, run, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")

SKILL = """---
name: greet
description: Greets a person.
---
Always say GRACIOUSLY.
"""


async def said(agent: Agent, session: str, command: str) -> str:
    assert stop_reason(await agent.turn(session, command)) == "end_turn"
    return words(agent.news(session))


async def test_the_list_of_them(agent: Agent, tmp_path: Path) -> None:
    """Advertised after the session, with the skills of its directory."""
    folder = tmp_path / ".agents" / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    agent.news()
    session = await agent.new(str(tmp_path))
    told = await agent.until(lambda line: "available_commands_update" in str(line))
    names = [each["name"] for each in told["params"]["update"]["availableCommands"]]
    assert names == [
        *("help", "new", "clear", "condense", "confirm", "plan", "go", "model", "mcp", "skills"),
        *("cost", "rewind", "goal", "fork", "title", "greet"),
    ]
    assert "/rewind" in await said(agent, session, "/help")
    assert "/greet" in await said(agent, session, "/skills")
    unknown = await said(agent, session, "/nonsense")
    assert "no command /nonsense" in unknown
    assert "/rewind" in unknown


async def test_a_skill_by_its_name(agent: Agent, model: ScriptedModel, tmp_path: Path) -> None:
    folder = tmp_path / ".agents" / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "/greet my neighbour")
    sent = str(model.asked[-1].body["messages"][-1])
    assert "my neighbour" in sent
    assert "GRACIOUSLY" in sent


async def test_skills_and_instructions_of_other_agents_are_read(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Claude's skills and commands, with `$ARGUMENTS`; Gemini's and Copilot's instructions. All of
    it is text: nothing in it runs, and no link leads out of the project."""
    (tmp_path / ".git").mkdir()
    work = tmp_path / "inner"
    work.mkdir()
    ran = tmp_path / "ran"
    head = "---\nname: {}\ndescription: About {}.\n---\n"
    files = {
        ".claude/skills/fix/SKILL.md": head.format("fix", "it")
        + f"Fix $ARGUMENTS now. !`touch {ran}`\n",
        ".claude/skills/broken/SKILL.md": "---\nname: [\n---\n",
        ".claude/commands/git/ship.md": "---\ndescription: 'Ships it.'\n---\nShip $ARGUMENTS.",
        ".github/copilot-instructions.md": "Speak like a PUFFIN.",
        "GEMINI.md": "Speak like a SKUA.",
    }
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (work / ".github").mkdir()
    (tmp_path.parent / "secret.txt").write_text("A SECRET")
    (work / ".github" / "copilot-instructions.md").symlink_to(tmp_path.parent / "secret.txt")
    (work / ".rookery").mkdir()
    hook = {"stop": [{"hooks": [{"command": "true"}]}]}
    (work / ".rookery" / "hooks.json").write_text(json.dumps(hook))
    session = await agent.new(str(work))
    listed = await said(agent, session, "/skills")
    assert "`/fix` About it." in listed
    assert "`/ship` Ships it." in listed
    assert f"- {tmp_path}/GEMINI.md" in listed.partition("Instructions:")[2]
    assert "Hooks:\n- stop: 1, the project's, not trusted" in listed
    allow_all(agent)
    await agent.turn(session, "/fix the $ARGUMENTS bug")
    sent = str(model.asked[-1].body["messages"])
    assert "Fix the $ARGUMENTS bug now." in sent
    assert "PUFFIN" in sent
    assert "SKUA" in sent
    assert "A SECRET" not in sent
    await agent.turn(session, "/ship it")
    assert "Ship it." in str(model.asked[-1].body["messages"][-1])
    params = {"sessionId": session, "configId": "mode", "value": "always-approve"}
    await agent.call("session/set_config_option", **params)
    call = {"name": "invoke_skill", "arguments": {"name": "fix"}}
    await agent.turn(session, json.dumps({"play": [{"call": call}, "Done"]}))
    assert "!`touch" in str(model.asked[-1].body["messages"][-1])
    assert not ran.exists(), "a skill is text"


async def test_a_path_is_no_command(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    assert await said(agent, session, "/usr/bin is what?") == "You said: /usr/bin is what?"


async def test_choices_by_command(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    assert "Approvals: ask always." in await said(agent, session, "/confirm")
    assert await said(agent, session, "/confirm always-approve") == "Approve all, from now on."
    assert "There is no 'never'" in await said(agent, session, "/confirm never")
    listed = "every (ask always), risky (ask when risky), all (approve all), plan."
    assert listed in await said(agent, session, "/confirm no")
    assert "`second`" in await said(agent, session, "/model")
    assert await said(agent, session, "/model second") == "The model is now `second`."
    assert "no MCP server" in (await said(agent, session, "/mcp")).replace("No", "no")


@pytest.mark.parametrize(
    ("word", "mode", "words_"),
    [
        ("every", "always-ask", "Ask always"),
        ("ask when risky", "risk-based", "Ask when risky"),
        ("all", "always-approve", "Approve all"),
        ("plan", "plan", "Plan"),
    ],
)
async def test_confirm_before_the_first_prompt_takes_every_modes_name(
    agent: Agent, tmp_path: Path, word: str, mode: str, words_: str
) -> None:
    """The first words of a session, under a name that the mode itself has not."""
    session = await agent.new(str(tmp_path))
    assert stop_reason(await agent.turn(session, f"/confirm {word}")) == "end_turn"
    told = agent.news(session)
    assert words(told) == f"{words_}, from now on."
    modes = [each for each in told if each["sessionUpdate"] == "current_mode_update"]
    assert [each["currentModeId"] for each in modes] == [mode]


async def test_cost(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hi")
    assert "$0.14" in await said(agent, session, "/cost")


async def test_new_and_rewind_make_the_model_forget(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    for prompt in ("first thing", "second thing", "third thing"):
        await agent.turn(session, prompt)
    assert "Undid your last 2 prompts" in await said(agent, session, "/rewind 2")
    await agent.turn(session, "fourth thing")
    sent = str(model.asked[-1].body["messages"])
    assert "first thing" in sent
    assert "second thing" not in sent
    await said(agent, session, "/new")
    await agent.turn(session, "fifth thing")
    messages = model.asked[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "first thing" not in str(messages)


async def test_fork_and_title(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "begin")
    assert "My work" in await said(agent, session, "/title My work")
    assert "Forked to session" in await said(agent, session, "/fork")
    found = (await agent.call("session/list", cwd=str(tmp_path)))["sessions"]
    assert {entry["title"] for entry in found} == {"My work", "My work (fork)"}
    assert "A scripted model" in await said(agent, session, "/title")


async def test_condense(agent: Agent, model: ScriptedModel, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    for number in range(8):
        await agent.turn(session, f"thing {number}")
    assert "Condensed" in await said(agent, session, "/condense")
    await agent.turn(session, "and now")
    sent = str(model.asked[-1].body["messages"])
    assert "You said: thing 4" not in sent
    assert "thing 4" in sent, "the user's own words stay"


async def test_the_chosen_model_writes_the_summary(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """`/model` takes the condenser along: the provider that was left hears nothing more."""
    session = await agent.new(str(tmp_path))
    for number in range(8):
        await agent.turn(session, f"thing {number}")
    await said(agent, session, "/model second")
    await agent.turn(session, "with the other one")
    since = len(model.asked)
    assert "Condensed" in await said(agent, session, "/condense")
    asked = list(model.asked)[since:]
    assert [each.body["model"] for each in asked] == ["other"]
    assert not any(each.body.get("stream") for each in asked)
    assert "Tokens in" in await said(agent, session, "/cost")


async def test_while_a_turn_runs(agent: Agent, tmp_path: Path) -> None:
    """What changes nothing is answered at once; the rest has to wait. The turn goes on."""
    session = await agent.new(str(tmp_path))
    running = agent.prompt(session, [run("true"), {"text": "end"}])
    asked = await agent.until(lambda line: line.get("method") == "session/request_permission")
    assert "ask always" in await said(agent, session, "/confirm")
    assert "Wait until" in await said(agent, session, "/new")
    agent.send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "reject"}})
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert words(agent.news(session)) == "end"
