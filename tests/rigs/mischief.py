"""The verbs of a script that misbehave: a worker has to live with agents that do all of this."""

import asyncio
import os
import subprocess
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from rookery.acp.player import verbs
from rookery.acp.player.performance import Performance, Verb
from rookery.core.json.events import dumps
from rookery.wire.jsonrpc import Peer
from rookery.wire.pipes import PipeWriter, private_copy

if TYPE_CHECKING:
    from tests.rigs.rigged import RiggedAgent

type Json = dict[str, Any]

FOREVER = 1e9
PIECE = 256 * 1024
FLOOD_ROUND = 100

AGENTS: dict[Peer, "RiggedAgent"] = {}
DEAF: WeakSet[Performance] = WeakSet()
"""Turns that hear no cancel."""
_STEERED: WeakKeyDictionary[Performance, asyncio.Event] = WeakKeyDictionary()


@cache
def stderr_pipe() -> PipeWriter:
    """Written to without waiting for a reader."""
    return PipeWriter(private_copy(2, os.O_WRONLY), lambda _error: None)


async def silence(turn: Performance, a: Json) -> None:
    """Stay alive and never answer again."""
    DEAF.add(turn)
    AGENTS[turn.stage.peer].silent = True
    await asyncio.sleep(FOREVER)


async def deaf(turn: Performance, a: Json) -> None:
    """Hear no cancel in this turn."""
    if a.get("deaf", True):
        DEAF.add(turn)
    else:
        DEAF.discard(turn)


def steered(turn: Performance) -> asyncio.Event:
    return _STEERED.setdefault(turn, asyncio.Event())


async def until(turn: Performance, a: Json) -> None:
    """Until the cancel comes, or, with "steer", a prompt that is steered into the turn."""
    if a.get("what") != "steer":
        await verbs.until(turn, a)
        return
    await steered(turn).wait()
    steered(turn).clear()
    await turn.play(a.get("then", []))


async def flood(turn: Performance, a: Json) -> None:
    """Chunks as fast as the pipe takes them, numbered; "stamp" puts the time of writing first.
    "rate": so many a second, and what came late is made up for."""
    peer, every, stamp = turn.stage.peer, a.get("every", 0), a.get("stamp", False)
    rate, began = a.get("rate", 0), time.monotonic()
    before, after = _around_text(turn, a)
    frame = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":'
    head = frame % dumps(turn.session.id)
    size = int(a.get("size", 20))
    rounds = 1 if every or rate else FLOOD_ROUND
    for start in range(0, a["chunks"], rounds):
        updates = []
        for number in range(start, min(start + rounds, a["chunks"])):
            mark = f"{time.monotonic_ns()} {number} " if stamp else f"{number} "
            updates.append(f"{before}{mark.ljust(size, '.')}{after}")
        turn.session._write("".join(f'{{"update":{update}}}\n' for update in updates))
        peer.write_raw("".join(f"{head}{update}}}}}\n" for update in updates).encode("ascii"))
        peer.flush()
        await peer.drain()
        early = began + (start + 1) / rate - time.monotonic() if rate else every
        await asyncio.sleep(max(0.0, early))


def _around_text(turn: Performance, a: Json) -> tuple[str, str]:
    """The JSON before and after a chunk's text: encoding each chunk would halve the speed."""
    message = a.get("messageId") or turn.session.new_message_id()
    kind = a.get("kind", "agent_message_chunk")
    content = {"type": "text", "text": "\0"}
    update = dumps({"sessionUpdate": kind, "content": content, "messageId": message})
    before, _, after = update.partition("\\u0000")
    return before, after


async def raw(turn: Performance, a: Json) -> None:
    """Bytes on stdout as they are: "line" or "bytes_hex", "repeat" times, then a newline."""
    peer = turn.stage.peer
    data = bytes.fromhex(a["bytes_hex"]) if "bytes_hex" in a else str(a["line"]).encode()
    left = int(a.get("repeat", 1))
    at_once = max(1, PIECE // max(1, len(data)))
    while left > 0:
        peer.write_raw(data * min(left, at_once))
        left -= at_once
        await peer.drain()
    if a.get("newline", True):
        peer.write_raw(b"\n")


async def stderr(turn: Performance, a: Json) -> None:
    """On stderr, "repeat" times; a client that never reads it does not hold the turn."""
    stderr_pipe().write((str(a["text"]) * int(a.get("repeat", 1))).encode("utf-8", "replace"))


async def stray_print(turn: Performance, a: Json) -> None:
    """What a careless print would do: it must not reach the protocol."""
    with suppress(BlockingIOError):
        os.write(1, f"{a['text']}\n".encode("utf-8", "replace"))


async def spawn(turn: Performance, a: Json) -> None:
    """Start a process that lives on; "detach": an orphan in a session of its own. Sets $pid."""
    argv, detach = a["argv"], a.get("detach", False)
    if detach:
        argv = ["sh", "-c", '"$@" >/dev/null 2>&1 & echo $!', "sh", *argv]
    process = subprocess.Popen(  # noqa: ASYNC220 (it starts and does not wait)
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if detach else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=turn.session.cwd,
        start_new_session=detach,
    )
    turn.variables["pid"] = str(process.pid)
    if process.stdout is not None:
        turn.variables["pid"] = process.stdout.readline().decode().strip()
        process.stdout.close()
        process.wait()  # the shell ends at once
    _children.append(process)


_children: list[subprocess.Popen[bytes]] = []

VERBS = {
    "silence": Verb("silence", silence),
    "until": Verb("what", until),
    "deaf": Verb("deaf", deaf),
    "flood": Verb("chunks", flood),
    "raw": Verb("line", raw),
    "stderr": Verb("text", stderr),
    "print": Verb("text", stray_print),
    "spawn": Verb("argv", spawn),
}
