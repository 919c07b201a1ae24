"""The scripted model over HTTP: streams, errors, breaks, delays, and what it keeps of a request."""

import os
import signal
import socket
import subprocess
import sys
import threading
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rookery.agent.scripted.server import serving
from tests.agent.asking import SECONDS, chat, deltas, events, get, play, said, send, stream, user

CALL = {"name": "terminal", "arguments": {"command": "ls -la /some/where/far/away"}}


def test_a_stream_has_thought_text_call_and_usage() -> None:
    turn = {"thought": "Let me see", "text": "I look around", "call": CALL}
    turn |= {"usage": {"input": 50, "output": 7, "cached": 40, "reasoning": 3}}
    with serving([turn]) as it:
        chunks = list(stream(it.url, user("Go"), stream_options={"include_usage": True}))
    assert deltas(iter(chunks), "reasoning_content") == ["Let ", "me ", "see"]
    assert deltas(iter(chunks)) == ["I ", "look ", "around"]
    calls = [call for piece in _calls(chunks) for call in piece]
    assert calls[0]["function"] == {"name": "terminal", "arguments": ""}
    assert calls[0]["id"]
    arguments = [call["function"]["arguments"] for call in calls]
    assert "".join(arguments) == '{"command": "ls -la /some/where/far/away"}'
    assert len(arguments) > 2
    reasons = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert [reason for reason in reasons if reason] == ["tool_calls"]
    usage = chunks[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (50, 7)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 40
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 3


def _calls(chunks: list[dict[str, object]]) -> list[list[dict[str, dict[str, str]]]]:
    found = [choice["delta"].get("tool_calls") for chunk in chunks for choice in chunk["choices"]]
    return [calls for calls in found if calls]


def test_usage_is_streamed_to_who_asked_for_it_alone() -> None:
    with serving(["x"]) as it:
        assert all("usage" not in chunk for chunk in stream(it.url, user("Go")))


def test_chunks_say_into_how_many_pieces() -> None:
    with serving([{"text": "abcdefgh", "chunks": 3}]) as it:
        assert deltas(stream(it.url, user("Go"))) == ["abc", "def", "gh"]


def test_an_answer_in_one_piece() -> None:
    turn = {"thought": "Hm", "text": "Yes", "calls": [CALL, {**CALL, "id": "mine"}]}
    with serving([turn, {"text": "cut", "finish": "length"}]) as it:
        answer = chat(it.url, user("Go"))
        cut = chat(it.url, user("Go"), {"role": "assistant", "content": "Yes"})
    message = answer.body["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Yes", "Hm")
    first, second = message["tool_calls"]
    assert first["id"] != second["id"] == "mine"
    assert cut.body["choices"][0]["finish_reason"] == "length"


def test_arguments_that_are_no_json_go_as_they_are() -> None:
    with serving([{"call": {"name": "terminal", "arguments": '{"command": '}}]) as it:
        message = chat(it.url, user("Go")).body["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["arguments"] == '{"command": '


def test_a_rate_limit_has_its_headers() -> None:
    error = {"status": 429, "retry_after": 7, "reset": "6m0s", "headers": {"x-more": "1"}}
    with serving([]) as it:
        answer = chat(it.url, play({"error": error}))
    assert answer.status == 429
    names = ("retry-after", "x-ratelimit-reset-requests", "x-more")
    assert [answer.headers[name] for name in names] == ["7", "6m0s", "1"]


@pytest.mark.parametrize("after", [0, 2])
def test_a_stream_that_breaks(after: int) -> None:
    with serving([{"text": "a b c d", "drop": after or True}]) as it:
        pieces: list[str] = []

        def read() -> None:
            for chunk in stream(it.url, user("Go")):
                pieces.extend(deltas(iter([chunk])))

        with pytest.raises((HTTPException, ConnectionError)):
            read()
        assert pieces == ["a ", "b "][:after]
        assert it.wait(1, lambda asked: asked.ended == "dropped")


def test_a_whole_answer_that_breaks() -> None:
    with serving([{"drop": True}]) as it, pytest.raises((HTTPException, ConnectionError)):
        chat(it.url, user("Go"))


def test_one_that_hangs_is_left_and_that_is_seen() -> None:
    with serving([{"text": "a b c", "hang": 1}, "then"]) as it:
        response = send(it.url, "/v1/chat/completions", _streamed("Go"))
        chunks = events(response)
        heard: list[str] = []
        while not heard:
            heard += deltas(iter([next(chunks)]))
        assert heard == ["a "]
        response.close()
        assert it.wait(1, lambda asked: asked.ended == "hung up")


def test_slow_words_stop_when_nobody_listens() -> None:
    with serving([{"text": "word " * 10_000, "every": 0.01}]) as it:
        response = send(it.url, "/v1/chat/completions", _streamed("Go"))
        next(events(response))
        response.close()
        (asked,) = it.wait(1, lambda asked: asked.ended == "hung up")
        assert asked.sent is not None
        assert asked.sent >= asked.received


def test_a_delay_comes_before_the_first_word() -> None:
    with serving([{"text": "late", "delay": 0.2}]) as it:
        assert said(chat(it.url, user("Go"))) == "late"
        (asked,) = it.wait(1, lambda asked: asked.ended == "answered")
        assert asked.sent is not None
        assert asked.sent - asked.received >= 0.2e9  # it is the server that waited


def _streamed(text: str) -> dict[str, object]:
    return {"model": "scripted", "messages": [user(text)], "stream": True, "tools": [{}]}


def test_many_at_once_get_each_their_own() -> None:
    with serving([{"text": "You said $prompt", "every": 0.005}]) as it:
        found: dict[int, str] = {}

        def ask(number: int) -> None:
            found[number] = "".join(deltas(stream(it.url, user(f"number {number}"))))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert found == {number: f"You said number {number}" for number in range(12)}


def test_requests_are_kept_and_the_key_is_not_told() -> None:
    with serving(["x"]) as it:
        chat(it.url, user("Go"), key="sk-very-secret-1234")
        kept = it.asked[0]
        (told,) = get(it.url, "/requests").body
    assert kept.key == "sk-very-secret-1234"
    assert told["body"]["messages"] == [user("Go")]
    assert (told["path"], told["ended"]) == ("/v1/chat/completions", "answered")
    assert told["key"] == "…1234"


def test_what_is_no_question_is_refused() -> None:
    with serving(["x"]) as it:
        assert get(it.url, "/v1/nothing").status == 404
        assert send(it.url, "/v1/chat/completions", [1]).status == 400  # type: ignore[arg-type]
        for line in (b"nonsense\r\n\r\n", b"POST /v1 HTTP/1.1\r\ncontent-length: x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", it.port), SECONDS) as raw:
                raw.sendall(line)
                assert raw.recv(100) == b""
        assert said(chat(it.url, user("Go"))) == "x"


def test_the_responses_api() -> None:
    turn = {"thought": "Hm", "text": "Two words", "call": CALL}
    tools = [{"type": "function", "name": "terminal", "parameters": {}}]
    with serving([turn, "then"]) as it:
        body = {"model": "scripted", "input": [user("Go")], "tools": tools}
        whole = send(it.url, "/v1/responses", body)
        streamed = list(events(send(it.url, "/v1/responses", {**body, "stream": True})))
        past = [user("Go"), {"role": "assistant", "content": "Two words"}]
        past += [{"type": "function_call", "call_id": "1", "name": "terminal", "arguments": "{}"}]
        past += [{"type": "function_call_output", "call_id": "1", "output": "files"}]
        later = list(events(send(it.url, "/v1/responses", {**body, "input": past, "stream": True})))
    assert whole.status == 200
    last = streamed[-1]
    assert last["type"] == "response.completed"
    assert [item["type"] for item in last["response"]["output"]] == [
        "reasoning",
        "message",
        "function_call",
    ]
    text = [event["delta"] for event in streamed if event["type"] == "response.output_text.delta"]
    assert text == ["Two ", "words"]
    assert later[-1]["response"]["output"][0]["content"][0]["text"] == "then"


# ---------------------------------------------------------------- as a process


class Model:
    """`rookery model …`, running."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rookery", "model", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_the_command_prints_how_to_use_it_and_ends_with_a_signal() -> None:
    with Model("demo") as it:
        first = it.line()
        url = first.split()[-1]
        assert get(url, "/v1/models").body["data"][0]["id"] == "scripted"
        told = [it.line() for _ in range(3)]
        setup = f"rookery setup --name scripted --model openai/scripted --base-url {url}"
        assert setup in told[2], told
        it.process.send_signal(signal.SIGINT)
        assert it.process.wait(SECONDS) == 0


def test_the_command_plays_a_file_quietly(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('["from a file"]')
    with Model(str(file), "--quiet") as it:
        url = it.line().strip()
        assert said(chat(url, user("Go"))) == "from a file"
        taken = str(urlsplit(url).port)
        again = subprocess.run(
            [sys.executable, "-m", "rookery.agent.scripted", str(file), "--port", taken],
            capture_output=True,
            check=False,
            text=True,
        )
        assert again.returncode == 1
        assert taken in again.stderr
        assert "Traceback" not in again.stderr


@pytest.mark.parametrize("text", [None, "[", '[{"txet": 1}]'])
def test_a_file_that_cannot_be_played(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "script.json"
    if text is not None:
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "rookery", "model", str(file)],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "PYTHONDEVMODE": "1"},
    )
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr
