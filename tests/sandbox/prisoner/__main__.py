"""An agent that tries to leave its sandbox, by every way it knows, each with a name.

python DIRECTORY-OF-THIS-FILE rookery.acp.player

A prompt is a plan: which ways to try, what lies where, and calls of the client to make. The answer
is a line of JSON: what each way brought. Whether a way led out is not for this agent to say: the
test looks from outside. Standard library only, since it has to run wherever its sandbox puts it.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import by_client
import by_file
import by_network
import by_system

FORKED = by_file.WAYS | by_system.WAYS | by_network.WAYS
LONGEST = 15
"""Seconds that a way may take."""
MOST = 100_000


def attempt(name: str, plan: dict[str, Any]) -> str:
    """What a way brought, tried in a process of its own: it may break what it likes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(LONGEST)
        os.setsid()
        try:
            found = FORKED[name](plan, name)
        except Exception as error:  # noqa: BLE001 - what the kernel said is the evidence
            found = f"{type(error).__name__}: {error} {traceback.format_exc(limit=-1)}"
        with contextlib.suppress(OSError):
            os.write(writing, str(found)[:MOST].encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writing)
    evidence, until = b"", time.monotonic() + LONGEST
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        if not (data := os.read(reading, 65536)):
            break
        evidence += data
    os.close(reading)
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return evidence.decode("utf-8", "replace")


def report(client: by_client.Client, plan: dict[str, Any]) -> dict[str, str]:
    found = {}
    for method, params in plan.get("calls", ()):  # no way out, but what an agent asks for
        answer = client.run(*params) if method == "run" else client.ask(method, **params)
        found[f"{len(found)} {method}"] = answer if isinstance(answer, str) else json.dumps(answer)
    for name in plan["ways"]:
        if name in by_client.WAYS:
            found[name] = str(by_client.WAYS[name](client, plan, name))
        else:
            found[name] = attempt(name, plan)
    return found


def main() -> None:
    client = by_client.Client()
    for message in client.messages():
        match message.get("method"):
            case "initialize":
                client.answer(message, {"protocolVersion": 1, "agentCapabilities": {}})
            case "session/new":
                client.answer(message, {"sessionId": "s"})
            case "session/prompt":
                client.session = message["params"]["sessionId"]
                client.tell(json.dumps(report(client, json.loads(_text(message)))))
                client.answer(message, {"stopReason": "end_turn"})
            case str() if "id" in message:
                client.answer(message, {})


def _text(message: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in message["params"]["prompt"])


if __name__ == "__main__":
    main()
