"""Updates, kind by kind: the SDK's own event objects, made by hand, and what becomes of them."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litellm.types.utils import ChatCompletionDeltaToolCall, Delta, Function, StreamingChoices
from litellm.types.utils import ModelResponseStream as Chunk
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    ConversationStateUpdateEvent,
    HookExecutionEvent,
    InterruptEvent,
    MessageEvent,
    ObservationEvent,
    PauseEvent,
    SecurityAnalysisEvent,
    TokenEvent,
)
from openhands.sdk.event.conversation_error import ConversationErrorEvent
from openhands.sdk.llm import ImageContent, Message, MessageToolCall, TextContent
from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation
from openhands.sdk.security.risk import SecurityRisk
from openhands.tools.browser_use.definition import BrowserObservation
from openhands.tools.terminal.definition import TerminalAction, TerminalObservation

from rookery.agent.conversation.choices import Choices, ChoiceValues
from rookery.agent.translate import Translator
from rookery.agent.translate.arguments import Arguments
from rookery.agent.translate.calls import Call
from rookery.agent.translate.open_calls import Ids
from rookery.core.policy import rules
from tests.acp.schema import check

type Json = dict[str, Any]

# Of the model client's own types, as they are made.
pytestmark = pytest.mark.filterwarnings("ignore:Item .* on TypedDict:UserWarning")

CWD = "/work/dir"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"


def action(
    call: str = "c1", response: str = "r1", name: str = "terminal", **arguments: Any
) -> ActionEvent:
    given = arguments or {"command": "ls"}
    made = TerminalAction(command=str(given.get("command", "")))
    return ActionEvent(
        thought=[],
        action=made if name == "terminal" else MCPToolAction(data=given),
        tool_name=name,
        tool_call_id=call,
        tool_call=MessageToolCall(
            id=call, name=name, arguments=json.dumps(given), origin="completion"
        ),
        llm_response_id=response,
    )


def observation(event: ActionEvent, made: Any) -> ObservationEvent:
    return ObservationEvent(
        observation=made,
        action_id=event.id,
        tool_name=event.tool_name,
        tool_call_id=event.tool_call_id,
    )


def done(event: ActionEvent, text: str = "out", code: int = 0) -> ObservationEvent:
    made = TerminalObservation.from_text(text, command="ls", exit_code=code)
    return observation(event, made)


def checked(updates: list[Json]) -> list[Json]:
    for update in updates:
        check({"sessionId": "s", "update": update}, "SessionNotification")
    return updates


def piece(response: str = "r1", **delta: Any) -> Chunk:
    return Chunk(id=response, choices=[StreamingChoices(delta=Delta(**delta))])


def call_piece(arguments: str, *, name: str | None = None, call: str | None = None) -> Chunk:
    function = Function(name=name, arguments=arguments)
    made = ChatCompletionDeltaToolCall(id=call, function=function, type="function", index=0)
    return piece(tool_calls=[made])


# --- calls ---------------------------------------------------------------------------------------


def test_a_call_from_beginning_to_end() -> None:
    translator, event = Translator(CWD), action()
    (announced,) = checked(translator.live(event))
    assert (announced["sessionUpdate"], announced["status"]) == ("tool_call", "pending")
    assert (announced["title"], announced["kind"]) == ("run ls", "execute")
    (started,) = checked(translator.started(event))
    assert started["status"] == "in_progress"
    assert translator.started(event) == [], "begun once"
    (ended,) = checked(translator.live(done(event)))
    assert ended["status"] == "completed"
    assert translator.live(done(event)) == [], "ended once"
    assert translator.output("c1", "late") == []


def test_call_ids_are_unique_within_a_session() -> None:
    """A model that counts its calls anew in every answer."""
    translator = Translator(CWD)
    names = []
    for response in ("r1", "r2", "r3"):
        event = action(response=response)
        names.append(translator.live(event)[0]["toolCallId"])
        assert translator.live(done(event))[0]["toolCallId"] == names[-1]
    assert names == ["c1", "c1-2", "c1-3"]


def test_permission_carries_the_real_call() -> None:
    translator = Translator(CWD)
    event = action(command="rm -rf build\necho gone").model_copy(
        update={"security_risk": SecurityRisk.HIGH, "summary": "clean up"}
    )
    (announced,) = translator.live(event)
    asked = translator.permission(event)
    check(asked, "ToolCallUpdate")
    assert asked["toolCallId"] == announced["toolCallId"]
    assert asked["title"] == "run rm -rf build …"
    assert asked["content"][0]["content"]["text"] == "```sh\nrm -rf build\necho gone\n```"
    assert asked["rawInput"] == {"command": "rm -rf build\necho gone"}
    assert asked["_meta"]["rookery"] == {"risk": "HIGH", "summary": "clean up"}


def test_error_of_a_call_that_nobody_announced() -> None:
    error = AgentErrorEvent(error="no such tool", tool_name="nope", tool_call_id="c9")
    announced, ended = checked(Translator(CWD).live(error))
    assert announced["sessionUpdate"] == "tool_call"
    assert (ended["status"], ended["toolCallId"]) == ("failed", announced["toolCallId"])


def test_an_interrupt_ends_every_call() -> None:
    translator = Translator(CWD)
    for name in ("c1", "c2"):
        translator.live(action(call=name))
    translator.live(done(action(call="c1")))
    (ended,) = checked(translator.live(InterruptEvent()))
    assert (ended["toolCallId"], ended["status"]) == ("c2", "failed")


def test_settle_keeps_what_waits_for_an_answer() -> None:
    translator = Translator(CWD)
    translator.live(action(call="c1"))
    translator.live(action(call="c2"))
    assert [one["toolCallId"] for one in translator.settle("over", keep=["c1"])] == ["c2"]
    assert translator.ended("c1", "failed", "cancelled")[0]["status"] == "failed"
    assert translator.settle("over") == []


def test_mcp_calls_are_generic() -> None:
    translator, event = Translator(CWD), action(name="fetch_page", url="http://x")
    (announced,) = checked(translator.live(event))
    assert (announced["title"], announced["kind"]) == ("fetch_page", "other")
    assert announced["rawInput"] == {"url": "http://x"}
    made = MCPToolObservation(
        tool_name="fetch_page",
        content=[
            TextContent(text="words"),
            ImageContent(image_urls=[f"data:image/png;base64,{PIXEL}", "https://x/y.png"]),
        ],
    )
    (ended,) = checked(translator.live(observation(event, made)))
    kinds = [one["content"]["type"] for one in ended["content"]]
    assert kinds == ["text", "image", "resource_link"]


def test_a_screenshot_is_an_image() -> None:
    translator, event = Translator(CWD), action(name="browser_navigate", url="http://x")
    (announced,) = translator.live(event)
    assert announced["kind"] == "fetch"
    shot = BrowserObservation(content=[TextContent(text="ok")], screenshot_data=PIXEL)
    (ended,) = checked(translator.live(observation(event, shot)))
    assert ended["content"][1]["content"]["mimeType"] == "image/png"
    assert PIXEL not in json.dumps(ended["rawOutput"])


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "title"),
    [
        ("terminal", {"command": "pytest -q"}, "execute", "run pytest -q"),
        ("terminal", {"command": ""}, "execute", "wait for the running command"),
        ("terminal", {"command": "y", "is_input": True}, "execute", "type y"),
        ("file_editor", {"command": "view", "path": f"{CWD}/a.py"}, "read", "view a.py"),
        ("file_editor", {"command": "create", "path": "/etc/x"}, "edit", "create /etc/x"),
        ("file_editor", {"command": "undo_edit", "path": "b"}, "edit", "undo the last edit of b"),
        ("task_tracker", {"command": "plan"}, "think", "update the plan"),
        ("grep", {"pattern": "x+", "path": CWD}, "search", "search for x+"),
        ("glob", {"pattern": "*.py"}, "search", "find files *.py"),
        ("browser_click", {"index": 3}, "fetch", "browser: click"),
        ("task", {"description": "count"}, "other", "task: count"),
        ("something", {}, "other", "something"),
    ],
)
def test_kinds_and_titles(tool: str, arguments: Json, kind: str, title: str) -> None:
    call = Call(tool, arguments, CWD)
    assert (call.kind(), call.title()) == (kind, title)


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        ({"path": "a.py", "view_range": [3, 9]}, [{"path": f"{CWD}/a.py", "line": 3}]),
        ({"path": "/a.py", "insert_line": 5}, [{"path": "/a.py", "line": 5}]),
        ({"url": "file:///home/a%20b"}, [{"path": "/home/a b"}]),
        ({"url": "https://a.example/b"}, []),
        ({"path": "/a.py", "insert_line": 0}, [{"path": "/a.py"}]),
        ({"directory": "src"}, [{"path": f"{CWD}/src"}]),
        ({"command": "ls"}, []),
    ],
)
def test_locations_are_absolute_with_lines_from_one(arguments: Json, places: list[Json]) -> None:
    assert Call("x", arguments, CWD).locations() == places


# --- streams -------------------------------------------------------------------------------------


def test_arguments_stream_without_flicker() -> None:
    translator = Translator(CWD)
    told: list[Json] = []
    first = translator.delta(call_piece("", name="terminal", call="c1"))
    for part in ('{"comm', 'and": "pyt', 'est -q"', ', "timeout"', ": 5.0}"):
        told += translator.delta(call_piece(part))
    assert first == []
    announced, refined = checked(told)
    assert announced["title"] == "run pytest -q"
    assert refined["rawInput"] == {"command": "pytest -q", "timeout": 5.0}
    assert "title" not in refined
    assert translator.live(action(command="pytest -q", timeout=5.0)) == []


def test_a_call_that_was_streamed_and_never_made_is_ended() -> None:
    """The model's connection broke, and it was asked again."""
    translator = Translator(CWD)
    translator.delta(call_piece('{"command": "ls"', name="terminal", call="c1"))
    (ended, chunk) = checked(translator.delta(piece("r2", content="Anew.")))
    assert (ended["toolCallId"], ended["status"]) == ("c1", "failed")
    assert chunk["content"]["text"] == "Anew."


