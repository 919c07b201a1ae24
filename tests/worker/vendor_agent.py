"""An agent in the shapes of vendors that were not recorded: it wants a key, tells its environment
and the MCP servers that it was given, and leaves a command running when it is cancelled."""

import json
import os
import subprocess
import sys
from typing import Any

NAME, KEY = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
METHODS = [
    {"id": "key", "name": "API key", "type": "env_var", "vars": [{"name": KEY}]},
    {"id": "login", "name": "Log in", "type": "terminal", "args": ["--login"]},
]
servers: list[str] = []
running: dict[str, Any] = {}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**fields: Any) -> None:
    params = {"sessionId": "s", "update": fields}
    say({"method": "session/update", "params": params})


def text(words: str) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": words})


def run(line: str) -> None:
    """A command of its own that nobody ends."""
    update(sessionUpdate="tool_call", toolCallId="t", title=line, kind="execute", status="pending")
    subprocess.Popen(line.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    update(sessionUpdate="tool_call_update", toolCallId="t", status="in_progress")


def prompted(message: dict[str, Any]) -> None:
    said = message["params"]["prompt"][0]["text"]
    if said.startswith("run "):
        running["id"] = message["id"]
        run(said.removeprefix("run "))
        return
    if said.startswith("complain "):
        print(said.removeprefix("complain "), file=sys.stderr, flush=True)
        text("begun")
        return
    found = os.environ.get(said.removeprefix("env "), "-") if said.startswith("env ") else said
    text(" ".join(servers) or "none" if said == "servers" else found)
    say({"id": message["id"], "result": {"stopReason": "end_turn"}})


def take(message: dict[str, Any]) -> None:
    match message.get("method"):
        case "initialize":
            info = {"name": NAME, "version": "1"}
            able = {"loadSession": True}
            result = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": able}
            say({"id": message["id"], "result": {**result, "authMethods": METHODS if KEY else []}})
        case "session/new" | "session/load":
            servers[:] = [each["name"] for each in message["params"]["mcpServers"]]
            if KEY and not os.environ.get(KEY):
                error = {"code": -32000, "message": "Authentication required"}
                say({"id": message["id"], "error": {**error, "data": {"details": "no key"}}})
            else:
                say({"id": message["id"], "result": {"sessionId": "s"}})
        case "session/prompt":
            prompted(message)
        case "session/cancel" if running:
            say({"id": running.pop("id"), "result": {"stopReason": "cancelled"}})
        case _ if "id" in message and "method" in message:
            say({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})


for line in sys.stdin:
    take(json.loads(line))
