"""An agent that loosens the settings in their files loosens nothing, until a person says so; what a
person does by Rookery's own commands holds at once."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.config import in_force
from rookery.client.session import Rejected
from rookery.core.blocks.document import Block
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from tests.cli.driving import Result, rookery
from tests.worker.aviary import Aviary, Bird, Steps, text_of

type Json = dict[str, Any]

RULE = '[[policy.rules]]\nname = "sly"\ndo = "allow"\ncommand = "make*"\n'


def run(line: str) -> Json:
    return {
        "ask": line,
        "kind": "execute",
        "rawInput": {"command": line},
        "allowed": [{"text": f"<ran {line}>"}],
        "rejected": [{"text": "<refused>"}],
    }


def writes(aviary: Aviary, text: str, name: str = "config.toml") -> Json:
    """A step: the agent writes a file of the home in its terminal."""
    file = Path(aviary.home, name)
    return {"command": ["sh", "-c", f"printf %s '{text}' > {file}.new && mv {file}.new {file}"]}


def closings(bird: Bird) -> list[Event]:
    events = bird.events()
    return [e for e in events if kind_of(e.update) == "_ask" and e.update["state"] == "closed"]


def news(bird: Bird) -> list[Json]:
    return [e.update for e in bird.events() if kind_of(e.update) == "_settings"]


def shown(bird: Bird) -> list[Block]:
    """The notices of this bird about settings that wait."""
    blocks = fold(None, bird.events()).blocks.values()
    return [block for block in blocks if "were loosened" in block["title"]]


async def waits(bird: Bird, steps: Steps) -> None:
    """The last of the steps asks, and only a person answers it."""
    begun = await bird.prompt(steps)
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "reject")
    await bird.ended(begun)


def confirmed_by_hand() -> Result:
    return rookery("config", "confirm", "--yes")


@pytest.mark.long
async def test_an_agents_rule_applies_once_the_user_confirmed_it(
    aviary: Aviary,
) -> None:
    """In the face of its session, of another one, and of the command line."""
    bird, other = aviary.hatch(), aviary.hatch()
    await other.turn("hello")
    await waits(bird, [writes(aviary, RULE), run("make all")])
    await waits(other, [run("make all")])
    for each in (bird, other):
        [block] = shown(each)
        assert (block["role"], block["status"]) == ("notice", "warn")
        assert "A new rule allows: make*" in block["text"]
        [action] = block["actions"]
        assert action["command"]["do"] == "settings"
    for words in (("ps",), ("show", bird.id), ("policy", "list"), ("doctor",)):
        done = rookery(*words)
        assert "rookery config confirm" in " ".join((done.out + done.err).split()), words
    told = rookery("config", "confirm")
    assert (told.code, "make*" in told.out) == (2, True), "without a terminal nothing is confirmed"
    await waits(bird, [run("make all")])
    assert confirmed_by_hand().code == 0
    await bird.turn([run("make all")])
    await other.turn([run("make all")])
    assert [closings(each)[-1].by for each in (bird, other)] == ["rule:sly"] * 2
    [block] = shown(bird)
    assert (block["actions"], block["title"].endswith(": confirmed")) == ([], True)
    assert "Nothing to confirm" in confirmed_by_hand().err


async def test_approve_all_waits_for_confirmation_by_a_button(aviary: Aviary) -> None:
    bird = aviary.hatch()
    all_of_it = "[session]\napprove_all = true\n[worker]\nconfirm_destructive = false\n"
    await waits(bird, [writes(aviary, all_of_it), run("rm -rf build")])
    await bird.send("restart")
    await waits(bird, [run("make")])
    assert bird.header().confirm == "every"
    [block] = shown(bird)
    assert "session.approve_all changes from false to true" in block["text"]
    await bird.send(**block["actions"][0]["command"])
    assert bird.header().settings["held"] == ""
    await bird.send("restart")
    await bird.turn([run("make"), run("rm -rf build")])
    assert [event.by for event in closings(bird)][-2:] == ["confirm:all"] * 2


async def test_an_outdated_button_confirms_nothing(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [writes(aviary, RULE), run("make")])
    [block] = shown(bird)
    await waits(bird, [writes(aviary, RULE.replace("make*", "*")), run("make")])
    with pytest.raises(Rejected) as told:
        await bird.send(**block["actions"][0]["command"])
    assert told.value.reason == "changed"
    [first, second] = shown(bird)
    assert (first["actions"], len(second["actions"])) == ([], 1)
    await waits(bird, [run("make")])


async def test_a_change_too_long_to_read_has_no_button(aviary: Aviary) -> None:
    bird = aviary.hatch()
    rules = "".join(f'[[policy.rules]]\ndo = "allow"\ncommand = "x{n}*"\n' for n in range(9))
    await waits(bird, [writes(aviary, rules), run("x1")])
    [block] = shown(bird)
    assert block["actions"] == []
    assert block["text"].count("\n") == 8, "it is all there all the same"
    assert confirmed_by_hand().out.count("A new rule allows") == 9


async def test_withdrawing_a_change_leaves_nothing_to_confirm(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [writes(aviary, RULE), run("make")])
    await waits(bird, [writes(aviary, ""), run("make")])
    assert [update.get("held", "") != "" for update in news(bird)] == [True, False]
    [block] = shown(bird)
    assert (block["actions"], "undone" in block["title"]) == ([], True)
    assert "Nothing to confirm" in confirmed_by_hand().err


async def test_the_users_own_commands_apply_at_once(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [run("make")])
    assert rookery("policy", "add", "allow", "--command", "make*", "--name", "mine").code == 0
    await bird.turn([run("make")])
    assert closings(bird)[-1].by == "rule:mine"
    assert rookery("policy", "remove", "mine").code == 0
    await waits(bird, [run("make")])
    assert news(bird) == []


async def test_always_allow_applies_at_once(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([run("make")])
    ask = await bird.ask(begun)
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=True)
    await bird.ended(begun)
    await bird.turn([run("make")])
    assert closings(bird)[-1].by.startswith("rule:")
    assert news(bird) == []


async def test_an_agent_cannot_confirm_settings(aviary: Aviary) -> None:
    bird = aviary.hatch()
    words = [sys.executable, "-P", "-m", "rookery", "config", "confirm", "--yes"]
    await waits(bird, [writes(aviary, RULE), run("make")])
    await bird.turn([{"command": words}, {"text": "<$output>"}])
    assert "An agent cannot confirm settings" in " ".join(text_of(bird.events()).split())
    await waits(bird, [run("make")])


SLY = """
import asyncio, sys
from rookery.client.session import Rejected, SessionClient
async def main():
    client = SessionClient(sys.argv[1], sys.argv[2], "sly")
    try:
        await client.send({"do": "settings", "take": sys.argv[3]})
    except Rejected:
        pass
