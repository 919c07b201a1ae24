"""The agent's terminals in a real worker."""

import asyncio
import json
import os
import sys
from typing import Any

import pytest

from rookery.core.blocks.document import Document
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.worker.aviary import Aviary, Bird, Steps, is_agent, is_idle, is_text, text_of

type Json = dict[str, Any]


def call(method: str, **params: Any) -> Json:
    return {"request": f"terminal/{method}", "params": params}


def terminal_events(events: list[Event]) -> list[Json]:
    return [event.update for event in events if kind_of(event.update) == "_terminal"]


def output_of(events: list[Event]) -> str:
    return "".join(each["text"] for each in terminal_events(events) if each["state"] == "output")


def is_terminal(event: Event, state: str, part: str = "") -> bool:
    update = event.update
    kind = kind_of(update) == "_terminal" and update["state"] == state
    return kind and part in update.get("text", "")


async def ask_for(bird: Bird, method: str, **params: Any) -> str:
    """The answer to a request that the agent makes in a turn of its own."""
    return text_of(await bird.turn([call(method, **params), {"text": "$answer"}]))


async def create(bird: Bird, command: str, **params: Any) -> str:
    return str(json.loads(await ask_for(bird, "create", command=command, **params))["terminalId"])


async def ended(bird: Bird, since: int = 0) -> Json:
    return (await bird.until(lambda event: is_terminal(event, "ended"), since)).update


async def process_in(bird: Bird, since: int = 0) -> Process:
    """The process whose number a command printed."""
    event = await bird.until(lambda event: is_terminal(event, "output", "pid "), since)
    pid = int(event.update["text"].split()[-1])
    start = tree.start_time(pid)
    assert start
    return Process(pid, start)


async def test_a_command_runs_in_the_session_with_its_environment(aviary: Aviary) -> None:
    (aviary.work / "sub").mkdir()
    bird = aviary.hatch(environment={**os.environ, "OF_THE_SESSION": "yes"})
    events = await bird.turn(
        [
            {
                "command": "pwd; echo $OF_THE_SESSION $OF_THE_CALL; cat; echo oops >&2; exit 3",
                "cwd": "sub",
                "env": [{"name": "OF_THE_CALL", "value": "a b"}],
            },
            {"text": "got: $output"},
        ]
    )
    expected = f"{os.path.realpath(aviary.work)}/sub\nyes a b\noops\n"
    assert f"got: {expected}" in text_of(events)
    assert output_of(events) == expected
    started, *_, over = terminal_events(events)
    assert started["state"] == "started"
    assert started["cwd"] == f"{os.path.realpath(aviary.work)}/sub"
    assert (over["exitCode"], over["signal"]) == (3, None)
    document = fold(None, bird.events())
    [block] = [each for each in document.blocks.values() if each["role"] == "terminal"]
    assert (block["status"], block["exit"], block["text"]) == ("failed", 3, expected)
    assert document.blocks[block["parent"]]["role"] == "tool"


async def test_create_returns_at_once_and_output_streams(aviary: Aviary) -> None:
    """The turn is over while the command runs; it goes on with no client attached."""
    bird = aviary.hatch()
    fifo = aviary.work / "fifo"
    os.mkfifo(fifo)
    name = await create(bird, "echo first; read line < fifo; echo got $line")
    begun = await bird.until(lambda event: is_terminal(event, "output", "first"))
    assert json.loads(await ask_for(bird, "output", terminalId=name)) == {
        "output": "first\n",
        "truncated": False,
    }
    await asyncio.to_thread(fifo.write_text, "a word\n")
    await bird.until(lambda event: is_terminal(event, "output", "got a word"), begun.seq)
    assert (await ended(bird))["exitCode"] == 0
    answer = json.loads(await ask_for(bird, "output", terminalId=name))
    assert answer["output"] == "first\ngot a word\n"
    assert answer["exitStatus"] == {"exitCode": 0, "signal": None}


async def test_wait_for_exit_before_and_after_it(aviary: Aviary) -> None:
    bird = aviary.hatch()
    fifo = aviary.work / "fifo"
    os.mkfifo(fifo)
    name = await create(bird, "read line < fifo; exit 7")
    begun = await bird.prompt(
        [{"text": "waiting"}, call("wait_for_exit", terminalId=name), {"text": "$answer"}]
    )
    await bird.until(lambda event: is_text(event, "waiting"), begun.seq)
    await asyncio.to_thread(fifo.write_text, "\n")
    await bird.ended(begun)
    answer = '{"exitCode":7,"signal":null}'
    assert answer in text_of(bird.events(begun.seq))
    assert await ask_for(bird, "wait_for_exit", terminalId=name) == answer


