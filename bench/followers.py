"""A client of a daemon: `python -m bench.followers ADDRESS TOKEN SESSION…`.

It follows the sessions over one WebSocket and keeps when each piece of text came. It says `ready`,
and when a line comes on stdin, all that it has: for each session its pieces as [nanoseconds, text].
"""

import asyncio
import json
import sys
from time import monotonic_ns

from websockets.asyncio.client import connect


async def follow(address: str, token: str, sessions: list[str]) -> None:
    came: dict[str, list[tuple[int, str]]] = {session: [] for session in sessions}
    ready = asyncio.Event()
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(address, additional_headers=headers, max_size=None) as link:
        for session in sessions:
            await link.send(json.dumps({"subscribe": {"topic": session}}))

        async def take() -> None:
            waiting = set(sessions)
            async for message in link:
                at = monotonic_ns()
                ((kind, body),) = json.loads(message).items()
                if kind == "snapshot":
                    waiting.discard(body["topic"])
                    if not waiting:
                        ready.set()
                elif kind == "ops":
                    text = "".join(_texts(body["ops"]))
                    if text:
                        came[body["topic"]].append((at, text))
                else:
                    raise RuntimeError(f"the daemon said {kind}: {body}")

        taking = asyncio.create_task(take(), name="take")
        await ready.wait()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        taking.cancel()
    print(json.dumps(came), flush=True)


def _texts(ops: list[list[object]]) -> list[str]:
    """Of the agent's answer."""
    found = []
    for op in ops:
        match op:
            case ["put", {"role": "answer", "text": str(text)}]:
                found.append(text)
            case ["append", str(), str(text)]:
                found.append(text)
    return found


if __name__ == "__main__":
    asyncio.run(follow(sys.argv[1], sys.argv[2], sys.argv[3:]))
