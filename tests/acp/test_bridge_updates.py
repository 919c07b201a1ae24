"""What an editor hears of a session: the agent's updates as the protocol allows them, terminals
without a terminal, and what is ours in words. Every line is held to the schema by the driver."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.acp.bridge.offered import Offered
from rookery.acp.bridge.updates.events import Sharing
from rookery.core.json.events import Event
from tests.acp.bridging import ALLOW, FILES, NOTICES, SCREENS, asked, is_call, update
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json, kinds, statuses, texts
from tests.acp.whole_session import HERE
from tests.cli.driving import rookery


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


async def played(agent: Agent, cwd: Path, *steps: Json) -> list[Json]:
    session = await agent.new(str(cwd))
    assert "result" in await agent.turn(session, list(steps))
    return agent.news(session)


ODD: list[Json] = [
    update("agent_message_chunk", content={"type": "text", "text": "a", "extra": 1}, timestamp=3),
    update("agent_message_chunk", content={"type": "hologram", "x": 1}, messageId=4),
    update("tool_call", toolCallId="t", title="T", kind="dance", status="odd", at=1),
    update("tool_call_update", toolCallId="t", content=[{"type": "alien"}, 3], status="completed"),
    update("tool_call_update", toolCallId="never announced", status="completed"),
    update("tool_call", toolCallId="t", title="again", locations=[{"path": "x", "line": -1}]),
    update("plan", entries=[{"content": "p", "status": "cancelled", "priority": 1}, "x"]),
    update("usage_update", used="many", size=3),
    update("available_commands_update", availableCommands=[{"name": "go"}, {"x": 1}]),
    update("session_info_update", title="A title", more={"a": 1}),
    update("from_the_future", value=1),
    update("notice", severity="info", message="hm"),
    update("config_option_update", configOptions=[{"id": "a", "currentValue": "x"}, {"id": 1}]),
    update("current_mode_update", modeId="x"),
]


@pytest.mark.parametrize("offered", [{}, NOTICES], ids=["plain", "notices"])
async def test_updates_outside_the_protocol_are_left_out_or_made_valid(
    bridge: Door, tmp_path: Path, offered: Json
) -> None:
    """Kinds that the protocol does not know stay in the log; everything else arrives."""
    agent = await bridge.open(**offered)
    told = await played(agent, tmp_path, *ODD, {"text": "end"})
    assert texts(told)[0] == "a"
    assert texts(told)[-1] == "end"
    assert ("notice" in kinds(told)) is bool(offered)
    calls = [u for u in told if u["sessionUpdate"] == "tool_call"]
    assert [u["toolCallId"] for u in calls] == ["t", "never announced"]
    assert calls[0]["kind"] == "other"
    places = [u["locations"] for u in told if "locations" in u]
    assert places == [[{"path": str(tmp_path / "x")}]]
    assert "from_the_future" not in kinds(told)


PLANS: list[Json] = [
    update("plan_update", plan={"type": "markdown", "planId": "m", "content": "# Way"}),
    update("plan_update", plan={"type": "markdown", "planId": "m", "content": "# Other way"}),
    update("plan_update", plan={"type": "items", "planId": "i", "entries": [{"content": "go"}]}),
    update("plan_update", plan={"type": "mystery", "planId": "x"}),
    update("plan_removed", planId="m"),
    update("plan_removed", planId="i"),
]


async def test_plans_by_id_reach_an_editor_that_offers_to_show_them(
    bridge: Door, tmp_path: Path
) -> None:
    agent = await bridge.open(plan={})
    told = await played(agent, tmp_path, *PLANS, {"text": "end"})
    plans = [each for each in told if each["sessionUpdate"].startswith("plan")]
    assert [each["plan"]["type"] for each in plans[:3]] == ["markdown", "markdown", "items"]
    assert [each.get("planId") for each in plans[3:]] == ["m", "i"]


async def test_an_editor_without_plans_by_id_gets_them_as_a_plan_and_as_a_call(
    bridge: Door, tmp_path: Path
) -> None:
    agent = await bridge.open()
    told = await played(agent, tmp_path, *PLANS, {"text": "end"})
    assert [len(each["entries"]) for each in told if each["sessionUpdate"] == "plan"] == [1, 0]
    calls = [each for each in told if each.get("toolCallId") == "plan:m"]
    assert [each["content"][0]["content"]["text"] for each in calls[:2]] == ["# Way", "# Other way"]
    assert calls[2]["title"] == "Plan removed"
    assert "plan_update" not in kinds(told)


async def test_call_ids_that_an_agent_reuses_are_told_apart(bridge: Door, tmp_path: Path) -> None:
    """The ids that it uses again are told apart, live and in the replay."""
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    live: list[str] = []
    for _ in range(3):
        steps = [update("tool_call", toolCallId="1", title="T", status="pending")]
        steps.append(update("tool_call_update", toolCallId="1", status="completed"))
        await agent.turn(session, steps)
        told = agent.news(session)
        live += [u["toolCallId"] for u in told if u["sessionUpdate"] == "tool_call"]
        assert statuses(told) == ["pending", "completed"]
    assert len(set(live)) == 3
    await agent.call("session/load", sessionId=session, **{**HERE, "cwd": str(tmp_path)})
    again = [u["toolCallId"] for u in agent.news(session) if u["sessionUpdate"] == "tool_call"]
    assert again == live


RUN: list[Json] = [{"command": "printf one; printf two; exit 3", "toolCallId": "c"}]


async def test_terminals_as_text(bridge: Door, tmp_path: Path) -> None:
    """No id of the worker's terminals reaches an editor that cannot know it."""
    agent = await bridge.open(terminal=True)
    told = await played(agent, tmp_path, *RUN)
    assert "terminalId" not in str(told)
    last = [u["content"] for u in told if u.get("content")][-1]
    assert last == [{"type": "content", "content": {"type": "text", "text": "onetwo"}}]
    assert statuses(told)[-1] == "failed"


