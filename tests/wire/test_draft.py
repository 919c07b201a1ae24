"""Draft 2 as version 1: recorded agents, when a prompt ends, and agents that mix everything up."""

import json
from pathlib import Path
from typing import Any

import pytest

from rookery.wire.dialect import Dialect
from rookery.wire.draft.agent import DraftAgent
from rookery.wire.versions import Offer
from tests.acp.schema import check_message

type Json = dict[str, Any]

FIXTURES = Path(__file__).parents[2] / "fixtures" / "recordings"
INFO: Json = {"name": "two", "version": "1"}
CAN: Json = {"session": {"mcp": {"stdio": {}, "http": {}}, "fork": {}}}
REFUSED: Json = {"code": -32022, "message": "no", "data": {"requested": 1, "supported": [2]}}


class Wire:
    """Our side of a connection: what is written, and what is taken."""

    def __init__(self) -> None:
        self.dialect: Dialect | None = None
        self.written: list[Json] = []
        self.asked: dict[Any, str] = {}
        self.speak(Offer())

    def speak(self, dialect: Dialect | None) -> None:
        self.dialect = dialect
        if dialect is not None:
            dialect.send, dialect.speak = self.written.append, self.speak

    def send(self, method: str, params: Json, id: int | None = None) -> None:
        message: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            message["id"], self.asked[id] = id, method
        self.written += self.dialect.outgoing(message) if self.dialect else [message]

    def take(self, **message: Any) -> list[Json]:
        message = {"jsonrpc": "2.0", **message}
        return list(self.dialect.incoming(message)) if self.dialect else [message]

    def greet(self, *answers: Json) -> list[Json]:
        offers = {"elicitation": {"form": {}}, "auth": {"terminal": True}}
        params = {"protocolVersion": 1, "clientCapabilities": offers, "clientInfo": INFO}
        self.send("initialize", params, 1)
        return [each for answer in answers for each in self.take(id=1, **answer)]

    def told(self, kind: str, session: str = "s", /, **fields: Any) -> list[Json]:
        update = {"sessionUpdate": kind, **fields}
        return self.take(method="session/update", params={"sessionId": session, "update": update})


def result(version: Any = 2, **more: Any) -> Json:
    return {"result": {"protocolVersion": version, "info": INFO, "capabilities": CAN, **more}}


@pytest.fixture
def wire() -> Wire:
    wire = Wire()
    wire.greet({"error": REFUSED}, result())
    wire.send("session/prompt", {"sessionId": "s", "prompt": []}, 2)
    return wire


# --- the version ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [{"error": REFUSED}, {"error": {"code": -32602, "message": "info is missing"}}, result()],
    ids=["unsupported", "invalid", "answered"],
)
def test_an_agent_that_has_only_the_draft_is_asked_again(first: Json) -> None:
    wire = Wire()
    (answer,) = wire.greet(first, result())
    assert [each["params"]["protocolVersion"] for each in wire.written] == [1, 2]
    assert wire.written[1]["params"]["info"] == INFO
    assert wire.written[1]["params"]["capabilities"]["auth"] == {"terminal": {}}
    said = answer["result"]
    assert said["agentInfo"] == INFO
    assert said["agentCapabilities"]["loadSession"] is True
    assert {"list", "resume", "close", "fork"} == set(
        said["agentCapabilities"]["sessionCapabilities"]
    )


@pytest.mark.parametrize("version", [0, 1, 3, -2, 65536, 10**40, "2", 2.0, True, None])
def test_another_version_is_refused_in_words(version: Any) -> None:
    (answer,) = Wire().greet({"error": REFUSED}, result(version))
    assert "Rookery speaks version 1 of the protocol, and draft 2" in answer["error"]["message"]


