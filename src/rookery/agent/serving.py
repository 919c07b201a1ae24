"""Rookery's own agent as a process that speaks ACP on stdio until stdin ends."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from rookery.agent.process.arguments import Arguments, parse
from rookery.agent.sdk_patches import environment
from rookery.agent.server import Server
from rookery.wire import reception


def main(argv: list[str], end: Callable[[int], NoReturn] = os._exit) -> NoReturn:
    """Speak over descriptors 0 and 1, then `end` the process without waiting for tools' threads."""
    arguments = parse(argv)
    if isinstance(arguments, str):
        print(f"rookery: {arguments}", file=sys.stderr, flush=True)
        end(2)
    environment.keep(override=arguments.override)
    with asyncio.Runner() as runner:
        runner.run(serve(arguments))
        from rookery.processes import tree

        tree.end_below(os.getpid())  # shells, servers and what they started
        end(0)


async def serve(arguments: Arguments) -> None:
    await reception.serve(lambda group: _opened(arguments, group))


def _opened(arguments: Arguments, group: asyncio.TaskGroup) -> Server:
    from concurrent.futures import ThreadPoolExecutor

    from rookery.agent.process import stderr

    server = Server(arguments, group)
    stderr.shield()
    # More than asyncio's few: a tool that hangs holds its thread.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    return server
