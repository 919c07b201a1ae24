"""The conversations that a session's agents had in it: one for each agent, and another one after a
clear or where one was lost. The header knows the last one alone."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.agent.opening import can
from rookery.core.json import lenient
from rookery.core.json.events import Event, kind_of

KINDS = ("_session", "_agent", "_context")
"""Of events that tell of them."""


class Conversation(NamedTuple):
    agent: str
    argv: tuple[str, ...]
    """Empty: the agent is found by its name."""
    id: str
    """The agent's own."""
    deletable: bool
    """The agent said that it can delete sessions."""


def conversations(events: Iterable[Event]) -> list[Conversation]:
    """Of the events of a session of those kinds; each once, in their order."""
    agent, argv, able = "", tuple[str, ...](), False
    found: dict[tuple[str, tuple[str, ...], str], Conversation] = {}
    for event in events:
        update = event.update
        match kind_of(update), update.get("state"):
            case ("_session", _):
                agent = lenient.text(update, "agent") or agent
                argv = tuple(lenient.texts(update, "argv")) if "argv" in update else argv
                continue
            case ("_agent", "switched"):
                agent, able = lenient.text(update, "to") or agent, False
                argv = tuple(lenient.texts(update, "argv"))
                continue
            case ("_agent", "ready"):
                able = can(lenient.mapping(update, "capabilities"), "delete")
            case ("_context", "cleared"):
                pass
            case _:
                continue
        if name := lenient.text(update, "sessionId"):
            found[agent, argv, name] = Conversation(agent, argv, name, able)
    return list(found.values())
