"""The sub-agents that the agent has announced, and the tool calls of the current turn. Each
sub-agent has its own set of calls, since two of them may use the same ids."""

from collections.abc import Callable

from rookery.core.agent import children, ingest
from rookery.core.agent.chunks import CHILD
from rookery.core.json import Json, kind_of, lenient
from rookery.core.turn.calls import TurnCalls

KEPT = 1000
"""Sub-agents of one process: updates of more are shown raw."""


class Children:
    def __init__(self) -> None:
        self.calls = TurnCalls()
        """The agent's own."""
        self._of: dict[str, TurnCalls] = {}
        self._cancellable: dict[str, None] = {}
        """What ends each, of those that their agent can cancel alone."""

    def __contains__(self, session: object) -> bool:
        return session in self._of

    def hear(self, update: Json) -> None:
        child = ingest.announced(update)
        if child and child not in self._of and len(self._of) < KEPT:
            self._of[child] = TurnCalls()
        about = ingest.inner_of(update)
        id = children.cancel_id(about)
        if id and len(self._cancellable) < KEPT:
            self._cancellable[id] = None
        elif id == "":
            self._cancellable.pop(lenient.text(about, "sessionId"), None)

    def can_cancel(self, id: str) -> bool:
        return id in self._cancellable

    def calls_of(self, session: str) -> TurnCalls:
        return self._of.get(session, self.calls)

    def heard(self, update: Json, note: Callable[[Json, TurnCalls], Json]) -> Json:
        """Return an update as it is to be logged: `note` transforms it, given the calls of its
        sender."""
        if kind_of(update) != CHILD:
            return note(update, self.calls)
        inner, calls = lenient.mapping(update, "update"), lenient.text(update, "session")
        return {**update, "update": note(inner, self.calls_of(calls))}

    def turn_begins(self) -> None:
        for calls in (self.calls, *self._of.values()):
            calls.clear()

    def agent_begins(self) -> None:
        """Forget the sub-agents of the previous process."""
        self._of.clear()
        self._cancellable.clear()