def test_a_second_attempt_is_not_cut_by_the_first() -> None:
    translator = Translator(CWD)
    translator.delta(piece("r1", content="Hel"))
    translator.delta(piece("r2", content="Hel"))
    message = Message(role="assistant", content=[TextContent(text="Hello")])
    event = MessageEvent(source="agent", llm_message=message, llm_response_id="r2")
    (rest,) = translator.live(event)
    assert rest["content"]["text"] == "lo"


def test_reasoning_streams_as_thought() -> None:
    translator = Translator(CWD)
    (chunk,) = checked(translator.delta(piece(reasoning_content="Hm.")))
    assert chunk["sessionUpdate"] == "agent_thought_chunk"
    (chunk,) = translator.delta(piece("rs_1", content="summary"))
    assert chunk["sessionUpdate"] == "agent_thought_chunk"
    assert translator.delta(piece(content="")) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), values, max_size=5),
    st.lists(st.integers(0, 400), max_size=12),
    st.booleans(),
)
def test_arguments_in_any_pieces(given_: Json, cuts: list[int], ascii_only: bool) -> None:
    text = json.dumps(given_, ensure_ascii=ascii_only)
    marks = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    arguments, said = Arguments(), dict.fromkeys(given_, "")
    for start, end in pairwise(marks):
        arguments.feed(text[start:end])
        for key in said:
            said[key] += arguments.news(key)
    assert arguments.whole == given_
    assert said == {k: v if isinstance(v, str) else "" for k, v in given_.items()}


