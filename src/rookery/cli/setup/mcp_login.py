"""Logging in to remote MCP servers (OAuth) from the command line, and out of them."""

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from rookery.agent.process import sdk_import
from rookery.agents import registry
from rookery.cli import exits, flags, settings
from rookery.cli.output import clean_line, standard
from rookery.client import guard
from rookery.client.login import servers as logins
from rookery.core.asks import links
from rookery.home import mcp as files
from rookery.home import paths

if TYPE_CHECKING:
    from rookery.agent.mcp.oauth import LogIn, PendingLogIn
    from rookery.cli.checkup.mcp_probe import Fail

NEEDED = "it needs a login: rookery mcp login {}"
PASTE = (
    "If your browser runs on another machine and cannot show the last page, paste that page's "
    "address here."
)


def log_in_with(home: str, server: files.Server) -> "Callable[[Fail], LogIn] | None":
    """Return the saved login for a test, refreshed if need be; None if there is none. Loading it
    takes a while."""
    if not logins.has_login(home, server):
        return None
    with sdk_import.surroundings():
        from rookery.agent.mcp.oauth import LogIn

    missing, url = NEEDED.format(server.name), files.address(server.entry)
    return lambda fail: LogIn(home, url, missing=lambda: fail(missing))


@click.command()
@click.argument("name")
@flags.results()
def login(name: str) -> int:
    """Log in to a remote server that asks for it (OAuth).

    Prints an address to open in a browser, and waits until you have logged in there. Rookery's own
    agent uses the login from its next connection on; other agents have logins of their own.
    """
    home, screen = paths.home(), standard()
    guard.require_person(home, "log in to MCP servers")
    server = files.find(home, name)
    if server.fault or server.kind == "stdio":
        raise files.BadServer(f"{name}: {server.fault or 'only a server with a URL has a login'}.")
    if settings.settings().guarded.servers.get(name) != server.entry:
        raise files.BadServer(f"{name}: not confirmed yet, so nothing was started.")
    screen.status("connecting")
    try:
        with sdk_import.surroundings():
            from rookery.agent.mcp import oauth
            from rookery.cli.checkup import mcp_probe
    except ModuleNotFoundError:
        message = registry.missing_extra("The library for MCP", "agent")
        raise click.ClickException(message) from None
    url, asked = files.address(server.entry), list[str]()

    async def ask(wanted: "PendingLogIn") -> bool:
        asked.append(wanted.id)
        write = screen.note if screen.as_json else screen.line
        write("Open this address in a browser:")
        for line in (wanted.url, *links.warnings_of(wanted.url)):
            write(clean_line(line))
        screen.status("waiting for the browser")
        await _pasted(wanted.url)
        return True

    def log_in(_fail: "Fail") -> "LogIn":
        return oauth.LogIn(home, url, ask)

    try:
        given = files.to_acp(server, {}, "")
        asyncio.run(mcp_probe.visit(given, {}, oauth.WITHIN, log_in))
    except (mcp_probe.Failed, ValueError) as error:
        screen.note(f"Not logged in to {name}: {error}")
        return exits.FAILED
    screen.result({"name": name, "logged_in": True})
    screen.note(f"Logged in to {name}." if asked else f"{name} needs no login now.")
    return exits.DONE


async def _pasted(address: str) -> None:
    """Pass an address that the user pastes on to the callback, until cancelled."""
    import httpx

    back = httpx.URL(address).params.get("redirect_uri", "")
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()
    if not flags.at_keyboard() or not back:
        await asyncio.Event().wait()
    standard().note(PASTE)
    loop.add_reader(sys.stdin, lambda: lines.put_nowait(sys.stdin.readline().strip()))
    try:
        while line := await lines.get():
            if line.startswith(f"{back}?"):
                async with httpx.AsyncClient(trust_env=False) as client:
                    await client.get(line)
            else:
                standard().note(f"That is not the address of the last page: {back}?code=…")
        await asyncio.Event().wait()
    finally:
        loop.remove_reader(sys.stdin)


@click.command()
@click.argument("name")
@flags.results()
def logout(name: str) -> int:
    """Delete the saved login for a remote server."""
    guard.require_person(paths.home(), "log out of MCP servers")
    server = files.find(paths.home(), name)
    was = not server.fault and server.kind != "stdio"
    was = was and logins.forget(paths.home(), files.address(server.entry))
    standard().result({"name": name, "logged_in": False})
    standard().note(f"Logged out of {name}." if was else f"You are not logged in to {name}.")
    return exits.DONE if was else exits.FAILED
