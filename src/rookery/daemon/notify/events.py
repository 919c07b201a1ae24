"""Deciding what is worth a notification: the heads of the sessions are looked at round by round,
and each item is notified once."""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.ask import asks_of
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked
from rookery.core.settings.notify import Notify
from rookery.core.view.fleet import NO_TITLE, is_hidden, state_of

ASK, END, FAILURE, SUMMARY, TEST = "ask", "end", "failure", "summary", "test"
OWN_DOING = frozenset({"cancelled", "forced", "waiting"})
"""Reasons for which a turn ended that are no news to the user."""
MINUTE = 60.0
TITLE, TEXT = 100, 300
"""Characters."""
MOST_HELD = 1000


class News(NamedTuple):
    kind: str
    session: str = ""
    title: str = ""
    agent: str = ""
    cwd: str = ""
    text: str = ""
    at: int = 0
    """In milliseconds since the epoch."""
    seq: int = 0
    """Of the event."""
    number: int = 1
    """Of a summary: how many it stands for."""


class Watch:
    """Looks at each head in each round. News must still stand, and still be unread, in the next
    round: a user who is watching the session reads them before that."""

    def __init__(self, since: int) -> None:
        self._since = since
        self._kept: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._heads: list[Json] | None = None

    def look(self, heads: list[Json], now: float) -> list[Json]:
        """Return the heads of the sessions to notify about. `now` is in milliseconds since the
        epoch."""
        if heads is self._heads and not self._seen:
            return []
        self._heads = heads
        notified: dict[str, int] = {}
        seen: dict[str, int] = {}
        due: list[Json] = []
        for head in heads:
            name, news = str(head["id"]), int(head.get("news", 0))
            former = news if head["at"] < self._since else 0
            notified[name] = self._kept.get(name, former)
            if news <= notified[name]:
                continue
            if is_hidden(head, now) or not head["unread"]:
                notified[name] = news
            elif _is_settled(head):
                if self._seen.get(name) != news:
                    seen[name] = news
                    continue
                notified[name] = news
                if kind_of(head):
                    due.append(head)
        self._kept, self._seen = notified, seen
        return due


def _is_settled(head: Json) -> bool:
    return state_of(head, awake=head["awake"]) not in ("running", "waiting")


def kind_of(head: Json) -> str:
    """Return the kind of notification, or "" if the head is not worth one."""
    match state_of(head, awake=head["awake"]):
        case "needs-you" | "limited":
            return ASK
        case "failed":
            return FAILURE
        case "idle" | "asleep" if head["reason"] and head["reason"] not in OWN_DOING:
            return END
    return ""


def is_wanted(kind: str, settings: Notify) -> bool:
    enabled = {ASK: settings.asks, END: settings.ends, FAILURE: settings.failures}
    return enabled.get(kind, False)


def news_of(head: Json, header: Header) -> News:
    """Return the notification for a head. `header` is the session's, for the text of an ask or an
    error; it is empty if not known."""
    kind = kind_of(head)
    return News(
        kind,
        str(head["id"]),
        plain(head["title"] or NO_TITLE, TITLE),
        plain(head["agent"], TITLE),
        plain(head["cwd"], TEXT),
        plain(_text(kind, header) or head["last"], TEXT),
        int(head["at"]),
        int(head.get("news", 0)),
    )


def _text(kind: str, header: Header) -> str:
    if kind == FAILURE:
        return lenient.text(header.error, "message")
    if kind != ASK:
        return ""
    for ask in asks_of(header).values():
        if ask.is_about_budget:
            return f"Budget reached. {ask.message}"
        if text := ask.message or lenient.text(ask.call, "title"):
            return text
    return lenient.text(header.error, "message")


def plain(text: str, longest: int) -> str:
    """Return the text on one line, without control characters and with secrets masked."""
    shown = "".join(c if c.isprintable() else " " for c in masked(text[: 20 * longest]))
    shown = " ".join(shown.split())
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


class Bound:
    """Limits notifications to a number per minute; the excess is gathered in summaries, one a
    minute."""

    def __init__(self) -> None:
        self._sent: deque[float] = deque()
        self._held: list[News] = []
        self._summed = -MINUTE

    def take(self, news: Iterable[News], most: int, now: float) -> list[News]:
        """Return the notifications to send now. `now` is in seconds of any monotonic clock."""
        while self._sent and self._sent[0] <= now - MINUTE:
            self._sent.popleft()
        to_send: list[News] = []
        for each in news:
            if len(self._sent) < most and not self._held:
                self._sent.append(now)
                to_send.append(each)
            elif len(self._held) < MOST_HELD:
                self._held.append(each)
        if self._held and now - self._summed >= MINUTE:
            to_send.append(_summary(self._held))
            self._held, self._summed = [], now
        return to_send


def _summary(held: list[News]) -> News:
    if len(held) == 1:
        return held[0]
    verbs = {ASK: "need you", END: "are done", FAILURE: "failed"}
    counts = {kind: len({each.session for each in held if each.kind == kind}) for kind in verbs}
    parts = [f"{count} {verbs[kind]}" for kind, count in counts.items() if count]
    at = max(each.at for each in held)
    return News(SUMMARY, text=", ".join(parts), at=at, number=len(held))
