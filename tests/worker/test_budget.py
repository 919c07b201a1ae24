"""A budget that is reached pauses and asks, and fails nothing."""

import asyncio
import json
import shlex
import sys
import time
from pathlib import Path

import pytest

from rookery.client import fleet, waking
from rookery.client.session import Rejected
from rookery.core import budgets
from rookery.core.ask import from_agent
from rookery.core.json.events import Event, kind_of
from rookery.core.view.fleet import state_of
from rookery.core.view.reduce import fold
from rookery.home import config, ledger
from rookery.processes import tree
from rookery.render import session_state
from tests.worker.aviary import PATIENCE, Aviary, Bird, Json, is_ask, is_idle, is_text

SPENDS: list[Json] = [{"usage": 900, "cost": 0.9}, {"text": "spent"}, {"until": "cancel"}]


def configure(aviary: Aviary, **session: str) -> None:
    lines = ["[session]", *(f"{key} = {json.dumps(value)}" for key, value in session.items())]
    Path(aviary.home, "config.toml").write_text("\n".join(lines) + "\n")


async def paused(bird: Bird, begun: Event) -> tuple[Event, Json]:
    """The turn's end, and the ask that follows it."""
    end = await bird.until(is_idle, begun.seq)
    asked = await bird.until(is_ask, end.seq - 1)
    return end, asked.update


def notices(bird: Bird) -> list[str]:
    return [e.update["text"] for e in bird.events() if kind_of(e.update) == "_notice"]


async def test_a_turn_that_reaches_its_budget_waits_for_the_user(aviary: Aviary) -> None:
    """It is cancelled, since that is the only brake of ACP, and continued by a prompt."""
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    begun = await bird.prompt([{"usage": 400}, {"text": "first"}, *SPENDS])
    end, ask = await paused(bird, begun)
    assert end.update["reason"] == "waiting"
    assert end.update["detail"] == "Budget reached. This turn has used 900 of 500 tokens."
    assert ask["message"] == "This turn has used 900 of 500 tokens. Continue?"
    assert [each["optionId"] for each in ask["options"]] == ["continue", "raise", "lift", "stop"]
    queued = await bird.prompt([{"text": "afterwards"}])
    assert kind_of(queued.update) == "_queue"
    await bird.answer(ask, budgets.MORE)
    went_on = await bird.until(lambda e: is_idle(e, 2), end.seq)
    assert went_on.update["reason"] == "end_turn"
    await bird.until(lambda e: is_text(e, "afterwards"), went_on.seq)


async def test_the_user_is_warned_before_a_budget_is_reached_and_asked_once_in_a_turn(
    aviary: Aviary,
) -> None:
    """The turn goes on after one answer, for all budgets, however much it uses then."""
    steps = [{"usage": 2000}, {"ask": "May I?"}, {"usage": 9000}, {"text": "all done"}]
    goes_on = {"otherwise": steps}
    bird = aviary.hatch(goes_on, budget={"turn": "500 tokens", "session": "800 tokens"})
    assert await bird.reason([{"usage": 410}, {"text": "small"}]) == "end_turn"
    near = "Budget nearly reached. This session has used 410 of 800 tokens."
    await bird.until(lambda e: e.update.get("text") == near)
    end, ask = await paused(bird, await bird.prompt([{"usage": 1310}, {"until": "cancel"}]))
    assert ask["message"] == (
        "This turn has used 900 of 500 tokens. This session has used 1.3k of 800 tokens. Continue?"
    )
    answered = await bird.answer(ask, budgets.MORE)
    between = await bird.until(is_ask, answered.seq)
    await bird.answer(between.update, "allow")
    went_on = await bird.until(lambda e: is_idle(e, 3), end.seq)
    assert went_on.update["reason"] == "end_turn"
    asks = [event for event in bird.events() if is_ask(event) and "budget" in event.update]
    assert len(asks) == 1
    passed = [text for text in notices(bird) if text.startswith("Budget passed.")]
    assert [text for text in passed if "This turn" in text] == [
        "Budget passed. This turn has used 690 of 500 tokens. You let this turn continue.",
        "Budget passed. This turn has used 7.7k of 500 tokens. You let this turn continue.",
    ]
    shown = fold(None, bird.events()).blocks.values()
    assert not [block for block in shown if "You were stopped" in block["text"]]


