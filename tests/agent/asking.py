"""Asks a scripted model as a client would: plain HTTP, streams read line by line."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlsplit

type Json = dict[str, Any]

SECONDS = 120.0

TERMINAL = {
    "type": "function",
    "function": {
        "name": "terminal",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "security_risk": {"type": "string"}},
        },
    },
}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def play(*turns: Any) -> Json:
    """A prompt that is a script itself."""
    return user(json.dumps({"play": turns}))


def model(text: str = "") -> Json:
    return {"role": "assistant", "content": text}


def called() -> Json:
    """The model's call, before its result."""
    call = {"id": "1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(text: str) -> Json:
    return {"role": "tool", "tool_call_id": "1", "content": text}


def send(url: str, path: str, body: Json | None = None, key: str = "sk-made-up") -> HTTPResponse:
    """The answer's head; the rest is still to be read."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, data, headers)
    return connection.getresponse()


def get(url: str, path: str, key: str = "sk-made-up") -> Answer:
    return _whole(send(url, path, key=key))


def chat(url: str, *messages: Json, key: str = "sk-made-up", **more: Any) -> Answer:
    """One answer in one piece; a terminal is offered unless `tools` says otherwise."""
    return _whole(send(url, "/v1/chat/completions", _body(messages, more), key))


def said(answer: Answer) -> str:
    assert answer.status == 200, answer
    return str(answer.body["choices"][0]["message"]["content"])


def stream(url: str, *messages: Json, **more: Any) -> Iterator[Json]:
    """The chunks as they come. Raises HTTPException where the connection breaks."""
    response = send(url, "/v1/chat/completions", _body(messages, {"stream": True, **more}))
    assert response.status == 200, response.read()
    yield from events(response)


def events(response: HTTPResponse) -> Iterator[Json]:
    over = False
    while line := response.readline():
        if line.strip() == b"data: [DONE]":
            over = True
        elif line.startswith(b"data: "):
            event = json.loads(line[6:])
            over = event.get("type") == "response.completed"
            yield event
    if not over:  # which `readline` does not tell
        raise HTTPException("the stream broke off")


def deltas(chunks: Iterator[Json], field: str = "content") -> list[str]:
    """The pieces of a text."""
    found = [choice["delta"].get(field) for chunk in chunks for choice in chunk["choices"]]
    return [piece for piece in found if piece]


def _body(messages: tuple[Json, ...], more: Json) -> Json:
    body = {"model": "scripted", "messages": list(messages), "tools": [TERMINAL], **more}
    return {key: value for key, value in body.items() if value is not None}


def _whole(response: HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, json.loads(response.read()))
