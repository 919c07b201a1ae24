"""Authenticating the sender of a request: a program by its token, a browser tab by its key.

program    Authorization: Bearer rk_…
tab        Authorization: Rookery DEVICE CHALLENGE SIGNATURE, and from then on Bearer rt_…
           with the token from the response; a WebSocket names that token as a subprotocol
Cookies are not used: browsers send them to every port of the host."""

import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from rookery.daemon.access.devices import Device, Devices
from rookery.daemon.access.roles import MEANING
from rookery.daemon.access.tabs import PREFIX, Tab
from rookery.daemon.errors import Problem

SUBPROTOCOL = "rookery"
"""The WebSocket subprotocol of a tab; its token follows as the second one."""
PROOF = re.compile(r"([0-9a-f]{1,40}) ([0-9a-f.]{1,200}) ([0-9a-f]{128})")
EARLIER = re.compile(r"(?:^|[;,] ?)rookery=(rk_[\w-]{1,200})")
"""The cookie of builds before browsers had keys."""
LINK_REMEDY = "Log in again: rookery serve --link prints a one-time link."


class Sender(NamedTuple):
    device: Device | None = None
    """None: the owner of the home, or anybody under --auth none."""
    tab: Tab | None = None
    proved: bool = False
    """Just now: the tab is told its token."""


class Recognition:
    def __init__(self, devices: Devices, *, needed: bool) -> None:
        self._devices = devices
        self._needed = needed

    def sender(self, headers: Mapping[str, str]) -> Sender:
        """Return the sender that the headers authenticate. Raises Problem."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        scheme, given = scheme.lower(), given.strip()
        if not given and (token := _of_websocket(headers)):
            scheme, given = "bearer", token
        if scheme == "rookery" and given:
            return self._proved(given)
        if scheme == "bearer" and given:
            return self._of_tab(given) if given.startswith(PREFIX) else self._program(given)
        if not self._needed:
            return Sender()
        if scheme == "rookery":
            raise self._unproved()
        raise Problem(
            401,
            "no_token",
            "Log in first.",
            "Open a one-time link (rookery serve --link prints one), or send a token as "
            "Authorization: Bearer.",
            WWW_Authenticate="Bearer",
        )

    def challenge(self) -> str:
        return self._devices.tabs.challenge(time.monotonic())

    def _program(self, token: str) -> Sender:
        """Authenticate a program. A wrong token locks nobody out: 256 bits cannot be guessed, and a
        revoked device that keeps trying would shut out all others behind its address."""
        device = self._devices.holder(token)
        if device is None:
            raise bad_token()
        return Sender(self.current(device.id))

    def current(self, name: str) -> Device:
        """Return the device in its current state, neither revoked nor idle for too long. Raises
        Problem."""
        device = self._devices.find(name)
        if device is None:
            raise bad_token()
        if self._devices.is_expired(device):
            days = self._devices.idle_days
            message = f"This device was not used for {days} days, and is logged out."
            raise Problem(401, "idle", message, LINK_REMEDY)
        return device

    def _of_tab(self, token: str) -> Sender:
        tab = self._devices.tabs.find(token)
        if tab is None:
            raise self._unproved()
        return Sender(self.current(tab.device), tab)

    def _proved(self, given: str) -> Sender:
        proof = PROOF.fullmatch(given)
        if proof is None:
            raise self._unproved()
        name, challenge, signature = proof.groups()
        device = self._devices.find(name)
        if device is None or not device.key:
            raise Problem(
                401, "unknown_device", "This device is not known, or was revoked.", LINK_REMEDY
            )
        tabs = self._devices.tabs
        if not tabs.accepts(device.key, challenge, signature, time.monotonic()):
            raise self._unproved()
        return Sender(self.current(name), tabs.open(device.id), proved=True)

    def _unproved(self) -> Problem:
        return Problem(
            401,
            "no_proof",
            "This tab has to prove its device's key.",
            "Sign the challenge, or reload the page.",
            WWW_Authenticate=f'Rookery challenge="{self.challenge()}"',
        )


def earlier_token(headers: Mapping[str, str]) -> str:
    """Return the token in a cookie of an earlier build, which other ports have seen, too, or ""."""
    match = EARLIER.search(headers.get("cookie", ""))
    return match[1] if match else ""


def _of_websocket(headers: Mapping[str, str]) -> str:
    names = [name.strip() for name in headers.get("sec-websocket-protocol", "")[:500].split(",")]
    return names[1] if len(names) == 2 and names[0] == SUBPROTOCOL else ""


def forbidden(device: Device, why: str = "") -> Problem:
    """Return the Problem for a request that the device's role does not allow."""
    remedy = f"On the machine that Rookery runs on: rookery devices role {device.id} all"
    return Problem(403, "role", why or MEANING[device.role], remedy)


def changed() -> Problem:
    """Return the Problem for a device whose role or login changed during a request: a page proves
    its key and asks again."""
    return Problem(401, "changed", "What this device may do has just changed.", "Try again.")


def bad_token() -> Problem:
    return Problem(
        401,
        "bad_token",
        "This token is not known, or was revoked.",
        LINK_REMEDY,
        WWW_Authenticate="Bearer",
    )
