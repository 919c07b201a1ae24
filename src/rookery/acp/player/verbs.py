"""The verbs of a script that send updates, wait, or end the turn."""

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from rookery.acp.player.performance import Performance, TurnOver, Verb
from rookery.core.json import Json
from rookery.wire.jsonrpc import INTERNAL_ERROR, ConnectionClosed, RpcError

FOREVER = 1e9
LONGEST_TEXT = 2 * 1024 * 1024
"""Characters of one update: each can take 12 bytes, and clients hang up at 32 MiB."""
TOOL_FIELDS = (
    *("title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"),
)


async def say(kind: str, turn: Performance, a: Json) -> None:
    message = a.get("messageId") or turn.session.new_message_id()
    for number, piece in enumerate(cut(str(a["text"]), int(a.get("chunks", 1)))):
        if number and a.get("every"):
            await asyncio.sleep(a["every"])
        content = {"type": "text", "text": piece}
        turn.send({"sessionUpdate": kind, "content": content, "messageId": message})
        await turn.stage.peer.drain()


def cut(text: str, pieces: int) -> list[str]:
    """Cut the text into about `pieces` parts, between words where there are enough of them."""
    tokens = re.findall(r"\s*\S+\s*", text)
    parts: Sequence[str] = tokens if len(tokens) >= pieces else text
    size = max(1, -(-len(parts) // max(1, pieces)))
    whole = ["".join(parts[at : at + size]) for at in range(0, len(parts), size)]
    short = [
        piece[at : at + LONGEST_TEXT]
        for piece in whole
        for at in range(0, len(piece), LONGEST_TEXT)
    ]
    return short or [text]


async def tool(turn: Performance, a: Json) -> None:
    fields = {key: a[key] for key in TOOL_FIELDS if key in a}
    for location in fields.get("locations", []):
        location["path"] = turn.absolute(location["path"])
    turn.tool(a.get("toolCallId"), fields)


async def update(turn: Performance, a: Json) -> None:
    turn.send(a)


async def plan(turn: Performance, a: Json) -> None:
    """Send a plan. Entries may be texts; "done": n means that the first n are done, and the next
    has begun."""
    done = a.get("done")
    entries = []
    for number, entry in enumerate(a["entries"]):
        status = "pending"
        if done is not None:
            status = "completed" if number < done else "in_progress" if number == done else status
        given = {"content": entry} if isinstance(entry, str) else entry
        entries.append({"priority": "medium", "status": status, **given})
    turn.send({"sessionUpdate": "plan", "entries": entries})


async def commands(turn: Performance, a: Json) -> None:
    turn.tell(
        {"sessionUpdate": "available_commands_update", "availableCommands": a["availableCommands"]}
    )


async def mode(turn: Performance, a: Json) -> None:
    turn.chose(turn.stage.choices.set_mode(a["id"]))


async def options(turn: Performance, a: Json) -> None:
    """Change options: a list replaces all of them; {"set": {id: value}} changes some."""
    choices = turn.stage.choices
    news = choices.replace_options(a["configOptions"]) if "configOptions" in a else []
    for id, value in a.get("set", {}).items():
        news = choices.set_option(id, value)
    turn.chose(news)


async def usage(turn: Performance, a: Json) -> None:
    cost = a.get("cost")
    size = a.get("size", 200_000)
    update: Json = {"sessionUpdate": "usage_update", "used": a["used"], "size": size}
    if cost is not None:
        update["cost"] = cost if isinstance(cost, dict) else {"amount": cost, "currency": "USD"}
    turn.send(update)


async def title(turn: Performance, a: Json) -> None:
    turn.session.set(title=a["title"])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    turn.send({"sessionUpdate": "session_info_update", "title": a["title"], "updatedAt": now})


async def wait(turn: Performance, a: Json) -> None:  # noqa: ARG001 (a verb)
    await asyncio.sleep(a["seconds"])


async def until(turn: Performance, a: Json) -> None:
    """Wait for the cancel; "then" is played before its answer and may end it otherwise."""
    try:
        await asyncio.sleep(FOREVER)
    except asyncio.CancelledError:
        await turn.play(a.get("then", []))
        raise


async def stop(turn: Performance, a: Json) -> None:  # noqa: ARG001
    raise TurnOver(a["stopReason"], meta=a.get("_meta"))


async def error(turn: Performance, a: Json) -> None:  # noqa: ARG001
    raise TurnOver(error=error_of(a))


def error_of(a: Json | str) -> RpcError:
    a = {"message": a} if isinstance(a, str) else a
    message = a.get("message", "as the script says")
    return RpcError(a.get("code", INTERNAL_ERROR), message, a.get("data"))


async def rate_limit(turn: Performance, a: Json) -> None:  # noqa: ARG001
    message = a.pop("message", "You have hit your rate limit")
    data = {"errorKind": "rate_limit", **{key: value for key, value in a.items() if value}}
    raise TurnOver(error=RpcError(INTERNAL_ERROR, message, data))


async def crash(turn: Performance, a: Json) -> None:
    """Exit, once everything sent before is written."""
    with suppress(TimeoutError, ConnectionClosed):
        async with asyncio.timeout(1):
            await turn.stage.peer.drain(1)
    die(a)


def die(how: Json | int | str) -> None:
    a: Json = {"signal" if isinstance(how, str) else "code": how}
    if isinstance(how, dict):
        a = how
    if "signal" in a:
        number = a["signal"]
        os.kill(os.getpid(), getattr(signal, number) if isinstance(number, str) else number)
    os._exit(a.get("code", 1))


async def late(turn: Performance, a: Json) -> None:
    """Have steps played after the prompt's answer."""
    turn.late += a["steps"]


async def repeat(turn: Performance, a: Json) -> None:
    for _ in range(a["times"]):
        await turn.play(a["steps"])


async def child(turn: Performance, a: Json) -> None:
    """Play steps under the session of a sub-agent, until that is cancelled."""
    own, turn.speaker = turn.speaker, str(a["session"])
    playing = turn.children[turn.speaker] = asyncio.create_task(turn.play(a["steps"]))
    try:
        await asyncio.wait({playing})
    finally:
        playing.cancel()
        await asyncio.wait({playing})
        turn.speaker = own
    if not playing.cancelled():
        playing.result()


VERBS = {
    "text": Verb("text", partial(say, "agent_message_chunk")),
    "thought": Verb("text", partial(say, "agent_thought_chunk")),
    "tool": Verb("title", tool),
    "update": Verb("update", update),
    "plan": Verb("entries", plan),
    "commands": Verb("availableCommands", commands),
    "mode": Verb("id", mode),
    "options": Verb("configOptions", options),
    "usage": Verb("used", usage),
    "title": Verb("title", title),
    "wait": Verb("seconds", wait),
    "until": Verb("what", until),
    "stop": Verb("stopReason", stop),
    "error": Verb("message", error),
    "rate_limit": Verb("resetsAt", rate_limit),
    "crash": Verb("code", crash),
    "child": Verb("session", child),
    "late": Verb("steps", late),
    "repeat": Verb("times", repeat),
}
