"""The queue of prompts that wait for the turn to end, in an order that the user can change."""

from typing import NamedTuple

from rookery.core.json import Draft, Json, lenient

BETWEEN: Json = {"type": "text", "text": "\n\n"}
"""Queued prompts that are sent as one are joined by a blank line."""


class Queued(NamedTuple):
    id: str
    prompt: list[Json]
    steering: bool = False
    """It was offered to the running turn; whether the agent takes it is not known yet."""
    placeless: bool = False
    """It came while no more workers might be awake: the next one sends it at once."""
    reason: bool = False
    """Why the user said no: the first that the agent reads, also where it took the no for the end
    of the turn."""
    wanted: bool = False
    """The user said "send now" while the turn was being cancelled: it goes once that is over."""


type Queue = tuple[Queued, ...]


def find(queue: Queue, name: str) -> Queued | None:
    return next((item for item in queue if item.id == name), None)


def without(queue: Queue, *names: str) -> Queue:
    return tuple(item for item in queue if item.id not in names)


def replaced(queue: Queue, changed: Queued) -> Queue:
    return tuple(changed if item.id == changed.id else item for item in queue)


def moved(queue: Queue, name: str, place: int) -> Queue:
    rest = without(queue, name)
    at = max(0, min(place, len(rest)))
    return (*rest[:at], *(item for item in queue if item.id == name), *rest[at:])


def next_batch(queue: Queue, drain: str) -> Queue:
    """Return the prompts to send together: all that wait, up to the first slash command, which is
    always sent alone; if drained serially, only the first. Prompts being offered to a turn are left
    out."""
    ready = tuple(item for item in queue if not item.steering)
    if not ready or drain != "combined" or is_command(ready[0].prompt):
        return ready[:1]
    until = next((at for at, item in enumerate(ready) if is_command(item.prompt)), len(ready))
    return ready[:until]


def added(queue: Queue, item: Queued) -> tuple[Queue, list[Draft]]:
    """Add a prompt at the end, but a reason before all prompts that are none; return the queue and,
    if the prompt moved ahead, the event for it."""
    place = sum(each.reason for each in queue)
    if not item.reason or place == len(queue):
        return (*queue, item), []
    update: Json = {"sessionUpdate": "_queue", "op": "move", "id": item.id, "to": place}
    return (*queue[:place], item, *queue[place:]), [Draft(update)]


def reasons(queue: Queue) -> Queue:
    return tuple(item for item in queue if item.reason and not item.steering)


def want(queue: Queue, name: str) -> Queue:
    """Mark prompts to be sent as soon as the cancel is over. `name`: which one; "" for all."""
    return tuple(item._replace(wanted=item.wanted or name in ("", item.id)) for item in queue)


def wanted(queue: Queue, drain: str) -> Queue:
    return next_batch(tuple(item for item in queue if item.wanted), drain)


def joined(batch: Queue) -> list[Json]:
    prompt: list[Json] = []
    for item in batch:
        prompt = [*prompt, BETWEEN, *item.prompt] if prompt else list(item.prompt)
    return prompt


def is_command(prompt: list[Json]) -> bool:
    return bool(prompt) and lenient.text(prompt[0], "text").startswith("/")


def listed(queue: list[Json], update: Json) -> list[Json] | None:
    """Return a header's queue after a `_queue` event; None if that changes nothing."""
    name = lenient.text(update, "id")
    rest = [item for item in queue if item["id"] != name]
    item: Json = {"id": name, "prompt": list(lenient.mappings(update, "prompt"))}
    match update.get("op"):
        case "add":
            return [*rest, item | ({"placeless": True} if update.get("placeless") is True else {})]
        case "edit" if len(rest) < len(queue):
            return [old | item if old["id"] == name else old for old in queue]
        case "move" if len(rest) < len(queue):
            place = max(0, min(lenient.integer(update, "to") or 0, len(rest)))
            same = [old for old in queue if old["id"] == name]
            return [*rest[:place], *same, *rest[place:]]
        case "remove" if len(rest) < len(queue):
            return rest
    return None