asyncio.run(main())
"""


async def test_an_agent_cannot_confirm_settings_by_the_socket(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [writes(aviary, RULE), run("make")])
    take = bird.header().settings["held"]
    argv = [sys.executable, "-c", SLY, bird.home, bird.id, take]
    begun = await bird.prompt([{"spawn": argv}, {"until": "cancel"}])
    told = await bird.until(lambda event: kind_of(event.update) == "_rejected", begun.seq)
    assert (told.update["reason"], told.by.partition(":")[0]) == ("from_the_agent", "sly")
    assert bird.header().settings["held"] == take


# --- workers that start -------------------------------------------------------------------------


async def asleep(bird: Bird) -> None:
    await bird.send("stop")
    await bird.gone(bird.worker)


@pytest.mark.long
async def test_an_agents_change_still_waits_under_the_next_worker(
    aviary: Aviary,
) -> None:
    """Also where another session looks first, and where the first was deleted."""
    bird, other = aviary.hatch(), aviary.hatch()
    await bird.turn([writes(aviary, RULE)])
    await asleep(bird)
    await waits(other, [run("make")])
    assert shown(other)
    await asleep(other)
    rookery("rm", "--yes", bird.id)
    aviary.birds.remove(bird)
    await waits(other, [run("make")])


async def test_killing_the_worker_hides_no_change(aviary: Aviary) -> None:
    """And a session that is deleted at once takes the evidence with it: it is noted before."""
    bird, other = aviary.hatch(), aviary.hatch()
    await bird.turn([writes(aviary, RULE)])
    fleet.remove(aviary.home, bird.id)
    aviary.birds.remove(bird)
    await waits(other, [run("make")])
    assert shown(other)


async def test_changes_made_while_nobody_is_awake_are_the_users(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [run("make")])
    await asleep(bird)
    Path(aviary.home, "config.toml").write_text(RULE)
    assert in_force.settings(aviary.home).held is None
    await bird.turn([run("make")])
    assert closings(bird)[-1].by == "rule:sly"
    assert news(bird) == []


# --- what runs beside the rules -----------------------------------------------------------------


async def test_an_mcp_server_added_by_the_agent_is_not_started(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    server = json.dumps({"mcpServers": {"evil": {"command": "/bin/true"}}})
    await bird.turn([writes(aviary, server, "mcp.json")])
    await bird.send("restart")
    assert text_of(await bird.turn([{"text": "$servers"}])) == ""
    [block] = shown(bird)
    assert "The MCP server evil is new and runs /bin/true" in block["text"]
    assert confirmed_by_hand().code == 0
    await bird.send("restart")
    assert text_of(await bird.turn([{"text": "$servers"}])) == "evil"
    assert rookery("mcp", "add", "mine", "--", "/bin/true").code == 0
    await bird.send("restart")
    assert text_of(await bird.turn([{"text": "$servers"}])) == "evil, mine"
