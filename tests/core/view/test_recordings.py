"""Foreign truth: what real agents sent goes through without a loss, and has a look."""

import functools
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.core.agent.chunks import CHILD
from rookery.core.agent.prompt import words_of
from rookery.core.blocks import captions
from rookery.core.blocks.document import join
from rookery.core.json.events import Event, dumps, kind_of, loads
from rookery.core.view.recap import turn_words
from rookery.core.view.reduce import fold
from rookery.wire.jsonrpc import Peer
from tests.core.making import ACP_KINDS, Json, blocks, pages, watch
from tests.core.recordings import FOLDER, Played, lines, play, sessions

V2 = {"state_update", "user_message", "agent_message", "agent_thought"}

RAW: dict[str, set[str]] = {path.name: set() for path in sorted(FOLDER.glob("*.jsonl"))} | {
    "claude-v2.jsonl": V2,
    "codex-v2.jsonl": V2 | {"terminal_update"},
}
"""What each recording shows raw: what only protocol 2 has."""

EVERY = [(name, session) for name in RAW for session in sessions(name)]
every_session = pytest.mark.parametrize(("name", "session"), EVERY)


def test_every_recording_has_sessions_to_play() -> None:
    silent = set(RAW) - {name for name, _ in EVERY}
    assert silent == {"gemini-reload.jsonl"}, "where the load was refused"
    assert len(EVERY) > len(RAW)


@pytest.mark.parametrize("name", RAW)
def test_a_recording_says_nothing_about_its_machine(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert not re.findall(r"/root/|/work/|/rkv-", text)


@pytest.mark.parametrize("name", RAW)
def test_every_update_belongs_to_a_session_that_is_played(name: str) -> None:
    sent = [line for line in lines(name, "recv") if line.message.get("method") == "session/update"]
    assert sum(len(play(name, session).came) for session in sessions(name)) == len(sent)


@every_session
def test_nothing_is_lost(name: str, session: str) -> None:
    """Every update that is news is in the log: equal, or its text in its place in a merged one."""
    played = play(name, session)
    logged = [each for each in played.updates if _is_theirs(each)]
    waiting = [each for each in news(played) if _is_theirs(each)]
    for speaker in dict.fromkeys(map(speaker_of, waiting)):
        left = [each for each in waiting if speaker_of(each) == speaker]
        for each in logged:
            if speaker_of(each) == speaker:
                first = left.pop(0)
                while first != each:
                    first = merged(first, left.pop(0))
        assert left == []


def _is_theirs(update: Json) -> bool:
    return not kind_of(update).startswith("_") or kind_of(update) == CHILD


def speaker_of(update: Json) -> object:
    """Sub-agents speak at the same time, each in a lane of its own."""
    return update.get("session", update.get("call")) if kind_of(update) == CHILD else None


def news(played: Played) -> list[Json]:
    """What came, without what the log had already."""
    again = [id(update) for update in played.again]
    return [update for update in played.came if id(update) not in again]


def merged(one: Json, other: Json) -> Json:
    if kind_of(one) == CHILD:
        assert {**one, "update": 0} == {**other, "update": 0}
        return {**one, "update": merged(one["update"], other["update"])}
    assert "_chunk" in kind_of(one)
    words = one["content"]["text"] + other["content"]["text"]
    assert {**one, "content": {**one["content"], "text": ""}} == {
        **other,
        "content": {**other["content"], "text": ""},
    }
    return {**one, "content": {**one["content"], "text": words}}


@pytest.mark.parametrize("name", RAW)
def test_only_updates_outside_acp_1_are_shown_raw(name: str) -> None:
    found = [watch(play(name, session).events) for session in sessions(name)]
    raw = {block["title"] for document in found for block in blocks(document, "raw")}
    assert raw == RAW[name]
    assert not raw & ACP_KINDS


@every_session
def test_every_call_ask_and_word_is_in_the_document(name: str, session: str) -> None:
    played = play(name, session)
    document = watch(played.events)
    shown = "".join(block["text"] for block in blocks(document, "answer"))
    said = [each for each in news(played) if kind_of(each) == "agent_message_chunk"]
    assert shown == "".join(each["content"]["text"] for each in said)
    asked = [each for each in played.updates if each.get("state") == "asked"]
    assert len(blocks(document, "ask")) == len(asked)
    assert all(block["status"] != "asked" for block in blocks(document, "ask"))
    for block in blocks(document, "ask"):
        if "-v2" not in name:  # where an ask has another shape
            assert document.blocks[block["parent"]]["role"] == "tool"
    named = [block["title"] or block.get("tool") for block in blocks(document, "tool")]
    assert all(named)
    calls = {each["toolCallId"] for each in news(played) if kind_of(each).startswith("tool_call")}
    assert len(blocks(document, "tool")) >= len(calls)


@every_session
def test_the_log_has_nothing_twice(name: str, session: str) -> None:
    """After a load, a resume, a kill and a wake each prompt and each call is there once. An agent
    may use the same words again, but not under the same id."""
    played = play(name, session)
    document = watch(played.events)
    sent = [line.message for line in lines(name, "send")]
    given = [each["params"] for each in sent if each.get("method") == "session/prompt"]
    prompts = [words_of(each["prompt"]) for each in given if each["sessionId"] == session]
    if prompts and "-v2" not in name:  # a fork was told its history, and sent nothing
        assert [block["text"] for block in blocks(document, "prompt")] == prompts
    # An ask under an id of its own belongs to the call that was announced.
    inner = [each["update"] if kind_of(each) == CHILD else each for each in played.updates]
    news = [each for each in inner if not each.get("announced")]
    told = [each.get("toolCall") or each for each in news]
    calls = {each["toolCallId"] for each in told if "toolCallId" in each}
    tools = [block for block in blocks(document, "tool") if block["kind"] != "subagent"]
    assert len(tools) == len(calls)


@every_session
def test_a_recap_of_a_recording_says_what_was_done(name: str, session: str) -> None:
    """A verb and an object; never the bare name of a tool."""
    for page in pages(play(name, session).events):
        answers = "\n".join(block["text"] for block in blocks(page, "answer"))
        for line in turn_words(page).split("\n"):
            if line in answers.split("\n"):  # a list of the agent's own
                continue
            done = line.removeprefix("- ").rpartition(" (")[0]
            if line.startswith("- ") and not line.startswith("- Plan "):
                assert len(done.split()) > 1, line


@every_session
def test_a_turn_that_ended_well_leaves_no_call_running(name: str, session: str) -> None:
    statuses = {block["status"] for block in blocks(watch(play(name, session).events), "tool")}
    assert statuses <= {"done", "failed", "unfinished", "interrupted"}


@every_session
def test_page_by_page_is_the_same(name: str, session: str) -> None:
    events = play(name, session).events
    whole = fold(None, events)
    for both in (
        functools.reduce(join, pages(events)),
        functools.reduce(lambda newer, older: join(older, newer), reversed(pages(events))),
    ):
        assert both.to_json() == whole.to_json()
        assert both.header == whole.header
        assert not both.late


@pytest.mark.parametrize("name", RAW)
def test_what_was_recorded_survives_our_json(name: str) -> None:
    with open(FOLDER / name, "rb") as file:
        for line in file:
            assert loads(line) == loads(dumps(loads(line))) == json.loads(line)


@pytest.mark.parametrize("name", RAW)
@settings(max_examples=5)
@given(size=st.integers(1, 5_000))
def test_the_wire_hears_every_message_in_order(name: str, size: int) -> None:
    """The lines as an agent wrote them, cut anywhere; answers are to requests that nobody sent."""
    heard: list[Any] = []
    peer = Peer(
        on_notification=lambda method, params: heard.append((method, params)),
        on_request=lambda incoming: heard.append((incoming.id, incoming.method, incoming.params)),
        on_noise=lambda kind, what: heard.append((kind, what)),
    )
    messages = [line.message for line in lines(name, "recv")]
    data = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages).encode()
    for start in range(0, len(data), size):
        peer.data_received(data[start : start + size])
    assert heard == [as_heard(message) for message in messages]


