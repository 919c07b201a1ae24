"""Importing sessions that were begun with an agent elsewhere: how the agent lists them,
and how the history that it replays becomes the turns of a log.

1. An import logs one `_session` with `imported: {session, title}`: the agent's own session
   id. The header's `agentSession` then has `unloaded`, the id of the block that says so.
2. The first start of its agent opens it by `session/load`. The replay is logged with
   `imported: {loaded: true}` in one transaction, and `unloaded` is gone.

A prompt is a run of user messages; what follows until the next is its turn. A replay
does not say how a turn ended, so each counts as completed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.core.agent.ingest import is_replay
from rookery.core.header import Header
from rookery.core.json import Draft, Json, kind_of, lenient, notice

UNLOADED = "History comes when opened"
"""The text that lists show in place of a session's last line."""

LONGEST_TITLE = 500


class Listed(NamedTuple):
    """One of the agent's sessions, as listed by `session/list`."""

    id: str
    cwd: str
    title: str
    updated: str
    """A time of ISO 8601, or what the agent says."""


def listed(result: object) -> list[Listed]:
    """Return the listed sessions that have an id."""
    sessions = []
    for each in lenient.mappings(result, "sessions"):
        if name := lenient.text(each, "sessionId"):
            texts = (lenient.text(each, key) for key in ("cwd", "title", "updatedAt"))
            sessions.append(Listed(name, *texts))
    return sessions


def is_unloaded(header: Header) -> bool:
    """Whether only the agent has the history so far."""
    return bool(lenient.text(header.agent_session, "unloaded"))


def listed_as(session: Listed) -> Json:
    """Return the field of a `_session` that imports a listed session."""
    return {"imported": {"session": session.id, "title": session.title[:LONGEST_TITLE]}}


def known_as(agent: str, given: Json, block: str) -> Json:
    """Return the header's `agentSession` after a `_session` that imports one, else {}."""
    session = lenient.text(given, "session")
    return {"name": agent, "id": session, "unloaded": block} if session else {}


def drafts(updates: Iterable[Json], *, cut: bool) -> list[Draft]:
    """Return the drafts that log a replayed history. `cut`: it was too long to be taken whole."""
    loaded: Json = {"sessionUpdate": "_session", "imported": {"loaded": True}}
    notices = [Draft(notice("The history is too long to import all of it."))] if cut else []
    return [Draft(loaded), *_turns(updates), *notices]


def _turns(updates: Iterable[Json]) -> Iterator[Draft]:
    number, prompt, open_ = 0, list[Json](), False
    for update in filter(is_replay, updates):
        if kind_of(update) == "user_message_chunk":
            if open_:
                yield _ended(number)
                open_ = False
            _add(prompt, update.get("content"))
            continue
        if not open_:
            number, open_ = number + 1, True
            yield from _begun(number, prompt)
            prompt = []
        yield Draft(update)
    if prompt:
        yield from _begun(number + 1, prompt)
        yield _ended(number + 1)
    elif open_:
        yield _ended(number)


def _add(prompt: list[Json], content: object) -> None:
    if not isinstance(content, dict):
        return
    if prompt and content.get("type") == prompt[-1].get("type") == "text":
        text = lenient.text(prompt[-1], "text") + lenient.text(content, "text")
        prompt[-1] = {**prompt[-1], "text": text}
    else:
        prompt.append(content)


def _begun(number: int, prompt: list[Json]) -> list[Draft]:
    begun: Json = {"sessionUpdate": "_prompt", "turn": number, "prompt": prompt}
    running: Json = {"sessionUpdate": "_turn", "state": "running", "turn": number}
    return [Draft(begun), Draft(running)]


def _ended(number: int) -> Draft:
    ended: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": number}
    return Draft(ended | {"reason": "end_turn", "imported": True})
