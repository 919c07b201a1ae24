"""A session of another machine: its events as they come, and commands that are repeated until they
are done, over a link that may break at any moment."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Self, override

from rookery.client.daemon.errors import (
    Denied,
    OnlyThere,
    OtherVersion,
    RemoteError,
    Unreachable,
)
from rookery.client.daemon.local import Answer
from rookery.client.daemon.remote import Door, attached, of_session, refusal
from rookery.client.session import Rejected, Trouble
from rookery.client.start import StartError
from rookery.core.json import Event, Json
from rookery.core.json.events import event_from_json
from rookery.log.errors import Full
from rookery.operations.calling.attempts import DELAY, Attempts
from rookery.operations.calling.interface import Session
from rookery.operations.calling.remote_history import RemoteHistory
from rookery.operations.calling.stream import news
from rookery.operations.catalogue.finding import find
from rookery.operations.catalogue.row import FINGERPRINT

if TYPE_CHECKING:
    from rookery.client.attach import Attachment

RECONNECT_TIMEOUT = 30.0
"""Seconds for a link that broke under a command to come back."""


class RemoteSession(Session):
    def __init__(self, door: Door, session: str, patience: float = RECONNECT_TIMEOUT) -> None:
        self.session = session
        self.on_silence: Callable[[], object] = lambda: None
        self.on_link: Callable[[str], object] = lambda _: None
        self._door = door
        self._patience = patience
        self._log = RemoteHistory(door, session)

    @property
    @override
    def log(self) -> RemoteHistory:
        return self._log

    @override
    async def follow(self, since: int = 0) -> AsyncIterator[Event]:
        last = since

        def subscribe() -> Json:
            return {"topic": self.session, "form": "events", "after": last}

        async with aclosing(news(self._door, subscribe, self.on_link)) as frames:  # type: ignore[type-var]
            async for kind, body in frames:
                for each in body["events"] if kind == "events" else ():
                    event = event_from_json(each)
                    if event.seq > last:
                        last = event.seq
                        yield event

    @override
    async def send(self, command: Json, *, files: "Sequence[Attachment]" = ()) -> Event:
        """Send a command until an answer comes, or the link stays broken. Its id makes it safe to
        send again. Raises Rejected and its like, RemoteError, and Unreachable."""
        if command.get("argv"):
            raise OnlyThere("--cmd names a program: run rookery on the other machine for that.")
        body = {"id": os.urandom(8).hex(), **command}
        if files:
            body["attachments"] = [attached(each.path, each.data) for each in files]
        path, given, headers = self._address(body)
        attempts, silent = Attempts(self._door, self._patience), False
        while True:
            try:
                ask = self._door.ask
                answer = await asyncio.to_thread(ask, "POST", path, given, None, **headers)
            except Unreachable as error:
                if not attempts.may_repeat(error):
                    raise _lost(error, command, arrived=attempts.arrived) from None
                await asyncio.sleep(DELAY)
                continue
            if answer.status < 400:
                return _outcome(self._door.url, answer)
            problem = self._refusal(path, answer)
            if headers and isinstance(problem, OtherVersion):  # from before the catalogue
                path, given, headers = of_session(self.session, "/commands"), body, {}
                continue
            if not isinstance(problem, _Silent):
                raise problem
            if not silent:
                self.on_silence()
            silent = True

    def _address(self, command: Json) -> tuple[str, Json, dict[str, str]]:
        """Return the path, body and headers that a command is sent with. The operation's own
        address takes a prompt's text, not its blocks, and asks first where something would be lost,
        so such commands are sent to `/commands`."""
        row = find(command["do"])
        asks = row is not None and row.traits.preview is not None and FINGERPRINT not in command
        if row is None or "prompt" in command or asks:
            return of_session(self.session, "/commands"), command, {}
        agreed = {FINGERPRINT: command[FINGERPRINT]} if FINGERPRINT in command else {}
        given = row.given(command) | agreed
        path = f"/api/v1/sessions/{self.session}/{row.name}"
        return path, given, {"Idempotency_Key": str(command["id"])}

    @override
    async def renew(self, command: Json) -> str:
        """Do nothing: its agents have that machine's environment, not this terminal's."""
        return ""

    @override
    def mark_seen(self, seq: int) -> None:
        path = of_session(self.session, "/seen")
        with suppress(RemoteError):  # of one that only shows, what was read stays unread
            self._door.json("POST", path, {"seq": seq})

    @override
    def is_gone(self) -> bool:
        """Return False: the stream tells those who follow it."""
        return False

    @override
    def discard_unbegun(self) -> None:
        """Do nothing: the session exists on the other machine, and its user decides."""

    @override
    def close(self) -> None:
        self._log.close()

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(self, *_error: object) -> None:
        self.close()

    def _refusal(self, path: str, answer: Answer) -> Exception:
        problem = refusal(self._door.url, path, answer)
        if not isinstance(problem, Denied):
            return problem
        waits = "waits in the worker" in problem.message  # an earlier daemon does not tell the kind
        match answer.status, problem.reason:
            case 409, reason if reason not in ("bad_settings", "ambiguous"):
                return Rejected({"reason": reason, "message": problem.message})
            case 503, "no_answer":
                return _Silent()
            case 502 | 503, reason:
                return StartError(reason, problem.message)
            case 507, _:
                wait = problem.kind == "pending" or waits
                return Trouble(problem.message) if wait else Full(problem.message)
        return problem


class _Silent(Exception):
    """Raised if the worker does not respond; the same command is sent again."""


def _lost(error: Unreachable, command: Json, *, arrived: bool) -> RemoteError:
    if not arrived:
        return error
    what = "prompt" if command["do"] == "prompt" else f"command ({command['do']})"
    return Denied(
        "lost",
        f"The connection broke before an answer came: {error} The {what} may have arrived; look "
        "before you send it again.",
    )


def _outcome(url: str, answer: Answer) -> Event:
    try:
        body: Json = answer.json()
        return event_from_json(body)
    except (ValueError, AttributeError):
        raise OtherVersion(url, "the outcome of a command") from None
