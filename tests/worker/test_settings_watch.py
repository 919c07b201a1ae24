"""A changed config.toml takes effect in a worker that runs; a broken one changes nothing and is
told of once."""

import os
from pathlib import Path

import pytest

from rookery.config import Config, load
from rookery.core.events import Event, kind_of
from rookery.core.policy import Policy
from rookery.worker.settings_watch import EVERY, TITLE, SettingsWatch, Source
from tests.worker.aviary import Aviary, is_idle


class Told:
    def __init__(self, home: Path, policy: Policy | None = None) -> None:
        self.file = home / "config.toml"
        self.configs: list[Config] = []
        self.faults: list[str] = []
        source = Source(str(home), policy)
        self.watch = SettingsWatch(source, source.load(), self.configs.append, self.faults.append)
        self._stamp = 1_000_000_000

    def write(self, text: str) -> None:
        """With a time of change of its own, however coarse the file system's clock is."""
        self.file.write_text(text)
        self._stamp += 1
        os.utime(self.file, (self._stamp, self._stamp))


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


def test_a_file_that_stays_is_told_of_by_nobody(told: Told) -> None:
    assert not told.watch.look(0.0)
    told.write("")
    assert not told.watch.look(1.0)
    assert not told.watch.look(2.0)
    assert (told.configs, told.faults) == ([], [])


def test_a_changed_file_is_told_of_once_with_the_whole_of_it(told: Told) -> None:
    told.write("[worker]\ncancel_grace = 3\n")
    assert told.watch.look(0.0)
    assert not told.watch.look(1.0)
    assert told.configs == [load(str(told.file.parent))]
    assert told.configs[0].policy == Policy(cancel_grace=3.0)
    told.file.unlink()
    assert told.watch.look(2.0)
    assert told.configs[-1] == Config()


def test_the_slow_tick_looks_at_its_time_and_not_before(told: Told) -> None:
    told.watch.look(100.0)
    told.write("[worker]\ncancel_grace = 3\n")
    assert not told.watch.look_again(100.0 + EVERY - 0.001)
    assert told.watch.look_again(100.0 + EVERY)


def test_a_broken_file_is_told_of_once_and_the_last_good_values_stay(told: Told) -> None:
    told.write("[worker]\ncancel_grace = 3\n")
    told.watch.look(0.0)
    told.write("[worker]\ncancel_grace = 4\nno_such = 1\n")
    assert told.watch.look(1.0)
    assert not told.watch.look(2.0)
    assert len(told.configs) == 1
    assert len(told.faults) == 1
    assert f"{told.file}, line 3" in told.faults[0]
    told.write("[worker]\ncancel_grace = 3\n# mended\n")
    assert not told.watch.look(3.0), "it says what holds already"
    told.write("[worker]\nno_such = 1\n")
    assert told.watch.look(4.0), "another mistake is told anew"


def test_numbers_that_were_given_go_before_the_file(tmp_path: Path) -> None:
    given = Told(tmp_path, Policy(cancel_grace=0.5))
    given.write('default_agent = "mine"\n[worker]\ncancel_grace = 3\n')
    assert given.watch.look(0.0)
    assert given.configs[0].default_agent == "mine"
    assert given.configs[0].policy == Policy(cancel_grace=0.5)


# --- in a worker ----------------------------------------------------------------------------------


def is_notice(event: Event) -> bool:
    return kind_of(event.update) == "_notice" and event.update["title"] == TITLE


async def test_a_running_worker_takes_up_the_queues_drain(aviary: Aviary) -> None:
    """Two prompts wait for the turn that runs when the file says that each goes alone."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"until": "cancel"}])
    await bird.prompt("one")
    worker = bird.worker
    aviary.configure(queue_drain="serial")
    await bird.prompt("two")
    await bird.send("cancel")
    ended = await bird.ended(begun)
    await bird.send("queue", op="send")
    await bird.until(lambda event: is_idle(event, begun.update["turn"] + 2), ended.seq)
    sent = [e.update for e in bird.events(ended.seq) if kind_of(e.update) == "_prompt"]
    assert [len(update["queued"]) for update in sent] == [1, 1]
    assert bird.worker == worker


async def test_a_running_worker_says_once_what_is_wrong_and_goes_on(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    aviary.configure(queue_most=0)
    file = Path(aviary.home, "config.toml")
    file.write_text(file.read_text() + "no_such = 1\n")
    begun = await bird.prompt([{"until": "cancel"}])
    assert kind_of((await bird.prompt("it waits, as before")).update) == "_queue"
    await bird.send("cancel")
    await bird.ended(begun)
    notices = [event.update for event in bird.events() if is_notice(event)]
    assert len(notices) == 1
    assert "line 3" in notices[0]["text"]
    assert "worker.no_such" in notices[0]["text"]
    assert notices[0]["level"] == "warn"


async def test_keep_events_bounds_a_log_that_grows(aviary: Aviary) -> None:
    aviary.configure(keep_events=1000)
    bird = aviary.hatch()
    begun = await bird.turn([{"flood": 1500, "every": 0, "kind": "tool_call_update"}])
    first = len(begun)
    assert first > 1000
    await bird.turn([{"flood": 1500, "every": 0, "kind": "tool_call_update"}])
    await bird.turn("and now?")
    left = [event for event in bird.events() if event.seq <= begun[-1].seq]
    assert len(left) < 50
    assert [kind_of(event.update) for event in left].count("_prompt") == 1
    assert bird.header()["turn"] == 3
