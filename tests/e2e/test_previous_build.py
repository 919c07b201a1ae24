"""An update in mid-session: logs and live workers of an earlier build are today's client's too. The
builds are those of fixtures/previous-build.txt, taken from this clone's history."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.client.session import Rejected
from rookery.core.blocks.document import Document, join
from rookery.core.header import VERSION
from rookery.core.json.events import kind_of
from rookery.core.view.reduce import fold
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.core.making import blocks
from tests.daemon.adoption import adopt
from tests.worker.aviary import Aviary, Bird, Steps, is_ask, is_text, kinds, text_of

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
EARLIER = Path(__file__).with_name("earlier.py")
BUILDS = [
    line.split()[0]
    for line in (ROOT / "fixtures" / "previous-build.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]
each_build = pytest.mark.parametrize("commit", BUILDS)

FIRST: Steps = [
    {"thought": "hm"},
    {"plan": ["one", "two"], "done": 1},
    {"tool": {"toolCallId": "t1", "title": "Look", "kind": "read", "status": "completed"}},
    {"command": "echo from the terminal"},
    {"commands": [{"name": "tidy", "description": "tidies " * 300}]},
    {"title": "An old session"},
    {"usage": 10, "size": 100, "cost": 0.5},
    {"text": "first answer"},
]
SECOND: Steps = [
    {"tool": {"toolCallId": "t2", "title": "Dig", "kind": "edit", "status": "in_progress"}},
    {"ask": "Really?", "allowed": [{"text": "thank you"}]},
    {"text": "still at it"},
    {"until": "cancel"},
]


def source_of(commit: str, folder: Path) -> Path:
    """That build's own `src`, as git has it."""
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False
    )
    if packed.returncode:
        words = packed.stderr.decode(errors="replace").strip()
        pytest.fail(
            f"This clone does not have commit {commit} of fixtures/previous-build.txt: it must be"
            f" whole (git fetch --unshallow). git says: {words}"
        )
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder / "src"


def left_at_its_ask(aviary: Aviary, commit: str) -> Bird:
    """A session of that build's, whose worker waits for an answer in its second turn."""
    source = source_of(commit, aviary.root / "build")
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    # The player as it was then: the rig of today knows only today's.
    argv = [sys.executable, "-P", "-m", "rookery.acp.player", *aviary.player()[4:]]
    words = [aviary.home, str(aviary.work), argv, [FIRST, SECOND]]
    given = [each if isinstance(each, str) else json.dumps(each) for each in words]
    done = subprocess.run(
        [sys.executable, "-P", str(EARLIER), *given],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["from"].startswith(str(source)), "it was not the earlier build that ran"
    bird = Bird(aviary.home, said["session"])
    aviary.birds.append(bird)
    return bird


def check_pages(bird: Bird) -> Document:
    """Page by page it is the same as in one go, whichever build stored the headers."""
    whole, paged = fold(None, bird.events()), Document()
    with Reader.open(str(bird.directory)) as log:
        for n in range(log.turns() + 1):
            before = log.header_before(n)
            assert before.raw["v"] == VERSION
            paged = join(paged, fold(before, log.page(n)))
    assert paged.to_json() == whole.to_json()
    assert paged.header == whole.header
    return whole


@each_build
async def test_worker_of_an_earlier_build_is_driven_to_its_end(aviary: Aviary, commit: str) -> None:
    """Followed, answered, cancelled, prompted and stopped by today's client."""
    bird = left_at_its_ask(aviary, commit)
    old = bird.worker
    [head] = fleet.heads(bird.home)
    assert (head["awake"], head["title"]) == (True, "An old session")
    assert len(check_pages(bird).header.asks) == 1
    asked = await bird.until(is_ask)
    await bird.answer(asked.update, "allow")
    await bird.until(lambda event: is_text(event, "still at it"), asked.seq)
    await bird.send("cancel")
    ended = await bird.until(lambda event: event.update.get("reason") == "cancelled", asked.seq)
    assert "thank you" in text_of(bird.events(asked.seq, ended.seq))
    assert await bird.reason("one more") == "end_turn"
    await bird.send("stop")
    await bird.gone(old, bird.worker)  # one, or two: an idle one may be replaced
    check_pages(bird)


@each_build
async def test_what_it_does_not_know_is_refused_in_words(aviary: Aviary, commit: str) -> None:
    """A command that is newer than the worker; both live on."""
    bird = left_at_its_ask(aviary, commit)
    with pytest.raises(Rejected, match="dance"):
        await bird.send("dance")
    asked = await bird.until(is_ask)
    await bird.answer(asked.update, "allow")
    await bird.until(lambda event: is_text(event, "still at it"), asked.seq)


@each_build
async def test_log_of_an_earlier_build_goes_on(aviary: Aviary, commit: str) -> None:
    """Killed in mid-turn; today's worker buries it, keeps its ask, resumes its agent and adds a
    turn."""
    bird = left_at_its_ask(aviary, commit)
    before = bird.events()
    tree.kill([bird.worker, bird.warden, bird.agent])
    await bird.gone(bird.worker, bird.warden, bird.agent)
    assert len(before) == len(bird.events())
    check_pages(bird)
    [ask] = bird.header().asks.values()
    await bird.prompt([{"text": "today"}])
    decide = await bird.until(lambda event: event.update.get("decide") is True, len(before))
    assert decide.update["id"] == ask["id"]
    await bird.answer(ask, "drop")
    begun = await bird.until(lambda event: kind_of(event.update) == "_prompt", decide.seq)
    ended = await bird.ended(begun)
    turn = bird.events(begun.seq - 1, ended.seq)
    assert turn[-1].update["reason"] == "end_turn"
    assert bird.events()[: len(before)] == before
    assert "_context" not in kinds(turn), "the agent's own session was resumed"
    document = check_pages(bird)
    header = document.header
    assert (header.turn, header.state, header.asks) == (3, "idle", {})
    assert header.titles["agent"] == "An old session"
    shown = [block["text"] for block in blocks(document, "answer")]
    assert shown[0] == "first answer"
    assert shown[-1] == "today"
    assert [block["status"] for block in blocks(document, "ask")] == ["moved", "cancelled"]


@each_build
async def test_the_daemon_adopts_a_live_worker_of_an_earlier_build(
    aviary: Aviary, commit: str
) -> None:
    """Read, answered, cancelled and prompted through the API of today's daemon."""
    bird = left_at_its_ask(aviary, commit)
    await adopt(bird, bird.record["build"])
