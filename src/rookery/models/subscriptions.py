"""Models paid for by a subscription: whether the user is logged in, logging in through another
process (the SDK does it), and logging out."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from rookery.core.json import Json, lenient
from rookery.home import paths
from rookery.models.profiles import Profile

VENDOR = "openai"
TYPE = "auth_type"
ISSUER = "subscription_issuer"
"""A profile's field: another server to log in at."""
FIELDS: Json = {TYPE: "subscription", "subscription_vendor": VENDOR}
API = "https://chatgpt.com/backend-api/codex"
MODELS = ("gpt-6.1-sol", "gpt-6-sol", "gpt-5.6-sol", "gpt-5.5")
"""Some that a subscription has; any other can be named."""
LOG_IN = "rookery setup login"
LOCK = "renewal.lock"


class NotLoggedIn(Exception):
    """Logging in failed; the sentence says why."""


def is_one(extras: Mapping[str, Any]) -> bool:
    return bool(extras.get(TYPE) == FIELDS[TYPE])


def folder(home: str) -> str:
    return os.path.join(home, "auth")


def _file(home: str) -> str:
    return os.path.join(folder(home), f"{VENDOR}_oauth.json")


def is_logged_in(home: str) -> bool:
    tokens = paths.read_json(_file(home)) or {}
    return bool(lenient.text(tokens, "access_token") and lenient.text(tokens, "refresh_token"))


def log_out(home: str) -> bool:
    """Delete the tokens; return whether there was a login."""
    was = is_logged_in(home)
    with suppress(FileNotFoundError):
        os.unlink(_file(home))
    return was


def profile_of(name: str, model: str, base_url: str, issuer: str, known: Profile | None) -> Profile:
    extras = {**(known.extras if known else {}), **FIELDS, **({ISSUER: issuer} if issuer else {})}
    plain = model.removeprefix("openai/")
    made = Profile(name, f"openai/{plain}", base_url=base_url or API, extras=extras)
    return made._replace(timeout=known.timeout, fallback=known.fallback) if known else made


@contextmanager
def renewing(home: str) -> Iterator[None]:
    """Hold the lock for renewing the tokens: the server accepts each renewal token once, and a
    second session that sent the same one would be logged out. Blocks."""
    file = os.open(os.path.join(folder(home), LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def log_in(home: str, *, device: bool, issuer: str, tell: Callable[[Json], None]) -> None:
    """Log in; block until it is done. `tell` gets where the user has to go. Raises NotLoggedIn."""
    asked = json.dumps({"device": device, "issuer": issuer}).encode()
    environment = {**os.environ, "ROOKERY_HOME": home}
    argv = [sys.executable, "-P", "-m", "rookery.agent.log_in"]
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,  # a Ctrl-C is ours, and ends it in turn
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(asked)
            child.stdin.close()
            last: Json = {}
            for line in child.stdout:
                with suppress(ValueError):
                    reply = json.loads(line)
                    last = reply if isinstance(reply, dict) else last
                    tell(last)
        finally:
            child.terminate()
    if last.get("ok") is not True:
        raise NotLoggedIn(lenient.text(last, "words") or "The login ended without an answer.")
