"""Statements about any agent: sessions are made, told again, listed, closed and set."""

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from rookery.processes import tree
from tests.acp.doors import Door
from tests.acp.driving import Agent, Json, kinds, texts
from tests.acp.whole_session import COMMANDS, HERE, MODES, OPTIONS, SCRIPT

STEPS: list[Json] = [
    {"thought": "hm"},
    {"text": "a b", "chunks": 2},
    {
        "tool": "Look",
        "toolCallId": "t",
        "kind": "search",
        "status": "in_progress",
        "locations": [{"path": "/tmp/a", "line": 3}],
    },
    {"tool": {"toolCallId": "t", "status": "completed"}},
    {"plan": ["one", "two"], "done": 1},
    {"text": "end"},
]
BROKEN = [
    {"name": "missing", "command": "/nowhere/to/be/found", "args": [], "env": []},
    {"name": "hangs", "command": "/bin/sleep", "args": ["600"], "env": []},
]


def history(updates: list[Json]) -> list[Json]:
    """What a conversation consists of: each message's whole text, each call as it ended. Chunks may
    be cut otherwise in a replay, and news of a call may be told at once."""
    found: dict[str, Json] = {}
    for update in updates:
        what = update["sessionUpdate"]
        rest = {key: value for key, value in update.items() if key != "sessionUpdate"}
        if what.endswith("_chunk"):
            entry = found.setdefault(
                f"{what} {update.get('messageId')}", {"what": what, "text": ""}
            )
            entry["text"] += update["content"].get("text", "")
        elif "toolCallId" in update:
            found.setdefault(update["toolCallId"], {"what": "tool"}).update(rest)
        elif what == "plan":
            found[f"plan {len(found)}"] = {"what": what, **rest}
    return list(found.values())


async def loaded(agent: Agent, session: str, method: str = "load") -> list[Json]:
    """The updates that come before the answer."""
    agent.news()
    result = await agent.call(f"session/{method}", sessionId=session, **HERE)
    assert isinstance(result, dict), result
    return agent.news(session)


async def ran_in(agent: Agent, session: str, cwd: Path) -> str:
    """Where a process that the session starts finds itself."""
    pipe = cwd / "where"
    os.mkfifo(pipe)
    reading = asyncio.create_task(asyncio.to_thread(pipe.read_text))
    await agent.turn(session, [{"spawn": ["sh", "-c", "pwd > where"]}])
    return (await reading).strip()


async def test_new_sessions_have_distinct_ids(door: Door) -> None:
    agent = await door.open()
    ids = [await agent.new() for _ in range(3)]
    assert all(ids)
    assert len(set(ids)) == 3


