"""What is worth a notification, and how each kind of receiver gets it: the pure part."""

import json
from typing import Any

import pytest

from rookery.core.header import EMPTY, Header
from rookery.core.settings.notify import Notify
from rookery.core.view.fleet import head_of
from rookery.daemon.notify import desktop, shapes
from rookery.daemon.notify.events import (
    ASK,
    END,
    FAILURE,
    SUMMARY,
    Bound,
    News,
    Watch,
    is_wanted,
    kind_of,
    news_of,
)

SINCE = 1000


def head(news: int = 5, **more: Any) -> dict[str, Any]:
    plain = head_of(EMPTY.with_(id="crow", title="Build"), 9, SINCE + 1)
    rest = {"reason": "end_turn", "awake": True, "unread": True, "news": news}
    return {**plain, "state": "idle", **rest, **more}


def looked(*rounds: dict[str, Any]) -> list[str]:
    """The kinds that a series of rounds brings."""
    watch = Watch(SINCE)
    return [kind_of(each) for given in rounds for each in watch.look([given], SINCE + 2)]


def test_an_unread_end_of_a_turn_is_sent_once() -> None:
    assert looked(head()) == []  # it may be read at once
    assert looked(head(), head(), head(), head()) == [END]
    assert looked(head(), head(), head(8), head(8)) == [END, END]


def test_asks_and_failures_are_sent() -> None:
    asks = head(state="asking", asks=1)
    assert looked(asks, asks) == [ASK]
    assert looked(head(reason="agent_exited"), head(reason="agent_exited")) == [FAILURE]


@pytest.mark.parametrize(
    "more",
    [
        {"unread": False},
        {"archived": True},
        {"snoozed": SINCE + 1000},
        {"reason": "cancelled"},
        {"state": "running"},
        {"at": SINCE - 1},
        {"news": 0},
    ],
)
def test_read_hidden_running_and_old_sessions_are_not_sent(more: dict[str, Any]) -> None:
    assert looked(*[head(**more)] * 4) == []


def test_events_of_a_hidden_session_stay_unsent() -> None:
    archived = head(archived=True)
    assert looked(archived, archived, head(), head()) == []


def test_a_session_that_is_read_in_time_is_not_sent() -> None:
    assert looked(head(), head(unread=False), head(unread=False)) == []


def test_a_judged_turn_waits_for_the_verdict() -> None:
    judged = head(critic={"state": "judging", "iteration": 0, "of": 0, "score": None})
    assert looked(judged, judged, judged) == []
    assert looked(judged, judged, head(), head()) == [END]


def test_each_kind_can_be_switched_off() -> None:
    assert is_wanted(ASK, Notify())
    assert not is_wanted(ASK, Notify(asks=False))
    assert not is_wanted(END, Notify(ends=False))
    assert not is_wanted(FAILURE, Notify(failures=False))


def test_texts_are_plain_and_without_secrets() -> None:
    token = "ghp_" + "a" * 36
    asks = {"a": {"toolCall": {"title": f"curl -H {token}\x1b[31m\nnext " + "x" * 900}}}
    found = news_of(head(asks=1, title="\x1b]0;hi\x07 Build"), Header({"asks": asks}))
    assert token not in found.text
    assert found.text.startswith("curl -H ghp_•••")
    assert found.title == "]0;hi Build"
    assert len(found.text) == 300
    assert (found.text + found.title).isprintable()


def test_a_failures_notification_has_its_error() -> None:
    failed = head(reason="failed", last="reading")
    assert news_of(failed, Header({"error": {"message": "no route"}})).text == "no route"
    assert news_of(failed, Header({})).text == "reading"


def test_a_flood_ends_in_one_summary() -> None:
    bound, flood = Bound(), [News(ASK, f"s{n}", "T", at=n) for n in range(30)]
    first = bound.take(flood, 10, 0.0)
    assert [each.kind for each in first] == [ASK] * 10 + [SUMMARY]
    assert first[-1].number == 20
    assert first[-1].text == "20 need you"
    assert bound.take(flood, 10, 30.0) == []
    (summary,) = bound.take([], 10, 61.0)
    assert (summary.kind, summary.number) == (SUMMARY, 30)
    assert bound.take(flood[:1], 10, 62.0) == flood[:1]


NEWS = News(ASK, "crow", "<Build> & co", "demo", "/w", "Run `rm`?", 12_000, 7)


def test_bodies_have_the_receivers_shape() -> None:
    sent = shapes.post(NEWS, "https://h.example/{session}", "json", "", 1, "d")
    assert sent.url == "https://h.example/crow"
    body = json.loads(sent.body)
    assert body == {
        "event": "ask",
        "heading": "<Build> & co needs you",
        "text": "Run `rm`?",
        "at": 12_000,
        "session": "crow",
        "seq": 7,
        "agent": "demo",
        "title": "<Build> & co",
        "cwd": "/w",
    }
    assert shapes.SIGNED not in sent.headers
    slack = json.loads(shapes.post(NEWS, "https://h.example/x", "slack", "", 1, "d").body)
    assert slack == {"text": "*&lt;Build&gt; &amp; co needs you*\nRun `rm`?"}
    ntfy = shapes.post(NEWS, "https://n.example/sub/topic?auth=x", "ntfy", "", 1, "d")
    assert ntfy.url == "https://n.example/sub/?auth=x"
    said = json.loads(ntfy.body)
    assert (said["topic"], said["title"]) == ("topic", "<Build> & co needs you")
    summary = json.loads(shapes.post(News(SUMMARY, number=3), "https://h/", "json", "", 1, "").body)
    assert summary["heading"] == "3 more notifications"


def test_desktop_texts_are_passed_as_arguments() -> None:
    news = NEWS._replace(title="-e evil")
    mac = desktop.command(news, "darwin")
    assert mac[0] == "osascript"
    assert mac[-3:] == ("--", "-e evil needs you", "Run `rm`?")
    linux = desktop.command(news._replace(text="<b>"), "linux")
    assert linux[-3:] == ("--", "-e evil needs you", "&lt;b&gt;")
