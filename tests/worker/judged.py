"""An agent of nobody's that has its actions judged by its client before it runs them.

A prompt's text is a list of requests' `params` (without the session's id). What the client offers
is said first, then what each request is answered with; a call that a person is to be asked about is
asked for. A request that is `announced` comes in one write with its calls, and nothing is said
after it until the turn is cancelled.
"""

import json
import sys
from typing import Any

OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tell(words: str) -> None:
    content = {"type": "text", "text": words}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    say(method="session/update", params={"sessionId": "s", "update": update})


def ask(method: str, params: Any) -> Any:
    say(id="q", method=method, params=params)
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == "q" and "method" not in answer:
            return answer
    raise SystemExit


def announce(params: Any) -> None:
    for each in params["calls"]:
        update = {"sessionUpdate": "tool_call", "status": "pending", **each["toolCall"]}
        told = {"sessionId": "s", "update": update}
        message = {"jsonrpc": "2.0", "method": "session/update", "params": told}
        sys.stdout.write(json.dumps(message) + "\n")
    ask("_rookery/judge", {"sessionId": "s", "calls": params["calls"]})
    sys.stdin.readline()


def play(params: Any) -> None:
    if isinstance(params, dict) and params.get("announced"):
        announce(params)
        return
    given = {"sessionId": "s", **params} if isinstance(params, dict) else params
    answer = ask("_rookery/judge", given)
    tell(json.dumps(answer.get("result") or answer["error"]["code"]) + "\n")
    for wanted, judged in zip(params["calls"], answer["result"]["judgements"], strict=True):
        if judged["outcome"] == "ask":
            about = {"sessionId": "s", "toolCall": wanted["toolCall"], "options": OPTIONS}
            outcome = ask("session/request_permission", about)["result"]["outcome"]
            tell(json.dumps({"asked": outcome.get("optionId")}) + "\n")


def main() -> None:
    offered: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params")
        if method == "initialize":
            offered = params["clientCapabilities"].get("_meta")
            say(id=id, result={"protocolVersion": 1, "agentCapabilities": {}})
        elif method == "session/new":
            say(id=id, result={"sessionId": "s"})
        elif method == "session/prompt":
            tell(json.dumps(offered) + "\n")
            for params in json.loads(message["params"]["prompt"][0]["text"]):
                try:
                    play(params)
                except (KeyError, TypeError):
                    continue  # it was refused, which is told already
            say(id=id, result={"stopReason": "end_turn"})
        elif id is not None and method:
            say(id=id, error={"code": -32601, "message": "no"})


main()
