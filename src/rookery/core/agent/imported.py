"""A conversation that was begun elsewhere, as its agent replays it: folded into the turns of a log.

A prompt is a run of user messages; what follows until the next is its turn. Nothing tells how a
turn ended, so each counts as ended well.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.core.agent.ingest import is_replay
from rookery.core.json import Draft, Json, kind_of, lenient, notice

LASTING = ("available_commands_update", "config_option_update", "current_mode_update")
"""Beside the turns: the last of each counts."""


class Listed(NamedTuple):
    """A session of the agent's, as `session/list` tells it."""

    id: str
    cwd: str
    title: str
    updated: str
    """A time of ISO 8601, or what the agent says."""


def listed(result: object) -> list[Listed]:
    """Those that have an id."""
    found = []
    for each in lenient.mappings(result, "sessions"):
        if name := lenient.text(each, "sessionId"):
            texts = (lenient.text(each, key) for key in ("cwd", "title", "updatedAt"))
            found.append(Listed(name, *texts))
    return found


class History(NamedTuple):
    """What a replay brought."""

    updates: list[Json]
    strange: int = 0
    """Updates for other sessions, and what is no update of ACP's."""
    cut: bool = False
    """It was longer than is taken."""


def drafts(history: History, ready: Json, title: str) -> list[Draft]:
    """The events of the log. `ready`: what the agent said when it opened the session."""
    found = [*_turns(history.updates)]
    lasting = {kind_of(each): each for each in history.updates if kind_of(each) in LASTING}
    costs = [lenient.mapping(each, "cost") for each in history.updates]
    amounts = [lenient.number(cost, "amount") for cost in costs]
    counted = [amount for amount in amounts if amount is not None]
    ready = {"sessionUpdate": "_agent", "state": "ready", "how": "imported", **ready}
    ready |= {"counted": counted[-1]} if counted else {}
    found += [Draft(ready), *map(Draft, lasting.values())]
    if title.strip():
        found.append(Draft({"sessionUpdate": "session_info_update", "title": title[:500]}))
    if history.cut:
        found.append(Draft(notice("The history is too long to import all of it.")))
    if history.strange:
        count = f"{history.strange} update{'s' if history.strange > 1 else ''}"
        found.append(Draft(notice(f"Skipped {count} of another session.")))
    name = lenient.text(ready, "name")
    stopped: Json = {"sessionUpdate": "_agent", "state": "stopped", "reason": "imported"}
    return [*found, Draft(stopped | {"name": name})]


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
    return Draft(ended | {"reason": "end_turn"})
