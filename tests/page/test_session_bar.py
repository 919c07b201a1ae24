"""The bar, the queue and the composer as HTML, from a session's header."""

import re
from typing import Any

from rookery.core.header import EMPTY, Header
from rookery.daemon.pieces import composer, queue_strip, session_bar

SCRIPT = "<script>alert(1)</script>\u202e"
MODEL = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "value": "opus",
    "choices": [{"value": "opus", "name": "Opus 5", "description": ""}],
    "via": "model",
}


def header(**more: Any) -> Header:
    return EMPTY.with_(**{"id": "3f2a91bc", "agent": "claude", "cwd": "/srv/shop", **more})


def texts(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_bar_says_what_a_session_runs_with() -> None:
    usage = {"used": 76_000, "size": 200_000, "cost": {"amount": 0.42, "currency": "USD"}}
    effort = MODEL | {"id": "effort", "name": "Effort", "category": "thought_level"}
    effort |= {"value": "default", "choices": [{"value": "default", "name": "Default"}]}
    listed = [MODEL, effort]
    shown = header(title="Fix it", options=listed, usage=usage, state="running", since=1_000)
    bar = session_bar.rendered(shown, None, 253_000, False)
    said = texts(bar)
    named = ("Fix it", "/srv/shop", "Claude", "Opus 5")
    for words in (*named, "running", "4 min 12 s", "38 %", "$0.42"):
        assert words in said, words
    assert 'data-running="1"' in bar


def test_a_waiting_session_never_looks_busy() -> None:
    asks = {"a": {"id": "a", "at": 10_000}}
    bar = session_bar.rendered(header(state="running", asks=asks), None, 51_000, False)
    assert 'data-state="needs-you"' in bar
    assert "needs you 41 s" in texts(bar)
    assert "running" not in texts(bar)


def test_the_bar_depends_on_the_state_not_on_the_time() -> None:
    shown = header(state="running", since=1_000)
    bars = [session_bar.rendered(shown, None, at, False, still=True) for at in (5_000, 95_000)]
    assert bars[0] == bars[1]
    assert 'data-since="1000"' in bars[0]


def test_foreign_text_is_inert() -> None:
    evil = {**MODEL, "id": SCRIPT, "name": SCRIPT, "value": SCRIPT, "choices": []}
    queue = [{"id": SCRIPT, "prompt": [{"type": "text", "text": SCRIPT}]}]
    shown = header(title=SCRIPT, cwd=SCRIPT, agent=SCRIPT, options=[evil], queue=queue)
    for html in (
        session_bar.rendered(shown, None, 1, False),
        queue_strip.rendered(shown),
        composer.rendered(SCRIPT, shown, ""),
    ):
        assert "<script" not in html
        assert "\u202e" not in html


def test_a_read_only_daemon_offers_nothing_to_change() -> None:
    assert 'data-do="pick"' not in session_bar.rendered(header(options=[MODEL]), None, 1, True)
    shown = composer.rendered("3f2a91bc", header(), "This device may only look.")
    assert "only look" in shown
    assert "<textarea" not in shown


def test_the_queue_has_its_prompts_in_order() -> None:
    waiting = [{"id": f"q{n}", "prompt": [{"type": "text", "text": f"Step {n}"}]} for n in (1, 2)]
    strip = queue_strip.rendered(header(queue=waiting, state="running"))
    assert strip.index("Step 1") < strip.index("Step 2")
    assert strip.count('data-op="send"') == 2
    assert queue_strip.rendered(header()) == ""
    assert "Held" in queue_strip.rendered(header(queue=waiting, reason="failed"))
