"""`mcp`: manages the MCP servers of the home, which every agent is given at its start."""

import asyncio
import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click

from rookery.agents import registry
from rookery.cli import exits, flags, settings
from rookery.cli.aliases import Verbs
from rookery.cli.output import Screen, clean_line, standard, table
from rookery.cli.setup.mcp_login import NEEDED, log_in_with, login, logout
from rookery.client.config import in_force
from rookery.client.login.servers import has_login
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.vendors.environment import cleaned
from rookery.home import mcp as files
from rookery.home import paths

WITHIN = 20.0
FAR = ("http", "sse")


@click.group(cls=Verbs)
def mcp() -> None:
    """Manage the MCP servers that agents get: mcp.json in Rookery's home.

    The file has the usual format: {"mcpServers": {…}}. ${NAME} stands for an environment variable.
    Agents see changes at their next start (rookery restart SESSION).

    \b
    rookery mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    rookery mcp add docs https://example.com/mcp --header "Authorization=Bearer …"
    rookery mcp test
    """


def _complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    try:
        return [each.name for each in files.load(paths.home()) if each.name.startswith(begun)]
    except files.McpError:
        return []


name_argument = click.argument("name", shell_complete=_complete)


# ---------------------------------------------------------------- look


@mcp.command("list")
@flags.results("Print one JSON object per server, secrets masked.")
def list_() -> None:
    """List the servers and whether they are on, off or broken."""
    screen = standard()
    servers = files.load(paths.home())
    if screen.as_json:
        for server in servers:
            screen.result(_fields(server))
    elif servers:
        _write(screen, servers)
    else:
        screen.note("No MCP servers yet. Add one: rookery mcp add NAME -- COMMAND")


def _fields(server: files.Server, *, reveal: bool = False) -> Json:
    entry = server.entry if reveal or not isinstance(server.entry, dict) else masked(server.entry)
    about = {"name": server.name, "transport": server.kind, "enabled": server.enabled}
    if server.kind in FAR:
        about["logged_in"] = has_login(paths.home(), server)
    return about | ({"fault": server.fault} if server.fault else {}) | {"server": entry}


COLUMNS = (
    table.Column("NAME", least=8),
    table.Column("STATE"),
    table.Column("OVER", rank=1),
    table.Column("WHAT", least=12),
)

TOKENS = {"on": "done", "broken": "failed", "off": "faint"}


def _write(screen: Screen, servers: list[files.Server]) -> None:
    states = ["broken" if each.fault else "on" if each.enabled else "off" for each in servers]
    home = paths.home()
    rows = [
        [clean_line(server.name), state, server.kind, clean_line(server.fault or _what(server))]
        for server, state in zip(servers, states, strict=True)
    ]
    for row, server in zip(rows, servers, strict=True):
        row[3] += " (logged in)" if has_login(home, server) else ""

    def look(number: int, heading: str, cell: str) -> str:
        return screen.paint.in_(TOKENS[states[number]], cell) if heading == "STATE" else cell

    table.write(screen, COLUMNS, rows, look)


def _what(server: files.Server) -> str:
    entry = masked(server.entry)
    if server.kind == "stdio":
        return " ".join([entry["command"], *entry.get("args", [])])
    return files.address(entry)


@mcp.command()
@name_argument
@click.option("--reveal", is_flag=True, help="Show secrets.")
@flags.results("Print JSON.")
def get(name: str, reveal: bool) -> None:
    """Print one server. Values of variables and headers are masked unless you pass --reveal."""
    screen = standard()
    fields = _fields(files.find(paths.home(), name), reveal=reveal)
    screen.result(fields)
    for key, value in fields.items():
        if key != "server":
            text = {True: "yes", False: "no"}.get(value, value) if key == "enabled" else value
            screen.line(f"{key:<10} {clean_line(str(text)) or 'unknown'}")
    entry = fields["server"] if isinstance(fields["server"], dict) else {"": fields["server"]}
    for key, value in entry.items():
        if key not in ("enabled", "disabled", "type", "transport"):
            _write_field(screen, key, value)


def _write_field(screen: Screen, key: str, value: Any) -> None:
    if isinstance(value, dict):
        for number, (name, each) in enumerate(value.items()):
            screen.line(f"{'' if number else key:<10} {clean_line(f'{name}={each}')}")
        return
    text = " ".join(masked_words(value)) if isinstance(value, list) else value
    screen.line(f"{clean_line(key):<10} {clean_line(str(text))}")


# ---------------------------------------------------------------- change


