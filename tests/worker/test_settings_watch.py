"""A changed config.toml takes effect in a worker that runs; a broken one changes nothing and is
told of once; a loosened one waits for a person."""

import json
import os
from pathlib import Path

import pytest

from rookery.client.config import in_force, rules, toml_file
from rookery.client.config.in_force import InForce
from rookery.core.json.events import Event, kind_of
from rookery.core.limits import Policy
from rookery.core.policy.rules import Rule
from rookery.home import confirmed
from rookery.home.config import Config, load
from rookery.worker.settings_watch import EVERY, TITLE, WRITE_TIMEOUT, SettingsWatch, Source
from tests.worker.aviary import Aviary, is_idle


class Watch(SettingsWatch):
    def __init__(self, source: Source, found: InForce, told: "Told") -> None:
        super().__init__(source, found)
        self._to = told

    def look(self, now: float) -> InForce | str | None:
        found = super().look(now)
        if isinstance(found, str):
            self._to.faults.append(found)
        elif found is not None:
            self._to.found.append(found)
        return found


class Told:
    def __init__(self, home: Path, policy: Policy | None = None) -> None:
        self.file = home / "config.toml"
        self.home = str(home)
        self.found: list[InForce] = []
        self.faults: list[str] = []
        source = Source(self.home, policy)
        self.watch = Watch(source, source.load(), self)
        self._stamp = 1_000_000_000

    @property
    def configs(self) -> list[Config]:
        return [each.config for each in self.found]

    @property
    def held(self) -> tuple[str, ...]:
        """What waits, in words."""
        held = self.found[-1].held
        return held.loosens if held else ()

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
    told.write("[worker]\ncancel_grace = 4\nqueue_most = -0.5\n")
    assert told.watch.look(1.0)
    assert not told.watch.look(2.0)
    assert len(told.configs) == 1
    assert len(told.faults) == 1
    assert f"{told.file}, line 3" in told.faults[0]
    told.write("[worker]\ncancel_grace = 3\n# mended\n")
    assert not told.watch.look(3.0), "it says what holds already"
    told.write("[worker]\nqueue_most = -0.5\n")
    assert told.watch.look(4.0), "another mistake is told anew"


def test_an_unknown_key_is_reported_once_and_the_rest_holds(told: Told) -> None:
    told.write("[worker]\ncancel_grace = 4\nno_such = 1\n")
    assert told.watch.look(1.0)
    assert not told.watch.look(2.0)
    assert told.faults == []
    assert told.configs[-1].policy.cancel_grace == 4.0
    [words] = told.configs[-1].warnings
    assert f"{told.file}, line 3: worker.no_such is not a setting" in words


# --- what is looser waits -------------------------------------------------------------------------

ALLOW = '[[policy.rules]]\ndo = "allow"\ncommand = "make*"\n'
DENY = '[[policy.rules]]\ndo = "deny"\ncommand = "git push*"\n'


def test_an_allow_rule_waits_and_the_rest_of_the_file_holds(told: Told) -> None:
    told.write("[worker]\ncancel_grace = 3\n" + DENY + ALLOW)
    assert told.watch.look(0.0)
    assert told.configs[-1].policy.cancel_grace == 3.0
    assert [rule.do for rule in told.configs[-1].rules] == ["deny"], "what is stricter holds"
    assert told.held == ("A new rule allows: make*.",)
    assert not told.watch.look(1.0), "it is told of once"


def test_withdrawing_a_loosening_ends_the_wait(told: Told) -> None:
    told.write(DENY)
    told.watch.look(0.0)
    told.write(ALLOW)
    assert told.watch.look(1.0)
    assert len(told.held) == 2
    assert [rule.do for rule in told.configs[-1].rules] == ["deny"]
    told.write(DENY)
    assert told.watch.look(2.0)
    assert told.held == ()
    assert [rule.do for rule in told.configs[-1].rules] == ["deny"]
    told.file.unlink()
    assert told.watch.look(3.0), "a file that is gone denies nothing any more"
    assert told.held
    assert [rule.do for rule in told.configs[-1].rules] == ["deny"]


def test_a_confirmed_change_applies_at_the_next_look(told: Told) -> None:
    told.write("[session]\napprove_all = true\n")
    told.watch.look(0.0)
    assert "session.approve_all changes from false to true." in told.held
    assert not told.configs[-1].approve_all
    held = told.found[-1].held
    assert held is not None
    with pytest.raises(in_force.Changed):
        in_force.confirm(told.home, "of another moment")
    assert not told.watch.look_again(1.0)
    in_force.confirm(told.home, held.fingerprint)
    assert told.watch.look_again(2.0), "while something waits, each tick looks"
    assert told.held == ()
    assert told.configs[-1].approve_all


