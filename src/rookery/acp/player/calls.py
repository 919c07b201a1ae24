"""The verbs of a script that call the client: for permission, files, terminals and answers.

They call only what the client offers, and clean up when the turn is cancelled: a terminal is killed
and released.
"""

import asyncio
from contextlib import suppress
from typing import Any

from rookery.acp.player.performance import Performance, Verb
from rookery.core.asks.asks import reason_of
from rookery.core.json import Json, dumps
from rookery.wire.jsonrpc import RpcError, RpcFailure

NOT_FOUND = -32002
SHOWN = 4000
RELEASE_WITHIN = 1.0
OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


def _content(text: str) -> list[Json]:
    return [{"type": "content", "content": {"type": "text", "text": text[:SHOWN]}}]


# --- Permission


async def ask(turn: Performance, a: Json) -> None:
    """Ask about a tool call, which is announced first unless "announce" is false."""
    call = a.get("toolCall") or {
        key: a[key]
        for key in ("toolCallId", "title", "kind", "rawInput", "content", "locations")
        if key in a
    }
    id = call.pop("toolCallId", None)
    if a.get("announce", True):
        id = turn.tool(id, {"status": "pending", **call})
    else:
        id = id or turn.session.new_tool_id(None)
    outcome = await permission(turn, id, call, a.get("options"))
    if "toolCall" in a:
        await turn.play(a.get(outcome, []))
        return
    turn.tool(id, {"status": "in_progress" if outcome == "allowed" else "failed"})
    await turn.play(a.get(outcome, []))
    if outcome == "allowed":
        turn.tool(id, {"status": "completed"})


async def permission(turn: Performance, id: str, call: Json, options: Any = None) -> str:
    """Return allowed, rejected or cancelled; anything but a clear yes is a no."""
    offered = options if isinstance(options, list) else OPTIONS
    tool_call = {"toolCallId": id, **call}
    try:
        answer = await turn.call("session/request_permission", toolCall=tool_call, options=offered)
    except RpcError:
        return "rejected"
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict):
        return "rejected"
    turn.variables["option"] = str(outcome.get("optionId", ""))
    turn.variables["reason"] = reason_of(outcome)
    if outcome.get("outcome") == "cancelled":
        return "cancelled"
    kinds = {option["optionId"]: str(option["kind"]) for option in offered}
    allowed = kinds.get(turn.variables["option"], "").startswith("allow")
    return "allowed" if allowed and outcome.get("outcome") == "selected" else "rejected"


async def _permitted(turn: Performance, a: Json, id: str, call: Json) -> bool:
    """Tell whether a step may be carried out. If the step says "ask", a rejected call fails and is
    never carried out."""
    if not a.get("ask"):
        return True
    outcome = await permission(turn, id, call, a["ask"])
    if outcome != "allowed":
        turn.tool(id, {"status": "failed"})
        await turn.play(a.get(outcome) or a.get("rejected") or [])
    return outcome == "allowed"


# --- Files


async def read(turn: Performance, a: Json) -> None:
    path = turn.absolute(a["path"])
    id = turn.tool(
        a.get("toolCallId"),
        {
            "title": a.get("title", f"Read {a['path']}"),
            "kind": "read",
            "status": "in_progress",
            "locations": [{"path": path, **({"line": a["line"]} if "line" in a else {})}],
        },
    )
    status, text = "completed", a.get("content", "")
    if turn.offered("fs", "readTextFile"):
        where = {key: a[key] for key in ("line", "limit") if key in a}
        try:
            text = (await turn.call("fs/read_text_file", path=path, **where))["content"]
        except RpcError as error:
            missing = error.code == NOT_FOUND
            status = "completed" if missing else "failed"
            text = a.get("content", "No such file yet.") if missing else error.message
    await asyncio.sleep(a.get("takes", 0))
    turn.variables["content"] = text
    turn.tool(id, {"status": status, "content": _content(text)})


async def write(turn: Performance, a: Json) -> None:
    """Make an edit that is really carried out, if the client offers files."""
    path, new = turn.absolute(a["path"]), a["content"]
    old: str | None = None
    if turn.offered("fs", "readTextFile"):
        with suppress(RpcError):  # a file that cannot be read is a new one
            old = (await turn.call("fs/read_text_file", path=path))["content"]
    await _edit(turn, a, path, old, new)


async def diff(turn: Performance, a: Json) -> None:
    """Show an edit without carrying it out; "really" writes it."""
    await _edit(turn, {"really": False, **a}, turn.absolute(a["path"]), a.get("old"), a["new"])


async def _edit(turn: Performance, a: Json, path: str, old: str | None, new: str) -> None:
    call = {
        "title": a.get("title", f"Edit {a['path']}"),
        "kind": "edit",
        "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}],
        "locations": [{"path": path}],
    }
    id = turn.tool(a.get("toolCallId"), {**call, "status": "pending"})
    if not await _permitted(turn, a, id, call):
        return
    turn.tool(id, {"status": "in_progress"})
    await asyncio.sleep(a.get("takes", 0))
    if a.get("really", True) and turn.offered("fs", "writeTextFile"):
        try:
            await turn.call("fs/write_text_file", path=path, content=new)
        except RpcError as error:
            turn.tool(id, {"status": "failed", "content": _content(error.message)})
            return
    turn.tool(id, {"status": "completed"})
    await turn.play(a.get("allowed", []))