async def test_kill_ends_the_whole_group_and_keeps_the_terminal(aviary: Aviary) -> None:
    bird = aviary.hatch()
    name = await create(bird, "sleep 1000 & echo pid $!; wait")
    child = await process_in(bird)
    assert await ask_for(bird, "kill", terminalId=name) == "{}"
    assert (await ended(bird))["signal"] == "SIGTERM"
    await bird.gone(child)
    assert f'"output":"pid {child.pid}\\n"' in await ask_for(bird, "output", terminalId=name)


async def test_kill_that_is_ignored_is_followed_by_a_stronger_one(aviary: Aviary) -> None:
    bird = aviary.hatch()
    name = await create(bird, "trap '' TERM; echo up; while :; do sleep 0.1; done")
    await bird.until(lambda event: is_terminal(event, "output", "up"))
    await ask_for(bird, "kill", terminalId=name)
    assert (await ended(bird))["signal"] == "SIGKILL"


async def test_release_ends_it_with_what_it_left_behind(aviary: Aviary) -> None:
    """Also where the command itself ended long ago; the id is worth nothing then."""
    bird = aviary.hatch()
    name = await create(bird, "sleep 1000 > /dev/null 2>&1 & echo pid $!")
    child = await process_in(bird)
    assert (await ended(bird))["exitCode"] == 0
    assert tree.still_alive([child])
    assert await ask_for(bird, "release", terminalId=name) == "{}"
    await bird.gone(child)
    for method in ("output", "wait_for_exit", "kill", "release"):
        assert (await ask_for(bird, method, terminalId=name)).startswith("-32002")


async def test_a_background_job_that_holds_the_output_does_not_hold_the_end(aviary: Aviary) -> None:
    """Nor does one that never stops writing."""
    bird = aviary.hatch()
    events = await bird.turn([{"command": "yes & sleep 1000 & exit 5"}, {"text": "over"}])
    assert terminal_events(events)[-1]["exitCode"] == 5
    assert "over" in text_of(events)


@pytest.mark.parametrize("cwd", ["/", "..", "out", "/etc"])
async def test_directories_outside_the_roots_are_refused(aviary: Aviary, cwd: str) -> None:
    (aviary.work / "out").symlink_to(aviary.root)
    bird = aviary.hatch()
    path = os.path.join(aviary.work, cwd)
    told = await ask_for(bird, "create", command="touch", args=["made"], cwd=path)
    assert told.startswith("-32602")
    assert not (aviary.root / "made").exists()


async def test_what_cannot_be_started_is_told(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for params in (
        {"command": ""},
        {"command": "no-such-program"},
        {"command": "true", "args": ["\0"]},
        {"command": "true", "env": [{"name": "A=B", "value": ""}]},
    ):
        assert (await ask_for(bird, "create", **params)).startswith("-32602"), params
    missing = await ask_for(bird, "create", command="true", cwd=str(aviary.work / "none"))
    assert missing.startswith("-32002")
    assert terminal_events(bird.events()) == []


@pytest.mark.parametrize("limit", [0, 1, 5, 7, 8, 1000])
async def test_output_is_cut_at_the_front_between_characters(aviary: Aviary, limit: int) -> None:
    bird = aviary.hatch()
    text = "ab日本語🐦"  # 2 + 9 + 4 bytes
    name = await create(bird, "printf", args=[text], outputByteLimit=limit)
    await ended(bird)
    answer = json.loads(await ask_for(bird, "output", terminalId=name))
    kept = next(text[at:] for at in range(len(text) + 1) if len(text[at:].encode()) <= limit)
    assert answer["output"] == kept
    assert answer["truncated"] is (limit < len(text.encode()))
    assert output_of(bird.events()) == text  # the log has all of it


async def test_long_output_keeps_head_and_tail_and_counts_the_middle(aviary: Aviary) -> None:
    aviary.configure(terminal_keep=64 * 1024)
    bird = aviary.hatch()
    lines = 40_000
    script = f"for n in range({lines}): print('日%06d' % n)"
    events = await bird.turn([{"command": [sys.executable, "-c", script]}])
    output = output_of(events)
    size = lines * 10
    assert output.startswith("日000000\n日000001\n")
    assert output.endswith(f"日{lines - 1:06}\n")
    assert "\ufffd" not in output.replace("\ufffd\n… ", "\n… ")
    head, gap, tail = output.partition("\n… ")
    lost = int(tail.split()[0])
    assert gap
    kept = len(output.encode()) - len(f"\n… {lost} bytes left out …\n".encode())
    assert abs(kept + lost - size) <= 2 * 3
    assert kept <= 64 * 1024 + 6
    assert len(head) >= 10_000


async def test_cancel_ends_the_terminals_of_the_turn(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"command": "sleep 1000 & echo pid $!; wait"}])
    child = await process_in(bird, begun.seq)
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    await bird.gone(child)
    assert (await ended(bird, begun.seq))["signal"] == "SIGTERM"


