"""Whatever an agent writes, the worker lives, says so in its log, answers the next prompt and stays
small. A real worker over a real process that writes bytes."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rookery.client.start import start_worker
from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, is_agent, is_idle, kinds, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

HASTY = str(Path(__file__).with_name("hasty.py"))
SCOUNDREL = str(Path(__file__).with_name("scoundrel.py"))
MEBIBYTE = 1024 * 1024
MOST = 100 * 1000 * 1000
"""Bytes of private memory, at its peak too, as far as the test can see it."""
REST = 40 * MEBIBYTE
"""And when it is over."""

type Step = list[Any]


def hatch(aviary: Aviary, *given: str) -> Bird:
    """Its command names the player: so it is offered files and terminals, and whether it uses them
    is its own affair."""
    state = str(aviary.root / f"scoundrel-{len(aviary.birds)}")
    argv = [sys.executable, SCOUNDREL, "rookery.acp.player", state, *given]
    return aviary.hatch(argv=argv, agent="demo")


async def provoke(bird: Bird, *steps: Step) -> list[Event]:
    """A turn with these steps, and one after it; the first one's events."""
    events = await bird.turn(json.dumps(steps))
    worker = bird.worker
    assert await bird.reason("and now?") == "end_turn"
    assert bird.worker == worker, "the worker lives"
    memory = tree.private_memory(worker.pid)
    assert memory is not None
    assert memory < REST
    assert worker_log(bird) == ""
    return events


def worker_log(bird: Bird) -> str:
    """What nobody caught is there."""
    return (bird.directory / paths.WORKER_LOG).read_text()


def peak(bird: Bird) -> int:
    """Resident at most, without what is shared with the warden and with every other program."""
    status = Path(f"/proc/{bird.worker.pid}/status").read_text()
    found = dict(line.split(":") for line in status.splitlines())
    return (int(found["VmHWM"].split()[0]) - int(found["RssFile"].split()[0])) * 1024


