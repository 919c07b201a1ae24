"""The environment that a session's agent gets: kept when the session is made, and taken anew from
the terminal of a person who restarts the agent, switches it, or has logged in to it (row A1).

Beside the log, not in it: keys are in there."""

import json
import os
from collections.abc import Mapping

from rookery.client import guard
from rookery.core.json import lenient
from rookery.core.json.events import Json
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


def keep(directory: str, environment: Mapping[str, str], *, own: bool) -> None:
    """`own`: the session's agent is ours."""
    absent = withheld(environment, own=own)
    _write(directory, cleaned(environment, absent), absent, _umask())


def renew(home: str, header: Json, environment: Mapping[str, str] = os.environ) -> Change | None:
    """Let a session have this process's environment from its agent's next start on; how it differs
    from before. None: it does not, or this process is an agent's."""
    directory = paths.session_dir(home, header["id"])
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    if saved is None or guard.of_an_agent(home):
        return None
    kept = {
        name: value
        for name, value in lenient.mapping(saved, "environment").items()
        if isinstance(value, str)
    }
    held = withheld(environment, own=header["vendor"] == detection.OWN)
    absent = sorted({*held, *lenient.texts(saved, "withheld")})
    new, change = renewed(kept, cleaned(environment, absent))
    if change == Change():
        return None
    # First what is to be told: of two that are cut off in between, this one does no harm.
    news = os.path.join(directory, paths.RENEWED)
    before = change_of(paths.read_json(news))
    told = Change(*(tuple(sorted({*a, *b})) for a, b in zip(before, change, strict=True)))
    paths.write_atomic(news, json.dumps(change_json(told)).encode("ascii"), 0o600)
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
    """There is no way to ask but to set it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