def test_an_agent_cannot_loosen_its_own_settings(told: Told) -> None:
    told.write("[agents.claude]\nconfined = false\n[agents.mine]\ncommand = ['mine']\n")
    told.watch.look(0.0)
    assert len(told.held) == 2
    assert (told.configs[-1].unconfined, told.configs[-1].agents) == (frozenset(), {})
    held = told.found[-1].held
    assert held is not None
    in_force.confirm(told.home, held.fingerprint)
    told.watch.look(1.0)
    assert told.configs[-1].unconfined == {"claude"}
    assert told.configs[-1].agents == {"mine": ["mine"]}


def test_changes_made_with_rookerys_commands_apply_at_once(told: Told) -> None:
    told.watch.look(0.0)
    rules.add(told.home, lambda _known: rulebook_rule())
    assert told.watch.look(1.0)
    assert told.held == ()
    assert [rule.name for rule in told.configs[-1].rules] == ["mine"]
    rules.remove(told.home, "mine")
    assert told.watch.look(2.0)
    assert told.configs[-1].rules == ()
    told.write('[[policy.rules]]\nname = "mine"\ndo = "allow"\ncommand = "ls*"\n')
    assert told.watch.look(3.0), "what was taken out comes back by nobody's word"
    assert told.held


def test_adding_a_rule_confirms_no_waiting_rule(told: Told) -> None:
    told.watch.look(0.0)
    told.write(ALLOW)
    told.watch.look(1.0)
    with pytest.raises(toml_file.NotEdited, match="rookery config confirm"):
        rules.add(told.home, lambda _known: rulebook_rule())
    rules.add(told.home, lambda _known: rulebook_rule()._replace(name="no", do="deny"))
    told.watch.look(2.0)
    assert [rule.name for rule in told.configs[-1].rules] == ["no"], "a denial holds at once"
    assert told.held
    rules.remove(told.home, "1")
    told.watch.look(3.0)
    assert told.held == (), "taken back, by Rookery's own command"
    assert [rule.name for rule in told.configs[-1].rules] == ["no"]


def test_a_held_settings_lock_neither_loosens_nor_hides(told: Told) -> None:
    told.watch.look(0.0)
    with confirmed.locked(told.home):
        told.write(ALLOW)
        told.watch.look(1.0)
        assert all(config.rules == () for config in told.configs)
        told.watch.look(1.0 + WRITE_TIMEOUT)
        assert told.held
        assert told.configs[-1].rules == ()


def test_deleting_the_record_does_not_confirm_changes(told: Told) -> None:
    told.watch.look(0.0)
    Path(told.home, confirmed.FILE).unlink()
    told.write(ALLOW)
    assert told.watch.look(1.0)
    assert told.held
    assert confirmed.read(told.home) is not None


def test_servers_and_hooks_wait_for_confirmation(told: Told) -> None:
    evil = {"mcpServers": {"evil": {"command": "evil", "args": ["a secret"]}}}
    Path(told.home, "mcp.json").write_text(json.dumps(evil))
    told.watch.look(0.0)
    [words] = told.held
    assert "The MCP server evil is new and runs evil" in words
    assert "secret" not in words, "it goes into logs"
    assert told.found[-1].guarded.servers == {}
    Path(told.home, "hooks.json").write_text('{"stop": [{"hooks": [{"command": "evil"}]}]}')
    told.watch.look(1.0)
    assert len(told.held) == 2
    assert told.found[-1].guarded.hooks == {}
    assert in_force.hooks(told.home) == {}, "for Rookery's own agent, too"


def rulebook_rule() -> Rule:
    return Rule("mine", "allow", command=("ls*",))


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
    file.write_text(file.read_text() + "cancel_grace = true\n")
    begun = await bird.prompt([{"until": "cancel"}])
    assert kind_of((await bird.prompt("it waits, as before")).update) == "_queue"
    await bird.send("cancel")
    await bird.ended(begun)
    notices = [event.update for event in bird.events() if is_notice(event)]
    assert len(notices) == 1
    assert "line 3" in notices[0]["text"]
    assert "worker.cancel_grace" in notices[0]["text"]
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
    assert bird.header().turn == 3
