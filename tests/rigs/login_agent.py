"""An agent that wants a login first: `login_agent.py STATE [word…]`. A login leaves a file STATE
behind.

Words: `status` (it answers auth/status), `pushes` (it tells as Claude's adapter does), `late` (only
a prompt is refused), `draft` (it speaks draft 2 alone), `connection` (a login holds for one
connection), `link` (it asks to open a page first; a word with a colon is its address), `deaf`
(authenticate is never answered). With `--login` it is the program of its own terminal method.
"""

import json
import os
import sys
from typing import Any

STATE, WORDS = sys.argv[1], sys.argv[2:]
METHODS = [
    {"id": "browser", "name": "In a browser", "description": "Log in with your account"},
    {"id": "key", "name": "API key", "_meta": {"api-key": {"provider": "x"}}},
    {"id": "tty", "name": "In a terminal", "type": "terminal", "args": ["--login"]},
    {"id": "env", "name": "A variable", "type": "env_var", "vars": [{"name": "NEST_KEY"}]},
]
here = False


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(words: str) -> None:
    with open(STATE + ".calls", "a") as file:
        file.write(words + "\n")


def logged_in() -> bool:
    return here if "connection" in WORDS else os.path.exists(STATE) or "NEST_KEY" in os.environ


def log_in(words: str) -> None:
    global here  # noqa: PLW0603
    here = True
    with open(STATE, "w") as file:
        file.write(words)


def status() -> dict[str, Any]:
    account = {"label": "Nest Pro", "email": "bird@nest.example", "active": True}
    known = logged_in()
    return {"state": "authenticated" if known else "unauthenticated"} | (
        {"accounts": [account]} if known else {}
    )


def push() -> None:
    about = {"kind": "account", "label": "Nest Pro", "account": {"email": "bird@nest.example"}}
    told = about if logged_in() else {"kind": "none", "label": "Not logged in"}
    say({"method": "_auth/status_update", "params": {"authStatus": told}})


def authenticate(message: dict[str, Any]) -> None:
    params = message["params"]
    key = params.get("_meta", {}).get("api-key", {}).get("apiKey", "")
    note(f"authenticate {params['methodId']}")
    if "deaf" in WORDS:
        return
    if "link" in WORDS:
        url = next((word for word in WORDS if ":" in word), "https://nest.example/device")
        link = {"mode": "url", "url": url, "elicitationId": "e"}
        say({"id": 900, "method": "elicitation/create", "params": link | {"message": "Code: 42"}})
        answer = json.loads(sys.stdin.readline())
        note(f"link {answer.get('result')}")
    if params["methodId"] == "key" and key == "wrong":
        error = {"code": -32000, "message": f"The key {key} is not valid"}
        say({"id": message["id"], "error": error})
        return
    log_in(key or params["methodId"])
    say({"id": message["id"], "result": {}})
    if "pushes" in WORDS:
        push()


def take(message: dict[str, Any]) -> None:
    name, id = message.get("method"), message.get("id")
    refused = {"id": id, "error": {"code": -32000, "message": "Authentication required"}}
    match name:
        case "initialize" if "draft" in WORDS:
            named = [{"type": "agent", "methodId": "browser", "name": "In a browser"}]
            told = {"protocolVersion": 2, "info": {"name": "nest", "version": "1"}}
            said = told | {"capabilities": {"session": {}}, "authMethods": named}
            say({"id": id, "result": said})
        case "auth/login":
            note(f"auth/login {message['params']['methodId']}")
            log_in(message["params"]["methodId"])
            say({"id": id, "result": {}})
        case "auth/logout":
            note("auth/logout")
            os.unlink(STATE)
            say({"id": id, "result": {}})
        case "initialize":
            auth = {"logout": {}} | ({"status": {}} if "status" in WORDS else {})
            able = {"auth": auth, "loadSession": True}
            able |= {"_meta": {"authStatus": {}}} if "pushes" in WORDS else {}
            info = {"name": "nest", "version": "1"}
            result = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": able}
            say({"id": id, "result": result | {"authMethods": METHODS}})
            if "pushes" in WORDS:
                push()
        case "authenticate":
            authenticate(message)
        case "logout":
            note("logout")
            os.unlink(STATE)
            say({"id": id, "result": {}})
        case "auth/status":
            say({"id": id, "result": status()})
        case "session/new" | "session/load":
            note(name)
            well = logged_in() or "late" in WORDS
            say({"id": id, "result": {"sessionId": "s"}} if well else refused)
        case "session/prompt" if not logged_in():
            say(refused)
        case "session/prompt":
            said = message["params"]["prompt"][0]["text"]
            note(f"prompt {said}")
            content = {"type": "text", "text": f"Tweet: {said}"}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            say({"method": "session/update", "params": {"sessionId": "s", "update": update}})
            say({"id": id, "result": {"stopReason": "end_turn"}})
        case str() if id is not None:
            say({"id": id, "error": {"code": -32601, "message": "unknown"}})


if "--login" in WORDS:
    print("Password: ", end="", flush=True)
    if sys.stdin.readline().strip() != "worm":
        sys.exit(3)
    log_in("tty")
    print("Welcome to the nest.")
    sys.exit(0)
for line in sys.stdin:
    take(json.loads(line))
