"""Login to OpenHands Cloud with a browser, by OAuth's device flow: the user confirms a code on any
machine, and the token arrives here."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx

from rookery.agent.elsewhere.requests import CONNECTING, REQUEST_TIMEOUT
from rookery.agent.provider.told import ActionableError
from rookery.core.json import Json, lenient

MAX_WAIT = 600.0
"""Seconds that the user has at most, even if the cloud allows more."""
SLOWER = 5.0
QUICKEST, SLOWEST = 1.0, 60.0
LOST = 5
"""Looks in a row that nobody answers, until the login is given up."""


class Begun(NamedTuple):
    device: str
    code: str
    """For the user."""
    url: str
    every: float
    """Seconds between two looks."""
    within: float


def begin(url: str) -> Begun:
    """Start a login: get a code that the user confirms. Raises ActionableError."""
    status, reply = _asked(url, "/oauth/device/authorize", json={})
    device, code = lenient.text(reply, "device_code"), lenient.text(reply, "user_code")
    complete = lenient.text(reply, "verification_uri_complete")
    where = complete or lenient.text(reply, "verification_uri")
    if status >= 500:
        raise _unable(url, status)
    if not device or not where.startswith(("https://", "http://")):
        raise ActionableError(f"{url} offers no login with a browser. Paste a token instead.")
    every = float(lenient.number(reply, "interval") or SLOWER)
    within = float(lenient.number(reply, "expires_in") or MAX_WAIT)
    return Begun(device, code, where, _bounded(every), min(max(within, SLOWER), MAX_WAIT))


def wait(url: str, begun: Begun, pause: Callable[[float], None] = time.sleep) -> str:
    """Wait until the user has confirmed, and return the token. Raises ActionableError."""
    until, every, lost = time.monotonic() + begun.within, begun.every, 0
    while time.monotonic() < until:
        try:
            status, reply = _asked(url, "/oauth/device/token", data={"device_code": begun.device})
            if status >= 500:
                raise _unable(url, status)
            lost = 0
        except ActionableError:
            lost += 1
            if lost >= LOST:
                raise
            pause(every)
            continue
        if status == 200 and (token := lenient.text(reply, "access_token")):
            return token
        match lenient.text(reply, "error"):
            case "authorization_pending":
                pass
            case "slow_down":
                every = _bounded(float(lenient.number(reply, "interval") or every + SLOWER))
            case "access_denied":
                raise ActionableError("The login was refused in the browser.", "auth")
            case "expired_token":
                break
            case other:
                reason = lenient.text(reply, "error_description") or other
                raise ActionableError(f"The login failed: {reason or f'HTTP {status}'}.", "auth")
        pause(every)
    raise ActionableError("The login was not confirmed in time. Try again.", "auth")


def _unable(url: str, status: int) -> ActionableError:
    return ActionableError(f"{url} cannot log you in now (HTTP {status}). Try again later.")


def _bounded(every: float) -> float:
    return min(max(every, QUICKEST), SLOWEST)


def _asked(url: str, path: str, **body: Any) -> tuple[int, Json]:
    """Post a request. A reply that is not JSON counts as empty. Raises ActionableError."""
    waits = httpx.Timeout(REQUEST_TIMEOUT, connect=CONNECTING)
    try:
        answer = httpx.post(url + path, timeout=waits, **body)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise ActionableError(
            f"{url} does not respond. Check the address and the network.\n{error}"
        ) from error
    try:
        reply = answer.json()
    except (ValueError, RecursionError):
        reply = {}
    return answer.status_code, reply if isinstance(reply, dict) else {}
