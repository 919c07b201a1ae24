"""The stream: from a known event on, in order, each once, however often the client or the daemon
goes away."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from rookery.client.create import create_session
from rookery.client.daemon import local
from rookery.client.session import SessionClient
from rookery.core.blocks.document import Document
from rookery.core.header import Header
from rookery.daemon.fleet import Fleet
from rookery.daemon.process import lifecycle
from rookery.log.reader import Reader
from tests.daemon.served import PATIENCE, Served, awaited, serve
from tests.worker.aviary import Aviary, Bird


@pytest.fixture
def here(aviary: Aviary) -> Any:
    daemon = serve(Path(aviary.home))
    yield daemon
    if local.record(aviary.home) is not None:
        lifecycle.stop(aviary.home)


@asynccontextmanager
async def stream(daemon: Served) -> AsyncIterator[ClientConnection]:
    address = f"ws://{daemon.netloc}/api/stream"
    headers = {"Authorization": f"Bearer {daemon.token}"}
    async with connect(address, additional_headers=headers, max_size=None) as link:
        yield link


async def heard(link: ClientConnection) -> tuple[str, Any]:
    async with asyncio.timeout(PATIENCE):
        ((kind, body),) = json.loads(await link.recv()).items()
    return kind, body


async def subscribe(link: ClientConnection, topic: str, **more: Any) -> None:
    await link.send(json.dumps({"subscribe": {"topic": topic, **more}}))


async def fold(link: ClientConnection, upto: int, document: Document, seq: int = 0) -> int:
    """Apply what comes until the event `upto`; its seq."""
    while seq < upto:
        kind, body = await heard(link)
        if kind == "snapshot":
            document.header = Header(body["header"])
            document.blocks = {block["id"]: dict(block) for block in body["blocks"]}
        else:
            assert kind == "ops", (kind, body)
            assert body["seq"] > seq
            document.apply(body["ops"])
        seq = body["seq"]
    return seq


def last(bird: Bird) -> int:
    with Reader.open(str(bird.directory)) as log:
        return log.last_seq()


def whole(daemon: Served, session: str) -> dict[str, Any]:
    answer = daemon.ask("GET", f"/api/sessions/{session}/document")
    assert answer.status == 200
    found = answer.json()
    return {block["id"]: block for block in found["blocks"]}


async def test_a_snapshot_and_ops_give_the_document(aviary: Aviary, here: Served) -> None:
    bird = aviary.hatch()
    await bird.turn("first")
    document = Document()
    async with stream(here) as link:
        await subscribe(link, bird.id)
        seq = await fold(link, last(bird), document)
        await bird.turn([{"text": "a few words"}, {"text": " and more"}])
        await fold(link, last(bird), document, seq)
    there = await asyncio.to_thread(whole, here, bird.id)
    assert {name: document.blocks[name]["text"] for name in there} == {
        name: block["text"] for name, block in there.items()
    }


async def test_a_client_that_was_away_resumes_from_its_event(aviary: Aviary, here: Served) -> None:
    bird = aviary.hatch()
    await bird.turn("first")
    document = Document()
    async with stream(here) as link:
        await subscribe(link, bird.id)
        seq = await fold(link, last(bird), document)
    await bird.turn([{"text": f"piece {number}. "} for number in range(20)])
    async with stream(here) as link:
        await subscribe(link, bird.id, after=seq)
        kind, body = await heard(link)
        assert kind == "ops"  # not the end anew
        document.apply(body["ops"])
        await fold(link, last(bird), document, body["seq"])
    there = await asyncio.to_thread(whole, here, bird.id)
    assert all(document.blocks[name]["text"] == block["text"] for name, block in there.items())


async def test_raw_events_resume_without_a_gap(aviary: Aviary, here: Served) -> None:
    bird = aviary.hatch()
    await bird.turn("first")
    numbers: list[int] = []
    for after in (0, 3):
        async with stream(here) as link:
            await subscribe(link, bird.id, form="events", after=after)
            found: list[int] = []
            while not found or found[-1] < last(bird):
                kind, body = await heard(link)
                assert kind == "events"
                found += [event["seq"] for event in body["events"]]
        numbers.append(len(found))
        assert found == list(range(after + 1, last(bird) + 1))
    assert numbers[0] == numbers[1] + 3


async def test_a_killed_daemon_loses_nothing_of_a_stream(aviary: Aviary, here: Served) -> None:
    """Killed in the middle of a turn; the next daemon adopts the worker."""
    bird = aviary.hatch()
    begun = await bird.prompt(
        [*({"text": f"piece {number}. "} for number in range(30)), {"wait": 0.5}, {"text": "end"}]
    )
    found: list[int] = []
    async with stream(here) as link:
        await subscribe(link, bird.id, form="events", after=0)
        while len(found) < 5:
            _, body = await heard(link)
            found += [event["seq"] for event in body["events"]]
        here.kill()
        with suppress(ConnectionClosed):
            while True:
                _, body = await heard(link)
                found += [event["seq"] for event in body["events"]]
    other = await asyncio.to_thread(serve, Path(aviary.home))
    ended = await bird.ended(begun)
    async with stream(other) as link:
        await subscribe(link, bird.id, form="events", after=found[-1])
        while found[-1] < ended.seq:
            _, body = await heard(link)
            found += [event["seq"] for event in body["events"]]
    assert found == list(range(1, found[-1] + 1))


async def test_the_session_list_streams_changes(aviary: Aviary, here: Served) -> None:
    async with stream(here) as link:
        await subscribe(link, "fleet")
        kind, body = await heard(link)
        assert (kind, body["blocks"]) == ("snapshot", [])
        bird = aviary.hatch()
        blocks: dict[str, Any] = {}
        await bird.turn("hello")
        while not blocks or blocks[bird.id]["status"] != "idle" or not blocks[bird.id]["turn"]:
            kind, body = await heard(link)
            assert kind == "ops"
            for op in body["ops"]:
                if op[0] == "put":
                    blocks[op[1]["id"]] = op[1]
                elif op[0] == "set":
                    blocks[op[1]] |= op[2]
    async with stream(here) as link:
        await subscribe(link, "fleet", after=body["seq"], epoch=body["epoch"])
        await bird.send("rename", title="another name")
        kind, body = await heard(link)
        assert kind == "ops"
        assert [op[2]["title"] for op in body["ops"] if "title" in op[2]] == ["another name"]


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ("no json", "bad_frame"),
        ("[]", "bad_frame"),
        ('{"subscribe": {"topic": "0123456789"}}', "unknown_session"),
        ('{"subscribe": {"topic": "../../etc"}}', "unknown_session"),
        ('{"subscribe": {"topic": "fleet", "form": "x"}}', "bad_form"),
        ('{"delete": {"topic": "fleet"}}', "bad_frame"),
    ],
)
async def test_what_is_not_understood_is_said_and_the_stream_goes_on(
    served: Served, frame: str, error: str
) -> None:
    async with stream(served) as link:
        await link.send(frame)
        kind, body = await heard(link)
        assert (kind, body["error"]) == ("error", error)
        await subscribe(link, "fleet")
        assert (await heard(link))[0] == "snapshot"


async def test_a_stream_is_closed_with_1001(daemon: Served) -> None:
    async with stream(daemon) as link:
        await subscribe(link, "fleet")
        await heard(link)
        await asyncio.to_thread(daemon.stop)
        with pytest.raises(ConnectionClosed) as closed:
            await heard(link)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001


async def test_server_sent_events_resume_by_their_id(aviary: Aviary, here: Served) -> None:
    bird = aviary.hatch()
    await bird.turn("first")

    def read(upto: int, **headers: str) -> list[tuple[int, str]]:
        """The ids and kinds of what comes until the event `upto`."""
        import http.client

        link = http.client.HTTPConnection(here.netloc, timeout=PATIENCE)
        named = {"Authorization": f"Bearer {here.token}", **headers}
        link.request("GET", f"/api/events?topic={bird.id}&form=events&after=0", headers=named)
        answer = link.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        found: list[tuple[int, str]] = []
        number = 0
        while not found or found[-1][0] < upto:
            line = answer.readline().decode()
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("event: "):
                found.append((number, line[7:].strip()))
        link.close()
        return found

    upto, kind = (await asyncio.to_thread(read, last(bird)))[-1]
    assert kind == "events"
    await bird.turn("second")
    wanted = last(bird)  # a snapshot may be told behind it
    again = await asyncio.to_thread(read, wanted, **{"Last-Event-ID": str(upto)})
    assert upto < again[0][0]
    assert wanted <= again[-1][0] <= last(bird)


@pytest.mark.long
async def test_a_client_that_does_not_listen_is_told_that_it_lags(
    aviary: Aviary, here: Served
) -> None:
    """More waits for it than is kept; it subscribes again from what it has, and misses nothing."""
    from rookery.daemon.watcher import MOST_WAITING

    bird = aviary.hatch()
    await bird.turn("first")
    piece = "x" * 50_000
    async with stream(here) as link:
        await subscribe(link, bird.id)
        _, body = await heard(link)
        seq = body["seq"]
        times = 4 * MOST_WAITING // len(piece)
        await bird.turn([{"repeat": times, "steps": [{"text": piece}]}])
        lagged = False
        while not lagged and seq < last(bird):
            kind, body = await heard(link)
            lagged = kind == "lagged"
            seq = body.get("seq", seq)
        document = Document()
        await subscribe(link, bird.id)
        await fold(link, last(bird), document)
        # The same where it is the past that is too long: it comes in parts.
        found, parts = [0], 0
        while found[-1] < last(bird):
            await subscribe(link, bird.id, form="events", after=found[-1])
            parts += 1
            kind = ""
            while kind != "lagged" and found[-1] < last(bird):
                kind, body = await heard(link)
                found += [event["seq"] for event in body.get("events", ())]
        assert parts > 1
        assert found == list(range(last(bird) + 1))
    there = await asyncio.to_thread(whole, here, bird.id)
    assert set(there) == set(document.blocks)


def test_a_worker_that_died_gets_its_post_mortem(
    serving: Callable[..., Served],
) -> None:
    daemon = serving()
    session = daemon.create(prompt="Hello")

    def head() -> Any:
        return daemon.own("GET", f"/api/sessions/{session}").json()

    awaited(lambda: head()["process"])
    from rookery.client import fleet
    from rookery.processes import tree

    worker = (fleet.head_of_session(daemon.home, session) or {})["worker"]
    tree.kill([tree.Process(worker["pid"], worker["start"])])
    awaited(lambda: head()["status"] in ("failed", "asleep", "needs-you") and not head()["awake"])
    assert head()["state"] == "idle"


def test_the_list_numbers_what_it_tells(home: Path) -> None:
    """A look's number and its ops belong together, whoever looked meanwhile; and all looks since a
    number give what they gave one by one."""
    fleet = Fleet(str(home))
    assert fleet.look() is None
    told = []
    for title in ("one", "two", "three"):
        create_session(str(home), agent="demo", argv=[], cwd=str(home), title=title)
        told.append(fleet.look())
    assert [each and each["seq"] for each in told] == [1, 2, 3]
    assert [each["ops"][0][1]["title"] for each in told if each] == ["one", "two", "three"]
    for seq in range(4):
        news = fleet.since(fleet.epoch, seq)
        assert news is not None
        assert news["seq"] == 3
        assert news["ops"] == [op for each in told[seq:] if each for op in each["ops"]]
    assert fleet.since(fleet.epoch, 4) is None
    assert fleet.since("another daemon's", 1) is None
    assert (fleet.to_json()["seq"], len(fleet.to_json()["blocks"])) == (3, 3)


def test_a_snoozed_session_comes_back_at_its_time(home: Path) -> None:
    """A look makes only what changed: the time is one of the things that do."""
    session = create_session(str(home), agent="demo", argv=[], cwd=str(home))
    fleet = Fleet(str(home))
    fleet.look()

    def is_snoozed() -> bool:
        fleet.look()
        [block] = fleet.to_json()["blocks"]
        return bool(block["snoozed"])

    client = SessionClient(str(home), session, "test")
    try:
        for seconds in (1, 4, 16):  # a busy machine may look too late
            until = int((time.time() + seconds) * 1000)
            asyncio.run(client.send({"do": "snooze", "until": until}))
            if is_snoozed():
                break
        else:
            raise AssertionError("it was never snoozed")
    finally:
        client.close()
    awaited(lambda: not is_snoozed())
    assert time.time() * 1000 >= until
