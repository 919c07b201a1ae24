"""Statements about any agent: a prompt and all that happens until its answer."""

import itertools
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acp.doors import Door
from tests.acp.driving import Agent, Json, kinds, statuses, texts
from tests.acp.whole_session import ALLOW, HERE, STEPS

REJECT = {"outcome": {"outcome": "selected", "optionId": "reject"}}
LINK = {"type": "resource_link", "uri": "file:///x", "name": "x"}
TEXT = {"type": "text", "text": "look"}
RICH = {
    "image": {"type": "image", "mimeType": "image/png", "data": "AAAA"},
    "audio": {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
    "embeddedContext": {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
}
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}


def asking(folder: Path) -> list[Json]:
    """A tool that does something only when it may: makes a file."""
    steps = [{"spawn": ["touch", str(folder / "done")]}, {"text": "yes"}]
    return [{"ask": "May I?", "allowed": steps, "rejected": [{"text": "no"}]}, {"text": "end"}]


async def test_a_prompt_ends_with_a_stop_reason(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    assert (await agent.turn(session, "hi"))["result"]["stopReason"] == "end_turn"
    for reason in ("max_tokens", "max_turn_requests", "refusal", "end_turn"):
        assert (await agent.turn(session, [{"stop": reason}]))["result"]["stopReason"] == reason


async def test_text_and_links_are_always_accepted(door: Door) -> None:
    nothing = dict.fromkeys(RICH)
    agent = await door.open({"agent": {"capabilities": {"promptCapabilities": nothing}}})
    session = await agent.new()
    answer = await agent.call("session/prompt", sessionId=session, prompt=[LINK, TEXT, LINK])
    assert answer["stopReason"] == "end_turn"
    assert texts(agent.news(session)) == ["You said: look"]


@pytest.mark.parametrize("kind", RICH)
@pytest.mark.parametrize("offered", [False, True])
async def test_content_is_accepted_if_advertised(door: Door, kind: str, offered: bool) -> None:
    script = {"agent": {"capabilities": {"promptCapabilities": {kind: offered}}}}
    agent = await door.start(script)
    result = await agent.call("initialize", protocolVersion=1)
    advertised = result["agentCapabilities"].get("promptCapabilities", {}).get(kind, False)
    assert advertised is offered
    session = await agent.new()
    answer = await agent.call("session/prompt", sessionId=session, prompt=[TEXT, RICH[kind]])
    assert (answer == {"stopReason": "end_turn"}) if offered else (answer == -32602)
    assert "result" in await agent.turn(session, "next")


async def test_every_update_names_its_session(door: Door, tmp_path: Path) -> None:
    """That it is valid, the driver sees."""
    agent = await door.start()
    agent.answers["session/request_permission"] = lambda _params: ALLOW
    session = await agent.begin(cwd=str(tmp_path))
    other = await agent.new()
    await agent.turn(session, STEPS[:-2])
    updates = agent.news()
    assert len(updates) > 15
    told = [line["params"]["sessionId"] for line in agent.lines if "params" in line]
    assert session in told
    assert set(told) <= {session, other}
    assert set(kinds(updates)) >= {"agent_message_chunk", "tool_call", "plan", "usage_update"}


@pytest.mark.parametrize("times", [8, 50])
async def test_all_updates_precede_the_prompts_answer(door: Door, times: int) -> None:
    """By the order of bytes on the pipe, with a large last chunk."""
    agent = await door.start()
    session = await agent.begin()
    steps: list[Json] = [
        {"text": "one two three", "chunks": 3},
        {"tool": "T", "status": "completed"},
        {"text": "last " + "x" * 100_000 + " end"},
    ]
    for _ in range(times):
        seen = len(agent.raw)
        id = agent.prompt(session, steps)
        await agent.answer(id)
        said = b"".join(agent.raw[seen:])
        assert 0 < said.index(b"one") < said.index(b"x end") < said.index(b'"stopReason"')
    agent.news()
    agent.send(id="mark", method="_x/mark", params={})
    await agent.answer("mark")
    assert not texts(agent.news(session))


async def test_tool_call_ids_are_unique_in_a_session(door: Door) -> None:
    agent = await door.start()
    agent.answers["session/request_permission"] = lambda _params: ALLOW
    session = await agent.begin()
    steps: list[Json] = [
        {"tool": "A", "toolCallId": "t", "status": "in_progress"},
        {"tool": {"toolCallId": "t", "status": "completed"}},
        {"ask": "B", "toolCallId": "t2"},
        {"read": "c", "content": "c"},
    ]
    announced: list[str] = []
    for _ in range(3):
        await agent.turn(session, steps)
        updates = agent.news(session)
        fresh = [u["toolCallId"] for u in updates if u["sessionUpdate"] == "tool_call"]
        assert len(fresh) == 3
        later = {u["toolCallId"] for u in updates if u["sessionUpdate"] == "tool_call_update"}
        assert later <= set(fresh)
        announced += fresh
    assert len(announced) == len(set(announced))


@pytest.mark.parametrize("answer", [ALLOW, REJECT], ids=["allowed", "rejected"])
async def test_a_call_is_announced_before_its_permission_is_asked(door: Door, answer: Json) -> None:
    agent = await door.start()
    seen: list[int] = []

    def ask(params: Json) -> Json:
        announced = [u for u in agent.news() if u["sessionUpdate"] == "tool_call"]
        assert [u["toolCallId"] for u in announced] == [params["toolCall"]["toolCallId"]]
        seen.append(len(agent.lines))
        return answer

    agent.answers["session/request_permission"] = ask
    session = await agent.begin()
    await agent.turn(session, [{"ask": "May I?", "allowed": [{"text": "yes"}]}])
    after = [line["params"]["update"] for line in agent.lines[seen[0] :] if "params" in line]
    ends = ["in_progress", "completed"] if answer is ALLOW else ["failed"]
    assert statuses(after) == ends


async def test_paths_are_absolute_and_lines_count_from_one(door: Door, tmp_path: Path) -> None:
    agent = await door.start()
    session = await agent.begin(cwd=str(tmp_path))
    await agent.turn(
        session,
        [
            {"tool": "Look", "locations": [{"path": "a", "line": 1}, {"path": "/b"}]},
            {"diff": "new.py", "new": "x"},
            {"diff": "old.py", "old": "", "new": "x"},
            {"read": "a", "line": 2, "content": "text"},
        ],
    )
    updates = agent.news(session)
    places = [place for u in updates for place in u.get("locations") or []]
    assert len(places) == 5
    assert all(os.path.isabs(place["path"]) and place.get("line", 1) >= 1 for place in places)
    diffs = {
        part["path"]: part["oldText"]
        for u in updates
        for part in u.get("content") or []
        if isinstance(part, dict) and part["type"] == "diff"
    }
    assert diffs == {str(tmp_path / "new.py"): None, str(tmp_path / "old.py"): ""}


async def test_a_rejected_call_is_not_carried_out(door: Door, tmp_path: Path) -> None:
    """And what is allowed, is: else this would show nothing."""
    agent = await door.start()
    session = await agent.begin(cwd=str(tmp_path))
    for answer, said in ((REJECT, ["no", "end"]), (ALLOW, ["yes", "end"])):
        agent.answers["session/request_permission"] = lambda _params, answer=answer: answer
        done = await agent.turn(session, asking(tmp_path))
        assert done["result"]["stopReason"] == "end_turn"
        assert texts(agent.news(session)) == said
        if answer is REJECT:
            assert not (tmp_path / "done").exists()


GARBAGE: list[Any] = [
    {"outcome": {"outcome": "selected", "optionId": "forged"}},
    {"outcome": {"outcome": "selected"}},
    {"outcome": {"outcome": "alien", "optionId": "allow"}},
    {"outcome": {"optionId": "allow"}},
    {"outcome": "allow"},
    {"optionId": "allow"},
    [],
    "allow",
    Exception(-32603, "broken client"),
]


@pytest.mark.parametrize("answer", GARBAGE, ids=str)
async def test_an_unclear_permission_answer_is_a_no(
    door: Door, tmp_path: Path, answer: Any
) -> None:
    agent = await door.start()
    agent.answers["session/request_permission"] = lambda _params: answer
    session = await agent.begin(cwd=str(tmp_path))
    done = await agent.turn(session, asking(tmp_path))
    assert done["result"]["stopReason"] == "end_turn"
    assert "yes" not in texts(agent.news(session))
    assert not (tmp_path / "done").exists()


async def test_a_client_that_hangs_up_has_allowed_nothing(door: Door, tmp_path: Path) -> None:
    """A client that hangs up has allowed nothing."""
    agent = await door.start()
    session = await agent.begin(cwd=str(tmp_path))
    agent.prompt(session, asking(tmp_path))
    await agent.until(lambda line: line.get("method") == "session/request_permission")
    await agent.close()
    assert not (tmp_path / "done").exists()


OFFERS: list[Json] = [
    {},
    {"fs": {"readTextFile": True, "writeTextFile": False}},
    {"fs": {"readTextFile": False, "writeTextFile": True}},
    {"terminal": True},
    {"elicitation": {"form": {}}},
]
NEEDS = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal/create": ("terminal",),
    "elicitation/create": ("elicitation",),
}
ANSWERS: Json = {
    "fs/read_text_file": {"content": "text"},
    "fs/write_text_file": {},
    "terminal/create": {"terminalId": "t1"},
    "terminal/wait_for_exit": {"exitCode": 0, "signal": None},
    "terminal/output": {"output": "hello", "truncated": False},
    "terminal/release": {},
    "terminal/kill": {},
    "elicitation/create": {"action": "accept", "content": {"answer": "blue"}},
}


@pytest.mark.parametrize("offered", OFFERS, ids=str)
async def test_only_client_methods_on_offer_are_called(
    door: Door, tmp_path: Path, offered: Json
) -> None:
    agent = await door.start()
    for method, answer in ANSWERS.items():
        agent.answers[method] = lambda _params, answer=answer: answer
    session = await agent.begin(cwd=str(tmp_path), **offered)
    steps: list[Json] = [
        {"read": "a"},
        {"write": "b", "content": "b"},
        {"command": "true", "output": "out"},
        {"question": "What?"},
    ]
    assert "result" in await agent.turn(session, steps)
    called = {method for method in agent.requests() if method in NEEDS}
    for method, path in NEEDS.items():
        value: Any = offered
        for word in path:
            value = value.get(word) if isinstance(value, dict) else None
        if not value:
            assert method not in called
        elif door.name == "player":
            assert method in called


async def test_a_missing_file_is_written_as_a_new_one(door: Door, tmp_path: Path) -> None:
    agent = await door.start()

    def read(params: Json) -> Any:
        path = Path(params["path"])
        return {"content": path.read_text()} if path.exists() else Exception(-32002, "missing")

    def write(params: Json) -> Any:
        Path(params["path"]).write_text(params["content"])
        return {}

    agent.answers |= {"fs/read_text_file": read, "fs/write_text_file": write}
    session = await agent.begin(cwd=str(tmp_path), **FILES)
    steps = [{"write": "a.txt", "content": "new"}, {"read": "a.txt"}, {"text": "$content"}]
    await agent.turn(session, [{"read": "a.txt"}, *steps])
    updates = agent.news(session)
    assert (tmp_path / "a.txt").read_text() == "new"
    assert texts(updates) == ["new"]
    ended = [u["status"] for u in updates if u.get("status") in ("completed", "failed")]
    assert ended == ["completed"] * 3


class Terminals:
    """A client's, that notes what is called."""

    def __init__(self, agent: Agent, **answers: Any) -> None:
        self.called: list[str] = []
        self._numbers = itertools.count(1)
        for method in ("create", "wait_for_exit", "output", "kill", "release"):
            agent.answers[f"terminal/{method}"] = self._serve(method, answers.get(method, ...))

    def _serve(self, method: str, given: Any) -> Any:
        def serve(_params: Json) -> Any:
            self.called.append(method)
            if given is not ...:
                return given
            if method == "create":
                return {"terminalId": f"t{next(self._numbers)}"}
            return ANSWERS[f"terminal/{method}"]

        return serve


async def test_every_terminal_is_released(door: Door) -> None:
    """After the exit, an error, a time-out; after a cancel: test_checklist_cancel. Shown before it
    is released."""
    agent = await door.start()
    session = await agent.begin(terminal=True)
    command: list[Json] = [{"command": ["echo", "hello"], "timeout": 0.2}]
    for failing, status in (
        ({}, "completed"),
        ({"wait_for_exit": {"exitCode": 1}}, "failed"),
        ({"wait_for_exit": Exception(-32603, "broken")}, "failed"),
        ({"output": Exception(-32603, "broken")}, "failed"),
        ({"wait_for_exit": None}, "failed"),
    ):
        terminals = Terminals(agent, **failing)
        await agent.turn(session, command)
        assert terminals.called.count("create") == terminals.called.count("release") == 1, failing
        assert terminals.called[-1] == "release"
        updates = agent.news(session)
        assert statuses(updates)[-1] == status, failing
        shown = [u for u in updates if "terminalId" in str(u.get("content"))]
        assert shown, failing


async def test_plan_updates_carry_the_whole_plan(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    plan = ["a", "b", {"content": "c", "priority": "high"}]
    await agent.turn(session, [{"plan": plan, "done": done} for done in range(4)])
    plans = [u["entries"] for u in agent.news(session) if u["sessionUpdate"] == "plan"]
    assert len(plans) == 4
    for done, entries in enumerate(plans):
        assert [entry["content"] for entry in entries] == ["a", "b", "c"]
        assert [entry["status"] for entry in entries].count("completed") == done


ERRORS: list[tuple[Json, str]] = [
    ({"error": "HTTP 500: the provider is away"}, "500"),
    ({"error": {"code": -32603, "message": "HTTP 429", "data": {"retry": 3}}}, "429"),
    ({"error": {"code": 1001, "message": "odd code"}}, "odd code"),
    ({"rate_limit": "2030-01-01T00:00:00Z"}, "limit"),
    ({"error": {"message": "the stream was malformed", "data": None}}, "malformed"),
]


@pytest.mark.parametrize(("step", "word"), ERRORS, ids=str)
async def test_a_model_error_fails_the_prompt_not_the_session(
    door: Door, step: Json, word: str
) -> None:
    """A message to act on; open calls are told as failed; the session stays usable."""
    agent = await door.start()
    session = await agent.begin()
    opened = {"tool": "T", "toolCallId": "t", "status": "in_progress"}
    answer = await agent.turn(session, [{"text": "so far"}, opened, step])
    assert word in answer["error"]["message"]
    updates = agent.news(session)
    assert texts(updates) == ["so far"]
    assert statuses(updates) == ["in_progress", "failed"]
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"


async def test_a_second_prompt_waits_and_breaks_nothing(door: Door) -> None:
    """It waits, and breaks nothing; another session's does not wait."""
    agent = await door.start()
    session = await agent.begin()
    other = await agent.new()
    ask: Json = {"ask": "Go on?", "allowed": [{"text": "first"}]}
    first = agent.prompt(session, [ask])
    asked = await agent.until(lambda line: line.get("method") == "session/request_permission")
    second = agent.prompt(session, [{"text": "second"}])
    assert (await agent.turn(other, [{"text": "other"}]))["result"]["stopReason"] == "end_turn"
    agent.news()
    agent.send(id=asked["id"], result=ALLOW)
    assert (await agent.answer(first))["result"]["stopReason"] == "end_turn"
    assert (await agent.answer(second))["result"]["stopReason"] == "end_turn"
    said = [text for text in texts(agent.news(session)) if "_Queued: " not in text]
    assert said == ["first", "second"]  # on a busy machine the note comes after the other's turn


async def test_each_message_has_one_id_live_and_replayed(door: Door) -> None:
    """One for each message, the same in every chunk and in the replay."""
    agent = await door.start()
    session = await agent.begin()
    steps: list[Json] = [{"thought": "a b", "chunks": 2}, {"text": "c d", "chunks": 2}]
    live: list[str] = []
    for number in range(2):
        await agent.turn(session, [*steps, {"tool": "T"}, {"text": str(number)}])
        chunks = [u for u in agent.news(session) if u["sessionUpdate"].endswith("_chunk")]
        ids = list(dict.fromkeys(chunk["messageId"] for chunk in chunks))
        assert len(ids) == 3
        by_kind = {(chunk["messageId"], chunk["sessionUpdate"]) for chunk in chunks}
        assert len(by_kind) == 3
        live += ids
    assert len(set(live)) == 6
    again = await door.open()
    await again.call("session/load", sessionId=session, **HERE)
    told = [u for u in again.news(session) if u["sessionUpdate"].startswith("agent_")]
    assert list(dict.fromkeys(u["messageId"] for u in told if "messageId" in u)) == live
    await again.turn(session, steps)
    assert not {u.get("messageId") for u in again.news(session)} & set(live)


async def test_usage_has_used_and_size(door: Door) -> None:
    agent = await door.start()
    session = await agent.begin()
    costs = []
    for number in (1, 2):
        step = {"usage": 10 * number, "size": 100, "cost": 0.5 * number}
        await agent.turn(session, [step, {"usage": 5}])
        told = [u for u in agent.news(session) if u["sessionUpdate"] == "usage_update"]
        assert {"used", "size"} <= set(told[0])
        assert (told[0]["used"], told[0]["size"]) == (10 * number, 100)
        costs.append(told[0]["cost"])
    assert costs == [{"amount": amount, "currency": "USD"} for amount in (0.5, 1.0)]
