"""An agent with the mistakes that real ones make, each switched on by a word."""

import json
import os
import subprocess
import sys
from typing import Any

CHILD = [sys.executable, "-c", "import signal; signal.pause()"]


def answer(message: dict[str, Any], faults: set[str]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            return {"result": {"protocolVersion": version if "echo" in faults else 1}}
        case "session/new":
            made: dict[str, Any] = {"sessionId": "s"}
            modes = {"currentModeId": "none", "availableModes": [{"id": "one", "name": "One"}]}
            return {"result": made | ({"modes": modes} if "modes" in faults else {})}
    if "lax" in faults:
        return {"result": {}}
    return {"error": {"code": -32603, "message": "no"}}


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def take(line: str, faults: set[str]) -> None:
    try:
        message = json.loads(line)
    except ValueError:
        if "parse" in faults:
            sys.exit(3)
        return
    if isinstance(message, list) and "list" in faults:
        sys.exit(0)
    if isinstance(message, dict) and "id" in message:
        if message["method"] == "session/new" and "early" in faults:
            update = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
            params = {"sessionId": "s", "update": update}
            say({"jsonrpc": "2.0", "method": "session/update", "params": params})
        say({"jsonrpc": "2.0", "id": message["id"], **answer(message, faults)})


def main(faults: set[str], news: str) -> None:
    if "children" in faults:
        subprocess.Popen(CHILD, start_new_session=True)
    if news:
        with open(news, "w") as file:
            file.write(str(os.getpid()))
    if "prints" in faults:
        print("Welcome to this agent!", flush=True)
    for line in sys.stdin:
        if "deaf" not in faults:
            take(line, faults)
    if "stays" in faults:
        subprocess.run(CHILD, check=False)


if __name__ == "__main__":
    main(set(sys.argv[1].split(",")), sys.argv[2] if len(sys.argv) > 2 else "")
