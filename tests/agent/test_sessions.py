"""Sessions are made, told again, listed, forked, closed, deleted and set."""

import asyncio
import json
import shutil
import time
import uuid
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.agent.storage.store import RECORD, Store
from rookery.cli.setup import conversations
from tests.acp.driving import Agent, Json, kinds
from tests.acp.test_checklist_sessions import history
from tests.agent.conftest import ARGV, surroundings
from tests.agent.driving import allow_all, answer_all, calls, edit, run, shown, stop_reason, words

pytestmark = pytest.mark.asyncio(loop_scope="session")


def here(cwd: Path) -> Json:
    return {"cwd": str(cwd), "mcpServers": []}


async def listed(agent: Agent, cwd: Path) -> list[Json]:
    found: list[Json] = (await agent.call("session/list", cwd=str(cwd)))["sessions"]
    return found


async def test_a_sessions_directory_must_exist(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for cwd in ("relative", "", None, str(tmp_path / "nowhere"), str(tmp_path / "file")):
        wrong: Json = {"cwd": cwd, "mcpServers": []}
        assert await agent.call("session/new", **wrong) == -32602, cwd
    assert await agent.call("session/new", cwd=str(tmp_path)) == -32602


async def test_tools_run_in_the_sessions_directory(agent: Agent, tmp_path: Path) -> None:
    """The driver starts the agent in /."""
    allow_all(agent)
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        session = await agent.new(str(folder))
        await agent.turn(session, [run("pwd"), {"text": "ok"}])
        assert str(folder) in shown(calls(agent.news(session))[0])


async def test_load_replays_the_whole_conversation(agent: Agent, tmp_path: Path) -> None:
    """The person's words too, each call as it ended, all before the answer; nothing is done."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    steps = [
        edit(tmp_path / "a.txt", "new") | {"text": "I write", "thought": "hm"},
        {"text": "done"},
    ]
    await agent.turn(session, steps)
    live = [entry for entry in history(agent.news(session)) if entry["what"] != "plan"]
    await agent.call("session/close", sessionId=session)
    (tmp_path / "a.txt").unlink()
    agent.news()
    answer = await agent.call("session/load", sessionId=session, **here(tmp_path))
    assert answer["modes"]["currentModeId"] == "always-ask"
    first, *rest = history(agent.news(session))
    assert first["what"] == "user_message_chunk"
    assert first["text"] == json.dumps({"play": steps})
    assert rest == live
    assert not (tmp_path / "a.txt").exists()


async def test_resume_replays_nothing_and_continues(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "remember me")
    await agent.call("session/close", sessionId=session)
    agent.news()
    answer = await agent.call("session/resume", sessionId=session, **here(tmp_path))
    assert set(answer) >= {"modes", "configOptions"}
    assert kinds(agent.news(session)) in ([], ["available_commands_update"])
    await agent.turn(session, "and now?")
    assert "remember me" in str(model.asked[-1].body["messages"])


async def test_unknown_sessions_are_refused(agent: Agent, tmp_path: Path) -> None:
    """Never a new one in its place."""
    for id in ("nobody", "", "../secret", "0" * 32, "\0"):
        for method in ("load", "resume", "fork"):
            called = await agent.call(f"session/{method}", sessionId=id, **here(tmp_path))
            assert called == -32002, (method, id)
        assert await agent.call("session/close", sessionId=id) == -32002
        assert await agent.call("session/delete", sessionId=id) == {}
        prompt = [{"type": "text", "text": "hi"}]
        assert await agent.call("session/prompt", sessionId=id, prompt=prompt) == -32002
    assert await listed(agent, tmp_path) == []


async def test_sessions_are_listed_newest_first(agent: Agent, tmp_path: Path) -> None:
    """Newest first; without those that were never used; by directory."""
    unused = await agent.new(str(tmp_path))
    ids = []
    for number in range(3):
        ids.append(await agent.new(str(tmp_path)))
        await agent.turn(ids[-1], f"number {number}")
    found = await listed(agent, tmp_path)
    assert [entry["sessionId"] for entry in found] == ids[::-1]
    assert [entry["title"] for entry in found] == ["number 2", "number 1", "number 0"]
    assert unused not in str(found)
    assert await listed(agent, tmp_path / "elsewhere") == []
    assert await agent.call("session/list", cursor="nonsense") == -32602


async def test_the_list_comes_in_pages_of_a_hundred(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """Each once, whatever is made meanwhile."""
    folder = agent_home / "conversations"
    for number in range(250):
        own = folder / f"{number:032x}"
        own.mkdir()
        (own / "base_state.json").write_text("{}")
        when = f"2020-01-01T00:{number // 60:02}:{number % 60:02}.000Z"
        record = {"cwd": str(tmp_path), "updated": when, "prompted": True, "title": str(number)}
        (own / "session.json").write_text(json.dumps(record))
    seen: list[str] = []
    cursor: Json = {}
    sizes = []
    while True:
        page = await agent.call("session/list", cwd=str(tmp_path), **cursor)
        sizes.append(len(page["sessions"]))
        seen += [entry["title"] for entry in page["sessions"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
        await agent.turn(await agent.new(str(tmp_path)), "meanwhile")
    assert sizes == [100, 100, 50]
    assert seen == [str(number) for number in reversed(range(250))]


async def test_a_fork_goes_its_own_way(agent: Agent, model: ScriptedModel, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "the past")
    made = await agent.call("session/fork", sessionId=session, **here(tmp_path))
    fork = made["sessionId"]
    assert fork != session
    await agent.turn(fork, "the future")
    assert "the past" in str(model.asked[-1].body["messages"])
    await agent.turn(session, "the present")
    assert "the future" not in str(model.asked[-1].body["messages"])
    agent.news()
    await agent.call("session/load", sessionId=fork, **here(tmp_path))
    told = words(agent.news(fork), "user_message_chunk")
    assert told == "the pastthe future"


async def test_a_fork_can_start_from_an_earlier_turn(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "the past")
    await asyncio.sleep(0.01)
    moment = time.time_ns() // 1_000_000
    await agent.turn(session, "the mistake")
    given = {"_meta": {"rookery": {"before": moment}}, **here(tmp_path)}
    fork = (await agent.call("session/fork", sessionId=session, **given))["sessionId"]
    await agent.turn(fork, "the future")
    asked = str(model.asked[-1].body["messages"])
    assert "the past" in asked
    assert "the mistake" not in asked


async def test_a_closed_session_can_be_forked(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "the past")
    await agent.call("session/close", sessionId=session)
    made = await agent.call("session/fork", sessionId=session, **here(tmp_path))
    assert stop_reason(await agent.turn(made["sessionId"], "on")) == "end_turn"


async def test_close_ends_the_turn_and_the_shell(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [run("sleep 600")])
    await agent.until(lambda line: "'in_progress'" in str(line))
    closing = agent.ask("session/close", sessionId=session)
    assert stop_reason(await agent.answer(id)) == "cancelled"
    assert (await agent.answer(closing))["result"] == {}
    prompt = [{"type": "text", "text": "hi"}]
    assert await agent.call("session/prompt", sessionId=session, prompt=prompt) == -32002


async def test_delete_removes_the_conversation(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hi")
    assert (agent_home / "conversations" / session).is_dir()
    assert await agent.call("session/delete", sessionId=session) == {}
    assert await agent.call("session/delete", sessionId=session) == {}
    assert not (agent_home / "conversations" / session).exists()
    assert await agent.call("session/load", sessionId=session, **here(tmp_path)) == -32002


async def test_unused_sessions_are_not_kept(agent: Agent, agent_home: Path, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.call("session/close", sessionId=session)
    assert not (agent_home / "conversations" / session).exists()


@pytest.mark.long
async def test_load_works_after_kill_9(agent_home: Path, tmp_path: Path) -> None:
    """The interrupted turn is told as far as it came; the prompt after it works. The tools are
    those that the conversation was made with; `--last` and `--resume` find it."""
    environment = surroundings(agent_home)
    first = await Agent.start(ARGV, environment=environment, forked=True)
    allow_all(first)
    session = await first.begin(str(tmp_path))
    await first.turn(session, "one")
    first.prompt(session, [run("sleep 600")])
    await first.until(lambda line: "'in_progress'" in str(line))
    first.process.kill()
    await first.process.wait()
    state = agent_home / "conversations" / session / "base_state.json"
    kept = json.loads(state.read_text())
    kept["agent"]["tools"] = [tool for tool in kept["agent"]["tools"] if "task" not in tool["name"]]
    state.write_text(json.dumps(kept))
    flags = ["--last", "--always-approve"]
    again = await Agent.start([*ARGV, *flags], environment=environment, forked=True)
    try:
        assert await again.begin(str(tmp_path)) == session
        told = await again.until(lambda line: "availableCommands" in str(line))
        assert told["params"]["sessionId"] == session
        updates = again.news(session)
        assert words(updates).startswith("You said: one")
        assert [call["status"] for call in calls(updates)] == ["failed"]
        made = tmp_path / "made"  # nobody is asked: --always-approve
        steps = [run(f"touch {made}"), {"text": "on"}]
        assert stop_reason(await again.turn(session, steps)) == "end_turn"
        assert (words(again.news(session)), made.exists()) == ("on", True)
    finally:
        await again.kill()
        await first.kill()


async def test_modes_and_options_stay_in_step(agent: Agent, tmp_path: Path) -> None:
    """Two views of one mode, in step both ways; the complete list in every answer."""
    made = await agent.call("session/new", **here(tmp_path))
    session = made["sessionId"]
    assert made["modes"]["currentModeId"] == "always-ask"
    modes = [mode["id"] for mode in made["modes"]["availableModes"]]
    assert modes == ["always-ask", "risk-based", "always-approve", "plan"]
    options = {option["id"]: option for option in made["configOptions"]}
    assert set(options) == {"mode", "model", "effort", "streaming"}
    assert all(option["type"] == "select" for option in options.values())
    await agent.call("session/set_mode", sessionId=session, modeId="risk-based")
    told = [u for u in agent.news(session) if u["sessionUpdate"] == "config_option_update"]
    assert told[-1]["configOptions"][0]["currentValue"] == "risk-based"
    answer = await agent.call(
        "session/set_config_option", sessionId=session, configId="mode", value="always-approve"
    )
    assert len(answer["configOptions"]) == 4
    assert "current_mode_update" in kinds(agent.news(session))
    for option, value in (("mode", "x"), ("model", "x"), ("effort", 4), ("x", "y")):
        wrong = {"sessionId": session, "configId": option, "value": value}
        assert await agent.call("session/set_config_option", **wrong) == -32602
    assert await agent.call("session/set_mode", sessionId=session, modeId="x") == -32602


async def test_the_model_can_be_switched_in_mid_turn(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Confirmed at once, in effect with the next step; kept over a close."""
    session = await agent.new(str(tmp_path))
    answer_all(agent, None)  # nobody answers yet
    running = agent.prompt(session, [run("true"), {"text": "ok"}])
    asked = await agent.until(lambda line: line.get("method") == "session/request_permission")
    assert model.asked[-1].body["model"] == "scripted"
    for option, value in (("model", "second"), ("effort", "low"), ("streaming", "off")):
        params = {"sessionId": session, "configId": option, "value": value}
        await agent.call("session/set_config_option", **params)
    agent.send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "reject"}})
    assert stop_reason(await agent.answer(running)) == "end_turn"
    assert model.asked[-1].body["model"] == "other"
    assert not model.asked[-1].body.get("stream")
    await agent.call("session/close", sessionId=session)
    answer = await agent.call("session/load", sessionId=session, **here(tmp_path))
    values = {option["id"]: option["currentValue"] for option in answer["configOptions"]}
    assert values == {
        "mode": "always-ask",
        "model": "second",
        "effort": "low",
        "streaming": "off",
    }