@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_text_as_arguments_harms_nothing(parts: list[str]) -> None:
    arguments = Arguments()
    for part in parts:
        arguments.feed(part)


def test_ids_of_sub_agents_are_apart() -> None:
    ids = Ids()
    assert ids.of_call("", "r1", "c") == "c"
    assert ids.of_call("child", "r1", "c") == "c-2"
    assert ids.latest("", "c") == "c"
    assert ids.latest("child", "c") == "c-2"


# --- what happens to a conversation --------------------------------------------------------------


def test_condensation() -> None:
    event = Condensation(forgotten_event_ids={"a", "b"}, summary="We met.", llm_response_id="r")
    (said,) = checked(Translator(CWD).live(event))
    assert "2 events" in said["content"]["text"]
    (update,) = checked(Translator(CWD, compaction=True).live(event))
    assert (update["sessionUpdate"], update["status"]) == ("compaction_update", "completed")


def test_notices_only_for_clients_that_know_them() -> None:
    event = HookExecutionEvent(
        hook_event_type="PreToolUse",
        hook_command="guard",
        tool_name="terminal",
        success=False,
        blocked=True,
        exit_code=2,
        reason="not on Fridays",
    )
    (said,) = checked(Translator(CWD).live(event))
    assert said["sessionUpdate"] == "agent_thought_chunk"
    (notice,) = checked(Translator(CWD, notices=True).live(event))
    assert notice["sessionUpdate"] == "notice"
    assert "not on Fridays" in notice["title"]
    assert Translator(CWD).live(event.model_copy(update={"blocked": False, "success": True})) == []


