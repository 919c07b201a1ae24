"""A client in a process of its own, for the benchmarks of a stream: it follows a session and notes
when it received what.

    python -m bench.follower HOME SESSION

It says `ready` when it is connected and has read the history, follows one turn, and prints that
turn's text events as one line of JSON: [[received, text], …], the first of them [began, ""], where
`began` is when the turn's beginning was received. Times are of the monotonic clock, in nanoseconds,
which all processes share.
"""

import asyncio
import json
import sys
from time import monotonic_ns

from rookery.client.session import SessionClient
from rookery.core.json.events import kind_of


async def follow(home: str, session: str) -> list[tuple[int, str]]:
    client = SessionClient(home, session, "bench")
    known = client.log.last_seq()
    received: list[tuple[int, str]] = []
    # From one event before the end, so that the first one tells that we are connected.
    async for event in client.follow(known - 1):
        now = monotonic_ns()
        kind = kind_of(event.update)
        if event.seq == known:
            print("ready", flush=True)
        elif kind == "agent_message_chunk":
            received.append((now, event.update["content"]["text"]))
        elif kind == "_turn" and event.update["state"] == "running":
            received.append((now, ""))
        elif kind == "_turn" and event.update["state"] == "idle":
            break
    client.close()
    return received


if __name__ == "__main__":
    print(json.dumps(asyncio.run(follow(*sys.argv[1:]))), flush=True)
