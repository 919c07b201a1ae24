"""Tabs of browsers: each proves that its device's key is there, and gets a token for as long as it
is open.

The key stays in the browser, at the daemon's own origin, so no server on another port is sent
anything. A tab's token is in the memory of the tab and of the daemon alone. It ends with the tab's
stream, and whoever comes without one has a few seconds: what a script copies out of a page is
worthless once the page is closed (docs/decisions/0086-a-key-for-each-browser.md).
"""

import asyncio
import hmac
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from rookery.daemon.access import p256

PREFIX = "rt_"
PURPOSE = "rookery tab "
"""Before the challenge, in what is signed: the key signs nothing else."""
SIGNATURE = re.compile("[0-9a-f]{128}")
CHALLENGE_SECONDS = 60.0
UNHELD_SECONDS = 10.0
"""For which a token is good without a stream: a page takes a moment to open its own."""
PROOF_SECONDS = 300.0
"""After which a stream has to prove the key again: nobody keeps one that a script of the page
helped to open elsewhere."""


class Tab:
    def __init__(self, token: str, device: str) -> None:
        self.token = token
        self.device = device
        self.streams = 0


class Tabs:
    """Of the daemon's loop alone. `ended(device, token)` is called when a tab is gone, after the
    time that its last answers may take."""

    def __init__(self, ended: Callable[[str, str], None]) -> None:
        self._ended = ended
        self._secret = secrets.token_bytes(32)
        self._open: dict[str, Tab] = {}
        self._spent: dict[str, float] = {}
        """Challenges that were answered, and until when they would be good."""

    def find(self, token: str) -> Tab | None:
        return self._open.get(token)

    # --- proving -------------------------------------------------------------------------------

    def challenge(self, now: float) -> str:
        """To be signed within a minute. Nothing is kept of it: anybody may ask for one."""
        text = f"{int(now * 1000):x}.{secrets.token_hex(8)}"
        return f"{text}.{self._seal(text)}"

    def accepts(self, key: str, challenge: str, signature: str, now: float) -> bool:
        """Whether the key signed this challenge of ours. It is good once, whatever comes of it. Key
        and signature are in hex."""
        text, _, seal = challenge.rpartition(".")
        if not hmac.compare_digest(seal.encode(), self._seal(text).encode()):
            return False
        until = int(text.partition(".")[0], 16) / 1000 + CHALLENGE_SECONDS
        if until <= now or challenge in self._spent:
            return False
        self._spent = {each: end for each, end in self._spent.items() if end > now}
        self._spent[challenge] = until
        if not SIGNATURE.fullmatch(signature):
            return False
        message = (PURPOSE + challenge).encode()
        return p256.verifies(bytes.fromhex(key), bytes.fromhex(signature), message)

    def _seal(self, text: str) -> str:
        return hmac.digest(self._secret, text.encode("utf-8", "replace"), sha256).hex()[:32]

    # --- tokens --------------------------------------------------------------------------------

    def open(self, device: str) -> Tab:
        tab = Tab(PREFIX + secrets.token_urlsafe(32), device)
        self._open[tab.token] = tab
        asyncio.get_running_loop().call_later(UNHELD_SECONDS, self._end_unheld, tab)
        return tab

    @contextmanager
    def stream(self, tab: Tab) -> Iterator[None]:
        """While this lasts, the tab is open."""
        tab.streams += 1
        try:
            yield
        finally:
            tab.streams -= 1
            self._end_unheld(tab)

    def end_device(self, device: str) -> None:
        for tab in [each for each in self._open.values() if each.device == device]:
            del self._open[tab.token]

    def _end_unheld(self, tab: Tab) -> None:
        if not tab.streams and self._open.pop(tab.token, None) is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(UNHELD_SECONDS, self._ended, tab.device, tab.token)