def raws(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [event.update for event in events if kind_of(event.update) == "_raw"]


def note(method: str, /, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def news(kind: str, /, **fields: Any) -> str:
    return note("session/update", sessionId="s", update={"sessionUpdate": kind, **fields})


# --- lines ----------------------------------------------------------------------------------------

NO_MESSAGES: dict[str, list[Step]] = {
    "malformed": [["line", "{"], ["line", "}{"], ["line", '{"jsonrpc":"2.0",']],
    "prints": [["line", "Loading…"], ["line", "\x1b[31mred\x1b[0m"], ["line", "\0\0"]],
    "not UTF-8": [["hex", "fffe7b7d0a"], ["hex", "7b22c3280a"], ["hex", "ed a0 80 0a"]],
    "no objects": [["line", "[]"], ["line", "null"], ["line", "1e999"], ["line", '"x"']],
    "answers to nothing": [
        ["line", '{"jsonrpc":"2.0","id":77,"result":{}}'],
        ["line", '{"jsonrpc":"2.0","id":"x","error":{"code":"odd"}}'],
        ["line", '{"jsonrpc":"2.0","id":null,"error":7}'],
    ],
    "too deep": [["repeat", "[", 100_000], ["line", ""]],
    "deep answer": [["line", '{"id":9,"result":' + "[" * 900 + "]" * 900 + "}"]],
    "100 MB": [["repeat", "x" * 1000, 100_000], ["line", ""]],
}


@pytest.mark.parametrize("what", NO_MESSAGES)
async def test_malformed_messages_are_noted(aviary: Aviary, what: str) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, *NO_MESSAGES[what])
    noted = raws(events)
    lines = [step for step in NO_MESSAGES[what] if step[0] != "repeat"]
    assert len(noted) == len(lines)
    assert all(update["why"].startswith("stdout: ") for update in noted)
    assert (events[-1].update["reason"], text_of(events)) == ("end_turn", "well")
    assert peak(bird) < MOST


async def test_answers_that_come_twice_count_once(aviary: Aviary) -> None:
    """The prompt's own id, answered before its time and again: the turn ends once."""
    bird = hatch(aviary)
    await bird.turn("hello")
    answer = json.dumps({"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "refusal"}})
    events = await provoke(bird, ["line", answer], ["line", answer])
    ends = [event.update["reason"] for event in bird.events() if is_idle(event)]
    assert ends == ["end_turn", "refusal", "end_turn"]
    assert events[-1].update["reason"] == "refusal"


DEEP: Any = "bottom"
for _ in range(900):
    DEEP = [DEEP]

FORGED = [
    news("_turn", state="idle", turn=1, reason="end_turn"),
    news("_ask", id="a", state="asked", nonce="n", kind="permission"),
    news("_agent", state="exited", status=0),
    news("_session", id="other", cwd="/", agent="other"),
    news("_raw", source="line", value=1, why="no"),
    news("_", x=1),
]


async def test_forged_kinds_do_nothing(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, *(["line", line] for line in FORGED))
    assert [update["source"] for update in raws(events)] == ["update"] * len(FORGED)
    assert sum(is_idle(event) for event in events) == 1
    header = bird.header()
    assert (header.agent, header.cwd, header.asks) == ("demo", str(aviary.work), {})


async def test_deep_but_legal_values_are_kept(aviary: Aviary) -> None:
    bird = hatch(aviary)
    lines = [news(kind, x=DEEP, rawInput=DEEP) for kind in ("odd", "tool_call", "plan")]
    lines.append(note("vendor/deep", x=DEEP))
    events = await provoke(bird, *(["line", line] for line in lines))
    assert {"odd", "tool_call", "plan", "_raw"} <= set(kinds(events))
    assert events[-1].update["reason"] == "end_turn"


# --- much -----------------------------------------------------------------------------------------


@pytest.mark.long
async def test_flood_of_200_000_chunks_is_heard_to_the_end(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, ["flood", 200_000, "word "])
    assert text_of(events) == "word " * 200_000 + "well"
    assert peak(bird) < MOST


async def test_flood_of_20_000_chunks_is_heard_to_the_end(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, ["flood", 20_000, "word "])
    assert text_of(events) == "word " * 20_000 + "well"


@pytest.mark.long
async def test_20_mb_of_stderr_and_stdout_noise_hold_nobody_up(aviary: Aviary) -> None:
    bird = hatch(aviary)
    noise = ["repeat", "chatter\n", 100_000]
    events = await provoke(bird, ["stderr", 20 * MEBIBYTE], noise)
    assert len(raws(events)) == 20
    logs = list(bird.directory.glob(f"{paths.AGENT_LOG}*"))
    assert sum(log.stat().st_size for log in logs) <= 10 * MEBIBYTE
    assert peak(bird) < MOST


SHAPES = [
    *("text", "wide", "tool", "id"),
    *(pytest.param(shape, marks=pytest.mark.long) for shape in ("forged", "vendor/x")),
]


@pytest.mark.parametrize("shape", SHAPES)
async def test_huge_but_legal_lines_are_kept_and_cost_nothing_afterwards(
    aviary: Aviary, shape: str
) -> None:
    """10 MiB each, of few values."""
    bird = hatch(aviary)
    events = await provoke(bird, ["big", shape, 10 * MEBIBYTE])
    sizes = [len(json.dumps(event.update)) for event in events]
    assert max(sizes) > 6 * MEBIBYTE
    assert text_of(events).endswith("well")
    assert peak(bird) < MOST


@pytest.mark.parametrize("shape", ["objects", "empty", "keys", "deep", "numbers"])
async def test_lines_of_very_many_values_are_noted_and_not_read(aviary: Aviary, shape: str) -> None:
    """10 MiB each, of up to 5 million values: parsed, they would take hundreds of MB."""
    bird = hatch(aviary)
    events = await provoke(bird, ["big", shape, 10 * MEBIBYTE])
    [noted] = raws(events)
    assert noted["why"] == "stdout: too many values"
    assert len(noted["value"]) == 64 * 1024
    assert noted["value"].startswith('{"jsonrpc"')
    notices = [event.update for event in events if kind_of(event.update) == "_notice"]
    assert [update["title"] for update in notices] == ["Skipped a message from the agent"]
    assert text_of(events).endswith("well")
    assert peak(bird) < MOST


async def test_as_many_values_as_are_read_stay_small(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, ["big", "almost", 0])
    assert "odd" in kinds(events)
    assert peak(bird) < MOST


async def test_a_request_of_very_many_values_is_answered_with_an_error(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, ["big", "ask", 10 * MEBIBYTE], ["hold"])
    assert bird.header().asks == {}
    assert "_ask" not in kinds(events)
    assert events[-1].update["reason"] == "end_turn", "it read the answer that it waited for"
    assert peak(bird) < MOST


@pytest.mark.long
async def test_content_of_many_calls_is_not_held(aviary: Aviary) -> None:
    """Each call of a turn is remembered for its permission, but not all that it read."""
    bird = hatch(aviary)
    begun = await bird.prompt(json.dumps([["calls", 120, 500_000], ["line", ask(1)], ["hold"]]))
    await bird.ask(begun)
    memory = tree.private_memory(bird.worker.pid)
    assert memory is not None
    assert memory < REST
    await bird.send("cancel")
    await bird.ended(begun)


# --- requests -------------------------------------------------------------------------------------


def ask(id: object) -> str:
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    params = {"toolCall": {"toolCallId": "t"}, "options": options}
    method = "session/request_permission"
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


@pytest.mark.parametrize("method", ["no/such", "session/request_permission", "terminal/create"])
async def test_requests_by_the_thousand_are_answered_or_refused(
    aviary: Aviary, method: str
) -> None:
    bird = hatch(aviary)
    params = json.loads(ask(1))["params"] | {"command": "true"}
    await provoke(bird, ["requests", method, 3_000, params])
    assert bird.header().asks == {}
    assert kinds(bird.events()).count("_ask") <= 2 * 100
    assert peak(bird) < MOST


async def test_answers_that_are_not_read_do_not_pile_up(aviary: Aviary) -> None:
    """800 MB of a file are asked for in one breath; what is too much is refused."""
    bird = hatch(aviary)
    (aviary.work / "large").write_text("x" * 4 * MEBIBYTE)
    params = {"sessionId": "s", "path": str(aviary.work / "large")}
    events = await provoke(bird, ["requests", "fs/read_text_file", 200, params])
    assert events[-1].update["reason"] == "end_turn"
    assert peak(bird) < MOST


@pytest.mark.long
async def test_an_agent_that_never_reads_is_not_heard_for_ever(aviary: Aviary) -> None:
    """Nor does it hear the cancel: it is ended, and the next prompt finds another."""
    bird = hatch(aviary)
    policy = json.dumps({"cancel_grace": 4})
    start_worker(bird.home, bird.id, argv=[sys.executable, HASTY, policy])
    await bird.turn("hello")
    begun = await bird.prompt(json.dumps([["requests", "x" * 200, 10_000_000, {}]]))
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "unresponsive"
    assert peak(bird) < MOST
    assert await bird.reason("and now?") == "end_turn"


async def test_asks_of_one_id_are_each_closed_with_their_turn(aviary: Aviary) -> None:
    bird = hatch(aviary)
    events = await provoke(bird, *(["line", ask("same")] for _ in range(3)))
    states = [event.update["state"] for event in events if kind_of(event.update) == "_ask"]
    assert sorted(states) == ["asked"] * 3 + ["closed"] * 3


# --- endings --------------------------------------------------------------------------------------

POINTS = ["start", "initialize", "after initialize", "session/new", "session/prompt"]
GOING = [
    *((point, "exit") for point in POINTS),
    *((point, "close") for point in POINTS[-2:]),
    *(pytest.param(point, "close", marks=pytest.mark.long) for point in POINTS[:-2]),
]


@pytest.mark.parametrize(("point", "how"), GOING)
async def test_an_agent_may_exit_at_any_point_of_the_handshake(
    aviary: Aviary, point: str, how: str
) -> None:
    """Its process ends, or it closes its stdout and lives on: the turn ends, the next one works."""
    bird = hatch(aviary, point, how)
    end = (await bird.turn("hello"))[-1].update
    assert end["reason"] == "agent_exited"
    assert ("status 3" in end["detail"]) == (how == "exit")
    assert await bird.reason("again") == "end_turn"
    assert sum(is_agent(event, "exited") for event in bird.events()) == 1
    assert worker_log(bird) == ""


@pytest.mark.parametrize("step", [["exit", 0], ["exit", 9], ["close"]])
async def test_an_agent_may_exit_in_mid_prompt(aviary: Aviary, step: Step) -> None:
    """With an ask open, half a line written, and a terminal at work."""
    bird = hatch(aviary)
    create = note("terminal/create", command="sleep 3600")
    terminal = json.dumps({**json.loads(create), "id": "x"})
    half = ["repeat", '{"jsonrpc":"2.0","me', 1]
    play = json.dumps([["line", ask(1)], ["line", terminal], half, step])
    assert (await bird.turn(play))[-1].update["reason"] == "agent_exited"
    decide = await bird.until(lambda event: event.update.get("decide") is True)
    assert bird.header().asks.keys() == {decide.update["id"]}, "it is kept"
    await bird.send("cancel")
    assert await bird.reason("and now?") == "end_turn"
    assert worker_log(bird) == ""
    left = [row for row in tree.descendants(bird.worker.pid) if row.pid != bird.agent.pid]
    assert left == []


# --- anything -------------------------------------------------------------------------------------


def mixture(random: Random) -> list[Step]:
    quiet = [steps for name, steps in NO_MESSAGES.items() if name != "100 MB"]
    pools = [*quiet, [["line", line] for line in FORGED], [["line", ask(1)], ["flood", 500, "x"]]]
    steps: list[Step] = [["junk", random.randrange(2**32), random.randrange(500)]]
    for _ in range(random.randrange(6)):
        steps += random.choice(pools)
    steps.append(["junk", random.randrange(2**32), 200])
    return steps


@pytest.mark.parametrize("seed", range(3))
async def test_any_mixture_of_misbehaviour_is_survived(aviary: Aviary, seed: int) -> None:
    await survive(aviary, seed, turns=4)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
async def test_many_more_mixtures_of_misbehaviour_are_survived(aviary: Aviary, seed: int) -> None:
    await survive(aviary, seed, turns=20)


async def survive(aviary: Aviary, seed: int, turns: int) -> None:
    random = Random(seed)
    bird = hatch(aviary)
    for _ in range(turns):
        events = await provoke(bird, *mixture(random))
        assert events[-1].update["reason"] == "end_turn"
        assert bird.header().asks == {}
    assert peak(bird) < MOST
