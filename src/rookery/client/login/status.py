"""The last known login status of each agent, learnt while it ran and kept for the lists. A cache:
it may be deleted, and contains no secrets and no addresses."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote

from rookery.core.json import Json, dumps, lenient
from rookery.core.vendors import logins
from rookery.core.vendors.logins import Method, Status
from rookery.home import paths

FOLDER = os.path.join("cache", "agent-logins")
KEPT = ("id", "methodId", "name", "description", "type", "args", "env", "vars", "varName", "_meta")
META = ("terminal-auth", "api-key")


class Known(NamedTuple):
    state: str = logins.UNKNOWN
    account: str = ""
    at: int = 0
    """When it was learnt, in milliseconds of the epoch; 0: never."""
    result: Json = {}  # noqa: RUF012 (never changed)
    """What it said of logins in `initialize`: its methods, and whether it can log out."""
    argv: tuple[str, ...] = ()
    by: str = ""
    """The method of the last login."""

    @property
    def is_out(self) -> bool:
        return self.state == logins.OUT

    @property
    def tells(self) -> bool:
        """Whether the agent can report its login status."""
        return logins.has_status(self.capabilities) or logins.pushes_status(self.capabilities)

    @property
    def capabilities(self) -> Json:
        return lenient.mapping(self.result, "agentCapabilities")

    def methods(self) -> list[Method]:
        return logins.listed(self.result, self.argv)


def read(home: str, name: str, argv: Sequence[str]) -> Known:
    """Return what is known of an agent: nothing if its command has changed."""
    saved = paths.read_json(_place(home, name))
    if saved is None or lenient.texts(saved, "argv") != list(argv):
        return Known(argv=tuple(argv))
    state = lenient.text(saved, "state")
    return Known(
        state if state in logins.STATES else logins.UNKNOWN,
        lenient.text(saved, "account"),
        lenient.integer(saved, "at") or 0,
        lenient.mapping(saved, "result"),
        tuple(argv),
        lenient.text(saved, "by"),
    )


def note(home: str, name: str, known: Known) -> None:
    """Save what is known, as of now."""
    saved = known._replace(at=int(time.time() * 1000))._asdict()
    path = _place(home, name)
    with suppress(OSError):  # a full disk: a list says less
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        paths.write_atomic(path, dumps(saved).encode("ascii"), 0o600)


def about(result: Json) -> Json:
    """Return the part of the answer to `initialize` that is kept."""
    methods = [
        {key: each[key] for key in KEPT if key in each and key != "_meta"} | _meta(each)
        for each in lenient.mappings(result, "authMethods")
    ]
    capabilities = lenient.mapping(result, "agentCapabilities")
    meta: Json = {logins.PUSHES: {}} if logins.pushes_status(capabilities) else {}
    kept: Json = {"auth": lenient.mapping(capabilities, "auth"), "_meta": meta}
    return {"authMethods": methods[: logins.MAX_METHODS], "agentCapabilities": kept}


def _meta(method: Json) -> Json:
    given = lenient.mapping(method, "_meta")
    kept = {key: given[key] for key in META if key in given}
    return {"_meta": kept} if kept else {}


def after(known: Known, status: Status) -> Known:
    """Return what is known after the agent has reported its status."""
    return known._replace(state=status.state, account=status.account)


def _place(home: str, name: str) -> str:
    return os.path.join(home, FOLDER, f"{quote(name, safe='')[:200]}.json")
