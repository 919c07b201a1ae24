"""Explains why an MCP server did not connect: what is missing, not how the libraries failed."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from openhands.sdk.mcp.config import MCPServer

ENDS = 5.0
"""Seconds for a program that fails to say why."""
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, each once: a group can be the context of an error in it."""
    known, left = set[int](), [error]
    while left:
        each = left.pop()
        if id(each) not in known:
            known.add(id(each))
            yield each
            inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
            left += [more for more in (*inner, each.__context__, each.__cause__) if more]


def is_late(error: BaseException) -> bool:
    """Tell whether the server did not react at all."""
    from openhands.sdk.mcp.exceptions import MCPTimeoutError

    return isinstance(error, MCPTimeoutError)


def reason(server: "MCPServer", error: BaseException) -> str:
    """Return in one line why a server failed."""
    if is_late(error):
        return f"no answer within {getattr(error, 'timeout', 0):.0f} seconds"
    if why := _missing_program(server) or _network(str(server.url or ""), error):
        return why
    return _line(error) or type(error).__name__


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300].rstrip(".")


def _missing_program(server: "MCPServer") -> str:
    """Return the program that does not exist, which the SDK's error does not name."""
    command = getattr(server, "command", None)
    path = (getattr(server, "env", None) or {}).get("PATH")
    if not command or shutil.which(command, path=path) is not None:
        return ""
    if "/" not in command:
        return f"`{command}` is not on PATH"
    return f"`{command}` {'is not executable' if os.path.exists(command) else 'does not exist'}"


def _network(url: str, error: BaseException) -> str:
    """Return how the network failed; the SDK says only that the connection did."""
    import httpx

    for each in chain(error) if url else ():
        if isinstance(each, httpx.HTTPStatusError):
            return f"HTTP {each.response.status_code} {each.response.reason_phrase}".rstrip()
        if isinstance(each, httpx.ConnectError):
            place = urlsplit(url).netloc.rpartition("@")[2]
            return f"cannot connect to {place}: {_ERRNO.sub('', _line(each))}"
    return ""


def last_words(server: "MCPServer") -> str:
    """Return what a server's program writes before it fails: the variable or the package that is
    missing. The SDK leaves its stderr to the agent's log, so it is started once more, with no
    input."""
    from mcp.client.stdio import get_default_environment

    stdio: Any = server
    if not getattr(stdio, "command", None):
        return ""
    environment = get_default_environment() | (stdio.env or {})
    try:
        process = subprocess.Popen(
            [stdio.command, *stdio.args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=getattr(stdio, "cwd", None),
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    with process:
        try:
            stderr = process.communicate(timeout=ENDS)[1]
        except subprocess.TimeoutExpired:
            return ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if not process.returncode:
        return ""
    lines = stderr[-4000:].decode(errors="replace").splitlines()
    return next((" ".join(line.split())[:200] for line in reversed(lines) if line.strip()), "")
