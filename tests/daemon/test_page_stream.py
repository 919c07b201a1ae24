"""The page under a stream: what a browser has after any changes is what it would get anew."""

import asyncio
import random
from collections.abc import Iterator, Sequence

import pytest

from rookery.core.json import Event, Json
from rookery.core.view.reduce import fold, step
from rookery.daemon.pieces.growing import Output, Prose
from rookery.daemon.pieces.live import MAX_BLOCKS, Live
from rookery.daemon.pieces.transcript import view_of
from tests.core import recordings
from tests.daemon.applied import Page
from tests.daemon.served import Served
from tests.daemon.test_stream import heard, here, last, stream, subscribe
from tests.export import samples
from tests.export.sessions import chunk, prompt, session, tool, turn
from tests.worker.aviary import Aviary, Bird

__all__ = ["here"]  # a fixture

NOW = 1_800_000_000_000
LONG = pytest.mark.long
RECORDED = sorted(path.name for path in recordings.FOLDER.glob("*.jsonl"))


def events_of(updates: Sequence[Json]) -> list[Event]:
    return [Event(n, NOW + n * 1000, None, None, each) for n, each in enumerate(updates, 1)]


def live_at(events: Sequence[Event]) -> Live:
    document = fold(None, events)
    return Live(document, lambda header: view_of(header, "s", NOW))


def anew(events: Sequence[Event]) -> str:
    return Page(live_at(events).html()).shown()


def windows(events: Sequence[Event], chance: random.Random) -> Iterator[Sequence[Event]]:
    at = 0
    while at < len(events):
        size = chance.choice((1, 1, 2, 5, 20))
        yield events[at : at + size]
        at += size


def check(events: Sequence[Event], seed: int, begin: int = 0, looks: int = 6) -> None:
    """Open the page after some events, and follow the others in windows of any size; look at it now
    and then."""
    chance = random.Random(seed)
    live, seq = live_at(events[:begin]), begin
    page = Page(live_at(events[:begin]).html())  # which another daemon rendered
    header = fold(None, events[:begin]).header
    rest = list(windows(events[begin:], chance))
    looked = {len(rest) - 1, *chance.sample(range(len(rest)), min(looks, len(rest)))}
    for number, window in enumerate(rest):
        for event in window:
            header, ops = step(header, event)
            live.take(ops)
        page.apply(live.flush())
        seq += len(window)
        if number in looked:
            assert page.shown() == anew(events[:seq]), f"after the event {seq}"
    assert Page(live.html()).shown() == page.shown()


USUAL = ("claude-scenario.jsonl", "codex-extra.jsonl", "gemini-cli.jsonl", "opencode.jsonl")


@pytest.mark.parametrize(
    "name", [each if each in USUAL else pytest.param(each, marks=LONG) for each in RECORDED]
)
def test_streamed_changes_give_the_same_page_as_a_reload(name: str) -> None:
    for session_ in recordings.sessions(name)[:2]:
        events = list(recordings.play(name, session_).events)[:150]
        if events:
            check(events, seed=1)
            check(events, seed=2, begin=len(events) // 2)


def streamed(chance: random.Random) -> list[Json]:
    """A turn as agents stream it: text and output in pieces of any size, calls among them."""
    found: list[Json] = [session(), prompt("Go on."), turn("running")]
    text = samples.MARKDOWN * 2

    def pieces(words: str, most: int) -> Iterator[str]:
        while words:
            size = chance.randint(1, most)
            yield words[:size]
            words = words[size:]

    found += [chunk(each, "thought") for each in pieces(text[:400], 40)]
    for number in range(5):
        found.append(tool(f"r{number}", f"Read {number}.py", "read", "in_progress"))
        found.append(changed(f"r{number}", "completed"))
    found += [chunk(each) for each in pieces(text, 60)]
    found.append(tool("x", "make", "execute", "in_progress", rawInput={"command": "make"}))
    begun = {"sessionUpdate": "_terminal", "id": "t", "command": "make", "state": "started"}
    found.append({**begun, "toolCallId": "x"})
    for each in pieces(samples.PYTEST * 20 + "\r50 %\r100 %\n\x1b[2Adone\n", 90):
        found.append({"sessionUpdate": "_terminal", "id": "t", "state": "output", "text": each})
    found.append({"sessionUpdate": "_terminal", "id": "t", "state": "ended", "exitCode": 0})
    found += [changed("x", "completed"), *map(chunk, pieces("[a]: https://a.example\n", 5))]
    found += [samples.ASK, turn("idle", reason="cancelled")]
    return found


def changed(name: str, status: str) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": status}


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(n, marks=LONG) for n in range(3, 20))])
def test_a_turn_can_be_streamed_from_any_event(seed: int) -> None:
    chance = random.Random(seed)
    events = events_of(streamed(chance))
    check(events, seed)
    check(events, seed, begin=chance.randrange(len(events)))


