"""The regions of the session screen that are rendered from a session's header, by name."""

import time

from rookery.core.header import Header
from rookery.core.json import dumps
from rookery.core.json.secrets import masked
from rookery.daemon.pieces import composer, queue_strip, session_bar


def regions(header: Header, *, read_only: bool = False) -> dict[str, str]:
    """Render the regions that change with the header; equal headers give equal HTML."""
    bar = session_bar.rendered(header, None, _now(), read_only, still=True)
    queue = "" if read_only else queue_strip.rendered(header)
    return {"bar": masked(bar), "queue": masked(queue), "rewound": dumps(header.hidden)}


def at_first(session: str, header: Header, *, closed: str) -> dict[str, str]:
    """Render the regions for a new screen, with elapsed times and with the composer. `closed` says
    why nothing can be sent; "" means that it can."""
    bar = session_bar.rendered(header, None, _now(), bool(closed))
    return regions(header, read_only=bool(closed)) | {
        "bar": masked(bar),
        "composer": composer.rendered(session, header, closed),
    }


def _now() -> int:
    return time.time_ns() // 1_000_000