async def test_a_budget_can_be_lifted_for_a_session(aviary: Aviary) -> None:
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    end, ask = await paused(bird, await bird.prompt(SPENDS))
    assert [option["name"] for option in ask["options"]] == [
        "Continue: finish this turn",
        "Raise it to 1k tokens for every turn of this session",
        "Lift it for this session",
        "Stop the turn",
    ]
    await bird.answer(ask, budgets.LIFT)
    assert bird.header().budget == {"turn": "off"}
    await bird.until(lambda e: is_idle(e, 2), end.seq)
    assert await bird.reason([{"usage": 9000}, {"text": "much"}]) == "end_turn"


async def test_stop_ends_the_turn_and_the_next_prompt_has_its_own_budget(
    aviary: Aviary,
) -> None:
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    _, ask = await paused(bird, await bird.prompt(SPENDS))
    await bird.answer(ask, budgets.STOP)
    assert not bird.header().asks
    assert await bird.reason([{"usage": 1000}, {"text": "small"}]) == "end_turn"
    _, ask = await paused(bird, await bird.prompt([{"usage": 1600}, {"until": "cancel"}]))
    await bird.answer(ask, budgets.RAISE)
    assert bird.header().budget == {"turn": "1k tokens"}


async def test_a_session_over_its_cost_budget_holds_prompts(
    aviary: Aviary,
) -> None:
    """The agent reports its cost with its last word: the next prompt waits in the queue."""
    bird = aviary.hatch(budget={"session": "$1"})
    late = [{"text": "dear"}, {"late": [{"usage": 10, "cost": 1.25}]}]
    assert await bird.reason(late) == "end_turn"
    await bird.until(lambda e: kind_of(e.update) == "usage_update")
    queued = await bird.prompt([{"text": "next"}])
    assert kind_of(queued.update) == "_queue"
    ask = await bird.ask(queued)
    assert ask["message"] == "This session has cost $1.25 of $1.00. Continue?"
    await bird.answer(ask, budgets.MORE)
    begun = await bird.until(lambda e: kind_of(e.update) == "_prompt", queued.seq)
    assert begun.update["queued"] == [queued.cause]
    await bird.until(lambda e: is_text(e, "next"), begun.seq)
    await bird.until(is_idle, begun.seq)
    assert await bird.reason([{"usage": 10, "cost": 2.0}, {"text": "more"}]) == "end_turn"


async def test_a_queue_does_not_drain_into_a_session_over_budget(aviary: Aviary) -> None:
    """Tokens come with the answer: they count before the next prompt begins."""
    bird = aviary.hatch(budget={"session": "100 tokens"})
    tokens = {"quota": {"token_count": {"input_tokens": 90, "output_tokens": 30}}}
    begun = await bird.prompt([{"ask": "go on"}, {"stop": "end_turn", "_meta": tokens}])
    asked = await bird.ask(begun)
    await bird.prompt([{"text": "second"}])
    allowed = await bird.answer(asked, asked["options"][0]["optionId"])
    ask = await bird.ask(allowed)
    assert ask["message"] == "This session has used 120 of 100 tokens. Continue?"
    assert len(bird.header().queue) == 1
    await bird.answer(ask, budgets.MORE)
    await bird.until(lambda e: is_text(e, "second"), allowed.seq)


async def test_a_pause_outlives_the_worker_and_wakes_with_its_answer(aviary: Aviary) -> None:
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    end, ask = await paused(bird, await bird.prompt(SPENDS))
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    assert list(bird.header().asks) == [ask["id"]]
    await bird.prompt([{"text": "behind"}])
    assert bird.worker != worker
    assert list(bird.header().asks) == [ask["id"]]
    assert not [e for e in bird.events(end.seq) if kind_of(e.update) == "_prompt"]
    await bird.answer(ask, budgets.MORE)
    await bird.until(lambda e: is_text(e, "behind"), end.seq)