def test_pause_and_errors_are_words() -> None:
    (paused,) = checked(Translator(CWD).live(PauseEvent()))
    assert "paused" in paused["content"]["text"]
    error = ConversationErrorEvent(source="environment", code="LLMError", detail="no route")
    (said,) = checked(Translator(CWD).live(error))
    assert "no route" in said["content"]["text"]


def test_internal_events_are_nobodys_business() -> None:
    internal = [
        ConversationStateUpdateEvent(key="execution_status", value="running"),
        SecurityAnalysisEvent(analyzer="x", policy="y", risks={}),
        TokenEvent(source="agent", prompt_token_ids=[1], response_token_ids=[2]),
    ]
    assert [Translator(CWD).live(event) for event in internal] == [[], [], []]


def test_the_persons_images_are_replayed() -> None:
    content = [
        TextContent(text="look"),
        ImageContent(image_urls=[f"data:image/png;base64,{PIXEL}"]),
    ]
    event = MessageEvent(source="user", llm_message=Message(role="user", content=content))
    assert Translator(CWD).live(event) == []
    text, image = checked(Translator(CWD).replay(event))
    assert text["content"]["text"] == "look"
    assert image["content"]["mimeType"] == "image/png"
    assert text["messageId"] == image["messageId"] == event.id


def test_usage_mode_options() -> None:
    translator = Translator(CWD)
    updates = [
        *translator.usage(1200, 128_000, 0.25),
        *Choices(ChoiceValues(), [], booleans=False).set_option("mode", "always-ask"),
        *translator.notice("A server did not start."),
    ]
    kinds = [update["sessionUpdate"] for update in checked(updates)]
    assert kinds[:3] == ["usage_update", "current_mode_update", "config_option_update"]
    assert updates[0]["cost"] == {"amount": 0.25, "currency": "USD"}


def test_live_output_is_bounded() -> None:
    translator, event = Translator(CWD), action()
    translator.live(event)
    for _ in range(50):
        (*_, update) = checked(translator.output("c1", "x" * 1000 + "\r\n"))
    assert len(update["content"][0]["content"]["text"]) < 9_000


def test_surrogates_and_fences() -> None:
    translator, event = Translator(CWD), action()
    translator.live(event)
    (ended,) = checked(translator.live(done(event, "``` \ud800 ````")))
    text = ended["content"][0]["content"]["text"]
    assert text.startswith("`````\n")
    json.dumps(ended, ensure_ascii=False).encode()


# --- what cannot be rendered ---------------------------------------------------------------------


class Strange:
    """An event of a kind that we do not know, with whatever in it."""

    def __init__(self, fields: Json) -> None:
        self.__dict__.update(fields)


Known = {
    name: type(name, (Strange,), {})
    for name in ("ActionEvent", "ObservationEvent", "MessageEvent", "Condensation", "Surprise")
}
loose = st.none() | st.integers() | st.text(max_size=9) | st.lists(st.integers(), max_size=2)
names = st.sampled_from(
    ["id", "source", "llm_message", "tool_name", "tool_call_id", "action", "observation", "thought"]
)


@given(st.sampled_from(sorted(Known)), st.dictionaries(names, loose))
def test_an_event_that_cannot_be_rendered_is_shown_raw(kind: str, fields: Json) -> None:
    translator = Translator(CWD)
    event = Known[kind](fields)
    for update in [*translator.live(event), *translator.replay(event)]:
        check({"sessionId": "s", "update": update}, "SessionNotification")
    if kind == "Surprise":
        (raw, *_) = translator.live(event)
        assert "Surprise" in raw["content"]["text"]


def test_a_call_is_ended_by_a_result_that_cannot_be_rendered() -> None:
    translator = Translator(CWD)
    translator.live(action())
    broken = Known["ObservationEvent"]({"tool_call_id": "c1", "id": "e"})
    raw, ended = checked(translator.live(broken))
    assert raw["sessionUpdate"] == "agent_thought_chunk"
    assert (ended["toolCallId"], ended["status"]) == ("c1", "completed")


def test_a_command_that_is_too_long_is_marked_as_cut() -> None:
    """Half of it would be judged as if it were all: what stands in its middle may be anything."""
    line = "echo " + "x" * 300_000 + "; rm -rf ~; echo " + "y" * 300_000
    given = Call("terminal", {"command": line}, CWD).raw_input()
    seen = rules.call_of("rookery", {"kind": "execute", "rawInput": given}, [CWD], "/home")
    assert seen.cut
    assert seen.danger
