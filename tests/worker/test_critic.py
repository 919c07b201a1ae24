"""The critic loop in real workers: a real command judges what the player did (agent.md, Critic and
refinement)."""

import asyncio
import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import Event, Json, kind_of
from rookery.processes import tree
from tests.cli.driving import rookery
from tests.worker.aviary import Aviary, Bird, is_idle
from tests.worker.companions import introduce

WORKS: list[Json] = [{"write": "out.txt", "content": "$turn"}, {"text": "Did it."}]
TALKS: list[Json] = [{"text": "Nothing to do."}]
COUNTS = 'n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n > count; echo "run $n"; '


def configure(aviary: Aviary, command: str, **critic: Any) -> None:
    given = {"command": command, "refine": True, **critic}
    lines = ["[critic]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
    Path(aviary.home, "config.toml").write_text("\n".join(lines) + "\n")
    aviary.trust()


def is_verdict(event: Event) -> bool:
    return kind_of(event.update) == "_critic"


def is_last_word(event: Event) -> bool:
    return is_verdict(event) and not (event.update.get("again") or event.update.get("more"))


def verdicts_of(events: list[Event]) -> list[Json]:
    return [event.update for event in events if is_verdict(event)]


def prompts_of(events: list[Event]) -> list[Event]:
    return [event for event in events if kind_of(event.update) == "_prompt"]


async def judged(bird: Bird, prompt: str = "go") -> list[Event]:
    """A prompt and all that follows from it."""
    begun = await bird.prompt(prompt)
    await bird.until(is_last_word, begun.seq)
    return bird.events(begun.seq - 1)


async def test_a_command_that_fails_twice_and_then_passes(aviary: Aviary) -> None:
    configure(aviary, COUNTS + "[ $n -ge 3 ]")
    bird = aviary.hatch({"otherwise": WORKS})
    events = await judged(bird)
    found = verdicts_of(events)
    assert [(each["score"], each["iteration"], each["again"]) for each in found] == [
        (0.0, 0, True),
        (0.0, 1, True),
        (1.0, 2, False),
    ]
    person, *sent = prompts_of(events)
    assert person.by is not None
    assert person.by != "critic"
    assert [(each.by, each.cause, each.update["origin"]) for each in sent] == [
        ("critic", None, "critic")
    ] * 2
    assert "run 1" in sent[0].update["prompt"][0]["text"]
    assert "run 2" in sent[1].update["prompt"][0]["text"]
    header = bird.header()
    assert header.critic["state"] == ""
    assert header.critic["accepted"] is True
    assert sum(is_idle(event) for event in events) == 3
    await judged(bird)
    assert bird.header().critic["iteration"] == 0, "a person's prompt begins anew"


async def test_it_ends_with_the_last_iteration(aviary: Aviary) -> None:
    configure(aviary, "exit 1", iterations=2)
    bird = aviary.hatch({"otherwise": WORKS})
    found = verdicts_of(await judged(bird))
    assert [each["again"] for each in found] == [True, True, False]
    assert found[-1]["detail"] == "no refinements left"
    assert (bird.header().turn, bird.header().critic["accepted"]) == (3, False)


async def test_it_ends_when_a_refinement_changed_nothing(aviary: Aviary) -> None:
    configure(aviary, "exit 1")
    bird = aviary.hatch({"turns": [WORKS, TALKS, WORKS], "otherwise": WORKS})
    found = verdicts_of(await judged(bird))
    assert [each["again"] for each in found] == [True, False]
    assert found[-1]["detail"] == "the last refinement changed nothing"


async def test_without_refinement_the_verdict_is_only_shown(aviary: Aviary) -> None:
    configure(aviary, "echo bad; exit 3", refine=False)
    bird = aviary.hatch({"otherwise": WORKS})
    events = await judged(bird)
    [verdict] = verdicts_of(events)
    assert (verdict["accepted"], verdict["again"]) == (False, False)
    assert len(prompts_of(events)) == 1


async def test_a_cancel_ends_the_command_at_once(aviary: Aviary) -> None:
    configure(aviary, "echo $$ > pid; sleep 600 & wait")
    bird = aviary.hatch({"otherwise": WORKS})
    begun = await bird.prompt("go")
    started = await bird.until(lambda event: kind_of(event.update) == "_terminal", begun.seq)
    assert (started.by, started.update["state"]) == ("critic", "started")
    await bird.send("cancel")
    last = await bird.until(is_last_word, begun.seq)
    assert last.update["state"] == "cancelled"
    ended = await bird.until(
        lambda e: kind_of(e.update) == "_terminal" and e.update["state"] == "ended", begun.seq
    )
    assert ended.update["signal"] == "SIGTERM"
    assert bird.header().critic["state"] == ""
    assert await bird.reason([{"stop": "refusal"}]) == "refusal", "the next prompt works"


async def test_a_cancel_in_the_refinement_ends_the_loop(aviary: Aviary) -> None:
    configure(aviary, "exit 1")
    bird = aviary.hatch({"turns": [WORKS, [{"text": "mending"}, {"until": "cancel"}]]})
    begun = await bird.prompt("go")
    second = await bird.until(lambda event: is_text_of(event, "mending"), begun.seq)
    await bird.send("cancel")
    ended = await bird.until(lambda event: is_idle(event, 2), second.seq)
    assert ended.update["reason"] == "cancelled"
    assert "critic" not in ended.update
    assert len(verdicts_of(bird.events())) == 1
    assert bird.header().critic["state"] == ""


def is_text_of(event: Event, part: str) -> bool:
    update = event.update
    return kind_of(update) == "agent_message_chunk" and part in update["content"]["text"]


async def test_a_persons_prompt_goes_before_the_verdict(aviary: Aviary) -> None:
    configure(aviary, "[ -e quick ] || { echo slow; sleep 600; }")
    bird = aviary.hatch({"otherwise": WORKS})
    begun = await bird.prompt("go")
    await bird.until(lambda event: event.update.get("state") == "output", begun.seq)
    Path(aviary.work, "quick").touch()
    again = await bird.prompt("something else")
    await bird.until(lambda event: is_verdict(event) and "score" in event.update, again.seq)
    events = bird.events(again.seq - 1)
    assert [each["state"] for each in verdicts_of(events)] == ["interrupted", "judged"]


async def test_a_queued_prompt_goes_before_the_critic(aviary: Aviary) -> None:
    configure(aviary, COUNTS + "exit 1")
    bird = aviary.hatch(
        {"turns": [[*WORKS, {"until": "steer"}], TALKS], "agent": {"steering": True}}
    )
    begun = await bird.prompt("go")
    await bird.until(lambda event: is_text_of(event, "Did it"), begun.seq)
    await bird.prompt("and then?")
    await bird.prompt("go on", steer=True)
    first = await bird.until(lambda event: is_idle(event, 1), begun.seq)
    assert "critic" not in first.update, "nobody judges what a person goes on with"
    last = await bird.until(is_verdict, first.seq)
    assert last.update["turn"] == 2
    assert prompts_of(bird.events(first.seq))[0].update["queued"]


async def test_the_time_that_a_command_has_is_bounded(aviary: Aviary) -> None:
    configure(aviary, "sleep 600", timeout=1)
    bird = aviary.hatch({"otherwise": WORKS})
    [verdict] = verdicts_of(await judged(bird))
    assert "did not end within 1 s" in verdict["issues"][0]["name"]
    assert (verdict["again"], "score" in verdict) == (False, False)


async def test_a_command_that_is_not_there_is_no_fault_of_the_agents(aviary: Aviary) -> None:
    configure(aviary, "no-such-program-anywhere")
    bird = aviary.hatch({"otherwise": WORKS})
    [verdict] = verdicts_of(await judged(bird))
    assert verdict["issues"][0]["kind"] == "infrastructure"
    assert verdict["again"] is False


async def test_the_agents_own_verdict_is_taken_from_its_answer(aviary: Aviary) -> None:
    issue = {"category": "effort", "name": "Gave up", "probability": 0.8, "kind": "behavioural"}
    critic = {"score": 0.9, "issues": [issue, "junk", {"probability": 2}], "source": "judge"}
    bad = {"stop": "end_turn", "_meta": {"rookery": {"critic": critic}}}
    good = {"stop": "end_turn", "_meta": {"rookery": {"critic": {"score": 0.95}}}}
    bird = aviary.hatch({"turns": [[*WORKS, bad], [*WORKS, good]]})
    await bird.send("set", option="refine", value="on")
    events = await judged(bird)
    found = verdicts_of(events)
    assert [(each["source"], each["again"]) for each in found] == [
        ("judge", True),
        ("agent", False),
    ]
    assert "1. Gave up (effort, 0.80)" in prompts_of(events)[1].update["prompt"][0]["text"]


async def test_the_session_can_be_without_a_critic(aviary: Aviary) -> None:
    configure(aviary, COUNTS + "exit 1")
    bird = aviary.hatch({"otherwise": WORKS})
    await bird.send("set", option="critic", value="off")
    assert "critic" not in (await bird.turn("go"))[-1].update
    await bird.send("set", option="critic", value="default")
    await bird.send("set", option="refine", value="off")
    found = verdicts_of(await judged(bird))
    assert [each["again"] for each in found] == [False]
    with pytest.raises(Rejected, match="refine can be: on, off, default"):
        await bird.send("set", option="refine", value="perhaps")


@pytest.mark.parametrize("when", ["judging", "refining"])
async def test_a_worker_killed_in_mid_loop_is_buried_and_the_loop_with_it(
    aviary: Aviary, when: str
) -> None:
    configure(aviary, "sleep 600" if when == "judging" else "exit 1")
    mending = [[{"text": "mending"}, {"until": "cancel"}]] if when == "refining" else []
    bird = aviary.hatch({"turns": [WORKS, *mending], "otherwise": WORKS})
    begun = await bird.prompt("go")
    if when == "judging":
        await bird.until(lambda event: kind_of(event.update) == "_terminal", begun.seq)
    else:
        await bird.until(lambda event: is_text_of(event, "mending"), begun.seq)
    await asyncio.to_thread(kill_tree, bird)
    configure(aviary, "true")
    events = await judged(bird)
    assert bird.header().critic["state"] == ""
    assert [each["state"] for each in verdicts_of(events)] == ["judged"]
    turns = bird.header().turn
    assert turns == (2 if when == "judging" else 3), "nothing was sent by itself"
    states = [each["state"] for each in verdicts_of(bird.events())]
    assert states == (["interrupted", "judged"] if when == "judging" else ["judged", "judged"])


def kill_tree(bird: Bird) -> None:
    worker, warden = bird.worker, bird.warden
    os.kill(worker.pid, signal.SIGKILL)
    assert not tree.wait_gone([worker, warden], 60.0)


async def test_a_stop_ends_the_command(aviary: Aviary) -> None:
    configure(aviary, "sleep 600")
    bird = aviary.hatch({"otherwise": WORKS})
    begun = await bird.prompt("go")
    await bird.until(lambda event: kind_of(event.update) == "_terminal", begun.seq)
    worker = bird.worker
    await bird.send("stop")
    await bird.gone(worker)
    assert verdicts_of(bird.events())[-1]["state"] == "interrupted"


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passes", "flags", "code", "turns"),
    [
        ("[ $n -ge 3 ]", ["--refine"], 0, 3),
        ("exit 1", ["--refine"], 1, 4),
        ("exit 1", [], 1, 1),
        ("exit 1", ["--no-critic"], 0, 1),
    ],
)
def test_run_waits_for_the_loop_and_exits_with_the_truth(
    aviary: Aviary, passes: str, flags: list[str], code: int, turns: int
) -> None:
    configure(aviary, COUNTS + passes, refine=False)
    line = shlex.join(aviary.player({"otherwise": WORKS}))
    done = rookery("run", "--stop", *flags, "--cmd", line, "go", cwd=aviary.work)
    assert done.code == code, done.err
    assert done.out.count("Did it.") == turns
    if turns == 3:
        assert done.err.count("★★★★★ 1.00") == 1
        assert "refinement 2 of 3, from the critic" in done.err
    if code:
        assert "the critic is not satisfied" in done.err


