"""Rules and confirmation modes in a real worker, before a real agent."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.home.config import ConfigError, load
from tests.worker.aviary import Aviary, Bird, Steps, is_agent, text_of

type Json = dict[str, Any]


def run(line: str, **fields: Any) -> Json:
    return {
        "ask": line,
        "kind": "execute",
        "rawInput": {"command": line},
        "allowed": [{"text": f"<ran {line}>"}],
        "rejected": [{"text": "<refused $reason>"}],
        **fields,
    }


def write_rules(aviary: Aviary, *rules: str, more: str = "") -> None:
    tables = "".join(f"[[policy.rules]]\n{rule}\n" for rule in rules)
    path = Path(aviary.home, "config.toml")
    path.with_suffix(".new").write_text(more + tables)
    path.with_suffix(".new").replace(path)  # another file: its times may be the same
    aviary.trust()


STATUS = 'name = "status"\ndo = "allow"\ncommand = "git status*"'
NO_PUSH = 'name = "no-push"\ndo = "deny"\ncommand = "git push*"\nreason = "ask me first"'


def closings(bird: Bird) -> list[Event]:
    events = bird.events()
    return [e for e in events if kind_of(e.update) == "_ask" and e.update["state"] == "closed"]


def notices(bird: Bird) -> list[str]:
    """But for those about neighbours."""
    found = [e.update for e in bird.events() if kind_of(e.update) == "_notice"]
    return [update["text"] for update in found if "sessions" not in update]


async def test_a_rule_answers_and_the_log_says_which(aviary: Aviary) -> None:
    """Which rule did; the reason reaches the agent."""
    write_rules(aviary, STATUS, NO_PUSH)
    bird = aviary.hatch()
    await bird.turn([run("git status -s"), run("git push")])
    first, second = closings(bird)
    assert (first.by, second.by) == ("rule:status", "rule:no-push")
    assert first.update["outcome"]["optionId"] == "allow"
    assert text_of(bird.events()) == "<ran git status -s><refused ask me first>"
    shown = [b["text"] for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    assert shown == ["Allowed by rule status", "Denied by rule no-push"]


async def test_a_command_hidden_behind_another_waits_for_the_user(aviary: Aviary) -> None:
    write_rules(aviary, STATUS)
    bird = aviary.hatch()
    begun = await bird.prompt([run("git status; make")])
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    [closed] = closings(bird)
    assert closed.by.startswith("test:")


async def test_a_destructive_call_waits_for_the_user(aviary: Aviary) -> None:
    """Also where the second confirmation is turned off: a rule is no person."""
    write_rules(
        aviary,
        'do = "allow"\ncommand = "rm *"',
        more="[worker]\nconfirm_destructive = false\n",
    )
    bird = aviary.hatch()
    begun = await bird.prompt([run("rm -rf build")])
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    write_rules(aviary, 'do = "allow"\ncommand = "rm *"\ndestructive = true')
    await bird.turn([run("rm -rf build")])
    assert closings(bird)[-1].by == "rule:1"
    assert "<ran rm -rf build>" in text_of(bird.events())


async def test_rules_take_effect_in_a_running_worker(aviary: Aviary) -> None:
    """A broken file leaves the last good rules in force, and says so once."""
    bird = aviary.hatch()
    await bird.turn("hello")
    worker = bird.worker
    write_rules(aviary, STATUS)
    await bird.turn([run("git status")])
    Path(aviary.home, "config.toml").write_text("[[policy.rules]]\ndo = 'permit'\n")
    await bird.turn([run("git status"), run("git status")])
    assert [e.by for e in closings(bird)] == ["rule:status"] * 3
    [notice] = notices(bird)
    assert "line 2" in notice
    assert "stay in force" in notice
    write_rules(aviary, NO_PUSH)
    await bird.turn([run("git push")])
    assert closings(bird)[-1].by == "rule:no-push"
    assert bird.worker == worker


async def test_a_link_out_of_the_directory_is_followed(aviary: Aviary) -> None:
    write_rules(aviary, 'do = "allow"\npath = "**"')
    (aviary.root / "secret").mkdir()
    os.symlink(aviary.root / "secret", aviary.work / "link")
    bird = aviary.hatch()
    await bird.turn([{"diff": "plain.txt", "new": "x", "ask": True}])
    assert closings(bird)[-1].by == "rule:1"
    begun = await bird.prompt([{"diff": "link/x", "new": "x", "ask": True}])
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "reject")


async def test_always_allow_makes_a_narrow_rule(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([run("make && echo $HOME")])
    await bird.ask(begun)
    [block] = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    outcome = await bird.send(**block["actions"][-1]["command"])
    await bird.ended(begun)
    [rule] = load(aviary.home).rules
    assert outcome.update["rule"] == rule.name
    assert outcome.update["outcome"]["optionId"] == "allow"
    grounds = (("player",), ("execute",), ("make && echo $HOME",))
    assert (rule.agent, rule.kind, rule.exact) == grounds
    [notice] = notices(bird)
    assert f"rookery policy remove {rule.name}" in notice
    await bird.turn([run("make && echo $HOME")])
    assert closings(bird)[-1].by == f"rule:{rule.name}"
    begun = await bird.prompt([run("make && echo $HOME; true")])
    await bird.answer(await bird.ask(begun), "reject")


async def test_a_denial_sees_through_spellings(aviary: Aviary) -> None:
    write_rules(aviary, NO_PUSH)
    bird = aviary.hatch()
    lines = (
        "git -C dir push",
        "git -c a=b push",
        "bash -c 'cd x && git push'",
        "ls | xargs git push",
    )
    await bird.turn([run(line) for line in lines])
    assert [each.by for each in closings(bird)] == ["rule:no-push"] * len(lines)
    begun = await bird.prompt([run("git commit -m 'git push later'")])
    await bird.answer(await bird.ask(begun), "reject")


def creating(path: str) -> Json:
    """As our own agent asks: the file tool's verb stands where others have a command."""
    given = {"command": "create", "path": path, "file_text": "x"}
    return run(path) | {"ask": f"create {path}", "kind": "edit", "rawInput": given}


