"""`session/list`: every session of the home."""

import time

from rookery.client import fleet
from rookery.core.view.fleet import is_hidden
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.wire import listing
from rookery.wire.params import Json


def page(home: str, params: Json) -> Json:
    """The newest first. Raises RpcError."""
    cwd, now = params.get("cwd"), time.time() * 1000
    found = {
        (f"{head['created']:020}", head["id"]): head
        for head in fleet.heads(home)
        if not is_hidden(head, now) and cwd in (None, head["cwd"])
    }
    heads, more = listing.page(params, found)
    return {"sessions": [_info(home, head) for head in heads], **more}


def _info(home: str, head: Json) -> Json:
    roots = _roots(home, head)
    return listing.info(head["id"], head["cwd"], head["at"] / 1000, head["title"], roots)


def _roots(home: str, head: Json) -> list[str]:
    """A head of an earlier build does not say: the log does."""
    if "roots" in head:
        return list(head["roots"])
    try:
        with Reader.open(paths.session_dir(home, head["id"])) as log:
            return list(log.header()["roots"])
    except LogError:
        return []
