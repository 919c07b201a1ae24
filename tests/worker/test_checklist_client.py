"""The worker as an ACP client of sloppy agents, played by the player.

Shown elsewhere, and not again here: that a prompt ends after all of its updates, crashes in
mid-turn and cancels that are not answered (test_host_turns, test_host_agent); noise, a line of
100 MB, 12 MB of stderr, asks about calls that were never announced, an agent's own environment
(test_host_agent); that nothing outlives a worker (test_host_life, test_warden); cold starts
(tests/core, tests/cli: registry and policy).
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.worker.aviary import Aviary, Bird, Json, Steps, is_text, kinds, text_of

IMAGE = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
STDIO = {"name": "local", "command": "/bin/true", "args": [], "env": []}
HTTP = {"type": "http", "name": "remote", "url": "http://127.0.0.1:1", "headers": []}


async def asked(bird: Bird, method: str, **params: Any) -> Any:
    """What the worker answers to a request of the agent's: a result, or the words of an error."""
    request = {"request": {"method": method, "params": {"sessionId": "$session", **params}}}
    said = text_of(await bird.turn([request, {"text": "$answer"}]))
    return json.loads(said) if said.startswith(("{", "[", "null")) else said


def result(id: int, body: str) -> Json:
    """An answer of the agent's that no decent one would send. The worker's third call is the first
    prompt."""
    return {"raw": f'{{"jsonrpc":"2.0","id":{id},{body}}}'}


async def test_a_cancel_answers_the_open_ask(aviary: Aviary) -> None:
    """At once: this agent hears no session/cancel, only the outcome of its own question."""
    bird = aviary.hatch()
    ask = {"ask": "May I?", "cancelled": [{"text": "told so"}], "rejected": [{"text": "no"}]}
    begun = await bird.prompt([{"deaf": True}, ask])
    await bird.ask(begun)
    await bird.send("cancel")
    ended = await bird.ended(begun)
    assert text_of(bird.events(begun.seq, ended.seq)) == "told so"


async def test_updates_after_a_cancel_are_kept(aviary: Aviary) -> None:
    bird = aviary.hatch()
    last: Steps = [{"tool": "Clean up", "status": "completed"}, {"text": "last words"}]
    begun = await bird.prompt([{"text": "on"}, {"until": "cancel", "then": last}])
    await bird.until(lambda event: is_text(event, "on"))
    cancel = await bird.send("cancel")
    ended = await bird.ended(begun)
    after = bird.events(cancel.seq, ended.seq)
    assert "tool_call" in kinds(after)
    assert text_of(after) == "last words"
    assert ended.update["reason"] == "cancelled"


async def test_updates_before_their_session_is_known_are_kept(aviary: Aviary) -> None:
    bird = aviary.hatch({"start": {"before_answer": [{"usage": 7}, {"title": "Early"}]}})
    await bird.turn("hi")
    early = [e.update for e in bird.events() if e.update["sessionUpdate"] == "usage_update"]
    assert [update["used"] for update in early] == [7]
    assert "session_info_update" in kinds(bird.events())


async def test_the_log_keeps_the_order_of_the_wire(aviary: Aviary) -> None:
    """Of updates of every kind, with a request between them."""
    bird = aviary.hatch()
    steps: Steps = []
    for number in range(50):
        steps += [
            {"text": f"{number} "},
            {"tool": f"T{number}", "status": "completed"},
            {"request": {"method": "_x/y", "params": {}}},
            {"plan": [f"P{number}"]},
        ]
    order = []
    for event in await bird.turn(steps):
        match event.update:
            case {"sessionUpdate": "agent_message_chunk", "content": {"text": text}}:
                order += [int(word) for word in text.split()]
            case {"sessionUpdate": "tool_call", "title": str(title)}:
                order.append(int(title[1:]))
            case {"sessionUpdate": "plan", "entries": [{"content": str(content)}]}:
                order.append(int(content[1:]))
    assert order == [number for number in range(50) for _ in range(3)]


