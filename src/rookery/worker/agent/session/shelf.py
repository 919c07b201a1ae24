"""Keeps the agent's own list of sessions in step with ours, where the agent supports it: the user's
title, and whether a session is archived."""

import asyncio
from collections.abc import Callable

from rookery.core.agent.opening import can
from rookery.core.json import Json, lenient
from rookery.worker.session import Session

type Call = Callable[[str, Json, Callable[[object, Json | None], None]], None]

LATEST = 2.0
"""Seconds for an agent to archive its session."""


class Shelf:
    def __init__(self, session: Session, call: Call) -> None:
        """`call`: sends a request to the agent."""
        self._session = session
        self._call = call
        self._late: asyncio.TimerHandle | None = None
        """When an agent that is to archive its session is not waited for any more."""

    def tell_title(self) -> None:
        """Send the agent the title that the user gave the session, which may have changed while no
        agent was running."""
        titles = self._session.header.titles
        title = lenient.text(titles, "person")
        if title and title != titles.get("agent"):
            self._tell("title", "session/set_title", {"title": title})

    def archive(self, stop: Callable[[], None]) -> None:
        """Ask the agent to archive its session, then call `stop`: once it has answered, or after a
        moment, unless the session was taken up again. The request is sent after everything that is
        to be logged before it."""
        session, agent = self._session, self._session.agent
        if self._late is not None:
            return
        if not agent.session or not can(agent.capabilities, "archive"):
            stop()
            return

        def answered(*_: object) -> None:
            if self._late is not None:
                self._late.cancel()
            self._late = None
            if session.header.archived and session.turn.phase == "idle":
                stop()

        self._late = asyncio.get_running_loop().call_later(LATEST, answered)
        session.then(self._call, "session/archive", {"sessionId": agent.session}, answered)
        session.wake()

    def take_up(self, method: str, params: Json) -> None:
        """Unarchive a stored session before it is opened."""
        if method in ("session/load", "session/resume"):
            self._tell("archive", "session/unarchive", {"sessionId": params["sessionId"]})

    def _tell(self, ability: str, method: str, params: Json) -> None:
        agent = self._session.agent
        about = {"sessionId": agent.session, **params}
        if about["sessionId"] and can(agent.capabilities, ability):
            self._call(method, about, lambda *_: None)