@mcp.command()
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--url", help="Address of a remote server.")
@click.option("--transport", type=click.Choice(FAR), help="Transport (default: http).")
@flags.several("--header", metavar="KEY=VALUE", help="Header sent with each request.")
@flags.several("--env", metavar="KEY=VALUE", help="Environment variable for the command.")
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False), help="Working directory of the command."
)
@click.option("--disabled", is_flag=True, help="Add it turned off; rookery mcp enable turns it on.")
@click.option("--force", is_flag=True, help="Replace an existing server of that name.")
@flags.results()
def add(
    name: str,
    command: tuple[str, ...],
    url: str | None,
    disabled: bool,
    force: bool,
    **more: Any,
) -> None:
    """Add a server: a command or a URL. Put the command and its arguments after `--`.

    To keep secrets out of the file, use the environment: --env 'TOKEN=${MY_TOKEN}'.

    \b
    rookery mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    rookery mcp add docs https://example.com/mcp --header "Authorization=Bearer …"
    rookery mcp add old http://localhost:8000/sse --transport sse
    """
    if not url and len(command) == 1 and urlsplit(command[0]).scheme in ("http", "https"):
        url, command = command[0], command[1:]
    if bool(command) == bool(url):
        raise click.UsageError("Pass either --url URL, or -- and a command.")
    for option in ("env", "cwd") if url else ("header", "transport"):
        if more[option]:
            which = "a command" if url else "a URL"
            raise click.UsageError(f"--{option} needs a server with {which}.")
    entry: Json
    if url:
        entry = {"type": more["transport"], "url": url} if more["transport"] else {"url": url}
        entry |= {"headers": _pairs(more["header"], "--header")} if more["header"] else {}
    else:
        entry = {"command": command[0], "args": list(command[1:])}
        entry |= {"env": _pairs(more["env"], "--env")} if more["env"] else {}
        entry |= {"cwd": os.path.abspath(more["cwd"])} if more["cwd"] else {}
    entry |= {"enabled": False} if disabled else {}
    with in_force.editing(paths.home(), adds=True):
        files.add(paths.home(), name, entry, replace=force)
    standard().result(_fields(files.find(paths.home(), name)))
    then = f"Agents get it at their next start. To test it: rookery mcp test {name}"
    off = f"It is off; to turn it on: rookery mcp enable {name}"
    standard().note(f"Added {name}. {off if disabled else then}")


