"""`session/list` of our own ACP agents: pages that neither repeat nor miss a session while others
are created."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from rookery.wire.params import Json, invalid

PAGE = 100
CURSOR = re.compile(r"([0-9TZ:.+-]{1,40})/([\w-]{1,100})")


def page[T](
    params: Json, sessions: Mapping[tuple[str, str], T], size: int = PAGE
) -> tuple[list[T], Json]:
    """Return the sessions of one page, newest first, and its `nextCursor` if there are more.
    `sessions`: by time, as text that sorts, and id; the cursor is the last pair. Raises RpcError.
    """
    cursor, keys = params.get("cursor"), sorted(sessions, reverse=True)
    if cursor is not None:
        match = CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise invalid("invalid cursor")
        keys = [key for key in keys if key < match.groups()]
    more = {"nextCursor": "/".join(keys[size - 1])} if len(keys) > size else {}
    return [sessions[key] for key in keys[:size]], more


def info(id: str, cwd: str, updated: float | str, title: str, roots: Iterable[str]) -> Json:
    """Return a session's entry in `session/list`; `updated`: seconds since the epoch, or as
    text."""
    if not isinstance(updated, str):
        updated = datetime.fromtimestamp(updated, UTC).isoformat(timespec="milliseconds")
    about: Json = {"sessionId": id, "cwd": cwd, "updatedAt": updated}
    about |= {"title": title} if title else {}
    return about | ({"additionalDirectories": list(roots)} if roots else {})
