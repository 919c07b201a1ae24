"""Our own agent under a real worker: rules, what cannot be undone and the mode judge every action
before it runs, in every mode."""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from rookery.client.create import create_session
from rookery.client.session import Rejected
from rookery.core.agent.chunks import CHILD
from rookery.core.ask import from_agent
from rookery.core.blocks import asks
from rookery.core.json.events import Event, kind_of
from rookery.core.policy import go_asks, modes
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.render.signs import notice_state
from tests.agent.conftest import ARGV, surroundings, warm_up
from tests.agent.driving import edit, run
from tests.conftest import end_all
from tests.worker.aviary import Bird, is_ask, is_idle, text_of, trust

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Json = dict[str, Any]

MODES = ("all", "risky", "every")
LOW = {"security_risk": "LOW"}


class Nest(Bird):
    """One session of our own agent, whose worker and process serve all tests here."""

    def __init__(self, home: Path, work: Path) -> None:
        environment = surroundings(home)
        id = create_session(
            str(home), agent="rookery", argv=ARGV, cwd=str(work), environment=environment
        )
        super().__init__(str(home), id)
        self.work = work

    def rules(self, *tables: str) -> None:
        text = "".join(f"[[policy.rules]]\n{table}\n" for table in tables)
        path = Path(self.home, "config.toml")
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)
        trust(self.home)

    async def mode(self, confirm: str) -> None:
        await self.send("set", option="confirm", value=confirm)

    async def told(self, *steps: Json) -> "Told":
        """A turn in which nobody is asked."""
        return Told(await self.turn([*steps, {"text": "<end>"}]))

    async def asked(self, option: str, *steps: Json) -> tuple[Json, "Told"]:
        """A turn in which one thing is asked, and answered so."""
        begun = await self.prompt([*steps, {"text": "<end>"}])
        ask = await self.ask(begun)
        await self.answer(ask, option, confirm=True)
        ended = await self.ended(begun)
        return ask, Told(self.events(begun.seq - 1, ended.seq))


class Told:
    def __init__(self, events: list[Event]) -> None:
        self.events = events

    @property
    def asks(self) -> int:
        """Of people: what a rule answered is none."""
        return sum(is_ask(event) and "ruled" not in event.update for event in self.events)

    @property
    def judged(self) -> list[tuple[str, str | None]]:
        found = [event for event in self.events if kind_of(event.update) == "_judged"]
        return [(event.update["verdict"], event.by) for event in found]

    @property
    def statuses(self) -> list[str]:
        """How each call ended."""
        found: dict[str, str] = {}
        for event in self.events:
            if "toolCallId" in event.update and "status" in event.update:
                found[event.update["toolCallId"]] = event.update["status"]
        return list(found.values())

    @property
    def words(self) -> str:
        return text_of(self.events)