STRANGE: list[Json] = [
    {"sessionUpdate": "from_the_future", "content": [1, {"a": None}]},
    {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "kind": "flying", "x": 1},
    {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "half_done", "y": [2]},
    {"sessionUpdate": "plan", "entries": "none"},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "smell", "odour": "rose"}},
    {"sessionUpdate": "usage_update", "used": "many", "models": [{"id": "m"}]},
]


async def test_unknown_updates_and_stop_reasons_are_kept(aviary: Aviary) -> None:
    """As it came; and an end that is not in the book is an end."""
    bird = aviary.hatch()
    events = await bird.turn([*({"update": update} for update in STRANGE), {"stop": "alien"}])
    kept = [event.update for event in events]
    assert [update for update in kept if update in STRANGE] == STRANGE
    assert "alien" in json.dumps(events[-1].update)
    assert await bird.reason("next") == "end_turn"


@pytest.mark.parametrize("able", [False, True])
async def test_the_agent_gets_only_what_it_can_take(
    aviary: Aviary, tmp_path: Path, able: bool
) -> None:
    """MCP transports, extra directories and content, by the agent's capabilities."""
    none: Json = {"mcpCapabilities": None, "promptCapabilities": None}
    none["sessionCapabilities"] = {"additionalDirectories": None}
    script: Json = {"agent": {"capabilities": {} if able else none}}
    bird = aviary.hatch(script, mcp_servers=[STDIO, HTTP], roots=[str(tmp_path)])
    said = text_of(await bird.turn([{"text": "$servers in $cwd"}]))
    assert said == ("local, remote" if able else "local") + f" in {aviary.work}"
    [memory] = (aviary.root / "state-0").glob("play-*.jsonl")
    known = json.loads(memory.read_text().splitlines()[0])["session"]
    assert known["additionalDirectories"] == ([str(tmp_path)] if able else [])
    blocks = [IMAGE, {"type": "text", "text": "look"}]
    begun = await bird.send("prompt", prompt=blocks)
    ended = (await bird.ended(begun)).update
    assert ended["reason"] == ("end_turn" if able else "failed")
    assert await bird.reason("next") == "end_turn"