# --- Commands


async def command(turn: Performance, a: Json) -> None:
    """Run a command in the client's terminal; if it offers none, play the given output."""
    line = a["command"]
    argv = line if isinstance(line, list) else ["sh", "-c", line]
    shown = " ".join(line) if isinstance(line, list) else line
    given = {"command": shown, **({"run_in_background": True} if a.get("background") else {})}
    call = {"title": a.get("title", shown), "kind": "execute", "rawInput": given}
    id = turn.tool(a.get("toolCallId"), {**call, "status": "pending"})
    if not await _permitted(turn, a, id, call):
        return
    if turn.offered("terminal"):
        await _in_terminal(turn, a, id, argv)
        return
    turn.tool(id, {"status": "in_progress"})
    await asyncio.sleep(a.get("takes", 0))
    status = "failed" if a.get("exit") else "completed"
    output = {"exitCode": a.get("exit", 0), "output": a.get("output", "")[:SHOWN]}
    turn.tool(id, {"status": status, "content": _content(output["output"]), "rawOutput": output})


async def _in_terminal(turn: Performance, a: Json, id: str, argv: list[str]) -> None:
    extra = {key: a[key] for key in ("env", "outputByteLimit") if key in a}
    cwd = turn.absolute(a.get("cwd", ""))
    started = await turn.call(
        "terminal/create", command=argv[0], args=argv[1:], cwd=cwd.rstrip("/") or "/", **extra
    )
    terminal = started["terminalId"]
    content = [{"type": "terminal", "terminalId": terminal}]
    if a.get("background"):
        turn.tool(id, {"status": "completed", "content": content})
        return
    try:
        turn.tool(id, {"status": "in_progress", "content": content})
        try:
            async with asyncio.timeout(a.get("timeout")):
                ended = await turn.call("terminal/wait_for_exit", terminalId=terminal)
        except (TimeoutError, asyncio.CancelledError):
            await _give_back(turn, "terminal/kill", terminal)
            raise
        output = await turn.call("terminal/output", terminalId=terminal)
        turn.variables["output"] = output["output"]
        status = "completed" if ended.get("exitCode") == 0 else "failed"
        raw = {"exitCode": ended.get("exitCode"), "output": output["output"][:SHOWN]}
        turn.tool(id, {"status": status, "content": content, "rawOutput": raw})
    except TimeoutError:
        turn.tool(id, {"status": "failed", "content": content})
    finally:
        await _give_back(turn, "terminal/release", terminal)


async def _give_back(turn: Performance, method: str, terminal: str) -> None:
    """Release a terminal without waiting long: a silent client must not delay the turn's end."""
    with suppress(RpcFailure, TimeoutError):
        async with asyncio.timeout(RELEASE_WITHIN):
            await turn.call(method, terminalId=terminal)


# --- Questions, and any other call


async def question(turn: Performance, a: Json) -> None:
    mode = "url" if "url" in a else "form"
    if not turn.offered("elicitation", mode):
        await turn.play([{"text": f"(I would ask: {a['message']})"}])
        return
    schema = a.get("schema", {"type": "object", "properties": {"answer": {"type": "string"}}})
    more = {"requestedSchema": schema}
    if mode == "url":
        more = {"url": a["url"], "elicitationId": a.get("elicitationId", a["url"])}
    asked = {"mode": mode, "message": a["message"], **more}
    try:
        answer = await turn.call("elicitation/create", **asked)
    except RpcError:
        answer = {"action": "cancel"}
    turn.variables["answer"] = dumps(answer.get("content"))
    outcome = {"accept": "accepted", "decline": "declined"}.get(answer.get("action"), "cancelled")
    await turn.play(a.get(outcome, []))


async def request(turn: Performance, a: Json) -> None:
    """Send any request to the client; sets $answer to its answer or error."""
    try:
        turn.variables["answer"] = dumps(
            await turn.stage.peer.request(a["method"], a.get("params", {}))
        )
    except RpcError as error:
        turn.variables["answer"] = f"{error.code}: {error.message}"


async def notify(turn: Performance, a: Json) -> None:
    turn.stage.peer.notify(a["method"], a.get("params", {}))


async def together(turn: Performance, a: Json) -> None:
    """Play steps at the same time, like an agent that asks about several calls at once."""
    await asyncio.gather(*(turn.play([step]) for step in a["steps"]))


VERBS = {
    "ask": Verb("title", ask),
    "together": Verb("steps", together),
    "read": Verb("path", read),
    "write": Verb("path", write),
    "diff": Verb("path", diff),
    "command": Verb("command", command),
    "question": Verb("message", question),
    "request": Verb("method", request),
    "notify": Verb("method", notify),
}
