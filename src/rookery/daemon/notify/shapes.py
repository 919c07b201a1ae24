"""Formats of notifications for webhooks: our own JSON, Slack's and ntfy's."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from rookery.core.json import Json
from rookery.daemon.notify.events import ASK, FAILURE, SUMMARY, TEST, News

WORDS = {ASK: "needs you", FAILURE: "failed"}
TAGS = {ASK: "raised_hand", FAILURE: "x"}
"""ntfy shows them as pictures."""
SIGNED, TIMED, DELIVERY = "Rookery-Signature", "Rookery-Timestamp", "Rookery-Delivery"


class Post(NamedTuple):
    url: str
    body: bytes
    headers: Mapping[str, str]


def heading(news: News) -> str:
    if news.kind == SUMMARY:
        return f"{news.number} more notifications"
    if news.kind == TEST:
        return "Notifications work"
    return f"{news.title} {WORDS.get(news.kind, 'is done')}"


def plain(news: News) -> Json:
    """Return the notification in our own format."""
    about: Json = {}
    if news.kind == SUMMARY:
        about = {"count": news.number}
    elif news.kind != TEST:
        about = {"session": news.session, "seq": news.seq, "agent": news.agent}
        about |= {"title": news.title, "cwd": news.cwd}
    return {"event": news.kind, "heading": heading(news), "text": news.text, "at": news.at, **about}


def post(news: News, url: str, shape: str, secret: str, now: int, delivery: str) -> Post:
    """Return the request for a webhook. `now` is in seconds since the epoch."""
    url = url.replace("{session}", quote(news.session or "all", safe=""))
    match shape:
        case "slack":
            body: Json = {"text": f"*{_for_slack(heading(news))}*\n{_for_slack(news.text)}".strip()}
        case "ntfy":
            url, topic = _topic(url)
            body = {"topic": topic, "title": heading(news), "message": news.text or heading(news)}
            body |= {"priority": 4 if news.kind in WORDS else 3}
            body |= {"tags": [TAGS.get(news.kind, "white_check_mark")]}
        case _:
            body = plain(news)
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json", "User-Agent": "Rookery", DELIVERY: delivery}
    if secret:
        headers |= {TIMED: str(now), SIGNED: signature(secret, now, data)}
    return Post(url, data, headers)


def signature(secret: str, now: int, body: bytes) -> str:
    """Sign the body together with the time, so that an intercepted request cannot be replayed
    later."""
    signed = f"{now}.".encode() + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _topic(url: str) -> tuple[str, str]:
    """Split off the topic: ntfy takes JSON at its root, with the topic in the body."""
    parts = urlsplit(url)
    root, _, topic = parts.path.rstrip("/").rpartition("/")
    return urlunsplit(parts._replace(path=f"{root}/")), topic


def _for_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