async def test_terminals_as_terminals(bridge: Door, tmp_path: Path) -> None:
    """Announced with the tool call, then its output, then its end."""
    agent = await bridge.open(**SCREENS)
    told = await played(agent, tmp_path, *RUN)
    shown = [u for u in told if "_meta" in u]
    [info] = [u["_meta"]["terminal_info"] for u in shown if "terminal_info" in u["_meta"]]
    name = info["terminal_id"]
    assert info["cwd"] == str(tmp_path)
    first = next(u for u in told if "terminalId" in str(u.get("content")))
    assert first["sessionUpdate"] == "tool_call"
    assert first["_meta"]["terminal_info"] == info
    assert first["title"] == "printf one; printf two; exit 3"
    metas = [u["_meta"] for u in shown]
    output = [meta["terminal_output"] for meta in metas if "terminal_output" in meta]
    assert {each["terminal_id"] for each in output} == {name}
    assert "".join(each["data"] for each in output) == "onetwo"
    ends = [meta["terminal_exit"] for meta in metas if "terminal_exit" in meta]
    assert ends == [{"terminal_id": name, "exit_code": 3, "signal": None}]


ALONE: list[Json] = [
    {"request": "terminal/create", "params": {"sessionId": "$session", "command": "echo hello"}},
    {"wait": 4},  # nothing else holds the turn open until the command has said it
    {"text": "end"},
]


@pytest.mark.parametrize("offered", [{}, SCREENS], ids=["text", "screens"])
async def test_a_terminal_that_no_tool_call_shows(
    bridge: Door, tmp_path: Path, offered: Json
) -> None:
    """It gets a tool call of its own, at the end of the turn at the latest."""
    agent = await bridge.open(**offered)
    told = await played(agent, tmp_path, *ALONE)
    [call] = [u for u in told if u["sessionUpdate"] == "tool_call"]
    assert (call["title"], call["kind"]) == ("echo hello", "execute")
    assert "hello\\n" in str(told)
    assert ("terminalId" in str(told)) is bool(offered)
    assert statuses(told)[-1] == "completed"


