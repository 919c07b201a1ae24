"""Browser tabs: each proves that it has its device's key, and gets a token that is valid while it
is open.

The key stays in the browser, under the daemon's own origin, so servers on other ports are sent
nothing. A tab's token exists only in the memory of the tab and of the daemon. It ends with the
tab's stream, and a tab without a stream has a few seconds: whatever a script copies out of a page
is worthless once the page is closed (docs/decisions/0086-a-key-for-each-browser.md)."""

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
    """The open tabs; use only on the daemon's event loop. `ended(device, token)` is called after a
    tab has gone, once its last responses have had time to finish."""

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
        """Return a challenge to be signed within a minute. No state is kept for it, since anybody
        may ask for one."""
        text = f"{int(now * 1000):x}.{secrets.token_hex(8)}"
        return f"{text}.{self._seal(text)}"

    def accepts(self, key: str, challenge: str, signature: str, now: float) -> bool:
        """Tell whether the key signed this challenge of ours. A challenge is valid once, whatever
        the outcome. Key and signature are in hex."""
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
        """Hold the tab open for the duration of the block."""
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
