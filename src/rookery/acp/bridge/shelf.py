"""Requests about sessions that an editor need not have open: titles, archiving, lists and states.
Every change here is an event of the session, so that every other client hears of it."""

import asyncio
import os
import time
from contextlib import suppress

from rookery.client import fleet
from rookery.client.rewind.fork import fork
from rookery.client.session import Rejected
from rookery.client.start import connectable
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.refusals import Refused, sentences
from rookery.core.view import states
from rookery.core.view.fleet import is_hidden, state_of
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.calling.local_session import LocalSession
from rookery.render import signs
from rookery.wire import listing
from rookery.wire.failures import INTERNAL_ERROR, RpcError
from rookery.wire.jsonrpc import Incoming
from rookery.wire.params import invalid, no_session, place, session_id


def header_of(home: str, session: str) -> Header:
    """Return the header of a session. Raises RpcError."""
    try:
        with Reader.open(paths.session_dir(home, session)) as log:
            return log.header()
    except (LogError, paths.PathError):
        raise no_session() from None


def title_in(params: Json) -> str:
    """Return the title in the parameters of a request. Raises RpcError."""
    title = params.get("title")
    if not isinstance(title, str) or not lenient.first_line(title):
        raise invalid("title must be a text with at least one character")
    return title.strip()


async def command(home: str, session: str, **given: object) -> None:
    """Carry a command out, without waking the session. Raises RpcError."""
    header_of(home, session)
    try:
        with LocalSession(home, session, "acp") as client:
            await client.send(dict(given), wake=False)
    except Rejected as refusal:
        raise invalid(refusal.message) from None
    except (Refused, OSError) as error:
        raise RpcError(INTERNAL_ERROR, sentences(error)) from None


def is_listed(params: Json, head: Json, now: float) -> bool:
    """Tell whether a session passes the filters of `session/list`. Raises RpcError."""
    which = params.get("archived") or "exclude"
    if which not in ("exclude", "include", "only"):
        raise invalid("archived must be exclude, include or only")
    if head.get("damaged") or params.get("cwd") not in (None, head["cwd"]):
        return False
    if which == "only":
        return bool(head["archived"])
    return which == "include" or not is_hidden(head, now)


async def forked(home: str, params: Json) -> str:
    """Fork a session and return the id of the new one, which works in the same directory. It has
    the turns up to the last that is over, or up to the one that `_meta.rookery.turn` names. Raises
    RpcError."""
    session, (cwd, _) = session_id(params), place(params)
    own = header_of(home, session).cwd
    if os.path.realpath(cwd) != os.path.realpath(own):
        raise invalid(f"a fork works in the session's own directory: {own}")
    about = lenient.mapping(lenient.mapping(params, "_meta"), "rookery")
    turn = lenient.integer(about, "turn")
    if "turn" in about and (turn is None or turn < 0):
        raise invalid("_meta.rookery.turn must be the number of a turn")
    try:
        return await asyncio.to_thread(fork, home, session, turn)
    except Rejected as refusal:
        raise invalid(refusal.message) from None


class Shelf:
    """Requests that leave the session running as it is."""

    def __init__(self, home: str) -> None:
        self._home = home

    async def status(self, request: Incoming, params: Json) -> None:
        session = session_id(params)
        header_of(self._home, session)
        awake = connectable(paths.socket_path(paths.session_dir(self._home, session)))
        request.reply({"status": "open" if awake else "saved"})

    async def set_title(self, request: Incoming, params: Json) -> None:
        session, title = session_id(params), title_in(params)
        await command(self._home, session, do="rename", title=title)
        request.reply({"title": header_of(self._home, session).title})

    async def list(self, request: Incoming, params: Json) -> None:
        """List the sessions of the home, the newest first."""
        now = time.time() * 1000
        entries = {
            (f"{head['created']:020}", head["id"]): head
            for head in fleet.heads(self._home)
            if is_listed(params, head, now)
        }
        heads, more = listing.page(params, entries)
        request.reply({"sessions": [self._info(head, now) for head in heads], **more})

    def _info(self, head: Json, now: float) -> Json:
        roots = head.get("roots", [])
        if "roots" not in head:  # one of an earlier build: the log says
            directory = paths.session_dir(self._home, head["id"])
            with suppress(LogError), Reader.open(directory) as log:
                roots = log.header().roots
        about = listing.info(head["id"], head["cwd"], head["at"] / 1000, head["title"], roots)
        listed = head | states.standing(head, state_of(head, awake=head["awake"]))
        status = {"state": listed["condition"], "label": signs.label(listed, now)}
        return about | {"archived": bool(head["archived"]), "_meta": {"rookery": status}}