@pytest.mark.parametrize("nested", [False, True])
def test_thousands_of_quiet_calls_in_one_turn_are_not_kept(nested: bool) -> None:
    """At the top, and below a call that goes on; what is kept is what stands at the end."""
    below = {"_meta": {"claudeCode": {"parentToolUseId": "task"}}} if nested else {}
    task = [tool("task", "Look around", "think", "in_progress")] if nested else []
    calls = [tool(f"c{n}", f"Read {n}.py", "read", **below) for n in range(2_600)]
    events = events_of([session(), prompt("Go on."), turn("running"), *task, *calls])
    begin = 3 + len(task)
    live, header = live_at(events[:begin]), fold(None, events[:begin]).header
    for at in range(begin, len(events), 200):
        for event in events[at : at + 200]:
            header, ops = step(header, event)
            live.take(ops)
        live.flush()
        assert len(live.document.blocks) <= MAX_BLOCKS
    shown = live.html()
    assert shown.count(">2599.py<") == 1
    assert ">0.py<" not in shown
    assert shown.count("Look around") == nested


def test_the_bytes_sent_are_in_proportion_to_the_text() -> None:
    """A text that comes in many pieces is not sent again and again."""
    words = samples.MARKDOWN * 40
    pieces = [words[at : at + 20] for at in range(0, len(words), 20)]
    events = events_of([session(), prompt("Go on."), turn("running"), *map(chunk, pieces)])
    live, header = live_at(events[:3]), fold(None, events[:3]).header
    sent = 0
    for event in events[3:]:
        header, ops = step(header, event)
        live.take(ops)
        sent += sum(len(str(change)) for change in live.flush())
    assert sent < 20 * len(words)


@pytest.mark.parametrize("size", [5, 300])
def test_texts_are_the_same_in_any_pieces(size: int) -> None:
    words = samples.MARKDOWN + "x" * 9_000 + "\n```\nopen " + "y\n" * 3_000
    prose = Prose()
    for at in range(0, len(words), size):
        prose.feed(words[at : at + size])
    assert (prose.pieces, prose.tail()) == (Prose(words).pieces, Prose(words).tail())
    printed = samples.PYTEST * 400 + "\r1 %\r2 %\n\x1b[3Aup\n\n" * 30
    output, shown = Output(), list[str]()
    for at in range(0, len(printed), size * 50):
        output.feed(printed[at : at + size * 50])
        if news := output.news():
            shown = [] if news.cut < 0 else shown[: len(shown) - news.cut]
            shown = (shown + news.more)[-news.kept :]
    assert "".join(shown) == Output(printed).html().partition(">")[2].removesuffix("</code>")


@pytest.mark.parametrize("size", [3, 50])
def test_secrets_are_masked_before_they_become_html(size: int) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    lines = ("-----BEGIN PRIVATE KEY-----", "MIIabc" * 10, "qwerty" * 10)
    key = "\n".join([*lines, "-----END PRIVATE KEY-----\n"])
    words = f"Use `{token}` here.\n\n```\n{key}```\nthen {token}"
    updates = [session(), prompt("Go on."), turn("running")]
    updates += [chunk(words[at : at + size]) for at in range(0, len(words), size)]
    begun = {"sessionUpdate": "_terminal", "id": "t", "command": "env", "state": "started"}
    updates.append(begun)
    said = f"A={token}\n{key}end {token}"
    for at in range(0, len(said), size):
        piece = {"state": "output", "text": said[at : at + size]}
        updates.append({"sessionUpdate": "_terminal", "id": "t", **piece})
    events = events_of(updates)
    live, header = live_at(events[:3]), fold(None, events[:3]).header
    sent = live_at(events).html()
    for event in events[3:]:
        header, ops = step(header, event)
        live.take(ops)
        sent += str(live.flush())
    for secret in ("a1B2c3D4a1", "MIIabcMII", "qwertyqwe"):
        assert secret not in sent


def screen(daemon: Served, bird: Bird) -> Page:
    answer = daemon.ask("GET", f"/sessions/{bird.id}", Accept="text/html")
    assert answer.status == 200
    return Page.of_screen(answer.body.decode())


async def follow(daemon: Served, bird: Bird, page: Page) -> None:
    """Apply what comes until the page has the last event that shows."""
    async with stream(daemon) as link:
        await subscribe(link, bird.id, form="page", after=page.seq)
        while page.shown() != (await asyncio.to_thread(screen, daemon, bird)).shown():
            kind, body = await heard(link)
            assert kind == "page", (kind, body)
            assert body["seq"] > page.seq
            page.apply(body["ops"])
            page.seq = body["seq"]


async def test_a_browser_that_was_away_resumes_from_its_event(aviary: Aviary, here: Served) -> None:
    bird = aviary.hatch()
    await bird.turn("first")
    page = await asyncio.to_thread(screen, here, bird)
    await bird.turn([{"thought": "Hm."}, {"text": samples.MARKDOWN, "chunks": 30}])
    await follow(here, bird, page)
    await bird.turn([{"command": "seq 1 30"}, {"text": "- one\n- two\n\nend", "chunks": 5}])
    await follow(here, bird, page)
    assert page.seq <= last(bird)