def test_who_can_be_logged_in_to_can_be_logged_out_of() -> None:
    wire = Wire()
    methods = [{"methodId": "key", "type": "terminal", "name": "Key"}]
    methods[0]["env"] = [{"name": "A", "value": "b"}]  # type: ignore[assignment]
    (answer,) = wire.greet({"error": REFUSED}, result(authMethods=methods))
    assert answer["result"]["authMethods"][0]["id"] == "key"
    assert answer["result"]["authMethods"][0]["env"] == {"A": "b"}
    assert answer["result"]["agentCapabilities"]["auth"] == {"logout": {}}
    wire.send("authenticate", {"methodId": "key"}, 2)
    wire.send("logout", {}, 3)
    assert [each["method"] for each in wire.written[-2:]] == ["auth/login", "auth/logout"]


def test_versions_that_an_agent_lists_are_named() -> None:
    refusal = {"error": {"code": -32022, "message": "no", "data": {"supported": [3, "x"]}}}
    (answer,) = Wire().greet(refusal, refusal)
    assert answer["error"]["message"].startswith("it speaks version 3, version x;")


def test_an_agent_that_refuses_both_is_heard_with_its_first_words() -> None:
    first, second = ({"error": {"code": -32602, "message": word}} for word in ("one", "two"))
    (answer,) = Wire().greet(first, second)
    assert answer["error"]["message"] == "one"


def test_an_agent_that_cannot_be_asked_twice_is_taken_at_its_first_word() -> None:
    again = {"error": {"code": -32600, "message": "initialized once"}}
    (answer,) = Wire().greet(result(), again)
    assert answer["result"]["agentInfo"] == INFO


def test_version_1_is_left_alone() -> None:
    wire = Wire()
    answer = {"result": {"protocolVersion": 1, "agentCapabilities": {}}}
    assert wire.greet(answer) == [{"jsonrpc": "2.0", "id": 1, **answer}]
    assert wire.dialect is None


# --- when a prompt ends ---------------------------------------------------------------------------

ACCEPTED: Json = {"id": 2, "result": {"messageId": "m"}}
RUNNING, ACTION = {"state": "running"}, {"state": "requires_action"}
DONE: Json = {"state": "idle", "stopReason": "end_turn", "usage": {"totalTokens": 3}}
CANCELLED: Json = {"state": "idle", "stopReason": "cancelled"}
FAILED: Json = {"state": "idle", "stopReason": "error", "error": {"code": 7, "message": "broken"}}
ENDED: Json = {"stopReason": "end_turn", "usage": {"totalTokens": 3}}

