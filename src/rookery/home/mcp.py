"""`mcp.json` of the home: the MCP servers of every agent.

    {"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "${MY_KEY}"}},
        "docs": {"url": "https://…/mcp", "headers": {"Authorization": "Bearer …"}}
    }}

Most programs with MCP servers use this format, so their files can be copied. Unknown keys are kept.
It may hold secrets: it is written 0600, and its contents go to agents, never to a log.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rookery.agents import programs
from rookery.core.json import Json, files
from rookery.home import ownership, paths

FILE = "mcp.json"
SERVERS = "mcpServers"
SHAPE = f'{{"{SERVERS}": {{…}}}}'

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@/-]{0,63}")

_HTTP = ("http", "streamable-http", "streamable_http", "streamablehttp", "remote")
KINDS = {"stdio": "stdio", "local": "stdio", "sse": "sse"} | dict.fromkeys(_HTTP, "http")
"""The names that other programs give a transport, and its name in ACP."""

LONGEST_TIMEOUT = 3600
"""Seconds."""

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

IN = 'cd -- "$1" && shift && exec "$@"'
"""ACP has no working directory for a server: a shell changes to it first."""


McpError = files.Unusable


class BadServer(McpError):
    """The entry of one server is invalid; the message says why."""

    kind = "unclear"


class Server(NamedTuple):
    name: str
    kind: str
    """stdio, http or sse; "": see `fault`."""
    enabled: bool
    entry: Json
    """As in the file."""
    fault: str = ""


class Resolved(NamedTuple):
    """Servers as ACP takes them, and a sentence for each that is left out."""

    servers: list[Json]
    faults: list[str]


# ---------------------------------------------------------------- the file


def path(home: str) -> str:
    return os.path.join(home, FILE)


def load(home: str) -> list[Server]:
    """Return the servers in the order of the file; none without a file. Raises McpError."""
    return listed(_servers(_read(path(home)), path(home)))


def listed(table: Mapping[str, Any]) -> list[Server]:
    return [_server(name, entry) for name, entry in table.items()]


def find(home: str, name: str) -> Server:
    """Return the server of this name. Raises McpError."""
    known = {server.name: server for server in load(home)}
    if name not in known:
        names = ", ".join(known) or "none yet"
        raise BadServer(f"There is no MCP server {name!r}. Known: {names}.")
    return known[name]


def add(home: str, name: str, entry: Json, *, replace: bool = False) -> None:
    """Add a server. Raises McpError."""
    if not NAME.fullmatch(name):
        raise BadServer(
            f"{name!r} cannot name an MCP server: use at most 64 letters, digits and _ . @ / -."
        )
    if fault := _server(name, entry).fault:
        raise BadServer(f"{name}: {fault}.")

    def change(servers: Json) -> None:
        if name in servers and not replace:
            raise BadServer(f"MCP server {name!r} already exists; pass --force to replace it.")
        servers[name] = entry

    _change(home, change)


def remove(home: str, name: str) -> None:
    find(home, name)
    _change(home, lambda servers: servers.pop(name))


def set_enabled(home: str, name: str, *, enabled: bool) -> None:
    """Enable or disable a server. Other programs write "disabled"; only "enabled" is left in the
    file."""
    entry = find(home, name).entry
    if not isinstance(entry, dict):
        raise BadServer(f"{name}: {_server(name, entry).fault}.")

    def change(servers: Json) -> None:
        kept = {key: servers[name][key] for key in servers[name] if key not in _SWITCHES}
        servers[name] = kept if enabled else {**kept, "enabled": False}

    _change(home, change)


_SWITCHES = ("enabled", "disabled")
OAUTH = "oauth"


def _change(home: str, change: Callable[[Json], object]) -> None:
    """Change the file; one that cannot be read is left as it is."""
    file = path(home)
    document = _read(file)
    change(_servers(document, file))
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    paths.ensure_home(home)
    # The user may keep the file elsewhere: a link stays one.
    paths.write_atomic(os.path.realpath(file), text.encode(), 0o600, sync=True)


def _read(path: str) -> Json:
    data = ownership.read(path, os.path.dirname(path))
    return {SERVERS: {}} if data is None else files.parse(data, path, SHAPE)


def _servers(document: Json, path: str) -> Json:
    """Return the table of servers in the document, adding it if missing."""
    servers = document.setdefault(SERVERS, {})
    if not isinstance(servers, dict):
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        why = "must be an object of servers by name"
        raise McpError(files.value_message(path, text, SERVERS, why))
    return servers


# ---------------------------------------------------------------- one server


def _server(name: str, entry: Any) -> Server:
    if not isinstance(entry, dict):
        return Server(name, "", enabled=True, entry=entry, fault="must be an object")
    enabled = entry.get("enabled") is not False and entry.get("disabled") is not True
    try:
        kind = _kind(entry)
        _shape(entry, kind)
    except ValueError as error:
        return Server(name, "", enabled, entry, str(error))
    return Server(name, kind, enabled, entry)


def address(entry: Json) -> str:
    """Return the URL of a server; some programs call it `httpUrl`."""
    return str(entry.get("url") or entry.get("httpUrl") or "")


def timeout_of(entry: Any) -> float | None:
    """Return the seconds to connect and for each call; None for the default. Some programs write
    milliseconds: a number too large for seconds."""
    given = entry.get("timeout") if isinstance(entry, dict) else None
    if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
        return None
    return given / 1000 if given > LONGEST_TIMEOUT else float(given)


def _kind(entry: Json) -> str:
    """Return the entry's transport. Raises ValueError."""
    transport = entry.get("type", entry.get("transport"))
    if transport is not None:
        known = KINDS.get(transport.lower()) if isinstance(transport, str) else None
        if known is None:
            raise ValueError(f"unknown transport {transport!r}: use stdio, http or sse")
        if known == "stdio" and "command" not in entry:
            raise ValueError("a stdio server needs a command")
        if known != "stdio" and not address(entry):
            raise ValueError(f"a server over {known} needs a url")
        return known
    if "command" in entry:
        return "stdio"
    if not address(entry):
        raise ValueError("needs a command, or a url")
    return "sse" if address(entry).split("?")[0].rstrip("/").endswith("/sse") else "http"