async def test_relative_paths_are_refused(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    for cwd in ("here", "", ".", "~/x", "file:///tmp", None, 4):
        wrong: Json = {"cwd": cwd, "mcpServers": []}
        assert await agent.call("session/new", **wrong) == -32602, cwd
        assert await agent.call("session/load", sessionId=session, **wrong) == -32602, cwd
    for missing in ({"cwd": "/tmp"}, {"cwd": "/tmp", "mcpServers": None}, {"mcpServers": []}):
        assert await agent.call("session/new", **missing) == -32602, missing


async def test_tools_run_in_the_sessions_directory(door: Door, tmp_path: Path) -> None:
    """The driver starts every agent in /."""
    agent = await door.open()
    session = await agent.new(str(tmp_path))
    assert await ran_in(agent, session, tmp_path) == str(tmp_path)


async def test_concurrent_sessions_keep_apart(door: Door, tmp_path: Path) -> None:
    """Both turns are open at once: neither waits for the other."""
    agent = await door.open()
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    sessions = [await agent.new(str(folder)) for folder in folders]
    steps: list[Json] = [{"text": "in $cwd"}, {"until": "cancel", "then": [{"stop": "end_turn"}]}]
    running = [agent.prompt(session, steps) for session in sessions]
    said: Json = {}
    while len(said) < 2:
        line = await agent.until(lambda line: "in /" in str(line))
        said[line["params"]["sessionId"]] = line["params"]["update"]["content"]["text"]
    assert said == {s: f"in {f}" for s, f in zip(sessions, folders, strict=True)}
    for session in sessions:
        agent.notify("session/cancel", sessionId=session)
    left = set(running)  # neither waits for the other, nor do their answers
    while left:
        left.discard((await agent.until(lambda line: line.get("id") in left))["id"])
    for session, folder in zip(sessions, folders, strict=True):
        assert await ran_in(agent, session, folder) == str(folder)


async def test_no_update_precedes_its_session_id(door: Door) -> None:
    script = {**SCRIPT, "start": {"after_new": [{"usage": 5}]}}
    agent = await door.open(script)
    made = agent.ask("session/new", **HERE)
    session = (await agent.answer(made))["result"]["sessionId"]
    before = [line for line in agent.lines[:-1] if session in str(line)]
    assert not before
    await agent.turn(session, "hi")
    updates = agent.news(session)
    told = [u["availableCommands"] for u in updates if "availableCommands" in u]
    assert COMMANDS in told


async def test_mcp_servers_reach_the_agent(door: Door) -> None:
    """To launch them is the agent's own affair: the player only tells which it was given."""
    server = {"name": "s", "command": "/bin/true", "args": ["-x"], "env": []}
    agent = await door.open()
    made = await agent.call("session/new", cwd="/tmp", mcpServers=[server])
    await agent.turn(made["sessionId"], [{"text": "$servers"}])
    assert texts(agent.news()) == ["s"]


async def test_a_broken_mcp_server_does_not_fail_the_session(door: Door) -> None:
    agent = await door.open()
    made = await agent.call("session/new", cwd="/tmp", mcpServers=BROKEN)
    assert "result" in await agent.turn(made["sessionId"], "hi")


async def test_load_replays_the_whole_conversation(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, STEPS)
    live = history(agent.news(session))
    await agent.turn(session, "second")
    live_second = history(agent.news(session))
    assert len(live) == 5
    again = await door.open()
    first, *rest = history(await loaded(again, session))
    second = next(n for n, entry in enumerate(rest) if entry["what"] == "user_message_chunk")
    assert (first["what"], first["text"][:8]) == ("user_message_chunk", '{"play":')
    assert rest[:second] == live
    assert rest[second]["text"] == "second"
    assert rest[second + 1 :] == live_second


async def test_the_whole_replay_precedes_the_loads_answer(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, [*STEPS, {"flood": 300}])
    again = await door.open()
    assert len("".join(texts(await loaded(again, session)))) > 300 * 20
    again.send(id="mark", method="_x/mark", params={})
    await again.answer("mark")
    await again.close()
    late = history(again.news(session))
    assert not late


async def test_load_works_after_kill_9(door: Door) -> None:
    """What a client saw of the interrupted turn is told again, and the conversation goes on."""
    agent = await door.start()
    session = await agent.begin()
    await agent.turn(session, "one")
    agent.news()
    agent.prompt(session, [*STEPS, {"text": "half"}, {"until": "cancel"}])
    await agent.until(lambda line: "half" in str(line))
    live = history(agent.news(session))
    agent.process.kill()
    await agent.process.wait()
    again = await door.open()
    told = history(await loaded(again, session))
    assert told[-len(live) :] == live
    again.notify("session/cancel", sessionId=session)  # what still runs behind the door
    assert (await again.turn(session, "go on"))["result"]["stopReason"] == "end_turn"
    assert "You said: go on" in "".join(texts(again.news(session)))


async def test_replayed_calls_keep_their_ids_and_content(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    live: list[Json] = []
    for _ in range(2):
        await agent.turn(session, STEPS)
        live += [entry for entry in history(agent.news(session)) if entry["what"] == "tool"]
    again = await door.open()
    told = [entry for entry in history(await loaded(again, session)) if entry["what"] == "tool"]
    assert told == live
    assert len({entry["toolCallId"] for entry in told}) == len(told) == 2
    for entry in told:
        assert (entry["title"], entry["kind"], entry["status"]) == ("Look", "search", "completed")
        assert entry["locations"] == [{"path": "/tmp/a", "line": 3}]


async def test_unknown_sessions_are_refused(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, "hi")
    agent.news()
    for name in ("nobody", "", "../secret", "a/b", session + "x", "\0"):
        for method in ("load", "resume"):
            assert await agent.call(f"session/{method}", sessionId=name, **HERE) == -32002, name
    assert await agent.call("session/load", **HERE) == -32602
    assert agent.news() == []
    assert isinstance(await agent.call("session/load", sessionId=session, **HERE), dict)


async def test_resume_replays_nothing(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, STEPS)
    again = await door.open()
    assert not history(await loaded(again, session, "resume"))
    await again.turn(session, "hi")
    assert texts(again.news(session)) == ["You said: hi"]


async def test_loading_a_live_session_starts_no_second_agent(door: Door) -> None:
    """No second process, no second voice."""
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, "one")
    before = processes(door, agent)
    for method in ("load", "resume", "load"):
        await loaded(agent, session, method)
    await agent.turn(session, "two")
    assert texts(agent.news(session)) == ["You said: two"]
    assert processes(door, agent) == before
    said = [entry["text"] for entry in history(await loaded(agent, session))]
    assert said == ["one", "You said: one", "two", "You said: two"]


def processes(door: Door, agent: Agent) -> set[int]:
    below = {row.pid for row in tree.descendants(agent.process.pid)}
    return below | {record[key] for record in door.workers() for key in ("pid", "agentPid")}


async def test_sessions_are_listed(door: Door, tmp_path: Path) -> None:
    agent = await door.open()
    assert await agent.call("session/list") == {"sessions": []}
    here, there = await agent.new(str(tmp_path)), await agent.new("/tmp")
    found = (await agent.call("session/list"))["sessions"]
    assert {entry["sessionId"] for entry in found} == {here, there}
    for entry in found:
        assert os.path.isabs(entry["cwd"])
        assert datetime.fromisoformat(entry["updatedAt"]).tzinfo is not None
    only = (await agent.call("session/list", cwd=str(tmp_path)))["sessions"]
    assert [entry["sessionId"] for entry in only] == [here]
    assert (await agent.call("session/list", cwd="/nowhere"))["sessions"] == []


async def test_the_list_of_sessions_is_paged(door: Door) -> None:
    """Nothing twice and nothing missing, although a session is made between any two pages."""
    agent = await door.open({"agent": {"pageSize": 2}})
    made = {await agent.new() for _ in range(5)}
    found: list[str] = []
    page = await agent.call("session/list")
    while True:
        found += [entry["sessionId"] for entry in page["sessions"]]
        if "nextCursor" not in page:
            break
        assert isinstance(page["nextCursor"], str)
        await agent.new()
        page = await agent.call("session/list", cursor=page["nextCursor"])
    assert len(found) == len(set(found))
    assert set(found) == made
    for wrong in ("nonsense", 4, "9.9.9", "", {}):
        assert await agent.call("session/list", cursor=wrong) == -32602, wrong


async def test_close_cancels_the_turn_in_flight(door: Door) -> None:
    """The turn in flight hears nothing else; what waits behind it is answered too."""
    agent = await door.open()
    session = await agent.new()
    turns = [agent.prompt(session, [{"deaf": True}, {"text": "on"}, {"wait": 600}])]
    await agent.until(lambda line: "on" in str(line))
    turns.append(agent.prompt(session, [{"wait": 600}]))
    closing = agent.ask("session/close", sessionId=session)
    for id in turns:
        assert (await agent.answer(id))["result"]["stopReason"] == "cancelled"
    assert (await agent.answer(closing))["result"] == {}
    prompt = [{"type": "text", "text": "hi"}]
    assert await agent.call("session/prompt", sessionId=session, prompt=prompt) == -32002
    assert await loaded(agent, session)
    assert "result" in await agent.turn(session, "hi")


async def test_delete_takes_a_session_out_of_the_list(door: Door) -> None:
    agent = await door.open()
    kept, gone = await agent.new(), await agent.new()
    await agent.turn(gone, "hi")
    for name in (gone, gone, "nobody", "../secret"):
        assert await agent.call("session/delete", sessionId=name) == {}, name
    assert [e["sessionId"] for e in (await agent.call("session/list"))["sessions"]] == [kept]
    assert await agent.call("session/load", sessionId=gone, **HERE) == -32002


async def test_additional_directories_only_where_advertised(door: Door) -> None:
    agent = await door.open()
    roots = ["/usr", "/etc"]
    made = await agent.call("session/new", additionalDirectories=roots, **HERE)
    session = made["sessionId"]

    async def listed() -> Any:
        return (await agent.call("session/list"))["sessions"][0].get("additionalDirectories", [])

    assert await listed() == roots
    for method in ("load", "resume"):
        await agent.call(f"session/{method}", sessionId=session, **HERE)
        assert await listed() == []
    for wrong in (["here"], "x", [4]):
        assert await agent.call("session/new", additionalDirectories=wrong, **HERE) == -32602


async def test_the_current_mode_is_one_of_the_modes(door: Door) -> None:
    agent = await door.open({"agent": {"modes": MODES}})
    made = await agent.call("session/new", **HERE)
    session, modes = made["sessionId"], made["modes"]
    assert modes["currentModeId"] in [mode["id"] for mode in modes["availableModes"]]
    await agent.turn(session, [{"mode": "code"}])
    told = [u for u in agent.news(session) if u["sessionUpdate"] == "current_mode_update"]
    assert [update["currentModeId"] for update in told] == ["code"]
    assert await agent.call("session/set_mode", sessionId=session, modeId="none") == -32602


def values(options: list[Json]) -> Json:
    """Each option's value, which must be among those that it offers."""
    for option in options:
        offered = [
            choice["value"]
            for entry in option.get("options", [])
            for choice in (entry["options"] if "group" in entry else [entry])
        ]
        assert option["type"] == "boolean" or option["currentValue"] in offered, option
    own = [each for each in options if not each.get("category", "").startswith("_rookery")]
    return {option["id"]: option["currentValue"] for option in own}


async def test_setting_an_option_answers_with_all_options(door: Door) -> None:
    agent = await door.open({"agent": {"configOptions": OPTIONS}})
    made = await agent.call("session/new", **HERE)
    session = made["sessionId"]
    assert values(made["configOptions"]) == {"mode": "ask", "model": "small"}
    set_: Json = {"sessionId": session, "configId": "model"}
    full = (await agent.call("session/set_config_option", value="big", **set_))["configOptions"]
    assert values(full) == {"mode": "ask", "model": "big"}
    assert await agent.call("session/set_config_option", value="none", **set_) == -32602
    set_["configId"] = "nothing"
    assert await agent.call("session/set_config_option", value="x", **set_) == -32602
    again = await agent.call("session/load", sessionId=session, **HERE)
    assert values(again["configOptions"]) == {"mode": "ask", "model": "big"}


@pytest.mark.parametrize("offered", [False, True])
async def test_boolean_options_only_where_offered(door: Door, offered: bool) -> None:
    session: Json = {"session": {"configOptions": {"boolean": {}}}} if offered else {}
    agent = await door.open({"agent": {"configOptions": OPTIONS}}, **session)
    made = await agent.call("session/new", **HERE)
    assert ("loud" in values(made["configOptions"])) is offered
    if offered:
        loud = {"sessionId": made["sessionId"], "configId": "loud", "value": True}
        full = await agent.call("session/set_config_option", **loud, type="boolean")
        assert values(full["configOptions"])["loud"] is True


async def test_mode_and_mode_option_stay_in_step(door: Door) -> None:
    agent = await door.open({"agent": {"modes": MODES, "configOptions": OPTIONS}})
    session = await agent.new()
    agent.news()
    assert await agent.call("session/set_mode", sessionId=session, modeId="code") == {}
    told = {update["sessionUpdate"]: update for update in agent.news(session)}
    assert values(told["config_option_update"]["configOptions"])["mode"] == "code"
    set_ = {"sessionId": session, "configId": "mode", "value": "ask"}
    full = (await agent.call("session/set_config_option", **set_))["configOptions"]
    assert values(full)["mode"] == "ask"
    told = {update["sessionUpdate"]: update for update in agent.news(session)}
    assert told["current_mode_update"]["currentModeId"] == "ask"
    again = await agent.call("session/load", sessionId=session, **HERE)
    assert again["modes"]["currentModeId"] == values(again["configOptions"])["mode"] == "ask"


async def test_modes_and_options_are_set_while_a_turn_runs(door: Door) -> None:
    agent = await door.open({"agent": {"modes": MODES, "configOptions": OPTIONS}})
    session = await agent.new()
    running = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
    await agent.until(lambda line: "on" in str(line))
    assert await agent.call("session/set_mode", sessionId=session, modeId="code") == {}
    set_ = {"sessionId": session, "configId": "model", "value": "big"}
    full = (await agent.call("session/set_config_option", **set_))["configOptions"]
    assert values(full) == {"mode": "code", "model": "big"}
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"


NEWS: list[Json] = [
    {"update": {"sessionUpdate": "notice", "severity": "info", "message": "hm", "noticeId": "n"}},
    {"update": {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}},
    {"text": "end"},
]


async def test_notices_only_where_offered(door: Door) -> None:
    agent = await door.open()
    session = await agent.new()
    await agent.turn(session, NEWS)
    told = kinds(agent.news(session))
    assert "agent_message_chunk" in told
    assert not {"notice", "compaction_update"} & set(told)