async def test_file_requests_are_served_within_the_roots(aviary: Aviary, tmp_path: Path) -> None:
    """Lines are counted from 1; what is missing is -32002; folders are made; roots are kept."""
    bird, here = aviary.hatch(), aviary.work
    (here / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    read, write = "fs/read_text_file", "fs/write_text_file"
    path = str(here / "a.txt")
    assert (await asked(bird, read, path=path))["content"] == "one\ntwo\nthree\nfour\n"
    assert (await asked(bird, read, path=path, line=2, limit=2))["content"] == "two\nthree\n"
    assert (await asked(bird, read, path=path, line=1, limit=1))["content"] == "one\n"
    assert (await asked(bird, read, path=path, line=99))["content"] == ""
    assert (await asked(bird, read, path=str(here / "none"))).startswith("-32002")
    deep = here / "new" / "folder" / "b.txt"
    assert await asked(bird, write, path=str(deep), content="é\r\n") == {}
    assert deep.read_bytes() == "é\r\n".encode()
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    (here / "link").symlink_to(outside)
    for wrong in (outside, here / "link", here / ".." / "outside.txt", "a.txt", "/etc/passwd"):
        assert str(await asked(bird, read, path=str(wrong))).startswith("-326"), wrong
        said = await asked(bird, write, path=str(wrong), content="x")
        assert str(said).startswith("-326"), wrong
    assert outside.read_text() == "secret"


async def test_terminal_requests_are_served(aviary: Aviary) -> None:
    """create does not wait; output is cut at the front between two characters; the id lives until
    it is released."""
    bird = aviary.hatch()
    shell = {"command": "sh", "args": ["-c", "printf 'aééé'; exec sleep 600"]}
    made = await asked(bird, "terminal/create", **shell, outputByteLimit=5)
    id = made["terminalId"]
    output: Json = {}
    while output.get("output") != "éé":  # 5 bytes would begin in the middle of the first é
        output = await asked(bird, "terminal/output", terminalId=id)
    assert output["truncated"] is True
    assert "exitStatus" not in output
    assert await asked(bird, "terminal/kill", terminalId=id) == {}
    ended = await asked(bird, "terminal/wait_for_exit", terminalId=id)
    assert ended == {"exitCode": None, "signal": "SIGTERM"}
    after = await asked(bird, "terminal/output", terminalId=id)
    assert after == {"output": "éé", "truncated": True, "exitStatus": ended}
    assert await asked(bird, "terminal/release", terminalId=id) == {}
    for method in ("output", "kill", "wait_for_exit", "release"):
        said = await asked(bird, f"terminal/{method}", terminalId=id)
        assert str(said).startswith("-32"), method


async def test_a_needed_login_is_reported_not_tried(aviary: Aviary) -> None:
    """`authenticate` is never called by itself: this agent would take anyone."""
    methods = [{"id": "tty", "name": "Log in", "type": "terminal", "args": ["login"]}]
    bird = aviary.hatch({"agent": {"authMethods": methods, "authRequired": True}})
    ended = (await bird.turn("hi"))[-1].update
    assert ended["reason"] == "failed"
    assert ended["error"]["code"] == -32000


async def test_no_permission_is_answered_for_the_user(aviary: Aviary) -> None:
    """Without a time-out an ask waits; a yes that comes late is a yes."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"ask": "May I?", "allowed": [{"text": "yes"}]}])
    ask = await bird.ask(begun)
    assert bird.header().asks
    await bird.answer(ask, "allow")
    ended = await bird.ended(begun)
    assert text_of(bird.events(begun.seq, ended.seq)) == "yes"


ERRORS = [
    '"error":{"code":1001,"message":"odd","data":null}',
    '"error":{"code":-1,"message":"odd","data":"a string"}',
    '"error":{"code":"E17","message":"odd"}',
    '"error":{"message":"odd","extra":1}',
    '"error":"odd"',
    '"result":null,"error":{"code":1,"message":"odd"}',
]


@pytest.mark.parametrize("body", ERRORS)
async def test_odd_errors_end_only_their_turn(aviary: Aviary, body: str) -> None:
    """They end the turn with their words, and nothing else ends."""
    bird = aviary.hatch()
    ended = (await bird.turn([result(3, body), {"wait": 0.01}]))[-1].update
    assert ended["reason"] == "failed"
    assert ended["error"]["message"] == "odd"
    assert await bird.reason("next") == "end_turn"


@pytest.mark.parametrize("version", ["echo", 2, 65535, "2025-01-01", None])
async def test_a_claimed_version_2_without_its_shape_is_spoken_to_as_1(
    aviary: Aviary, version: Any
) -> None:
    """The answer has the shape of protocol 1: so it is spoken."""
    bird = aviary.hatch({"start": {"version": version}})
    assert await bird.reason("hi") == "end_turn"


SECOND = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if call.get("method") == "initialize":
        result = {"protocolVersion": 2, "info": {"name": "two", "version": "1"}, "capabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
    elif "id" in call:
        error = {"code": -32601, "message": "that was protocol 1"}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "error": error}), flush=True)
"""


async def test_protocol_2_spoken_badly_fails_with_an_error_in_words(aviary: Aviary) -> None:
    """A turn says so by its end, and the session lives. Those that speak it: test_draft_agent."""
    bird = aviary.hatch(argv=[sys.executable, "-c", SECOND])
    for _ in range(2):
        ended = (await bird.turn("hi"))[-1].update
        assert ended["reason"] in ("failed", "agent_exited")
        assert ended.get("error") or ended.get("detail")
