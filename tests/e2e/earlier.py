"""What a client of an earlier build does: PYTHONPATH says which. Makes a session, plays turns and
leaves the last one at its ask, awake.

python earlier.py HOME CWD '[argv]' '[[steps of a turn], …]'    prints the session's id
"""

import asyncio
import json
import sys
from typing import Any

import rookery
from rookery.client.create import create_session
from rookery.client.session import SessionClient


async def prompt(client: SessionClient, steps: list[dict[str, Any]]) -> None:
    """Send it, and wait for its end or its ask."""
    text = json.dumps({"play": steps})
    blocks = [{"type": "text", "text": text}]
    begun = await client.send({"id": text[:50], "do": "prompt", "prompt": blocks})
    async for event in client.follow(begun.seq):
        update = event.update
        if update["sessionUpdate"] == "_ask" and update["state"] == "asked":
            return
        if update["sessionUpdate"] == "_turn" and update["state"] == "idle":
            return


async def main(home: str, cwd: str, argv: list[str], turns: list[Any]) -> None:
    session = create_session(home, agent="player", argv=argv, cwd=cwd)
    client = SessionClient(home, session, "earlier")
    for steps in turns:
        await prompt(client, steps)
    client.close()
    print(json.dumps({"session": session, "from": rookery.__file__}))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])))
