"""An agent that tells again what was said, in the ways of other vendors' agents.

python replayer.py STATE WHEN

WHEN its history is told: `resume` (before the answer to session/resume, as hermes does), `late`
(after the answer to session/load, as gemini does), `split` (half of it before), `tardy` (when the
next prompt has come).
It echoes each prompt (vibe), sends `_meta` beside each update (OpenHands) and notifications of its
own (qwen). A prompt that begins with "die" is its last.
"""

import json
import os
import signal
import sys
from typing import Any

STATE, WHEN = sys.argv[1:]

type Json = dict[str, Any]

told: list[Json] = []


def write(*messages: Json) -> None:
    data = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in messages)
    os.write(1, data.encode())


def news(update: Json) -> Json:
    params = {"sessionId": "s", "update": update, "_meta": {"vendor": {"step": len(told)}}}
    return {"method": "session/update", "params": params}


def text(words: str, kind: str = "agent_message_chunk") -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}


def remember(update: Json) -> None:
    told.append(update)
    with open(STATE, "a") as file:
        file.write(json.dumps(update) + "\n")


def say(update: Json) -> None:
    write(news(update))
    remember(update)


def replay(part: slice = slice(None)) -> None:
    if os.path.exists(STATE):
        with open(STATE) as file:
            told[:] = [json.loads(line) for line in file]
    write(*map(news, whole()[part]))


def whole() -> list[Json]:
    """What was said, as it is kept: message by message, and each call with its end."""
    found: list[Json] = []
    for each in told:
        kind = each["sessionUpdate"]
        if kind == "tool_call":
            found.append(each | {"status": "failed"})
        elif kind == "tool_call_update":
            found[-1] |= {"status": each["status"]}
        elif found and kind == found[-1]["sessionUpdate"] == "agent_message_chunk":
            found[-1] = text(found[-1]["content"]["text"] + each["content"]["text"])
        else:
            found.append(each)
    return found


def play(words: str) -> None:
    remember(text(words, "user_message_chunk"))
    write(news(text(words, "user_message_chunk")))
    call = f"call-{sum(each['sessionUpdate'] == 'tool_call' for each in told) + 1}"
    say(text("I "))
    write({"method": "vendor/notify/step", "params": {"sessionId": "s"}})
    say(text("look."))
    say({"sessionUpdate": "tool_call", "toolCallId": call, "title": "ls", "kind": "execute"})
    if words.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    say({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed"})
    say(text("Done."))


def main() -> None:
    tardy = False
    resumes = {"resume": {}} if WHEN == "resume" else {}
    for line in sys.stdin:
        message = json.loads(line)
        method, result = message.get("method"), dict[str, Any]()
        match method:
            case "initialize":
                able = {"loadSession": True, "sessionCapabilities": resumes}
                result = {"protocolVersion": 1, "agentCapabilities": able}
            case "session/new":
                result = {"sessionId": "s"}
            case "session/resume":
                replay()
            case "session/load":
                tardy = WHEN == "tardy"
                if WHEN == "split":
                    replay(slice(2))
            case "session/prompt":
                if tardy:
                    replay()
                    tardy = False
                play(message["params"]["prompt"][0]["text"])
                result = {"stopReason": "end_turn"}
        if "id" in message:
            write({"id": message["id"], "result": result})
        if method == "session/load" and WHEN in ("late", "split"):
            replay(slice(2 if WHEN == "split" else 0, None))


main()
