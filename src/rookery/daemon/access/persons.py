"""The person whom a reverse proxy names in a header (--trusted-user-header).

Only the proxy is trusted, and it is recognised by the user whose process has the other end of the
connection. From anybody else the header is dropped, as if it had not been sent."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from rookery.core.json.senders import NAME_MOST, clean_name
from rookery.daemon.access.peers import Descent, Peer
from rookery.daemon.errors import Problem
from rookery.daemon.options import Options


class Persons:
    def __init__(self, options: Options) -> None:
        self._header = options.trusted_user_header.lower().encode("ascii")
        self._proxy = options.proxy_uid

    async def named(self, scope: MutableMapping[str, Any], peer: Peer) -> str:
        """Return who sends this request according to the proxy, or "" if it does not say. Raises
        Problem."""
        if not self._header:
            return ""
        values = [value for name, value in scope["headers"] if name.lower() == self._header]
        if not values:
            return ""
        scope["headers"] = [each for each in scope["headers"] if each[0].lower() != self._header]
        if peer.local or not await asyncio.to_thread(self._is_proxy, peer):
            return ""
        return _name(values)

    def _is_proxy(self, peer: Peer) -> bool:
        agents = (Descent.AGENTS, Descent.HIDDEN)  # of the same user, perhaps
        return peer.user() == self._proxy and peer.descent() not in agents


def _name(values: list[bytes]) -> str:
    """Return the name, or refuse it unless it is plain: cut or cleaned, one name could pass for
    another."""
    try:
        [value] = values
        text = value.decode("utf-8").strip()
    except ValueError:
        text = "\0"
    if text != clean_name(text):
        raise Problem(
            400,
            "bad_user",
            f"The proxy's header has to name one person, in at most {NAME_MOST} printable "
            "characters of UTF-8, without |.",
            "Let the proxy set the header, and remove it from what it gets.",
        )
    return text
