"""`session/list`: every session of the home, in pages that neither repeat nor miss one while others
are made (acp-S15, acp-S16)."""

import re
import time
from datetime import UTC, datetime

from rookery.client import fleet
from rookery.core.view.fleet import is_hidden
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.wire.params import Json, invalid

PAGE = 100
CURSOR = re.compile(r"(\d{1,15})\.([\w-]{1,64})")


def page(home: str, params: Json) -> Json:
    """The newest first. Raises RpcError."""
    cursor, cwd = params.get("cursor"), params.get("cwd")
    before: tuple[int, str] | None = None
    if cursor is not None:
        match = CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise invalid("invalid cursor")
        before = (int(match[1]), match[2])
    if cwd is not None and not isinstance(cwd, str):
        raise invalid("cwd must be a path")
    now = time.time() * 1000
    found = [
        (head["created"], head["id"], head)
        for head in fleet.heads(home)
        if not is_hidden(head, now) and cwd in (None, head["cwd"])
    ]
    found.sort(key=lambda each: each[:2], reverse=True)
    rest = [each for each in found if before is None or each[:2] < before]
    answer: Json = {"sessions": [info(home, head) for _, _, head in rest[:PAGE]]}
    if len(rest) > PAGE:
        created, last, _ = rest[PAGE - 1]
        answer["nextCursor"] = f"{created}.{last}"
    return answer


def info(home: str, head: Json) -> Json:
    updated = datetime.fromtimestamp(head["at"] / 1000, UTC).isoformat(timespec="milliseconds")
    found = {"sessionId": head["id"], "cwd": head["cwd"], "updatedAt": updated}
    if head["title"]:
        found["title"] = head["title"]
    roots = _roots(home, head)
    return found | ({"additionalDirectories": roots} if roots else {})


def _roots(home: str, head: Json) -> list[str]:
    """A head of an earlier build does not tell: the log does."""
    if "roots" in head:
        return list(head["roots"])
    try:
        with Reader.open(paths.session_dir(home, head["id"])) as log:
            return list(log.header_before(log.turns() + 1)["roots"])
    except LogError:
        return []