LEAVE = {
    "nohup": "nohup sleep 1000 >/dev/null 2>&1 & echo pid $!; wait",
    "setsid": "setsid sh -c 'echo pid $$; exec sleep 1000' & wait",
    "a double fork": """(setsid sh -c 'sh -c "echo pid \\$\\$; exec sleep 1000" &' &)
        sleep 1000""",
    "no environment": """(env -i setsid sh -c 'sh -c "echo pid \\$\\$; exec sleep 1000" &' &)
        sleep 1000""",
    "a deaf one": """(setsid sh -c 'trap "" TERM; echo pid $$; while :; do sleep 1; done' &)
        sleep 1000""",
    "long after its end": "setsid sh -c 'echo pid $$; exec sleep 1000 >/dev/null 2>&1' & sleep 0.1",
}


@pytest.mark.parametrize("way", LEAVE)
async def test_cancel_ends_a_command_with_everything_it_started(aviary: Aviary, way: str) -> None:
    """In whatever way it left its process group; another terminal's stay."""
    bird = aviary.hatch()
    steps: Steps = [call("create", command=LEAVE[way]), {"until": "cancel"}]
    begun = await bird.prompt(steps)
    child = await process_in(bird, begun.seq)
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    await bird.gone(child)
    assert tree.still_alive([bird.agent])


async def test_processes_of_another_terminal_survive_a_release(aviary: Aviary) -> None:
    """A release ends what its own terminal started, and nothing else."""
    bird = aviary.hatch()
    other = await create(bird, LEAVE["a double fork"])
    kept = await process_in(bird)
    since = bird.events()[-1].seq
    name = await create(bird, LEAVE["a double fork"])
    child = await process_in(bird, since)
    assert await ask_for(bird, "release", terminalId=name) == "{}"
    await bird.gone(child)
    assert tree.still_alive([kept])
    await ask_for(bird, "release", terminalId=other)
    await bird.gone(kept)


async def test_terminals_end_with_the_agent(aviary: Aviary) -> None:
    """Also one that somebody waits for."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"command": "sleep 1000 & echo pid $!; wait"}])
    child = await process_in(bird, begun.seq)
    tree.kill([bird.agent])
    await bird.until(lambda event: is_agent(event, "exited"), begun.seq)
    await bird.gone(child)
    await ended(bird, begun.seq)
    assert await bird.reason([{"command": "true"}]) == "end_turn"


async def test_killed_worker_leaves_no_terminal(aviary: Aviary) -> None:
    """And the block says that it was interrupted."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"command": "echo pid $$; sleep 1000"}])
    shell = await process_in(bird, begun.seq)
    tree.kill([bird.worker])
    await bird.until(is_idle, begun.seq)
    await bird.gone(shell)
    [block] = blocks(fold(None, bird.events()), "terminal")
    assert (block["status"], block["text"]) == ("interrupted", f"pid {shell.pid}\n")


def blocks(document: Document, role: str) -> list[Json]:
    return [block for block in document.blocks.values() if block["role"] == role]


async def test_a_hundred_terminals_and_no_more(aviary: Aviary) -> None:
    bird = aviary.hatch()
    create_one: Steps = [call("create", command="true")]
    events = await bird.turn(
        [{"repeat": 100, "steps": create_one}, *create_one, {"text": "$answer"}]
    )
    assert "100 terminals are open" in text_of(events)
    started = [each for each in terminal_events(events) if each["state"] == "started"]
    assert len(started) == 100
