"""The agent's open requests that wait for the user. They outlive every client."""

import os

from rookery.core.ask import Ask
from rookery.core.asks import asks, kept_asks
from rookery.core.header import Header
from rookery.core.json import Draft, Json
from rookery.core.turn.calls import TurnCalls
from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, REQUEST_CANCELLED, Incoming

MAX_OPEN = 100
"""Asks that may be open at once: no user answers more, and all of them are in the header."""


class Asks:
    """Pairs each `_ask` of the header with the agent's request that it answers."""

    def __init__(self) -> None:
        self._open: dict[str, Incoming] = {}
        self._calls: dict[str, TurnCalls] = {}
        """Of each: the calls of who asks, the agent or one of its sub-agents."""

    def take(self, incoming: Incoming, danger: str, calls: TurnCalls) -> Ask | None:
        """Return the ask to log, or None if the request was answered with an error. Raises
        links.BadLink."""
        if incoming.method not in ("session/request_permission", "elicitation/create"):
            incoming.unknown()
            return None
        if len(self._open) >= MAX_OPEN:
            incoming.fail(INTERNAL_ERROR, f"{MAX_OPEN} questions are already waiting for the user")
            return None
        name, nonce = os.urandom(4).hex(), os.urandom(16).hex()
        ask = asks.asked(name, nonce, incoming.method, incoming.params, danger)
        if ask is None:
            incoming.fail(INVALID_PARAMS, "the user cannot answer anything in this request")
            return None
        self._open[name], self._calls[name] = incoming, calls
        return ask

    def reply(self, name: str, result: Json) -> None:
        """Answer the agent's request, once the outcome is committed (law 3)."""
        self._answered(name, result)
        if incoming := self._open.pop(name, None):
            incoming.reply(result)

    def withdraw(self, name: str) -> None:
        """Drop a request that the agent took back; it still gets an answer."""
        self._answered(name, None)
        if incoming := self._open.pop(name, None):
            incoming.fail(REQUEST_CANCELLED, "Request cancelled")

    def names(self) -> list[str]:
        return list(self._open)

    def rename(self, name: str, known: str) -> None:
        """Give an ask the id of the earlier one that it repeats."""
        self._open[known] = self._open.pop(name)
        self._calls[known] = self._calls.pop(name)

    def forget(self) -> None:
        """Forget all asks: the agent is gone, so none of them can be answered."""
        self._open.clear()
        self._calls.clear()

    def _answered(self, name: str, result: Json | None) -> None:
        if calls := self._calls.pop(name, None):
            calls.answered(name, result)


def closings(header: Header, reason: str, *, kept: bool) -> list[tuple[str, Draft, Json]]:
    """Return for each open ask its id, the event that closes it, and the reply to the agent.
    `kept`: also those of an agent that is gone."""
    live, away = kept_asks.live(header), kept_asks.away(header) if kept else {}
    if reason in kept_asks.HEARD:
        live = {name: ask for name, ask in live.items() if not kept_asks.stays(ask)}
    ended = [(name, asks.cancelled(ask, reason)) for name, ask in live.items()]
    closed = [(name, answer.draft, answer.reply) for name, answer in ended]
    return closed + [(name, kept_asks.unasked(ask, reason), {}) for name, ask in away.items()]
