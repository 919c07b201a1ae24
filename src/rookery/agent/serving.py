"""`rookery agent`: Rookery's own agent as a process that speaks ACP on stdio, until stdin ends."""

import asyncio
import os
import sys
from contextlib import suppress

from rookery.agent.arguments import Arguments, parse
from rookery.agent.server import Server


def main(argv: list[str]) -> int:
    arguments = parse(argv)
    if isinstance(arguments, str):
        print(f"rookery agent: {arguments}", file=sys.stderr)
        return 2
    run_agent(arguments)
    return 0


def run_agent(arguments: Arguments) -> None:
    """Speak over the descriptors 0 and 1. Ends the process: threads of tools are not waited for."""
    with asyncio.Runner() as runner:
        runner.run(serve(arguments))
        _end_descendants()
        os._exit(0)


def _end_descendants() -> None:
    """Shells, servers, and whatever they started: nothing of ours outlives us (acp-T14)."""
    from rookery.processes import tree

    if left := tree.descendants(os.getpid()):
        tree.kill(left)


class Over(Exception):
    """Ends the group: whatever still works for a session is cancelled."""


async def serve(arguments: Arguments) -> None:
    with suppress(Over):
        async with asyncio.TaskGroup() as group:
            await _serve(Server(arguments, group))


async def _serve(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from rookery.agent import stderr

    stderr.shield()
    # More than asyncio's few: a tool that hangs holds its thread, and nobody may wait for that.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    await server.closed.wait()
    await server.wind_down()
    raise Over