@pytest.fixture(scope="module")
def house(model: ScriptedModel, agent_home: Path) -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="rkj-", dir="/tmp"))
    paths.ensure_home(str(home))
    warm_up(home, model, agent_home)
    yield home
    try:
        end_all(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(house: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nest]:
    before = os.environ.get("ROOKERY_HOME")
    os.environ["ROOKERY_HOME"] = str(house)
    yield Nest(house, tmp_path_factory.mktemp("work"))
    if before is None:
        del os.environ["ROOKERY_HOME"]
    else:
        os.environ["ROOKERY_HOME"] = before


@pytest.fixture
def nest(shared: Nest) -> Nest:
    shared.rules()
    return shared


@pytest.fixture
def outside() -> Iterator[Path]:
    """A directory that is neither the session's nor a temporary one."""
    made = Path(tempfile.mkdtemp(prefix="rkj-", dir="/var/tmp"))
    yield made
    shutil.rmtree(made)


NO_TOUCH = 'name = "no-touch"\ndo = "deny"\ncommand = "touch*"\nreason = "nothing is touched here"'


@pytest.mark.parametrize("mode", MODES)
async def test_a_deny_rule_holds_in_every_mode(nest: Nest, model: ScriptedModel, mode: str) -> None:
    """Whatever the model says of the risk. The model is told why, and goes on."""
    nest.rules(NO_TOUCH)
    await nest.mode(mode)
    told = await nest.told(run(f"touch denied-{mode}", **LOW))
    assert told.asks == 0
    assert told.judged == [("deny", "rule:no-touch")]
    assert told.statuses == ["failed"]
    assert told.words == "<end>"
    assert not (nest.work / f"denied-{mode}").exists()
    said = str(model.asked[-1].body["messages"][-1]["content"])
    assert "Denied by rule no-touch: nothing is touched here" in said
    shown = [b for b in fold(None, told.events).blocks.values() if b["role"] == "ask"]
    [block] = shown
    assert block["text"] == "Denied by rule no-touch: nothing is touched here"
    assert block["status"] == "answered"
    assert block["parent"] in fold(None, told.events).blocks


@pytest.mark.parametrize("mode", MODES)
async def test_destructive_actions_are_asked_in_every_mode(nest: Nest, mode: str) -> None:
    """`rm -rf`, called LOW by the model, waits for a person even where all is approved."""
    await nest.mode(mode)
    kept = nest.work / "build" / "kept"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("x")
    ask, told = await nest.asked("reject", run("rm -rf build", **LOW))
    assert "rm -rf" in ask["danger"]
    assert kept.exists()
    assert told.statuses == ["failed"]
    ask, told = await nest.asked("allow-once", run("rm -rf build", **LOW))
    assert not kept.exists()
    assert told.statuses == ["completed"]


async def test_an_allow_rule_holds_in_ask_always_mode(nest: Nest) -> None:
    """Without a person, and named in the log and on the call's card."""
    nest.rules('name = "look"\ndo = "allow"\ncommand = "touch*"')
    await nest.mode("every")
    told = await nest.told(run("touch allowed"))
    assert (told.asks, told.judged) == (0, [("allow", "rule:look")])
    assert (nest.work / "allowed").exists()
    blocks = fold(None, told.events).blocks.values()
    assert [b["text"] for b in blocks if b["role"] == "ask"] == ["Allowed by rule look"]


async def test_an_ask_rule_holds_in_approve_all_mode(nest: Nest) -> None:
    nest.rules('name = "first-me"\ndo = "ask"\ncommand = "touch*"')
    await nest.mode("all")
    _, told = await nest.asked("reject", run("touch asked", **LOW))
    assert told.statuses == ["failed"]
    assert not (nest.work / "asked").exists()


async def test_the_mode_decides_the_rest_and_writes_nothing(nest: Nest) -> None:
    """Every: asked; risky: asked where the model says HIGH or nothing, or the text says so; all:
    neither asked nor noted beside the call."""
    await nest.mode("every")
    assert (await nest.asked("allow-once", run("echo 1", **LOW)))[1].asks == 1
    await nest.mode("risky")
    told = await nest.told(run("echo 2", **LOW), run("echo 3", security_risk="MEDIUM"))
    assert (told.asks, told.judged, told.statuses) == (0, [], ["completed"] * 2)
    for risk in ({"security_risk": "HIGH"}, {}):
        _, told = await nest.asked("reject", run("echo 4", **risk))
        assert told.statuses == ["failed"]
    await nest.mode("all")
    told = await nest.told(run("echo 5", security_risk="HIGH"), run("echo 6"))
    assert (told.asks, told.judged, told.statuses) == (0, [], ["completed"] * 2)


async def test_each_of_several_actions_is_judged(nest: Nest) -> None:
    """One denied, one allowed, one asked: in one step."""
    nest.rules(NO_TOUCH)
    await nest.mode("all")
    steps = [run("touch never", **LOW), run("echo x > fine", **LOW), run("rm -rf build", **LOW)]
    many = {"calls": [step["call"] for step in steps]}
    ask, told = await nest.asked("reject", many)
    assert "rm -rf" in ask["toolCall"]["rawInput"]["command"]
    assert sorted(told.statuses) == ["completed", "failed", "failed"]
    assert (nest.work / "fine").exists()
    assert not (nest.work / "never").exists()
    assert told.judged == [("deny", "rule:no-touch")]


def task(*steps: Json) -> Json:
    play = json.dumps({"play": [*steps, {"text": "did it"}]})
    arguments = {"prompt": play, "subagent_type": "bash-runner", "description": "below", **LOW}
    return {"call": {"name": "task", "arguments": arguments}}


@pytest.mark.parametrize("mode", ["all", "risky"])
async def test_a_sub_agents_actions_are_judged_too(
    nest: Nest, model: ScriptedModel, mode: str
) -> None:
    """Its deny rule, with the reason for its own model; its `rm -rf`; and what is plain runs
    without a question, the start of the sub-agent too."""
    nest.rules(NO_TOUCH)
    await nest.mode(mode)
    plain = nest.work / f"plain-{mode}"  # what is there already would be overwritten
    told = await nest.told(task(run("touch below", **LOW), run(f"echo y > {plain}", **LOW)))
    assert (told.asks, told.judged) == (0, [("deny", "rule:no-touch")])
    assert not (nest.work / "below").exists()
    assert plain.exists()
    assert any("nothing is touched here" in str(asked.body["messages"]) for asked in model.asked)
    (nest.work / "build").mkdir(exist_ok=True)
    ask, told = await nest.asked("reject", task(run("rm -rf build", **LOW)))
    assert "rm -rf" in ask["danger"]
    assert (nest.work / "build").exists()


async def test_files_outside_the_roots_are_asked_about(nest: Nest, outside: Path) -> None:
    """A write in every mode, also through a link; a read unless all is approved; keys in every
    mode."""
    os.symlink(outside, nest.work / "link")
    (outside / "note").write_text("x")
    key = Path(nest.home, "agent_settings.json")
    await nest.mode("all")
    for path in (outside / "new", nest.work / "link" / "new"):
        ask, told = await nest.asked("reject", edit(path, "x"))
        assert "outside the session's directories" in ask["danger"]
        assert told.statuses == ["failed"]
    assert not (outside / "new").exists()
    ask, _ = await nest.asked("allow-once", edit(outside / "new", "x"))
    assert (outside / "new").read_text() == "x"
    told = await nest.told(view(outside / "note"), edit(nest.work / "inside", "x"))
    assert told.statuses == ["completed"] * 2
    ask, _ = await nest.asked("reject", view(key))
    assert "Rookery's own files" in ask["danger"]
    await nest.mode("risky")
    ask, _ = await nest.asked("reject", view(outside / "note"))
    assert "danger" not in ask
    assert (await nest.told(view(nest.work / "inside"))).statuses == ["completed"]


def view(path: Path) -> Json:
    arguments = {"command": "view", "path": str(path), **LOW}
    return {"call": {"name": "file_editor", "arguments": arguments}}


async def test_new_rules_apply_to_the_next_action(nest: Nest) -> None:
    """A rule that is made while the session works holds for the next action; `policy test` counts
    what a rule judged among what was asked."""
    from rookery.cli.commands.setup.policy_replay import replay
    from rookery.home.config import load

    await nest.mode("all")
    assert (await nest.told(run("touch before"))).statuses == ["completed"]
    nest.rules(NO_TOUCH)
    told = await nest.told(run("touch after"))
    assert told.statuses == ["failed"]
    last = replay(nest.id, load(nest.home).rules)[-1]
    assert (last.what, last.said, last.by) == ("touch after", "deny", "rule:no-touch")
    assert last.verdict.do == "deny"
    assert not last.by_person


async def test_reads_and_plan_updates_obey_rules_but_are_not_asked(nest: Nest) -> None:
    """In the mode that asks about everything; a rule that wants to be asked, or denies, holds."""
    await nest.mode("every")
    (nest.work / "inside").write_text("x")
    plan = {"command": "plan", "task_list": [{"title": "look", "notes": "", "status": "todo"}]}
    planned = {"call": {"name": "task_tracker", "arguments": plan}}
    told = await nest.told(view(nest.work / "inside"), planned)
    assert (told.asks, told.judged, told.statuses) == (0, [], ["completed"] * 2)
    nest.rules('name = "look"\ndo = "ask"\nkind = "read"')
    _, told = await nest.asked("reject", view(nest.work / "inside"))
    assert told.statuses == ["failed"]


async def test_the_worker_knows_the_agents_plan_mode(nest: Nest, model: ScriptedModel) -> None:
    """The worker knows the mode: it asks about no look, offers "go" with the plan, and does not
    plan again with the agent's next start. Where nobody is asked, nobody says go; no rule does, and
    none can be made of the ask."""
    await nest.mode("every")
    every = 'agent = "*"\ntool = ["*", "exit_plan_mode"]\nkind = ["switch_mode", "execute"]'
    nest.rules(f'name = "go"\ndo = "allow"\ndestructive = true\n{every}')
    await nest.send("set", option="mode", value="plan")
    plan, write = {"text": "## The plan\n\n1. Write."}, edit(nest.work / "planned", "x")
    steps = (write, run("ls", **LOW), plan, run("touch gone", **LOW))
    assert modes.brief(nest.header().with_(confirm="plan")) == "plan"
    ask, told = await nest.asked("always-approve", *steps)
    assert (ask["toolCall"]["kind"], ask["toolCall"]["rawInput"]) == (
        "switch_mode",
        {"plan": plan["text"]},
    )
    assert told.asks == 1
    assert "always" not in ask
    assert told.statuses == ["failed", "completed", "completed", "completed"]
    assert told.words.endswith("<end>")
    assert not (nest.work / "planned").exists()
    assert (nest.work / "gone").exists()
    header = nest.header()
    assert (header.confirm, header.wanted["mode"]) == ("all", "always-approve")
    begun = await nest.prompt("/plan " + json.dumps({"play": [plan, {"text": "<gone on>"}]}))
    first = await nest.ask(begun)
    with pytest.raises(Rejected, match="Only you can approve"):
        await nest.send("answer", ask=first["id"], nonce=first["nonce"], always=True)
    os.kill(nest.agent.pid, signal.SIGKILL)
    again = await nest.until(lambda event: is_ask(event) and event.update.get("again"), begun.seq)
    assert again.update["id"] == first["id"]
    await nest.answer(again.update, "always-ask")
    over = await nest.until(is_idle, again.seq)
    assert "<gone on>" in text_of(nest.events(again.seq, over.seq))
    begun = await nest.prompt("/plan " + json.dumps({"play": [plan, {"text": "<went>"}]}))
    await nest.ask(begun)
    await nest.prompt("/go every")  # not queued behind the turn that waits for it
    over = await nest.until(is_idle, begun.seq)
    assert "<went>" in text_of(nest.events(begun.seq, over.seq))
    assert not nest.header().queue
    await nest.send("set", option="unattended", value="all", told="a test")
    await nest.send("set", option="mode", value="plan")
    told = Told(await nest.turn([plan, {"text": "never"}]))
    assert told.asks == 0
    assert "never" not in told.words
    ruled = {event.update["ruled"] for event in told.events if event.update.get("ruled")}
    assert ruled == {go_asks.READY}


async def test_an_ask_says_why_an_action_is_risky(nest: Nest) -> None:
    """By the SDK's analyzers, whatever the model says: every face shows the pieces of an ask."""
    await nest.mode("risky")
    command = "python3 -c 'eval(\"1\")'"
    ask, _ = await nest.asked("reject", run(command, **LOW))
    block = asks.block_of(from_agent(ask), nest.header())
    notes = [piece.text for piece in asks.pieces(block, "rookery") if piece.look == "note"]
    assert notes[-1] == "High risk: it evaluates text as code (eval)."
    elsewhere = nest.header().with_(vendor="claude")  # whose words are no judgement
    assert "risk" not in asks.block_of(from_agent(ask), elsewhere)


async def test_a_fallback_is_reported_in_a_line_of_its_own(nest: Nest) -> None:
    """Every face shows a notice, which a thought would fold away; and the half that the first model
    said is not what the session says last."""
    path = Path(nest.home, "agent_settings.json")
    kept = path.read_text()
    settings = json.loads(kept)
    settings["profiles"]["first"]["fallback"] = "second"
    path.write_text(json.dumps(settings))
    quota = {"status": 429, "message": "You exceeded your current quota"}
    try:
        told = await nest.turn([{"text": "Half of it", "after": 2, "error": quota}, "Whole."])
    finally:
        path.write_text(kept)
    lines = [event.update for event in told if kind_of(event.update) == "notice"]
    words = "first has no quota or credit left; second answers this turn."
    assert [line["title"] for line in lines] == [words]
    assert told[-1].update["last"] == "Whole."
    [block] = [b for b in fold(None, told).blocks.values() if b.get("title") == words]
    assert (block["role"], notice_state(block)) == ("notice", "warn")


# --- sub-agents ----------------------------------------------------------------------------------


async def test_what_a_sub_agent_says_is_nested_and_never_the_agents_own(nest: Nest) -> None:
    await nest.mode("all")
    looks = {"thought": "Hm, hm.", "text": "Looking around now.", **run("echo 1")}
    told = await nest.told(task(looks))
    assert told.words == "<end>"
    said = [event.update for event in told.events if kind_of(event.update) == CHILD]
    assert {each["update"]["sessionUpdate"] for each in said} >= {
        "agent_message_chunk",
        "agent_thought_chunk",
    }
    blocks = list(fold(None, nest.events()).blocks.values())
    words = next(each for each in blocks if each["text"] == "Looking around now.")
    assert words["role"] == "message"
    [above] = [each for each in blocks if each["id"] == words["parent"]]
    assert above["role"] == "tool"