async def test_the_daily_budget_counts_every_session_once(aviary: Aviary) -> None:
    configure(aviary, budget_day="1000 tokens")
    first, second = aviary.hatch(), aviary.hatch()
    assert await first.reason([{"usage": 600}, {"text": "a"}]) == "end_turn"
    worker = first.worker
    tree.kill([worker])
    await first.gone(worker)
    assert await first.reason([{"usage": 700}, {"text": "b"}]) == "end_turn"  # 100 more
    book = ledger.Ledger(aviary.home, "nobody", {})
    assert book.total({})["tokens"] == 700
    _, ask = await paused(second, await second.prompt([{"usage": 400}, {"until": "cancel"}]))
    assert ask["message"] == "All sessions together have used 1.1k of 1k tokens today. Continue?"
    queued = await until_queued(first)
    assert "today" in (await first.ask(queued))["message"]
    await second.answer(ask, budgets.MORE)
    await second.until(lambda e: is_idle(e, 2), 0)


async def until_queued(bird: Bird) -> Event:
    """What other sessions used is read once in a while."""
    until = time.monotonic() + PATIENCE
    while True:
        begun = await bird.prompt([{"text": "hello"}])
        if kind_of(begun.update) == "_queue":
            return begun
        await bird.ended(begun)
        assert time.monotonic() < until
        await asyncio.sleep(0.3)