async def test_always_allow_of_an_edit_names_the_path(aviary: Aviary) -> None:
    bird = aviary.hatch()
    path = os.path.join(aviary.work, "a.txt")
    begun = await bird.prompt([creating(path)])
    ask = await bird.ask(begun)
    assert path in ask["always"]
    assert ask["alwaysChoices"][0] == "editing exactly this file in this project"
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=True)
    await bird.ended(begun)
    [rule] = load(aviary.home).rules
    assert (rule.kind, rule.exact, rule.command) == (("edit",), (), ())
    assert path in rule.path
    await bird.turn([creating(path)])
    assert closings(bird)[-1].by == f"rule:{rule.name}"
    for other in ("b.txt", ".git/hooks/pre-commit"):
        begun = await bird.prompt([creating(os.path.join(aviary.work, other))])
        ask = await bird.ask(begun)
        assert "ruled" not in ask
        await bird.answer(ask, "reject")
        await bird.ended(begun)


async def test_a_wider_rule_is_chosen_by_its_number(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([run("git status -s")])
    ask = await bird.ask(begun)
    assert ask["alwaysChoices"] == [
        "exactly `git status -s` in this project",
        "any `git status` command in this project",
    ]
    [block] = [b for b in fold(None, bird.events()).blocks.values() if b["role"] == "ask"]
    assert [action["command"].get("always") for action in block["actions"]][-2:] == [True, 2]
    with pytest.raises(Rejected) as told:
        await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=3)
    assert told.value.reason == "no_rule"
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=2)
    await bird.ended(begun)
    [rule] = load(aviary.home).rules
    assert rule.command == ("git status *",)
    await bird.turn([run("git status")])
    assert closings(bird)[-1].by == f"rule:{rule.name}"
    begun = await bird.prompt([run("git status; ls")])
    await bird.answer(await bird.ask(begun), "reject")