async def test_unsaved_buffers_are_seen(bridge: Door, tmp_path: Path) -> None:
    """Law 4's exception: the editor is asked first, and then the disk."""
    (tmp_path / "a.txt").write_text("on disk")
    agent = await bridge.open(**FILES)
    buffers = {str(tmp_path / "a.txt"): "not saved"}

    def read(params: Json) -> Any:
        found = buffers.get(params["path"])
        return {"content": found} if found is not None else Exception(-32002, "not open")

    def write(params: Json) -> Any:
        buffers[params["path"]] = params["content"]
        return {}

    agent.answers |= {"fs/read_text_file": read, "fs/write_text_file": write}
    steps: list[Json] = [{"read": "a.txt"}, {"text": "$content"}]
    assert texts(await played(agent, tmp_path, *steps)) == ["not saved"]
    buffers.clear()
    assert texts(await played(agent, tmp_path, *steps)) == ["on disk"]
    await played(agent, tmp_path, {"write": "b.txt", "content": "b"})
    assert buffers == {str(tmp_path / "b.txt"): "b"}
    assert not (tmp_path / "b.txt").exists()


async def test_another_clients_prompt_is_shown(bridge: Door, tmp_path: Path) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    agent.news()
    assert rookery("prompt", session, "--wait", "from a terminal").code == 0
    await agent.until(lambda line: "You said" in str(line))
    told = agent.news(session)
    assert texts(told, "user_message_chunk") == ["from a terminal"]
    assert texts(told) == ["You said: from a terminal"]
    assert rookery("rename", session, "A name").code == 0
    await agent.until(lambda line: "'A name'" in str(line))


DANGER: list[Json] = [
    {"ask": "rm -rf build", "kind": "execute", "rawInput": {"command": "rm -rf build"}},
    {"text": "$option"},
]


async def test_dangerous_calls_say_so(bridge: Door, tmp_path: Path) -> None:
    """The dialog states the danger and offers nothing for good; its yes is the confirmation."""
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, DANGER)
    dialog = (await asked(agent))["params"]
    assert "permanently" in dialog["toolCall"]["title"]
    assert [option["kind"] for option in dialog["options"]] == ["allow_once", "reject_once"]
    agent.send(id=agent.lines[-1]["id"], result=ALLOW)
    assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"
    assert texts(agent.news(session)) == ["allow"]


async def test_an_ask_that_the_agent_takes_back(bridge: Door, tmp_path: Path) -> None:
    """Whoever closes it, the dialog goes."""
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [{"ask": "May I?"}])
    dialog = await asked(agent)
    agent.notify("session/cancel", sessionId=session)
    gone = await agent.until(is_call("$/cancel_request"))
    assert gone["params"] == {"requestId": dialog["id"]}
    assert (await agent.answer(id))["result"]["stopReason"] == "cancelled"


async def test_an_ask_that_a_rule_answers_opens_no_dialog(
    bridge: Door, home: Path, tmp_path: Path
) -> None:
    rule = '[[policy.rules]]\ndo = "allow"\nkind = "read"\n'
    (home / "config.toml").write_text(rule)
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    steps = [{"ask": "May I look?", "kind": "read", "allowed": [{"text": "looked"}]}]
    ended = await agent.turn(session, steps)
    assert ended["result"]["stopReason"] == "end_turn"
    assert "session/request_permission" not in agent.requests()
    assert texts(agent.news(session)) == ["looked"]


def shared(*updates: Json, **client: Any) -> list[Json]:
    """The updates of a log that holds these."""
    sharing = Sharing(client, Offered(client, []), lambda _name: None)
    told: list[Json] = []
    for seq, each in enumerate(updates, 1):
        told += sharing.take(Event(seq, seq, None, None, each), live=True, echo=True)
    return told


def test_a_lost_memory_is_said() -> None:
    """In the conversation, or as a notice where the editor has them."""
    reset = {"sessionUpdate": "_context", "state": "reset", "reason": "it is gone"}
    [said] = shared(reset)
    assert said["content"]["text"].startswith("_The agent has lost its memory")
    [notice] = shared(reset, **NOTICES)
    assert (notice["sessionUpdate"], notice["severity"]) == ("notice", "warning")


