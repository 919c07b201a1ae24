"""A long turn in the terminal interface: it opens at its end, and grows upward under the reader."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from rookery.client.create import create_session
from rookery.core.json.events import Draft, Json
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.log.store import Writer
from rookery.tui.app import Rookery
from rookery.tui.shell import Start
from rookery.tui.transcript.window import MORE


def chunk(words: str) -> Draft:
    content = {"type": "text", "text": words}
    return Draft({"sessionUpdate": "agent_message_chunk", "content": content, "messageId": "m"})


def made(home: Path, *middle: Draft) -> str:
    """A session whose last turn goes on, with these in its middle."""
    place = paths.ensure_home(str(home))
    name = create_session(place, agent="demo", argv=[], cwd=place, title="long")
    prompt: Json = {"sessionUpdate": "_prompt", "prompt": [{"type": "text", "text": "Begin."}]}
    with Writer.open(paths.session_dir(place, name)) as writer:
        writer.append([Draft(prompt), Draft({"sessionUpdate": "_turn", "state": "running"})])
        for at in range(0, len(middle), 20):
            writer.append(middle[at : at + 20])
        writer.append([Draft({"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"})])
    return name


def paragraphs(count: int) -> list[Draft]:
    """One message, of about 12 kB a chunk."""
    return [chunk("".join(f"{n}.{line} of it\n\n" for line in range(900))) for n in range(count)]


@asynccontextmanager
async def showing(home: Path, session: str) -> AsyncIterator[tuple[Rookery, Pilot[None]]]:
    app = Rookery(Start(str(home), str(home), session=session))
    async with app.run_test(size=(100, 30)) as pilot:
        while app.window.header.id != session or not app.transcript._items:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield app, pilot
        await app.action_quit()


def lines(app: Rookery) -> list[str]:
    height = app.transcript.size.height
    return [app.transcript.render_line(y).text.rstrip() for y in range(height)]


async def grow(app: Rookery, pilot: Pilot[None]) -> None:
    first = app.window.first
    app.transcript.to_start()
    app.transcript.ask_older()
    while app.window.first == first:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@pytest.mark.long
async def test_older_parts_of_a_message_load_above_and_the_place_holds(home: Path) -> None:
    session = made(home, *paragraphs(400))
    async with showing(home, session) as (app, pilot):
        assert MORE in [str(item.block["title"]) for item in app.transcript._items]
        size = sum(len(block["text"]) for block in app.window.blocks())
        assert size <= 1024 * 1024
        app.transcript.to_start()
        before = [line for line in lines(app) if "of it" in line][:10]
        await grow(app, pilot)
        assert sum(len(block["text"]) for block in app.window.blocks()) > size
        assert [line for line in lines(app) if "of it" in line][:9] == before[:9]
        while app.window.first > 1:
            await grow(app, pilot)
        with Reader.open(os.path.join(paths.session_dir(str(home), session))) as log:
            document = fold(log.header_before(1), log.page(1))
        loaded = {block["id"]: block["text"] for block in app.window.blocks() if block["text"]}
        assert loaded == {b["id"]: b["text"] for b in document.blocks.values() if b["text"]}
        assert MORE not in [str(item.block["title"]) for item in app.transcript._items]


async def test_pages_that_arrive_too_late_are_dropped(home: Path) -> None:
    """The session was opened anew meanwhile: what was asked for before does not fit on."""
    session = made(home, *paragraphs(200))
    async with showing(home, session) as (app, pilot):
        first = app.window.first
        await grow(app, pilot)
        older = app.window.first
        app.reader.older(session, first)
        await pilot.pause(0.5)
        assert app.window.first == older
