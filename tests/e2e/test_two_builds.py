"""Earlier builds in a home of today's: what they would ignore they refuse in words, and all else
opens. The builds are those of fixtures/previous-build.txt."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.build import build
from rookery.log.reader import Reader
from tests.e2e.test_previous_build import each_build, source_of
from tests.log.drafts import files, foreign
from tests.sandbox.cage import caged, configure
from tests.worker.aviary import Aviary, Bird, is_idle, is_text

pytestmark = pytest.mark.long

REFUSED = "was made by a newer Rookery (log format 2; this one knows 1). Update Rookery"


def earlier(aviary: Aviary, source: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command of that build's, in a terminal that has nothing of today's."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "rookery", *words],
        cwd=aviary.work,
        env=environment | {"ROOKERY_HOME": aviary.home},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def log_of(bird: Bird) -> bytes:
    return files(str(bird.directory))["log.db"]


@each_build
@pytest.mark.parametrize("fields", [{"sandbox": "bwrap"}, {"budget": {"turn": "9 USD"}}], ids=str)
async def test_an_earlier_build_starts_no_agent_of_a_session_that_it_would_not_protect(
    aviary: Aviary, commit: str, fields: dict[str, object]
) -> None:
    source = source_of(commit, aviary.root / "build")
    bird = aviary.hatch(**fields)
    before = log_of(bird)
    for words in (["prompt", bird.id, "hello"], ["show", bird.id], ["rename", bird.id, "x"]):
        done = earlier(aviary, source, *words)
        assert done.returncode, words
        assert REFUSED in done.stderr, words
        assert "Traceback" not in done.stderr
    assert not aviary.wait_empty()
    assert log_of(bird) == before


@each_build
async def test_an_earlier_build_does_not_replace_the_worker_of_a_sandboxed_session(
    aviary: Aviary, commit: str
) -> None:
    configure(aviary)
    aviary.trust()
    source = source_of(commit, aviary.root / "build")
    bird = caged(aviary)
    assert await bird.reason([{"text": "inside"}]) == "end_turn"
    worker, agent = bird.worker, bird.agent
    Path(aviary.home, "config.toml").unlink()  # the first builds know no such table
    done = earlier(aviary, source, "prompt", bird.id, "hello")
    assert done.returncode
    assert REFUSED in done.stderr
    assert (bird.worker, bird.agent, bird.record["build"]) == (worker, agent, build())


@each_build
async def test_an_earlier_build_opens_all_other_sessions_and_today_goes_on(
    aviary: Aviary, commit: str
) -> None:
    source = source_of(commit, aviary.root / "build")
    caged_one = aviary.hatch(sandbox="bwrap")
    argv = [sys.executable, "-P", "-m", "rookery.acp.player", *aviary.player()[4:]]
    plain = aviary.hatch(argv=argv)
    listed = earlier(aviary, source, "ps", "--all")
    assert listed.returncode == 0, listed.stderr
    assert plain.id[:4] in listed.stdout
    assert caged_one.id[:4] in listed.stdout
    done = earlier(aviary, source, "prompt", plain.id, '{"play": [{"text": "as ever"}]}')
    assert done.returncode == 0, done.stderr
    shown = await plain.until(lambda event: is_text(event, "as ever"))
    await plain.until(is_idle, shown.seq)
    assert plain.record["build"] != build()
    await plain.send("stop")
    await plain.gone(plain.worker, plain.warden)
    assert foreign(str(plain.directory), "PRAGMA user_version") == [(1,)]
    assert await plain.reason([{"text": "today"}]) == "end_turn"
    assert plain.header().turn == 2
    with Reader.open(str(caged_one.directory)) as log:
        assert log.header().sandbox == "bwrap"