def test_held_and_unknown_settings_are_reported() -> None:
    known: Json = {"sessionUpdate": "_settings", "warnings": []}
    held = {**known, "held": "f", "loosens": ["A new rule allows: make*."]}
    [aside] = shared(held)
    assert "A new rule allows: make*." in aside["content"]["text"]
    assert "`rookery config confirm`" in aside["content"]["text"]
    [notice] = shared(held, **NOTICES)
    assert (notice["severity"], "make*" in notice["title"]) == ("warning", True)
    [aside] = shared({**known, "warnings": ["config.toml, line 2: x is not a setting."]})
    assert "line 2: x is not a setting" in aside["content"]["text"]
    assert shared(known) == []


def test_calls_that_a_turn_leaves_open_are_told_as_failed() -> None:
    """By the bridge, where the agent does not."""
    prompt = {"sessionUpdate": "_prompt", "turn": 1, "prompt": []}
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "status": "in_progress"}
    end = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "agent_exited"}
    assert statuses(shared(prompt, call, end)) == ["in_progress", "failed"]
    assert statuses(shared(prompt, call, {**end, "reason": "end_turn"})) == ["in_progress"]


def about(name: str, state: str, **fields: Any) -> Json:
    given = {"state": state, **({"stopReason": "end_turn"} if state == "idle" else {})}
    return update("subagent_update", sessionId=name, state=given, **fields)


CHILDREN: list[Json] = [
    {"text": "I ask someone."},
    about("s1", "running", title="Count", capabilities={"cancel": {}}),
    update(
        "session_message",
        messageId="m",
        content=[{"type": "text", "text": "Count them."}],
        senderSessionId="root",
        recipientSessionId="s1",
    ),
    {"child": "s1", "steps": [{"text": "I count."}, {"tool": "ls"}, {"text": "Twelve."}]},
    {"child": "s1", "steps": [update("mystery", x=1)]},
    about("s1", "idle"),
    {"text": "They are twelve."},
]


async def test_an_editor_that_knows_sub_agents_gets_them_as_sessions(
    bridge: Door, tmp_path: Path
) -> None:
    agent = await bridge.open(subagents={})
    session = await agent.new(str(tmp_path))
    assert "result" in await agent.turn(session, CHILDREN)
    seen = [line["params"] for line in agent.lines if line.get("method") == "session/update"]
    own = [each["update"] for each in seen if each["sessionId"] == session]
    inner = [each["update"] for each in seen if each["sessionId"] == "s1"]
    assert texts(own) == ["I ask someone.", "They are twelve."]
    states = [each for each in own if each["sessionUpdate"] == "subagent_update"]
    assert [each["state"]["state"] for each in states] == ["running", "idle"]
    assert "capabilities" not in states[0], "nobody could cancel it here"
    assert "session_message" in kinds(own)
    assert kinds(inner) == ["agent_message_chunk", "tool_call", "agent_message_chunk"]


async def test_any_other_editor_gets_a_sub_agent_as_a_call_that_shows_what_it_does(
    bridge: Door, tmp_path: Path
) -> None:
    agent = await bridge.open()
    told = await played(agent, tmp_path, *CHILDREN)
    assert texts(told) == ["I ask someone.", "They are twelve."]
    calls = [each for each in told if each.get("toolCallId") == "subagent:s1"]
    assert calls[0]["sessionUpdate"] == "tool_call"
    assert (calls[0]["title"], calls[-1]["status"]) == ("Count", "completed")
    [last] = calls[-1]["content"]
    said = last["content"]["text"]
    assert [word for word in ("Count them.", "I count.", "→ ls", "Twelve.") if word in said] == [
        *("Count them.", "I count.", "→ ls", "Twelve.")
    ]


async def test_a_dialog_says_which_sub_agent_asks(bridge: Door, tmp_path: Path) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    steps = [about("s1", "running", title="Tidy"), {"child": "s1", "steps": [{"ask": "rm x"}]}]
    request = agent.prompt(session, steps)
    dialog = await asked(agent)
    assert dialog["params"]["toolCall"]["title"] == "Tidy: rm x"
    assert dialog["params"]["toolCall"]["toolCallId"] == "subagent:s1"
    agent.send(id=dialog["id"], result=ALLOW)
    assert "result" in await agent.answer(request)
