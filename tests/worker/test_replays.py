"""Agents that tell their history when a stored session is opened, each in its own way: the log has
nothing twice, and nothing is shown raw."""

import sys
from pathlib import Path

import pytest

from rookery.core.view.reduce import fold
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, is_agent

REPLAYER = str(Path(__file__).parent / "replayer.py")


def shown(bird: Bird) -> list[tuple[str, str]]:
    blocks = fold(None, bird.events()).blocks.values()
    return [(block["role"], block["text"] or block["title"]) for block in blocks]


def turn(prompt: str) -> list[tuple[str, str]]:
    return [("prompt", prompt), ("answer", "I look."), ("tool", "ls"), ("answer", "Done.")]


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("resume", ["again", "again", "die again", "again"]),
        ("late", ["again", "again", "die again", "again"]),
        ("split", ["again", "again", "die again", "again"]),
        # While a turn runs, the log's own order tells old from new, and what only history has.
        ("tardy", ["one", "two", "die three", "four"]),
        ("tardy", ["again", "again", "die again", "again"]),
    ],
)
async def test_the_log_has_nothing_twice_after_kills_and_wakes(
    aviary: Aviary, when: str, words: list[str]
) -> None:
    """No `_meta`, no echo and no vendor's notification has a block."""
    state = str(aviary.root / "state")
    bird = aviary.hatch(argv=[sys.executable, REPLAYER, state, when])
    await bird.turn(words[0])
    tree.kill([bird.agent])
    await bird.until(lambda event: is_agent(event, "exited"))
    await bird.turn(words[1])
    tree.kill([bird.worker])
    await bird.gone(bird.worker, bird.warden)
    assert (await bird.turn(words[2]))[-1].update["reason"] == "agent_exited"
    await bird.turn(words[3])
    ready = [event.update["how"] for event in bird.events() if is_agent(event, "ready")]
    assert ready == ["new"] + ["resume" if when == "resume" else "load"] * 3
    found = [each for each in shown(bird) if each[0] not in ("notice", "error")]
    assert found == [*turn(words[0]), *turn(words[1]), *turn(words[2])[:3], *turn(words[3])]
