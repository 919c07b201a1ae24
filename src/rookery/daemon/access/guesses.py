"""Checking passphrases from devices, unless there were too many wrong ones.

Only this way in is ever locked. Devices that are logged in and one-time links involve no guessing.
"""

import asyncio
import time

from rookery.daemon import passphrase
from rookery.daemon.access.lockout import Drip, Lockout
from rookery.daemon.errors import Problem

AT_ONCE = 2
"""Checks; each takes 32 MB, and a thread that others may wait for."""


class Guesses:
    def __init__(self) -> None:
        self._by_network = Lockout()
        self._through_proxy = Drip()
        self._checking = asyncio.Semaphore(AT_ONCE)

    async def check(self, secret: str, kept: str, address: str, *, proxied: bool) -> None:
        """Check a passphrase against `kept`, its hash, or "" if there is none. Raises Problem."""
        now = time.monotonic()
        if left := self._by_network.guess(address, now):
            raise _locked_out(left)
        if proxied and (left := self._through_proxy.guess(now)):
            raise Problem(
                429,
                "too_many_guesses",
                "Too many passphrases are being tried through the proxy.",
                f"Try again in {int(left) + 1} s, or log in by a link: rookery serve --link",
                Retry_After=str(int(left) + 1),
            )
        if not await self._fits(secret, kept):
            raise Problem(401, "not_let_in", "This passphrase is wrong.", "Try again.")
        self._by_network.succeeded(address)
        if proxied:
            self._through_proxy.succeeded()

    async def _fits(self, secret: str, kept: str) -> bool:
        if not secret or not kept:
            return False
        async with self._checking:
            return await asyncio.to_thread(passphrase.fits, secret, kept)


def _locked_out(left: float) -> Problem:
    minutes = max(1, round(left / 60))
    return Problem(
        429,
        "locked_out",
        f"Too many failed attempts from this address. Try again in {minutes} min.",
        "Wait, or log in by a link: rookery serve --link",
        Retry_After=str(int(left) + 1),
    )