def _pairs(given: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for pair in given:
        key, sign, value = pair.partition("=")
        if option == "--header" and ":" in key:  # as it stands in a request
            key, sign, value = pair.partition(":")
        if not sign or not key.strip():
            raise click.UsageError(f"{option} takes KEY=VALUE, not {pair.partition('=')[0]!r}.")
        pairs[key.strip()] = value.strip() if option == "--header" else value
    return pairs


@mcp.command()
@name_argument
@flags.results()
def remove(name: str) -> None:
    """Remove a server from mcp.json. Running agents keep it until they end."""
    with in_force.editing(paths.home(), adds=False):
        files.remove(paths.home(), name)
    standard().result({"name": name})
    standard().note(f"Removed {name}. Running agents keep it until they end.")


@mcp.command()
@name_argument
@flags.results()
def enable(name: str) -> None:
    """Turn a server on. Agents get it at their next start."""
    _switch(name, enabled=True)
    standard().note(f"{name} is on: agents get it at their next start.")


@mcp.command()
@name_argument
@flags.results()
def disable(name: str) -> None:
    """Turn a server off but keep it in the file."""
    _switch(name, enabled=False)
    standard().note(f"{name} is off: newly started agents do not get it.")


def _switch(name: str, *, enabled: bool) -> None:
    with in_force.editing(paths.home(), adds=enabled):
        files.set_enabled(paths.home(), name, enabled=enabled)
    standard().result(_fields(files.find(paths.home(), name)))


# ---------------------------------------------------------------- test

mcp.add_command(login)
mcp.add_command(logout)


@mcp.command()
@click.argument("names", nargs=-1, shell_complete=_complete)
@click.option("--timeout", default=WITHIN, show_default=True, help="Seconds per server.")
@flags.results("Print one JSON object per server, with its tools.")
def test(names: tuple[str, ...], timeout: float) -> int:
    """Connect to servers as an agent would and count their tools. Default: all that are on.

    \b
    rookery mcp test
    rookery mcp test files --json | jq -r '.tools[]'
    """
    if timeout <= 0:
        raise click.UsageError("--timeout must be more than 0 seconds.")
    screen, home = standard(), paths.home()
    holds = settings.settings().guarded.servers
    if names:
        chosen = [files.find(home, name) for name in dict.fromkeys(names)]
    else:
        chosen = [server for server in files.load(home) if server.enabled]
    # What an agent may have written is not run by a test either.
    waiting = [each.name for each in chosen if holds.get(each.name) != each.entry]
    if waiting:
        raise files.BadServer(f"{', '.join(waiting)}: not confirmed yet, so nothing was started.")
    if not chosen:
        screen.note("No MCP server is on. To list them: rookery mcp list")
        return exits.DONE

    try:
        from rookery.cli.checkup import mcp_probe
    except ModuleNotFoundError:
        message = registry.missing_extra("The library for MCP", "agent")
        raise click.ClickException(message) from None

    environment, node = cleaned(os.environ), settings.settings().config.node_path

    async def visit(server: files.Server) -> Json:
        try:
            given = files.to_acp(server, environment, node)
            log_in = log_in_with(home, server)
            return (await mcp_probe.visit(given, environment, timeout, log_in))._asdict()
        except (mcp_probe.Failed, ValueError) as error:
            message = str(error)
            return {"error": NEEDED.format(server.name) if message == mcp_probe.LOG_IN else message}

    async def visit_all() -> bool:
        far = {each.name: asyncio.ensure_future(visit(each)) for each in chosen if each.kind in FAR}
        good = True
        for server in chosen:
            # Processes one after the other: each visit ends everything that was started.
            report = await (far.get(server.name) or visit(server))
            good = good and "error" not in report
            _write_visit(screen, server, report)
        return good

    screen.status(f"testing {count(len(chosen), 'server')}")
    return exits.DONE if asyncio.run(visit_all()) else exits.FAILED


def _write_visit(screen: Screen, server: files.Server, report: Json) -> None:
    own = {{"name": "server"}.get(key, key): value for key, value in report.items()}
    screen.result({"name": server.name, "ok": "error" not in report, **own})
    name, paint = clean_line(server.name), screen.paint
    if "error" in report:
        screen.line(f"{paint.mark('failed')} {name}: {clean_line(report['error'])}")
        return
    who = clean_line(f"{report['name']} {report['version']}") or "unnamed server"
    tools = count(len(report["tools"]), "tool")
    dot = f" {paint.sign('dot')} "
    screen.line(f"{paint.mark('done')} {name}: {who}{dot}{tools}{dot}MCP {report['protocol']}")


MASK = "•••"

_REFERENCE = re.compile(r"[^$]{0,20}\$\{[^}]*\}")
"""`${NAME}`, also after a word such as Bearer: a reference is no secret."""

_NAMES = re.compile(r"(?i)(key|token|secret|password|passwd|auth|credential)")
_KEYLIKE = re.compile(r"(sk|pk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{8,}")
"""Shorter than a key that is looked for in any text: what is masked here is only shown."""
_OPTION = re.compile(r"(-{1,2}[\w-]+)([=:])(.+)", re.DOTALL)


def masked(entry: Json) -> Json:
    """Return a server's entry without secrets."""
    shown: Json = {}
    for key, value in entry.items():
        if key in ("env", "headers") and isinstance(value, dict):
            shown[key] = {name: _value(each) for name, each in value.items()}
        elif key == "args" and isinstance(value, list):
            shown[key] = masked_words(value)
        elif key in ("url", "httpUrl") and isinstance(value, str):
            shown[key] = _url(value)
        elif (key == "auth" or _NAMES.search(key)) and isinstance(value, str | int | float):
            shown[key] = _value(value)
        else:
            shown[key] = value
    return shown


def _value(value: object) -> object:
    if isinstance(value, str) and (not value or _REFERENCE.fullmatch(value)):
        return value
    return MASK


def masked_words(args: list[Any]) -> list[str]:
    """Return the arguments of a command with secrets masked, also one that follows `--api-key`."""
    shown, next_is_secret = list[str](), False
    for word in map(str, args):
        option = _OPTION.fullmatch(word)
        if next_is_secret and not word.startswith("-"):
            shown.append(str(_value(word)))
        elif option and _NAMES.search(option[1]):
            shown.append(f"{option[1]}{option[2]}{_value(option[3])}")
        else:
            shown.append(_KEYLIKE.sub(MASK, word))
        next_is_secret = bool(word.startswith("-") and not option and _NAMES.search(word))
    return shown


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    place = parts.netloc
    if "@" in place:
        place = MASK + "@" + place.rpartition("@")[2]
    pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query else []
    query = "&".join(
        f"{key}{sign}{_value(value) if _NAMES.search(key) else value}" for key, sign, value in pairs
    )
    return urlunsplit((parts.scheme, place, parts.path, query, parts.fragment))
