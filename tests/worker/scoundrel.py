"""An agent that behaves badly, in bytes: it knows just enough of ACP to be prompted.

python scoundrel.py STATE [POINT [HOW]]

POINT: where it misbehaves, once per STATE: a method, before its answer, or `after` a method, after
it. HOW: `exit` (the default), `close` (its stdout, and lives on).
A prompt's text is a list of steps, [verb, argument, …]; any other text is answered at once.
"""

import json
import os
import sys
import time
from random import Random
from typing import Any, NoReturn

PIECE = 65536
OUT = 1


def write(data: bytes, to: int = OUT) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(to, view[:PIECE]) :]


def say(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def update(kind: str, **fields: Any) -> bytes:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()


def text(words: str) -> bytes:
    return update("agent_message_chunk", content={"type": "text", "text": words})


def big(shape: str, size: int) -> bytes:
    """A legal line of about so many bytes."""
    match shape:
        case "text":
            return text("x" * size)
        case "wide":
            words = "\U0001f426" * (size // 4)
            head, tail = text("SPLIT").split(b"SPLIT")
            return head + words.encode() + tail
        case "tool":
            content = [{"type": "content", "content": {"type": "text", "text": "x" * size}}]
            return update("tool_call", toolCallId="t", title="x", rawOutput="", content=content)
        case "id":
            return update("tool_call", toolCallId="t" * size, title="x")
        case "forged":
            return update("_turn", state="x" * size)
        case "vendor/x":
            return json.dumps({"jsonrpc": "2.0", "method": shape, "params": "y" * size}).encode()
    return crowd(shape, size)


def crowd(shape: str, size: int) -> bytes:
    """One of very many values."""
    match shape:
        case "numbers":
            return update("odd", x=[1] * (size // 3))
        case "objects":
            return update("plan", entries=[{"content": "x"}] * (size // 18))
        case "empty":
            return update("plan", entries=[{}] * (size // 4))
        case "keys":
            return update("odd", x={f"{n:x}": n for n in range(size // 16)})
        case "deep":
            return update("odd", x=[json.loads("[" * 400 + "]" * 400)] * (size // 800))
        case "almost":  # as many values as are read, each as dear as can be
            return update("odd", x=[{f"{n:060x}": f"{n:060x}"} for n in range(49_000)])
        case "ask":
            params = {"toolCall": {"toolCallId": "t", "rawInput": [[]] * (size // 4)}}
            method = "session/request_permission"
            return json.dumps({"id": "q", "method": method, "params": params}).encode()
    raise ValueError(shape)


def junk(random: Random, lines: int) -> bytes:
    """Lines that look like messages, more or less."""
    words = [None, True, -1, 1, 2**70, 1e308, "", "x", "\ud800", [], {}, [[]], {"": None}]
    methods = ["session/update", "session/request_permission", "elicitation/create"]
    methods += ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"]
    methods += ["terminal/wait_for_exit", "$/cancel_request", "", "_rookery/judge", "initialize"]
    keys = ["sessionId", "update", "path", "content", "command", "args", "env", "terminalId"]
    keys += ["toolCall", "options", "toolCallId", "requestId", "line", "limit", "cwd", "message"]
    keys += ["requestedSchema", "mode", "outputByteLimit", "sessionUpdate", "status", "rawInput"]
    keys += ["calls", "risk"]

    def value(depth: int) -> Any:
        if depth and random.random() < 0.6:
            names = random.sample(keys, random.randrange(5))
            return {name: value(depth - 1) for name in names}
        return random.choice(words)

    found = []
    for _ in range(lines):
        message = {"jsonrpc": "2.0", "method": random.choice(methods), "params": value(3)}
        if random.random() < 0.5:
            message["id"] = random.choice([*words, random.randrange(4)])
        if random.random() < 0.2:
            message.pop("method")
            message[random.choice(["result", "error"])] = value(2)
            message["id"] = random.choice(["1", 10_000, None, -1, 1.5])
        line = json.dumps(message).encode()
        if random.random() < 0.2:
            line = random.randbytes(random.randrange(80)) + line[random.randrange(len(line)) :]
        found.append(line + b"\n")
    return b"".join(found)


def requests(method: str, times: int, params: Any) -> None:
    for n in range(times):
        say(id=f"r{n}", method=method, params=params)


def play(verb: str, *given: Any) -> None:
    match verb, given:
        case "line", (line,):
            write(line.encode() + b"\n")
        case "hex", (digits,):
            write(bytes.fromhex(digits))
        case "repeat", (piece, times):
            for _ in range(times):
                write(piece.encode())
        case "big", (shape, size):
            write(big(shape, size) + b"\n")
        case "flood", (lines, words):
            hundred = (text(words) + b"\n") * 100
            for _ in range(lines // 100):
                write(hundred)
        case "junk", (seed, lines):
            write(junk(Random(seed), lines))
        case "stderr", (size,):
            for _ in range(size // PIECE):
                write(b"e" * (PIECE - 1) + b"\n", 2)
        case "requests", (method, times, params):
            requests(method, times, params)
        case "calls", (times, size):
            content = [{"type": "content", "content": {"type": "text", "text": "x" * size}}]
            for n in range(times):
                write(update("tool_call", toolCallId=f"t{n}", title="Read", content=content))
                write(b"\n")
        case _:
            leave(verb, *given)


def leave(verb: str, *given: Any) -> None:
    match verb, given:
        case "hold", ():
            sys.stdin.buffer.readline()
        case "exit", (code,):
            os._exit(code)
        case "close", ():
            close()
        case _:
            raise ValueError(verb)


def close() -> NoReturn:
    os.close(OUT)
    while True:
        time.sleep(3600)


def misbehave(point: str) -> None:
    state, *wanted = sys.argv[2:]
    if wanted[:1] != [point]:
        return
    try:
        os.close(os.open(state, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    close() if wanted[1:] == ["close"] else os._exit(3)


def answer(method: str, params: Any) -> Any:
    match method:
        case "initialize":
            return {"protocolVersion": 1, "agentCapabilities": {}}
        case "session/new":
            return {"sessionId": "s"}
        case "session/prompt":
            words = params["prompt"][0]["text"]
            for step in json.loads(words) if words.startswith("[") else []:
                play(*step)
            write(text("well") + b"\n")
            return {"stopReason": "end_turn"}
    return {}


def main() -> None:
    misbehave("start")
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "method" in message and "id" in message:
            misbehave(message["method"])
            result = answer(message["method"], message.get("params"))
            say(id=message["id"], result=result)
            misbehave("after " + message["method"])


main()
