"""Recorded conversations: the updates of each are the golden ones beside it, every one of them is
ACP's, and a loaded session has the same calls as the live one.

`python -m tests.agent.recording` records anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.translate import Translator
from tests.acp.schema import check
from tests.agent.recording import CWD, FOLDER, replay

type Json = dict[str, Any]

# Of the model client's own types, as they are made.
pytestmark = pytest.mark.filterwarnings("ignore:Item .* on TypedDict:UserWarning")

RECORDINGS = sorted(
    path for path in FOLDER.glob("*.json") if not path.name.endswith("updates.json")
)
ENDED = {"completed", "failed"}


def read(path: Path) -> list[Json]:
    found: list[Json] = json.loads(path.read_text())
    return found


def each() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)


def final_calls(updates: list[Json]) -> dict[str, Json]:
    """What a client knows of each call in the end."""
    calls: dict[str, Json] = {}
    for update in updates:
        if update["sessionUpdate"] == "tool_call":
            assert update["toolCallId"] not in calls, "announced twice"
            calls[update["toolCallId"]] = dict(update)
        elif update["sessionUpdate"] == "tool_call_update":
            calls[update["toolCallId"]] |= {k: v for k, v in update.items() if k != "sessionUpdate"}
    return calls


def spoken(updates: list[Json], kind: str) -> str:
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == kind)


@each()
def test_recorded_conversations_give_the_golden_updates(path: Path) -> None:
    golden = read(path.with_suffix(".updates.json"))
    assert replay(read(path), Translator(CWD)) == golden


@each()
@pytest.mark.parametrize("terminals", [False, True])
def test_every_update_passes_the_schema(path: Path, terminals: bool) -> None:
    items = read(path)
    made = Translator(CWD, terminals=terminals)
    for update in [*replay(items, made), *replay(items, Translator(CWD), live=False)]:
        check({"sessionId": "s", "update": update}, "SessionNotification")
        content = update.get("content")
        assert not isinstance(content, dict) or content.get("text") != "", "an empty chunk"


@each()
def test_every_call_is_announced_once_and_ended(path: Path) -> None:
    for call in final_calls(replay(read(path), Translator(CWD))).values():
        assert call["status"] in ENDED


@each()
def test_a_replay_has_the_same_calls(path: Path) -> None:
    items = [item for item in read(path) if "child" not in item]
    live = final_calls(replay(items, Translator(CWD)))
    past = final_calls(replay(items, Translator(CWD), live=False))
    assert live.keys() == past.keys()
    for name, call in past.items():
        for key in ("title", "kind", "status", "locations", "rawInput", "content", "rawOutput"):
            assert live[name].get(key) == call.get(key), key


@each()
def test_streamed_and_whole_are_the_same_words(path: Path) -> None:
    """Nothing is repeated by the event after the stream, nothing is lost in it."""
    items = read(path)
    live = replay(items, Translator(CWD))
    past = replay([one for one in items if "child" not in one], Translator(CWD), live=False)
    for kind in ("agent_message_chunk", "agent_thought_chunk"):
        assert spoken(live, kind) == spoken(past, kind)


@each()
def test_no_echo_and_no_system_prompt(path: Path) -> None:
    items = read(path)
    assert "Do it, please." in json.dumps(items)
    assert "SystemPromptEvent" in json.dumps(items)
    live, past = (replay(items, Translator(CWD), live=flag) for flag in (True, False))
    assert not spoken(live, "user_message_chunk")
    assert spoken(past, "user_message_chunk") == "Do it, please."
    assert "You are." not in json.dumps(live + past)


def recorded(name: str, **how: Any) -> list[Json]:
    return replay(read(FOLDER / f"{name}.json"), Translator(CWD, **how))


def test_streams_come_in_pieces() -> None:
    chunks = [one for one in recorded("message") if one["sessionUpdate"] == "agent_message_chunk"]
    assert len(chunks) > 2
    assert len({one["messageId"] for one in chunks}) == 1
    whole = [one["sessionUpdate"] for one in recorded("message-whole")]
    assert whole == ["agent_thought_chunk", "agent_message_chunk"]


def test_think_and_finish_are_spoken() -> None:
    for name in ("thinking", "thinking-whole"):
        updates = recorded(name)
        assert not final_calls(updates)
        assert spoken(updates, "agent_thought_chunk") == 'What if?\nThen "so" é🙂.'
        assert spoken(updates, "agent_message_chunk") == "All is done.\nSee `notes`."


def test_edits_are_diffs() -> None:
    calls = list(final_calls(recorded("edits")).values())
    created, replaced, inserted, viewed, missed = calls
    assert created["content"][0] == {
        "type": "diff",
        "path": f"{CWD}/new.txt",
        "oldText": None,
        "newText": "one\ntwo\nthree\n",
    }
    assert replaced["content"][0]["oldText"] == "one\ntwo\nthree\n"
    assert replaced["content"][0]["newText"] == "one\n2\nthree\n"
    assert inserted["locations"] == [{"path": f"{CWD}/new.txt", "line": 1}]
    assert (viewed["kind"], viewed["locations"][0]["line"]) == ("read", 2)
    assert missed["status"] == "failed"
    assert [call["title"] for call in calls[:2]] == ["create new.txt", "edit new.txt"]


def test_terminals_as_clients_show_them() -> None:
    first = next(iter(final_calls(recorded("command")).values()))
    assert first["content"][0]["content"]["text"] == "```\none\n[bold] [t]\n```"
    assert first["rawOutput"]["exitCode"] == 0
    updates = [one for one in recorded("command", terminals=True) if "_meta" in one]
    name = updates[0]["toolCallId"]
    meta = [one["_meta"] for one in updates if one["toolCallId"] == name]
    assert meta[0]["terminal_info"] == {"terminal_id": name, "cwd": CWD}
    printed = "".join(one.get("terminal_output", {}).get("data", "") for one in meta)
    assert printed == "one\r\n[bold] [t]\r\n"
    assert meta[-1]["terminal_exit"] == {"terminal_id": name, "exit_code": 0, "signal": None}


def test_plan_of_the_task_tracker() -> None:
    updates = recorded("plan")
    plan = next(one for one in updates if one["sessionUpdate"] == "plan")
    states = [(one["content"], one["status"]) for one in plan["entries"]]
    assert states == [("Look", "completed"), ("Leap", "in_progress"), ("Land", "pending")]
    assert [one["status"] for one in final_calls(updates).values()] == ["completed"]


def test_sub_agents_are_nested_below_their_call() -> None:
    calls = final_calls(recorded("sub-agent"))
    parent, *children = calls
    assert calls[parent]["name"] == "task"
    assert len(children) == 2
    for child in children:
        assert calls[child]["_meta"]["rookery"]["parentToolUseId"] == parent
    assert not [one for one in recorded("sub-agent") if one["sessionUpdate"] == "plan"]


def test_a_refused_call_never_ran() -> None:
    updates = recorded("confirmation")
    (call,) = final_calls(updates).values()
    assert call["status"] == "failed"
    assert "not that directory" in json.dumps(call["content"])
    assert "in_progress" not in json.dumps(updates)