async def test_always_allow_is_refused_for_destructive_calls(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([run("rm -rf build")])
    ask = await bird.ask(begun)
    assert "always" not in ask
    command = {"ask": ask["id"], "nonce": ask["nonce"], "always": True, "confirm": True}
    with pytest.raises(Rejected) as told:
        await bird.send("answer", **command)
    assert told.value.reason == "always_disabled"
    assert load(aviary.home).rules == ()
    with pytest.raises(Rejected) as told:
        await bird.send("answer", **command | {"nonce": "guess"})
    assert told.value.reason == "wrong_nonce"
    await bird.answer(ask, "reject")


async def test_always_allow_writes_nothing_into_a_broken_file(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([run("make")])
    ask = await bird.ask(begun)
    broken = "[worker\n"
    Path(aviary.home, "config.toml").write_text(broken)
    with pytest.raises(Rejected) as told:
        await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], always=True)
    assert told.value.reason == "not_written"
    assert Path(aviary.home, "config.toml").read_text() == broken
    await bird.answer(ask, "allow")
    await bird.ended(begun)


# --- confirmation modes ------------------------------------------------------------------------

ODD: Json = {"ask": "odd", "kind": "other", "allowed": [{"text": "<odd>"}]}
MODES: Json = {
    "agent": {
        "modes": [
            {"id": "always-ask", "name": "Ask"},
            {"id": "risk-based", "name": "Risk"},
            {"id": "always-approve", "name": "Approve"},
        ]
    }
}


async def waits(bird: Bird, steps: Steps) -> None:
    begun = await bird.prompt(steps)
    ask = await bird.ask(begun)
    assert "ruled" not in ask
    await bird.answer(ask, "reject")
    await bird.ended(begun)