def test_a_run_without_a_verdict_exits_as_its_turn_did(aviary: Aviary) -> None:
    """One that was ended from outside has judged nothing: the turn's own end counts."""
    configure(aviary, "kill -TERM $$")
    bird = aviary.hatch({"otherwise": WORKS})
    done = rookery("prompt", bird.id, "--wait", "go")
    assert done.code == 0, done.err
    assert "Critic: no score (command)" in done.err


def test_set_shows_and_refuses(aviary: Aviary) -> None:
    bird = aviary.hatch()
    assert rookery("set", bird.id, "refine").out == "refine default\n"
    assert rookery("set", bird.id, "refine", "on").code == 0
    assert rookery("set", bird.id, "refine").out == "refine on\n"
    assert rookery("set", bird.id, "refine", "maybe").code == 2


async def refined(aviary: Aviary) -> Bird:
    """A session whose last verdict is poor, with no refinement left."""
    introduce(aviary, None, daw={"otherwise": WORKS}, jay={"otherwise": WORKS})
    critic = '[critic]\ncommand = "exit 1"\nrefine = true\niterations = 2\n'
    file = Path(aviary.home, "config.toml")
    file.write_text(file.read_text() + critic)
    bird = aviary.hatch(agent="daw", argv=[])
    await judged(bird)
    assert (bird.header().critic["iteration"], bird.header().critic["score"]) == (2, 0.0)
    return bird