def as_heard(message: Json) -> Any:
    if "method" not in message:
        return ("unknown answer", message)
    if "id" in message:
        return (message["id"], message["method"], message["params"])
    return (message["method"], message["params"])


WORDS = {"done", "failed", "rejected", "interrupted", "unfinished"}


@every_session
def test_every_vendors_calls_end_in_the_same_words(name: str, session: str) -> None:
    """A change is told once, what was read has no fences, and no system prompt is a thought."""
    opened = {"sessionUpdate": "_session", "agent": name.partition("-")[0], "cwd": "/"}
    events = [Event(0, 0, None, None, opened), *play(name, session).events]
    document = fold(None, events)
    over = document.header.state == "idle"
    for block in document.blocks.values():
        if block["role"] == "tool":
            assert captions.status_of(block) in WORDS or not over
            for part in captions.parts_of(block):
                text = part.get("text", "")
                assert not (captions.diffs(block) and re.search(r"^[-+]\d", text, re.M))
                if block.get("kind") == "read" and text:
                    assert not (captions.as_output(block, text) or "").startswith("```")
        assert not block["text"].startswith("System Prompt")


def test_a_rejection_and_a_cancel_are_told_as_what_they_are_for_every_vendor() -> None:
    found: dict[str, set[str]] = {}
    for name, session in EVERY:
        for block in fold(None, play(name, session).events).blocks.values():
            cancelled = "no2" in " ".join(captions.call_words(block, "/"))
            if block["role"] == "tool" and (block.get("rejected") or cancelled):
                found.setdefault(name, set()).add(captions.status_of(block))
    assert {"rejected"} == set.union(
        *(words for name, words in found.items() if "scenario" in name)
    )
    for name in ("claude-agent-acp.jsonl", "codex-acp.jsonl", "gemini-cli.jsonl", "opencode.jsonl"):
        assert found[name] == {"rejected", "interrupted"}, name
