"""A visit to an MCP server that is a process: started, asked, ended with all that it started."""

import asyncio
import os
from collections.abc import Mapping

from rookery.cli.checkup.subject import Reply, Subject
from rookery.cli.mcp_probe import talk
from rookery.core.json import lenient
from rookery.core.json.events import Json


def visit(server: Json, environment: Mapping[str, str], within: float) -> talk.Visit:
    """`server` in ACP's shape. Raises talk.Failed."""
    own = {each["name"]: each["value"] for each in server["env"]}
    argv = [server["command"], *server["args"]]
    return asyncio.run(_visit(argv, {**environment, **own}, within))


async def _visit(argv: list[str], environment: Mapping[str, str], within: float) -> talk.Visit:
    until = asyncio.get_running_loop().time() + within
    try:
        async with Subject(argv, os.getcwd(), environment) as server:
            return await _converse(server, until)
    except FileNotFoundError:
        raise talk.Failed(f"{argv[0]!r} is not on PATH") from None
    except (OSError, ValueError) as error:
        raise talk.Failed(f"{argv[0]} cannot be started: {error}") from error


async def _converse(server: Subject, until: float) -> talk.Visit:
    async def asked(method: str, params: Json) -> Reply:
        left = max(0.1, round(until - asyncio.get_running_loop().time(), 1))
        reply = await server.ask(method, params, left)
        if not reply.good:
            raise talk.Failed(_why(server, method, reply))
        return reply

    greeting = (await asked("initialize", talk.hello())).result
    talk.protocol_of(greeting)
    server.peer.notify("notifications/initialized", {})
    names = list[str]()
    params: Json = {}
    for _ in range(talk.PAGES if talk.has_tools(greeting) else 0):
        page = (await asked("tools/list", params)).result
        names += talk.names_in(page)
        if not (cursor := lenient.text(page, "nextCursor")):
            break
        params = {"cursor": cursor}
    return talk.visited(greeting, names)


def _why(server: Subject, method: str, reply: Reply) -> str:
    if reply.code is not None:
        return f"{method} was refused: {reply.words} ({reply.code})"
    lines = [line.strip() for line in server.stderr.splitlines() if line.strip()]
    if lines:
        return f"{reply.words}; its stderr ends with: {lines[-1]}"
    if server.noise:
        return f"{reply.words}; on its stdout: {server.noise[-1]}"
    return reply.words