def _shape(entry: Json, kind: str) -> None:
    """Check the entry's fields. Raises ValueError."""
    if "timeout" in entry and timeout_of(entry) is None:
        raise ValueError("timeout must be a number of seconds above 0")
    if kind == "stdio":
        if not isinstance(entry["command"], str) or not entry["command"].strip():
            raise ValueError("command must be the program's name or path, in quotes")
        args = entry.get("args", [])
        if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
            raise ValueError("args must be a list of strings")
        if not isinstance(entry.get("cwd", ""), str):
            raise ValueError("cwd must be a path")
        _texts(entry, "env")
    else:
        if not address(entry).lower().startswith(("http://", "https://", "${")):
            raise ValueError("the url must begin with http:// or https://")
        _texts(entry, "headers")
        _auth(entry)


def _auth(entry: Json) -> None:
    """Check `auth`: some programs have a token there, or the name of a kind of login, which needs
    no setting."""
    if not isinstance(entry.get("auth", ""), str):
        raise ValueError("auth must be a token")


def _authorizes(entry: Json) -> bool:
    return any(name.lower() == "authorization" for name in entry.get("headers", {}))


def _texts(entry: Json, key: str) -> None:
    given = entry.get(key, {})
    values = given.values() if isinstance(given, dict) else [None]
    if not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"{key} must be an object of strings")


# ---------------------------------------------------------------- for an agent


def for_agent(
    servers: list[Server], environment: Mapping[str, str], node_path: str = ""
) -> Resolved:
    """Return the enabled servers, as `session/new` takes them.

    `${NAME}` and `${NAME:-default}` come from the session's environment. A server with an unset
    variable is left out: it would fail later without saying why."""
    resolved = Resolved([], [])
    for server in [each for each in servers if each.enabled]:
        try:
            resolved.servers.append(to_acp(server, environment, node_path))
        except ValueError as error:
            resolved.faults.append(f"{server.name}: {error}")
    return resolved


def to_acp(server: Server, environment: Mapping[str, str], node_path: str = "") -> Json:
    """Convert a server. Raises ValueError if it has a fault, or a variable is not set."""
    entry = server.entry
    if server.fault:
        raise ValueError(server.fault)

    def fill(value: object) -> str:
        return expanded(str(value), environment)

    def listed(key: str) -> list[Json]:
        return [{"name": name, "value": fill(value)} for name, value in entry.get(key, {}).items()]

    if server.kind != "stdio":
        headers = listed("headers")
        if (
            (auth := fill(entry.get("auth", "")))
            and auth.lower() != OAUTH
            and not _authorizes(entry)
        ):
            headers.append({"name": "Authorization", "value": f"Bearer {auth}"})
        url = fill(address(entry))
        return {"type": server.kind, "name": server.name, "url": url, "headers": headers}
    command = os.path.expanduser(fill(entry["command"]))
    # ACP wants an absolute path. What is not found, the agent reports.
    command = programs.find(command, environment, node_path=node_path) or command
    args = [fill(word) for word in entry.get("args", [])]
    if cwd := os.path.expanduser(fill(entry.get("cwd", ""))):
        command, args = "/bin/sh", ["-c", IN, "sh", cwd, command, *args]
    return {"name": server.name, "command": command, "args": args, "env": listed("env")}


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Expand variables. Raises ValueError for one that is not set and has no default."""

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        known = environment.get(name) or default
        if known is None:
            raise ValueError(f"the variable {name} is not set")
        return known

    return VARIABLE.sub(value, text)
