"""Import from real vendors' agents, against a scripted model: a session begun without Rookery is
listed, imported, read and continued."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from rookery.agents import registry
from rookery.client.imports.importing import Importer
from rookery.core.json.events import kind_of
from rookery.home.config import load
from tests.client.test_import import elsewhere
from tests.worker.aviary import Aviary, Bird, text_of
from tools.vendors.install import install
from tools.vendors.marks import Llm
from tools.vendors.roster import VENDORS, chosen, surroundings
from tools.vendors.vendor import Vendor

USUAL = [name for name in ("claude", "opencode") if name in VENDORS]

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1800),  # the first run installs
    pytest.mark.skipif(sys.platform != "linux", reason="the trials find processes in /proc"),
]


@pytest.mark.parametrize("vendor", chosen(usual=USUAL), ids=lambda vendor: vendor.name)
async def test_a_session_begun_without_rookery_is_imported(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    programs = await asyncio.to_thread(install, vendor)
    async with Llm(vendor) as llm:
        aviary = Aviary(tmp_path)
        environment = surroundings(vendor, programs, tmp_path / "person", llm.address)
        environment["ROOKERY_HOME"] = aviary.home
        try:
            said = ["[[say heron]]", "[[say osprey]]"]
            begun = await asyncio.to_thread(
                elsewhere, vendor.argv, aviary.work, *said, environment=environment
            )
            agent, config = registry.Agent(vendor.name, vendor.argv), load(aviary.home)
            async with Importer(home_of(aviary), agent, config, environment) as importer:
                pages = importer.pages(str(aviary.work))
                rows = [row async for page in pages for row in page]
                assert begun in [row.session.id for row in rows], rows
                [row] = [row for row in rows if row.session.id == begun]
                [made] = importer.bring([row.session])
                assert importer.bring([row.session])[0].here == made.here
            bird = Bird(aviary.home, made.here)
            bird.patience = 180.0
            aviary.birds.append(bird)
            assert bird.header().turn == 0
            await bird.send("start")
            text = text_of(bird.events())
            assert "heron" in text
            assert "osprey" in text
            assert bird.header().turn == 2
            await goes_on(bird)
            assert len(llm.main()) >= 3
        finally:
            await asyncio.to_thread(aviary.end)


def home_of(aviary: Aviary) -> str:
    assert os.environ["ROOKERY_HOME"] == aviary.home
    return aviary.home


async def goes_on(bird: Bird) -> None:
    turn = await bird.turn("[[say gannet]]")
    assert turn[-1].update["reason"] == "end_turn"
    events = bird.events()
    assert "gannet" in text_of(events)
    assert text_of(events).count("heron") == 1, "the replay is not logged twice"
    assert not [e for e in events if kind_of(e.update) == "_context"], "it was continued"