ORDERS: dict[str, tuple[list[Json], list[Any]]] = {
    "as Claude": ([ACCEPTED, RUNNING, DONE], [ENDED]),
    "as Codex": ([RUNNING, ACCEPTED, DONE], [ENDED]),
    "an idle of before": ([DONE, ACCEPTED, RUNNING, DONE], [ENDED]),
    "an idle of before, after it was accepted": ([RUNNING, DONE, RUNNING, ACCEPTED, DONE], [ENDED]),
    "over before it is accepted": ([RUNNING, DONE, ACCEPTED], [ENDED]),
    "asks": ([ACCEPTED, RUNNING, ACTION, RUNNING, DONE], [ENDED]),
    "its end twice": ([ACCEPTED, RUNNING, DONE, DONE], [ENDED]),
    "no reason": ([ACCEPTED, RUNNING, {"state": "idle"}], [{"stopReason": "end_turn"}]),
    "never running": ([ACCEPTED, CANCELLED], [{"stopReason": "cancelled"}]),
    "never an end": ([ACCEPTED, RUNNING], []),
    "never accepted": ([RUNNING, DONE], []),
    "unknown states": ([ACCEPTED, RUNNING, {"state": "_napping"}, {"state": 7}], []),
    "an answer of version 1": ([{"id": 2, "result": ENDED}, RUNNING, DONE], [ENDED]),
    "failed": ([ACCEPTED, RUNNING, FAILED], ["broken"]),
    "refused": ([{"id": 2, "error": {"code": 1, "message": "full"}}, RUNNING, DONE], ["full"]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_prompt_is_answered_once_and_when_its_work_has_ended(wire: Wire, name: str) -> None:
    given, wanted = ORDERS[name]
    answers = []
    for each in given:
        taken = wire.take(**each) if "id" in each else wire.told("state_update", **each)
        answers += [one.get("result") or one["error"]["message"] for one in taken]
    assert answers == wanted


def test_an_idle_between_two_turns_does_not_end_the_second(wire: Wire) -> None:
    for each in (ACCEPTED,):
        wire.take(**each)
    wire.told("state_update", **RUNNING)
    assert wire.told("state_update", **DONE)
    wire.send("session/prompt", {"sessionId": "s", "prompt": []}, 3)
    wire.take(id=3, result={"messageId": "n"})
    assert wire.told("state_update", **DONE) == []
    wire.told("state_update", **RUNNING)
    assert wire.told("state_update", **DONE)[0]["id"] == 3


def test_another_sessions_state_ends_nothing(wire: Wire) -> None:
    wire.take(**ACCEPTED)
    for name in ("other", "", *(f"n{number}" for number in range(3000))):
        wire.told("state_update", name, **RUNNING)
        assert wire.told("state_update", name, **DONE) == []


def test_a_prompt_cancelled_before_it_was_accepted_is_cancelled(wire: Wire) -> None:
    wire.send("session/cancel", {"sessionId": "s"})
    (answer,) = wire.take(id=2, error={"code": -32800, "message": "Request cancelled"})
    assert answer["result"] == {"stopReason": "cancelled"}


# --- updates --------------------------------------------------------------------------------------


def updates(messages: list[Json]) -> list[Json]:
    return [each["params"]["update"] for each in messages]


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def test_a_whole_message_says_what_its_chunks_have_not(wire: Wire) -> None:
    wire.told("agent_message_chunk", messageId="a", content=text("Hel"))
    more = updates(wire.told("agent_message", messageId="a", content=[text("Hello")]))
    assert [each["content"]["text"] for each in more] == ["lo"]
    assert wire.told("agent_message", messageId="a", content=[text("Hello")]) == []
    other = updates(wire.told("agent_message", messageId="a", content=[text("Bye")]))
    assert other[0]["content"]["text"] == "Bye"
    assert other[0]["messageId"] != "a"
    assert wire.told("agent_thought", messageId="b") == []


def test_a_call_begins_with_its_first_update(wire: Wire) -> None:
    first = updates(wire.told("tool_call_update", toolCallId="c", title="Run", status=None))
    later = updates(wire.told("tool_call_update", toolCallId="c", status="cancelled", kind=None))
    assert [each["sessionUpdate"] for each in first + later] == ["tool_call", "tool_call_update"]
    assert first[0]["status"] == "pending"
    assert later[0] | {} == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "c",
        "status": "failed",
        "kind": "other",
    }


def test_content_comes_in_pieces(wire: Wire) -> None:
    for word in ("one", "two"):
        part = {"type": "content", "content": text(word)}
        (told,) = updates(wire.told("tool_call_content_chunk", toolCallId="c", content=part))
    assert [part["content"]["text"] for part in told["content"]] == ["one", "two"]


def test_a_terminals_output_belongs_to_the_call_that_shows_it(wire: Wire) -> None:
    """A character may come in two pieces; what came before the call is not lost."""
    assert wire.told("terminal_update", terminalId="t", command="ls", cwd="/w") == []
    call = {"toolCallId": "c", "content": [{"type": "terminal", "terminalId": "t"}]}
    told = updates(wire.told("tool_call_update", **call))
    assert told[1]["_meta"]["terminal_info"] == {"terminal_id": "t", "cwd": "/w"}
    said = ""
    for data in ("ww==", "qQ=="):
        for each in updates(wire.told("terminal_output_chunk", terminalId="t", data=data)):
            said += each["_meta"].get("terminal_output", {}).get("data", "")
    assert said == "é"
    wire.told("terminal_output_chunk", terminalId="t", data="no base64!")
    (ended,) = updates(wire.told("terminal_update", terminalId="t", exitStatus={"exitCode": 3}))
    assert ended["_meta"]["terminal_exit"]["exit_code"] == 3
    assert ended["toolCallId"] == "c"


def test_a_terminal_that_no_call_shows_gets_one(wire: Wire) -> None:
    wire.told("terminal_update", terminalId="t", command="sleep 9")
    told = updates(wire.told("terminal_output_chunk", terminalId="t", data="aGk="))
    assert [each["sessionUpdate"] for each in told] == ["tool_call", "tool_call_update"]
    assert told[0]["title"] == "sleep 9"
    assert told[1]["_meta"]["terminal_output"]["data"] == "hi"


def test_a_permission_for_a_command_is_one_for_a_call(wire: Wire) -> None:
    subject = {"type": "command", "command": "rm x", "cwd": "/w"}
    params = {"sessionId": "s", "title": "May I?", "subject": subject, "options": []}
    (asked,) = wire.take(id=9, method="session/request_permission", params=params)
    call = asked["params"]["toolCall"]
    assert (call["kind"], call["title"]) == ("execute", "rm x")
    assert call["rawInput"] == {"command": "rm x", "cwd": "/w"}
    assert "May I?" in str(call["content"])


def test_what_version_1_has_not_is_kept_as_it_came(wire: Wire) -> None:
    for kind in ("_own", "later", "current_mode_update", "tool_call"):
        assert updates(wire.told(kind, odd=[1])) == [{"sessionUpdate": kind, "odd": [1]}]


ODD: list[Any] = [None, 7, "x", [], {}, [7], {"type": "diff"}, {"update": {}}, [{"type": 7}]]
KINDS = [
    *("state_update", "user_message", "agent_message", "agent_thought", "tool_call_update"),
    *("tool_call_content_chunk", "terminal_update", "terminal_output_chunk", "plan_update"),
    *("available_commands_update", "config_option_update", "agent_message_chunk"),
]
KEYS = [
    *("state", "stopReason", "content", "toolCallId", "terminalId", "messageId", "data", "output"),
    *("exitStatus", "plan", "availableCommands", "configOptions", "status", "locations"),
]


def test_nothing_that_an_agent_sends_breaks_it(wire: Wire) -> None:
    for odd in ODD:
        for kind in KINDS:
            for key in KEYS:
                wire.told(kind, **{key: odd})
        wire.take(method="session/update", params=odd)
        wire.take(method="session/request_permission", id=4, params=odd)
        wire.take(method="session/request_permission", id=4, params={"subject": odd})
        wire.take(id=odd, result=odd)
        for id, method in enumerate(("session/new", "session/load", "session/set_mode"), 10):
            wire.send(method, {"sessionId": "s"}, id)
            wire.take(id=id, result=odd)
            wire.send(method, {"sessionId": "s"}, id)
            wire.take(id=id, result={"configOptions": odd, "availableCommands": odd})
    wire.take(**ACCEPTED)
    wire.told("state_update", **RUNNING)
    assert wire.told("state_update", **DONE)


# --- recorded agents ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_recorded_agent_is_one_of_version_1(name: str) -> None:
    """Every line is valid there, and each prompt is answered once."""
    dialect, answered, kinds = DraftAgent({}), list[Json](), set[str]()
    methods: dict[Any, str] = {}
    for line in (FIXTURES / f"{name}-v2.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["dir"] not in ("send", "recv"):
            continue
        message, method = record["msg"], record["msg"].get("method", "")
        if record["dir"] == "send":
            if method and "id" in message:
                again = message["params"].get("replayFrom") is not None
                message = {**message, "method": "session/load"} if again else message
                methods[message["id"]] = message["method"]
                list(dialect.outgoing(message))
            continue
        for each in dialect.incoming(message):
            asked = methods.get(each.get("id")) if "method" not in each else None
            if asked == "session/prompt":
                answered.append(each["result"])
            kinds.add(each.get("params", {}).get("update", {}).get("sessionUpdate", ""))
            if not str(each.get("method", "")).startswith("_") and asked != "initialize":
                check_message(each, asked)
    assert [each["stopReason"] for each in answered] == ["end_turn"]
    assert answered[0]["usage"]["totalTokens"] == 240
    assert {"agent_thought_chunk", "agent_message_chunk", "tool_call", "usage_update"} <= kinds
    assert not kinds & {"state_update", "user_message", "terminal_update", "agent_message"}
