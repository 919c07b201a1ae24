"""The session list is a document like any other: its blocks are the sessions' heads (the topic
`fleet`)."""

from rookery.core.asks.kept_asks import unanswered
from rookery.core.blocks.document import Block, make_block
from rookery.core.header import EMPTY
from rookery.core.json import lenient
from rookery.core.json.events import Json

ORDER = {
    "needs-you": 0,
    "damaged": 1,
    "failed": 1,
    "running": 2,
    "waiting": 3,
    "idle": 4,
    "asleep": 5,
}

LATER = ("waiting",)
"""Of a head: what workers of earlier builds do not write."""

STATE_WORDS = {"needs-you": "needs you"}
"""Where people call a state otherwise than programs do."""


def head_of(header: Json, seq: int, at: int) -> Json:
    """What a list needs to know of a session, without opening its log. Written to head.json."""
    plan = header["plan"]
    return {
        "v": 1,
        "id": header["id"],
        "title": header["title"],
        "agent": header["agent"],
        "cwd": header["cwd"],
        "roots": header["roots"],
        "created": header["created"],
        "archived": header["archived"],
        "snoozed": header["snoozed"],
        "pinned": header["pinned"],
        "state": header["state"],
        "reason": header["reason"],
        "turn": header["turn"],
        "since": header["since"],
        "last": header["last"],
        "model": header["model"],
        "mode": header["mode"],
        "confirm": header["confirm"],
        "neverAsks": header["neverAsks"],
        "decides": header["decides"],
        "unattended": header["unattended"],
        "guard": lenient.text(header["process"], "guard"),
        "process": header["process"]["state"],
        "asks": unanswered(header),
        "news": header["news"],
        "queue": len(header["queue"]),
        "waiting": any(item.get("placeless") for item in header["queue"]),
        "plan": [sum(entry["status"] == "completed" for entry in plan), len(plan)],
        "usage": header["usage"],
        "rateLimited": header["rateLimit"] is not None,
        "critic": {key: header["critic"][key] for key in ("state", "iteration", "of", "score")},
        "seq": seq,
        "at": at,
    }


def is_sound(head: Json) -> bool:
    """Whether a head that was read from a file has all that lists rely on, each of its type. A head
    is only a fold: one that is not sound is folded again."""
    pattern = {key: value for key, value in head_of(EMPTY, 0, 0).items() if key not in LATER}
    return head.get("v") == pattern["v"] and all(
        isinstance(head.get(key), dict | None if value is None else type(value)) and key in head
        for key, value in pattern.items()
    )


def is_snoozed(head: Json, now: float) -> bool:
    """Put away until a time, in milliseconds of the epoch: whoever looks compares (row W4)."""
    return bool(head.get("snoozed", 0) > now)  # the head of an earlier build has none


def is_hidden(head: Json, now: float) -> bool:
    """Lists leave it out."""
    return bool(head["archived"]) or is_snoozed(head, now)


def is_unread(head: Json, seen: int) -> bool:
    """It ended a turn, or asked, after the event up to which somebody looked (row H4)."""
    return bool(head.get("news", 0) > seen)  # the head of an earlier build has none


def state_of(head: Json, *, awake: bool) -> str:
    """One word for a list: needs-you, failed, running, waiting, idle or asleep; or damaged."""
    if head.get("damaged"):  # of a stand-in: nothing else is known
        return "damaged"
    if head["asks"]:  # also asleep: an answer wakes it
        return "needs-you"
    if head["state"] != "idle":
        return "running" if awake else "failed"
    if awake and is_judged(head):
        return "running"
    if head.get("waiting") and not awake:  # the head of an earlier build has none
        return "waiting"
    if head["reason"] in (
        "failed",
        "agent_exited",
        "unresponsive",
        "orphaned",
        "rate_limited",
        "interrupted",
    ):
        return "failed"
    return "idle" if awake else "asleep"


def is_judged(head: Json) -> bool:
    """Its turn is over, and the critic's verdict is still to come."""
    critic = head.get("critic")  # a worker of an earlier build says nothing of it
    return isinstance(critic, dict) and bool(critic.get("state")) and head["state"] == "idle"


def fleet_block(head: Json, *, awake: bool) -> Block:
    block = make_block(
        head["id"], "session", title=head["title"] or "(no title)", text=head["last"]
    )
    block["status"] = state_of(head, awake=awake)
    block["unread"] = head.get("unread", False)
    for field in (
        "agent",
        "cwd",
        "model",
        "mode",
        "turn",
        "since",
        "at",
        "asks",
        "queue",
        "plan",
        "usage",
    ):
        block[field] = head[field]
    return block


def in_order(blocks: list[Block]) -> list[Block]:
    """What needs a person first, then by news."""
    return sorted(blocks, key=lambda block: (ORDER.get(block["status"], 9), -block["at"]))