async def test_an_agent_without_usage_is_measured_by_what_it_streams(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch(budget={"turn": "1k tokens, 2 EUR"})
    assert await bird.reason([{"text": "a" * 400}]) == "end_turn"
    await bird.until(lambda e: "player reports no tokens" in e.update.get("text", ""))
    said = " ".join(notices(bird))
    assert "player reports no cost, so its budget of 2 EUR cannot be measured." in said
    assert bird.header().spent["tokens"] == 100
    begun = await bird.prompt([{"text": "b" * 8000}, {"until": "cancel"}])
    end, ask = await paused(bird, begun)
    assert ask["message"] == "This turn has used 2k of 1k tokens. Continue?"
    assert end.update["atLeast"] == 2000


async def test_an_agent_that_ignores_the_cancel_is_ended(aviary: Aviary) -> None:
    """Money is bounded: what does not stop within the grace is killed."""
    text = '[worker]\ncancel_grace = 0.3\n[session]\nbudget_turn = "500 tokens"\n'
    Path(aviary.home, "config.toml").write_text(text)
    bird = aviary.hatch()
    await bird.turn("hello")
    agent = bird.agent
    begun = await bird.prompt([{"text": "deaf"}, {"deaf": True}, *SPENDS])
    end, ask = await paused(bird, begun)
    assert end.update["reason"] == "waiting"
    await bird.gone(agent)
    await bird.answer(ask, budgets.STOP)
    assert await bird.reason([{"text": "alive"}]) == "end_turn"


async def test_a_sessions_budget_is_set_and_a_bad_one_is_a_sentence(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    with pytest.raises(Rejected, match='"500k tokens", "2 USD"'):
        await bird.send("set", option="budget_turn", value="much")
    await bird.send("set", option="budget_turn", value="500 tokens")
    _, ask = await paused(bird, await bird.prompt(SPENDS))
    with pytest.raises(Rejected, match="asks something else now"):
        await bird.send("answer", ask=ask["id"], nonce="guessed", option=budgets.MORE)
    await bird.answer(ask, budgets.STOP)


async def test_an_agent_that_reported_once_is_not_called_silent(aviary: Aviary) -> None:
    bird = aviary.hatch(budget={"turn": "1k tokens"})
    assert await bird.reason([{"usage": 500}, {"text": "a"}]) == "end_turn"
    assert await bird.reason([{"text": "b"}]) == "end_turn"
    assert await bird.reason([{"text": "c"}]) == "end_turn"
    assert notices(bird) == []


async def test_each_agent_may_have_a_budget_of_its_own(aviary: Aviary) -> None:
    text = '[session]\nbudget_turn = "500 tokens"\n[agents.player]\nbudget_turn = "off"\n'
    Path(aviary.home, "config.toml").write_text(text)
    bird = aviary.hatch()
    assert await bird.reason([{"usage": 900}, {"text": "free"}]) == "end_turn"


def test_a_bad_budget_in_the_file_is_refused_with_its_line(aviary: Aviary) -> None:
    configure(aviary, budget_day="2 dollars a day")
    with pytest.raises(config.ConfigError, match="budget_day must be"):
        config.load(aviary.home)


# --- without an answer ---------------------------------------------------------------------------


def is_lifted(event: Event) -> bool:
    outcome = event.update.get("outcome")
    return isinstance(outcome, dict) and outcome.get("outcome") == "lifted"


async def test_a_budget_that_is_raised_closes_its_ask_and_goes_on(aviary: Aviary) -> None:
    """By `set`, awake and asleep; a value that is reached, too, changes nothing."""
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    end, ask = await paused(bird, await bird.prompt(SPENDS))
    await bird.send("set", option="budget_turn", value="800 tokens")
    assert list(bird.header().asks) == [ask["id"]]
    await bird.send("set", option="budget_turn", value="950 tokens")
    lifted = await bird.until(is_lifted, end.seq)
    assert lifted.update["name"] == "Continued: the budget was raised"
    second = await bird.until(lambda e: is_idle(e, 2), end.seq)
    assert not bird.header().asks
    spends = [{"usage": 3000}, {"until": "cancel"}]
    _, ask = await paused(bird, await bird.prompt(spends))
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    await bird.send("set", option="budget_turn", value="off")
    await bird.until(lambda e: is_idle(e, 4), second.seq)
    assert not bird.header().asks


async def test_a_raised_setting_and_a_new_day_wake_sleeping_sessions(aviary: Aviary) -> None:
    """The day's total falls when a day begins; here, what another session used is taken away."""
    configure(aviary, budget_day="1000 tokens")
    other = Path(aviary.home, ledger.DIRECTORY, ledger.today(), "other")
    other.parent.mkdir(parents=True)
    other.write_text('{"tokens": 2000}')
    bird = aviary.hatch()
    queued = await bird.prompt([{"text": "later"}])
    ask = await bird.ask(queued)
    assert waking.resumption(aviary.home, bird.id) == ledger.midnight()
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    (head,) = fleet.heads(aviary.home)
    assert head["paused"] == "day"
    assert head["doing"] == f"budget reached: {budgets.sentence(from_agent(ask))}"
    other.unlink()
    assert waking.resumption(aviary.home, bird.id) == 0.0
    waking.look_after(aviary.home, [head])
    await bird.until(lambda e: is_text(e, "later"), queued.seq)
    assert not bird.header().asks


async def test_raising_the_setting_continues_the_turn(aviary: Aviary) -> None:
    configure(aviary, budget_session="500 tokens")
    bird = aviary.hatch()
    end, _ = await paused(bird, await bird.prompt(SPENDS))
    configure(aviary, budget_session="5000 tokens")
    aviary.trust()
    await bird.send("rename", title="seen")  # which looks at the settings
    await bird.until(is_lifted, end.seq)
    await bird.until(lambda e: is_idle(e, 2), end.seq)


async def test_an_agents_processes_cannot_raise_a_budget(aviary: Aviary) -> None:
    """Nor choose one for a new session, nor answer. By the daemon: tests/daemon/test_budgets.py."""
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    out = aviary.root / "came"
    own = f"{shlex.quote(sys.executable)} -P -m rookery"
    tries = [
        f"{own} set {bird.id} budget_turn off",
        f"{own} set {bird.id} budget_session '9 USD'",
        f"{own} config set session.budget_turn off",
        f"{own} new --budget 'turn=9 USD' --agent player",
        f"{own} run --budget off --agent player hello",
        f"{own} answer {bird.id} continue",
    ]
    line = "; ".join(f"{each} >>{out} 2>&1; echo $? >>{out}.codes" for each in tries)
    begun = await bird.prompt([{"command": line}, {"text": "tried"}])
    await bird.ended(begun)
    codes = Path(f"{out}.codes").read_text().split()
    assert len(codes) == len(tries), out.read_text()
    assert "0" not in codes, out.read_text()
    assert bird.header().budget == {}
    assert len(fleet.heads(aviary.home)) == 1
    assert config.load(aviary.home).budget_turn == "500 tokens"


# --- between steps -------------------------------------------------------------------------------


def stopping(bird: Bird, since: int = 0) -> list[str]:
    told = (event.update.get("stopping") for event in bird.events(since))
    return [str(words) for words in told if words]


def statuses(bird: Bird) -> dict[str, str]:
    """Of the calls and terminals in the transcript, by their titles."""
    document = fold(None, bird.events())
    return {
        block["title"]: block["status"]
        for block in document.blocks.values()
        if block["role"] in ("tool", "terminal")
    }


async def test_a_budget_lets_the_running_command_finish_and_nothing_new_begin(
    aviary: Aviary,
) -> None:
    bird, flag = aviary.hatch(), aviary.root / "go"
    line = f"echo begun; until [ -e {flag} ]; do sleep 0.05; done; echo built"
    begun = await bird.prompt(
        [{"usage": 900}, {"command": line}, {"ask": "Once more?", "kind": "edit"}, {"text": "no"}]
    )
    await bird.until(lambda e: "begun" in e.update.get("text", ""), begun.seq)
    await bird.send("set", option="budget_turn", value="500 tokens")
    await bird.until(lambda e: bool(e.update.get("stopping")), begun.seq)
    assert bird.header().state == "running"
    (head,) = fleet.heads(aviary.home)
    assert head["doing"].startswith("stopping: Budget reached. This turn has used 900 of 500")
    flag.touch()
    end, ask = await paused(bird, begun)
    assert end.update["reason"] == "waiting"
    assert "budget" in ask
    asked = [event for event in bird.events(begun.seq) if is_ask(event)]
    assert len(asked) == 1  # the agent's own was not asked
    assert statuses(bird)[line] == "done"
    assert "built" in text_of_terminals(bird)


def text_of_terminals(bird: Bird) -> str:
    blocks = fold(None, bird.events()).blocks.values()
    return "".join(block["text"] for block in blocks if block["role"] == "terminal")


async def test_a_call_that_outlasts_the_grace_is_cancelled_and_not_called_failed(
    aviary: Aviary,
) -> None:
    """What the agent spends meanwhile is in the question, and was shown before."""
    text = '[worker]\nbudget_grace = 1\n[session]\nbudget_turn = "500 tokens"\n'
    Path(aviary.home, "config.toml").write_text(text)
    bird = aviary.hatch()
    call = {"tool": "Build", "toolCallId": "t1", "kind": "execute", "status": "in_progress"}
    spends: list[Json] = [{"usage": 900}, {"wait": 0.2}, {"usage": 1200}, {"until": "cancel"}]
    begun = await bird.prompt([call, *spends])
    end, ask = await paused(bird, begun)
    assert end.update["reason"] == "waiting"
    assert stopping(bird)[-1] == "Budget reached. This turn has used 1.2k of 500 tokens."
    assert ask["message"] == "This turn has used 1.2k of 500 tokens. Continue?"
    assert statuses(bird)["Build"] == "interrupted"
    assert session_state.status_of(bird.header(), ask_at(bird)).label == "needs you: budget reached"
    (head,) = fleet.heads(aviary.home)
    assert state_of(head, awake=True) == "needs-you"


def ask_at(bird: Bird) -> int:
    return bird.events()[-1].at


async def test_a_turn_that_ends_by_itself_while_it_stops_is_not_asked_about(
    aviary: Aviary,
) -> None:
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    call = {"tool": "Build", "toolCallId": "t1", "kind": "execute", "status": "in_progress"}
    steps: list[Json] = [call, {"usage": 900}, {"wait": 1}, {"stop": "end_turn"}]
    assert await bird.reason(steps) == "end_turn"
    assert stopping(bird)
    assert not bird.header().asks


async def test_a_cancel_while_it_stops_is_the_users(aviary: Aviary) -> None:
    configure(aviary, budget_turn="500 tokens")
    bird = aviary.hatch()
    call = {"tool": "Build", "toolCallId": "t1", "kind": "execute", "status": "in_progress"}
    begun = await bird.prompt([call, {"usage": 900}, {"until": "cancel"}])
    await bird.until(lambda e: bool(e.update.get("stopping")), begun.seq)
    await bird.send("cancel")
    end = await bird.ended(begun)
    assert end.update["reason"] == "cancelled"
    assert not bird.header().asks
