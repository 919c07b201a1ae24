"""The audit log: who did what. What a device did in a session is in the session's log, in the `by`
of its events; the rest (logins, changes of devices, settings) is in `daemon/access.log`, one line
of JSON each."""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.client.daemon.origin import SENDER
from rookery.core.json import Event, Json, lenient, loads
from rookery.core.json.senders import by_of
from rookery.daemon.access.gate import READING, App, Message, Receive, Scope, Send
from rookery.daemon.access.roles import NAMES
from rookery.home import paths
from rookery.home.log_rotation import BEFORE, turn_over
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.catalogue.finding import find

FILE = "access.log"
READ = 2 * 1024 * 1024
"""Bytes of its end that are read again."""


class Journal:
    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "daemon", FILE)

    def note(self, did: str, sender: str, **about: str) -> None:
        """Append an entry; `sender` has the form of an event's `by`, or is "" for the owner on this
        machine."""
        paths.make_private(os.path.dirname(self._path))
        row = {"at": time.time_ns() // 1_000_000, "did": did, "sender": sender}
        row |= {key: value for key, value in about.items() if value}
        turn_over(self._path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        file = os.open(self._path, flags, 0o600)
        try:
            os.write(file, json.dumps(row).encode("ascii") + b"\n")
        finally:
            os.close(file)

    def newest(self) -> Iterator[Json]:
        """Yield the entries, newest first, within the last READ bytes."""
        left = READ
        for path in (self._path, self._path + BEFORE):
            try:
                with open(path, "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    file.seek(max(0, size - left))
                    lines = file.read(left).splitlines()
            except FileNotFoundError:
                continue
            left -= min(left, size)
            for line in reversed(lines):
                try:
                    row = loads(line)
                except ValueError:  # the first may be half a line
                    continue
                if isinstance(row, dict) and isinstance(row.get("at"), int):
                    yield row


QUIET = frozenset(
    {"send_command", "change_session", "create_session"}
    | {"create", "fork_session", "mark_seen", "log_in", "link"}
    | {"change_device", "create_link", "revoke_device"}
)
"""Routes whose work is told elsewhere: in a session's log, as that of operations which are sent to
one, or here with more about it."""


def _is_quiet(name: str) -> bool:
    row = find(name)
    return name in QUIET or (row is not None and row.is_sent)


def journalled(app: App, home: str) -> App:
    """Wrap the application so that what a device changes is noted, by the name of the operation or
    route."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        async def noting(message: Message) -> None:
            given = dict(scope.get("path_params", {}))
            name = str(given.pop("operation", getattr(scope.get("route"), "name", "")))
            begun = message["type"] == "http.response.start"
            if begun and message["status"] < 400 and not _is_quiet(name):
                session = str(given.pop("session", ""))[:200]
                action = name.replace("_", " ").replace("-", " ")
                did = " ".join([action, *(str(each)[:80] for each in given.values())])
                await asyncio.to_thread(Journal(home).note, did, SENDER.get(), session=session)
            await send(message)

        writes = scope["type"] == "http" and scope["method"] not in READING and SENDER.get()
        await app(scope, receive, noting if writes else send)

    return run


class Deed(NamedTuple):
    at: int
    did: str
    device: str = ""
    """Its id; "": the owner on this machine, or somebody without a device."""
    name: str = ""
    person: str = ""
    session: str = ""
    title: str = ""
    """The session's."""
    of: str = ""
    """The device that it was done to, by name."""


def deeds(home: str, heads: Sequence[Json], device: str, most: int) -> list[Deed]:
    """Return the newest deeds, newest first; with `device`, only what that device did and what was
    done to it."""
    matches = []
    for row in Journal(home).newest():
        deed = _noted(row)
        if device in ("", deed.device) or lenient.text(row, "of").startswith(f"{device} "):
            matches.append(deed)
        if len(matches) >= most:
            break
    for head in sorted(heads, key=_last, reverse=True):
        if len(matches) >= most and _last(head) < matches[most - 1].at:
            break  # and so are all others
        matches += _done_in(home, head, device, most)
        matches = sorted(matches, key=lambda deed: -deed.at)[:most]
    return matches


def _last(head: Json) -> int:
    return lenient.integer(head, "at") or 0


def _noted(row: Json) -> Deed:
    who, of = (by_of(f"web:{lenient.text(row, key)}") for key in ("sender", "of"))
    details = (NAMES.get(lenient.text(row, "role"), ""), lenient.text(row, "address"))
    more = list(filter(None, details))
    did = f"{lenient.text(row, 'did')} ({', '.join(more)})" if more else lenient.text(row, "did")
    session = lenient.text(row, "session")
    return Deed(row["at"], did, who.device, who.name, who.person, session, "", of.name)


def _done_in(home: str, head: Json, device: str, most: int) -> list[Deed]:
    events: list[Event] = []
    with suppress(LogError, OSError), Reader.open(paths.session_dir(home, head["id"])) as log:
        events = log.sent_by(f"[aw][ce][pb]:{device or '*'} *", most)  # acp, web
    title = lenient.text(head, "title")
    return [
        Deed(event.at, words_of(event), who.device, who.name, who.person, head["id"], title)
        for event in events
        for who in [by_of(event.by)]
    ]


KINDS = {"_prompt": "sent a prompt", "_queue": "changed the queue", "_rewind": "rewound it"}
FIELDS = {"title": "renamed it", "archived": "archived it", "pinned": "pinned it"}


def words_of(event: Event) -> str:
    """Describe what a command did."""
    update = event.update
    kind = lenient.text(update, "sessionUpdate")
    if event.seq == 1:
        return "created it"
    if kind == "_ask":
        name = lenient.text(update, "name") or lenient.text(update.get("outcome"), "action")
        return f"answered: {name[:80]}" if name else "answered"
    if kind in ("_done", "_rejected"):
        command = lenient.text(update, "command")
        return f"{command} (refused)" if kind == "_rejected" else command
    if kind == "_session":
        keys = [key for key in update if key != "sessionUpdate"]
        known = [FIELDS[key] for key in keys if key in FIELDS]
        return ", ".join(known) or f"set {', '.join(keys)[:80]}"
    state = lenient.text(update, "state")
    return KINDS.get(kind) or f"{kind.lstrip('_').replace('_', ' ')} {state}".strip()