async def test_the_worker_answers_for_an_agent_without_modes(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await waits(bird, [run("ls")])
    done = await bird.send("set", option="confirm", value="risky")
    assert done.update["confirm"] == "risky"
    assert bird.header().confirm == "risky"
    await bird.turn([run("ls")])
    assert closings(bird)[-1].by == "confirm:risky"
    await waits(bird, [ODD])
    await waits(bird, [run("rm -rf x")])
    await bird.send("set", option="confirm", value="all")
    await bird.turn([ODD])
    assert closings(bird)[-1].by == "confirm:all"
    await waits(bird, [run("rm -rf x")])
    await bird.send("set", option="confirm", value="every")
    await waits(bird, [run("ls")])


async def test_a_chosen_mode_holds_only_in_its_session(aviary: Aviary) -> None:
    """Asleep, awake, and whichever agent comes next."""
    first = aviary.hatch()
    await first.send("set", option="confirm", value="risky")  # asleep: no worker is needed
    assert not (first.directory / "worker.json").exists()
    assert aviary.hatch().header().confirm == "every"
    await first.turn([run("ls")])
    assert closings(first)[-1].by == "confirm:risky"
    await first.send("set", option="confirm", value="all")
    second = aviary.hatch()
    assert second.header().confirm == "every"
    await waits(second, [run("ls")])
    assert not Path(aviary.home, "choices.json").exists()


async def test_choices_of_an_earlier_build_are_reported_once_and_dropped(aviary: Aviary) -> None:
    file = Path(aviary.home, "choices.json")
    file.write_text('{"confirm": "all"}')
    given = aviary.hatch(confirm="risky")  # it would not have mattered here
    assert (notices(given), file.exists()) == ([], True)
    first, second = aviary.hatch(), aviary.hatch()
    [notice] = notices(first)
    assert "'Approve all', which you chose in an earlier session" in notice
    assert "rookery config set session.confirm all" in notice
    assert not file.exists()
    assert notices(second) == []
    for bird in (first, second):
        assert bird.header().confirm == "every"
        await waits(bird, [run("ls")])


async def test_new_sessions_begin_in_the_configured_mode(aviary: Aviary) -> None:
    write_rules(aviary, more='[session]\nconfirm = "risky"\n')
    bird = aviary.hatch()
    assert bird.header().confirm == "risky"
    await bird.turn([run("ls")])
    assert closings(bird)[-1].by == "confirm:risky"
    write_rules(aviary, more='[session]\nconfirm = "all"\n')
    await bird.send("stop")
    await bird.gone(bird.worker)
    await waits(bird, [ODD])  # it keeps what it was made with
    assert aviary.hatch().header().confirm == "all"
    Path(aviary.home, "config.toml").write_text('[session]\nconfirm = "all"\nx\n')
    with pytest.raises(ConfigError):  # it may have named a sandbox
        aviary.hatch()
    assert aviary.hatch(sandbox="none").header().confirm == "every"  # it loosens nothing


async def test_an_agents_own_mode_is_set_and_its_update_counts(aviary: Aviary) -> None:
    bird = aviary.hatch(MODES | {"agent": {**MODES["agent"], "name": "rookery-agent"}})
    await bird.send("start")
    await bird.send("set", option="confirm", value="risky")
    assert (bird.header().mode, bird.header().confirm) == ("risk-based", "risky")
    await waits(bird, [run("ls")])  # the agent judged, and asks: one owner
    await bird.turn([{"mode": "always-approve"}])
    assert bird.header().confirm == "all"
    await bird.send("set", option="confirm", value="risky")
    ready = (await bird.until(lambda event: is_agent(event, "ready"))).seq
    await bird.send("restart")
    await bird.until(lambda event: is_agent(event, "ready"), ready)
    await bird.send("start")
    assert bird.header().mode == "risk-based"  # applied after every opening


async def test_a_mode_the_agent_does_not_offer_is_refused(aviary: Aviary) -> None:
    modes = [{"id": "default", "name": "Manual"}]
    bird = aviary.hatch({"agent": {"name": "claude-agent-acp", "modes": modes}})
    await bird.send("start")
    with pytest.raises(Rejected) as told:
        await bird.send("set", option="confirm", value="all")
    assert told.value.reason == "refused_by_agent"
    assert "ALLOW_BYPASS=1" in told.value.message
    assert bird.header().confirm == "every"


@pytest.mark.long
async def test_approve_all_is_applied_at_every_start(aviary: Aviary) -> None:
    """And a refusal is an amber notice, not a failure."""
    write_rules(aviary, more="[session]\napprove_all = true\n")
    bird, other = aviary.hatch(), aviary.hatch()
    await other.send("set", option="confirm", value="every")  # chosen for this one: it stays
    await bird.turn([ODD])
    assert closings(bird)[-1].by == "confirm:all"
    await waits(other, [ODD])
    modes = [{"id": "default", "name": "Manual"}]
    claude = aviary.hatch({"agent": {"name": "claude-agent-acp", "modes": modes}})
    await claude.turn("hello")
    [notice] = notices(claude)
    assert "ALLOW_BYPASS=1" in notice
    write_rules(aviary, more="[session]\napprove_all = false\n")
    await bird.send("stop")
    await bird.gone(bird.worker)
    await waits(bird, [ODD])
    assert bird.header().confirm == "every"


async def test_an_unknown_value_is_refused(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.send("start")
    with pytest.raises(Rejected) as told:
        await bird.send("set", option="confirm", value="sometimes")
    assert told.value.reason == "unknown_value"


SLY = """
import asyncio, sys
from rookery.client.session import Rejected, SessionClient
async def main():
    client = SessionClient(sys.argv[1], sys.argv[2], "sly")
    try:
        await client.send({"do": "set", "option": "confirm", "value": "all"})
    except Rejected:
        pass
asyncio.run(main())
"""


async def test_an_agents_processes_cannot_choose_a_mode(aviary: Aviary) -> None:
    """As with answers."""
    bird = aviary.hatch()
    argv = [sys.executable, "-c", SLY, bird.home, bird.id]
    begun = await bird.prompt([{"spawn": argv}, {"until": "cancel"}])
    told = await bird.until(lambda event: kind_of(event.update) == "_rejected", begun.seq)
    assert (told.update["reason"], told.by.partition(":")[0]) == ("from_the_agent", "sly")
    assert bird.header().confirm == "every"


async def test_an_agent_cannot_make_rules(aviary: Aviary) -> None:
    bird = aviary.hatch()
    words = ["policy", "add", "allow", "--agent", "*"]
    steps = [{"command": [sys.executable, "-P", "-m", "rookery", *words]}, {"text": "<$output>"}]
    await bird.turn(steps)
    assert "cannot change the rules" in text_of(bird.events())
    assert load(aviary.home).rules == ()
