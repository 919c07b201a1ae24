"""Logins with MCP servers (OAuth): one file for each server address, in `auth/mcp` of the home,
readable only by the user."""

import hashlib
import os
from contextlib import suppress

from rookery.core.json import Json, dumps, lenient
from rookery.home import mcp, paths


def folder(home: str) -> str:
    return os.path.join(home, "auth", "mcp")


def path(home: str, url: str) -> str:
    name = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:32]
    return os.path.join(folder(home), f"{name}.json")


def read(home: str, url: str) -> Json:
    """Return the login saved for an address, {} if there is none."""
    return paths.read_json(path(home, url)) or {}


def write(home: str, url: str, login: Json) -> None:
    """Save the login for an address. Raises OSError."""
    os.makedirs(folder(home), mode=0o700, exist_ok=True)
    paths.write_atomic(path(home, url), dumps({"url": url, **login}).encode(), sync=True)


def forget(home: str, url: str) -> bool:
    """Remove a login; return whether there was one."""
    was = is_logged_in(home, url)
    with suppress(FileNotFoundError):
        os.unlink(path(home, url))
    return was


def has_login(home: str, server: mcp.Server) -> bool:
    """Tell whether a login is saved for a server; it may have expired."""
    remote = not server.fault and server.kind != "stdio"
    return remote and is_logged_in(home, mcp.address(server.entry))


def is_logged_in(home: str, url: str) -> bool:
    return bool(lenient.text(lenient.mapping(read(home, url), "tokens"), "access_token"))
