"""A login to OpenHands Cloud with a browser, by OAuth's device flow: the user confirms a code on
any machine, and the token comes here."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx

from rookery.agent.elsewhere.requests import CONNECTING, PATIENCE
from rookery.agent.provider.told import Told
from rookery.core.json import Json, lenient

MOST = 600.0
"""Seconds that the user has, where the cloud allows more."""
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
    """Raises Told."""
    status, found = _asked(url, "/oauth/device/authorize", json={})
    device, code = lenient.text(found, "device_code"), lenient.text(found, "user_code")
    complete = lenient.text(found, "verification_uri_complete")
    where = complete or lenient.text(found, "verification_uri")
    if status >= 500:
        raise _unable(url, status)
    if not device or not where.startswith(("https://", "http://")):
        raise Told(f"{url} offers no login with a browser. Paste a token instead.")
    every = float(lenient.number(found, "interval") or SLOWER)
    within = float(lenient.number(found, "expires_in") or MOST)
    return Begun(device, code, where, _bounded(every), min(max(within, SLOWER), MOST))


def wait(url: str, begun: Begun, pause: Callable[[float], None] = time.sleep) -> str:
    """The token, once the user has confirmed. Raises Told."""
    until, every, lost = time.monotonic() + begun.within, begun.every, 0
    while time.monotonic() < until:
        try:
            status, found = _asked(url, "/oauth/device/token", data={"device_code": begun.device})
            if status >= 500:
                raise _unable(url, status)
            lost = 0
        except Told:
            lost += 1
            if lost >= LOST:
                raise
            pause(every)
            continue
        if status == 200 and (token := lenient.text(found, "access_token")):
            return token
        match lenient.text(found, "error"):
            case "authorization_pending":
                pass
            case "slow_down":
                every = _bounded(float(lenient.number(found, "interval") or every + SLOWER))
            case "access_denied":
                raise Told("The login was refused in the browser.", "auth")
            case "expired_token":
                break
            case other:
                said = lenient.text(found, "error_description") or other
                raise Told(f"The login failed: {said or f'HTTP {status}'}.", "auth")
        pause(every)
    raise Told("The login was not confirmed in time. Try again.", "auth")


def _unable(url: str, status: int) -> Told:
    return Told(f"{url} cannot log you in now (HTTP {status}). Try again later.")


def _bounded(every: float) -> float:
    return min(max(every, QUICKEST), SLOWEST)


def _asked(url: str, path: str, **body: Any) -> tuple[int, Json]:
    """What is not JSON counts as empty. Raises Told."""
    waits = httpx.Timeout(PATIENCE, connect=CONNECTING)
    try:
        answer = httpx.post(url + path, timeout=waits, **body)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise Told(
            f"{url} does not respond. Check the address and the network.\n{error}"
        ) from error
    try:
        found = answer.json()
    except (ValueError, RecursionError):
        found = {}
    return answer.status_code, found if isinstance(found, dict) else {}