async def test_with_streaming_off_messages_come_whole(agent: Agent, tmp_path: Path) -> None:
    """Whole messages then, once."""
    session = await agent.new(str(tmp_path))
    params = {"sessionId": session, "configId": "streaming", "value": "off"}
    await agent.call("session/set_config_option", **params)
    agent.news()
    await agent.turn(session, [{"text": "one two three", "thought": "hm"}])
    said = [u for u in agent.news(session) if u["sessionUpdate"] == "agent_message_chunk"]
    assert [u["content"]["text"] for u in said] == ["one two three"]


@pytest.mark.long
async def test_two_processes_never_write_to_one_conversation(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hi")
    other = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    try:
        await other.call("initialize", protocolVersion=1)
        asked = other.ask("session/load", sessionId=session, **here(tmp_path))
        refused = (await other.answer(asked))["error"]
        assert "another process" in refused["message"]
        await agent.call("session/close", sessionId=session)
        assert isinstance(
            await other.call("session/load", sessionId=session, **here(tmp_path)), dict
        )
        async with asyncio.timeout(120):
            assert await other.close() == 0
    finally:
        await other.kill()


async def test_a_damaged_conversation_says_so(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hi")
    await agent.call("session/close", sessionId=session)
    [event, *_] = (agent_home / "conversations" / session / "events").glob("event-00001-*")
    whole = event.read_text()
    for text in ("{half", whole.replace('"kind":', '"shiny": 1, "kind":')):
        event.write_text(text)
        failed = await agent.answer(agent.ask("session/load", sessionId=session, **here(tmp_path)))
        assert failed["error"]["message"].startswith("This conversation cannot be read")
    event.write_text(whole)
    loaded = await agent.call("session/load", sessionId=session, **here(tmp_path))
    assert isinstance(loaded, dict)


async def test_an_openhands_conversation_is_copied_and_continued(
    agent: Agent, agent_home: Path, tmp_path: Path
) -> None:
    """As its CLI keeps them: of the SDK's own agent class, without our record."""
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "Remember the heron")
    await agent.call("session/close", sessionId=session)
    kept = Store(str(agent_home / "conversations"))
    theirs = tmp_path / "theirs" / str(uuid.UUID(session))
    shutil.move(kept.folder(session), theirs)
    (theirs / RECORD).unlink()
    state = json.loads((theirs / "base_state.json").read_text())
    state["agent"]["kind"] = "Agent"
    (theirs / "base_state.json").write_text(json.dumps(state))
    assert conversations.copy_from(str(theirs.parent), kept) == (1, 0, [])
    told = await listed(agent, tmp_path)
    assert [(each["sessionId"], each["title"]) for each in told] == [
        (session, "Remember the heron")
    ]
    agent.news(session)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert "You said: Remember the heron" in words(agent.news(session))
    assert stop_reason(await agent.turn(session, "On")) == "end_turn"
    assert conversations.copy_from(str(theirs.parent), kept) == (0, 1, [])