async def counted_anew(bird: Bird, event: Event) -> None:
    fresh = ("", 0, None, None)
    critic = bird.header().critic
    assert tuple(critic[key] for key in ("state", "iteration", "score", "accepted")) == fresh
    found = verdicts_of(bird.events(event.seq))
    assert found == [], "a clear's or a switch's own doing is not judged"
    begun = await judged(bird)
    assert [each["iteration"] for each in verdicts_of(begun)] == [0, 1, 2]


async def test_a_clear_takes_the_count_back(aviary: Aviary) -> None:
    bird = await refined(aviary)
    await counted_anew(bird, await bird.send("clear"))


async def test_a_switch_takes_the_count_back(aviary: Aviary) -> None:
    bird = await refined(aviary)
    await counted_anew(bird, await bird.send("switch", agent="jay"))
    assert bird.header().agent == "jay"


async def test_a_switch_while_the_command_runs_ends_it(aviary: Aviary) -> None:
    introduce(aviary, None, daw={"otherwise": WORKS}, jay={"otherwise": WORKS})
    file = Path(aviary.home, "config.toml")
    file.write_text(file.read_text() + '[critic]\ncommand = "sleep 600"\nrefine = true\n')
    bird = aviary.hatch(agent="daw", argv=[])
    begun = await bird.prompt("go")
    await bird.until(lambda event: kind_of(event.update) == "_terminal", begun.seq)
    event = await bird.send("switch", agent="jay")
    ended = await bird.until(
        lambda e: kind_of(e.update) == "_terminal" and e.update["state"] == "ended", begun.seq
    )
    assert ended.update["signal"] == "SIGTERM"
    await bird.until(is_last_word, begun.seq)
    assert bird.header().critic["state"] == ""
    assert len(prompts_of(bird.events())) == 1, f"nothing was sent to the next one ({event.seq})"
