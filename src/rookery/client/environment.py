"""The environment that a session's agent gets: saved when the session is created, and again from
the terminal or editor of a user who restarts the agent, switches it, or has logged in to it.

It is kept beside the log, not in it, because it contains keys."""

import json
import os
from collections.abc import Mapping

from rookery.client import guard
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.turn.remedies import wants_login
from rookery.core.vendors import detection
from rookery.core.vendors.environment import (
    Change,
    change_json,
    change_of,
    cleaned,
    renewed,
    withheld,
)
from rookery.home import paths
from rookery.log.lock import is_locked

TERMINAL = "terminal"

RENEWING = ("restart", "switch", "prompt")
"""Commands before which an agent may get another environment."""


def kept_of(saved: Json | None) -> dict[str, str]:
    """Return a session's environment from its file, or this process's own if there is no file."""
    variables = lenient.mapping(saved, "environment") if saved is not None else os.environ
    return cleaned({name: value for name, value in variables.items() if isinstance(value, str)})


def keep(directory: str, environment: Mapping[str, str], *, own: bool) -> None:
    """Save an environment for a session. `own`: the session's agent is ours."""
    absent = withheld(environment, own=own)
    _write(directory, cleaned(environment, absent), absent, _umask())


def renew_before(
    home: str, header: Header, command: Json, of: str = TERMINAL
) -> tuple[Change, bool] | None:
    """Give a session this process's environment before a command that restarts its agent, or a
    prompt to one that wanted a login. `of`: what this process runs in, for the session's notice.
    Returns the change, and whether the agent is still running with the old one and is not restarted
    by the command; None if nothing changes."""
    do = command["do"]
    if do not in RENEWING or (do == "prompt" and not wants_login(header)):
        return None
    if do == "switch":  # what is kept of it depends on who comes
        agent, argv = lenient.text(command, "agent"), lenient.texts(command, "argv")
        header = header.with_(vendor=detection.vendor_of(agent, argv))
    change = renew(home, header, of=of)
    if change is None:
        return None
    awake = is_locked(paths.session_dir(home, header.id))
    return change, do == "prompt" and awake


def renew(
    home: str, header: Header, environment: Mapping[str, str] = os.environ, *, of: str = TERMINAL
) -> Change | None:
    """Give a session this process's environment from its agent's next start on, and return the
    change. None if it does not change, or this process is an agent's."""
    directory = paths.session_dir(home, header.id)
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    if saved is None or guard.of_an_agent(home):
        return None
    held = withheld(environment, own=header.vendor == detection.OWN)
    absent = sorted({*held, *lenient.texts(saved, "withheld")})
    new, change = renewed(kept_of(saved), cleaned(environment, absent))
    if change == Change():
        return None
    # First what is to be told: of two that are cut off in between, this one does no harm.
    news = os.path.join(directory, paths.RENEWED)
    before = change_of(paths.read_json(news))
    total = Change(*(tuple(sorted({*a, *b})) for a, b in zip(before, change, strict=True)))
    paths.write_atomic(news, json.dumps(change_json(total) | {"of": of}).encode("ascii"), 0o600)
    umask = lenient.integer(saved, "umask")
    _write(directory, new, absent, _umask() if umask is None else umask)
    return change


def _write(directory: str, environment: dict[str, str], absent: list[str], umask: int) -> None:
    saved: Json = {"environment": environment, "umask": umask}
    if absent:
        saved["withheld"] = absent
    secret = json.dumps(saved).encode("ascii")
    paths.write_atomic(os.path.join(directory, paths.ENVIRONMENT), secret, 0o600)


def _umask() -> int:
    """Return the umask, which can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
