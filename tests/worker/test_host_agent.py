"""The agent process under a real worker: how it starts, what it may say, how it is heard."""

import json
import os
import sys
from pathlib import Path

import pytest

from rookery.core.json.events import Event, kind_of
from rookery.core.vendors.environment import LACKING, OVERRIDE
from rookery.home import paths
from rookery.processes import tree
from rookery.processes.lineage import MARK
from tests.worker.aviary import (
    Aviary,
    Bird,
    Steps,
    is_agent,
    is_idle,
    is_text,
    kinds,
    text_of,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

NO_RESUME = {"agent": {"capabilities": {"sessionCapabilities": {"resume": None}}}}
NO_MEMORY = {
    "agent": {"capabilities": {"loadSession": False, "sessionCapabilities": {"resume": None}}}
}
MEBIBYTE = 1024 * 1024


def last_agent(events: list[Event], state: str) -> dict:
    return [event.update for event in events if is_agent(event, state)][-1]


def raws(events: list[Event]) -> list[dict]:
    return [event.update for event in events if kind_of(event.update) == "_raw"]


@linux
async def test_environment_is_that_of_the_sessions_maker(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the starter's, and nothing of ours or of the loader's."""
    maker = {
        "PATH": os.environ["PATH"],
        "ROOKERY_HOME": aviary.home,
        "HTTPS_PROXY": "http://proxy:1",
        "KEY": "the maker's",
        "LD_PRELOAD": "/evil.so",
        "DYLD_INSERT_LIBRARIES": "/evil.dylib",
        "ROOKERY_TOKEN": "secret",
        "ROOKERY_NONCE": "secret",
        "ROOKERY_MARK": "forged.0",
    }
    bird = aviary.hatch(environment=maker)
    monkeypatch.setenv("KEY", "the starter's")
    monkeypatch.setenv("STARTER", "1")
    await bird.turn("hello")
    found = Path(f"/proc/{bird.agent.pid}/environ").read_text().rstrip("\0").split("\0")
    environment = dict(entry.split("=", 1) for entry in found)
    assert environment.pop(MARK) == bird.record["mark"] != "forged.0"
    names = ["PATH", "ROOKERY_HOME", "HTTPS_PROXY", "KEY"]
    assert environment == {name: maker[name] for name in names}
    assert (bird.directory / paths.ENVIRONMENT).stat().st_mode & 0o777 == 0o600


@linux
@pytest.mark.parametrize("override", ["1", "0"])
async def test_overrides_of_a_model_are_not_kept(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch, override: str
) -> None:
    """Those of the starter's are used, what it lacks is told to the agent; without the override
    they are variables like any other."""
    maker = {"PATH": os.environ["PATH"], "ROOKERY_HOME": aviary.home, OVERRIDE: override}
    maker |= {"LLM_API_KEY": "sk-of-the-maker", "LLM_MODEL": "m", "ANTHROPIC_API_KEY": "sk-other"}
    bird = aviary.hatch(environment=maker)
    monkeypatch.setenv("LLM_API_KEY", "sk-of-the-starter")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-starter")
    monkeypatch.delenv("LLM_MODEL", raising=False)
    await bird.turn("hello")
    found = Path(f"/proc/{bird.agent.pid}/environ").read_text().rstrip("\0").split("\0")
    given = dict(entry.split("=", 1) for entry in found)
    kept = (bird.directory / paths.ENVIRONMENT).read_text()
    assert given["ANTHROPIC_API_KEY"] == "sk-other"
    names = ("LLM_API_KEY", "LLM_MODEL", LACKING)
    if override == "1":
        assert [given.get(name) for name in names] == ["sk-of-the-starter", None, "LLM_MODEL"]
        assert "sk-of-the-maker" not in kept
    else:
        assert [given.get(name) for name in names] == ["sk-of-the-maker", "m", None]
        assert "sk-of-the-maker" in kept


@pytest.mark.parametrize(
    ("script", "how"), [({}, "resume"), (NO_RESUME, "load"), (NO_MEMORY, "new")]
)
async def test_session_is_resumed_else_loaded_else_made_anew(
    aviary: Aviary, script: dict, how: str
) -> None:
    bird = aviary.hatch(script)
    first = await bird.turn([{"text": "remember me"}, {"tool": "Look", "status": "completed"}])
    assert last_agent(first, "ready")["how"] == "new"
    await bird.send("stop")
    await bird.gone(bird.worker)
    second = await bird.turn("again")
    ready = last_agent(second, "ready")
    assert ready["how"] == how
    same = ready["sessionId"] == last_agent(first, "ready")["sessionId"]
    assert same == (how != "new")
    assert "remember me" not in text_of(second)
    assert "tool_call" not in kinds(second)
    assert (ready.get("replayed", 0) > 0) == (how == "load")
    assert ("_context" in kinds(second)) == (how == "new")


async def test_session_that_the_agent_lost_is_made_anew_and_said(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    await bird.send("stop")
    await bird.gone(bird.worker)
    for file in (aviary.root / "state-0").glob("*.jsonl"):
        file.unlink()
    events = await bird.turn("again")
    [context] = [event.update for event in events if kind_of(event.update) == "_context"]
    assert (context["state"], "Session not found" in context["reason"]) == ("reset", True)
    assert events[-1].update["reason"] == "end_turn"
    assert last_agent(events, "ready")["how"] == "new"


@pytest.mark.parametrize("method", ["initialize", "session/new"])
async def test_start_that_is_not_answered_is_given_up(aviary: Aviary, method: str) -> None:
    """Time enough for what does answer, and for the second start, on a busy machine."""
    aviary.configure(start_timeout=8, stop_grace=0.2)
    bird = aviary.hatch({"start": {"silence": method, "times": 1}})
    end = (await bird.turn("hello"))[-1].update
    assert end["reason"] == "agent_exited"
    assert f"did not answer {method} in time" in end["detail"]
    assert await bird.reason("again") == "end_turn"


async def test_refused_login_is_a_failure_with_the_agents_words(aviary: Aviary) -> None:
    error = {"code": -32000, "message": "Please log in"}
    bird = aviary.hatch({"start": {"new_error": error, "times": 1}})
    end = (await bird.turn("hello"))[-1].update
    assert (end["reason"], end["error"]) == ("failed", error)
    assert await bird.reason("again") == "end_turn"


async def test_agent_that_is_not_there(aviary: Aviary) -> None:
    bird = aviary.hatch(argv=["/nowhere/agent"])
    events = await bird.turn("hello")
    assert events[-1].update["reason"] == "agent_exited"
    assert "is not installed" in events[-1].update["detail"]
    assert last_agent(events, "exited")["status"] == 127


async def test_directory_that_is_not_there(aviary: Aviary) -> None:
    bird = aviary.hatch(cwd=str(aviary.root / "missing"))
    assert "does not exist" in (await bird.turn("hello"))[-1].update["detail"]


async def test_last_words_of_an_agent_that_cannot_start(aviary: Aviary) -> None:
    """Its stderr is in the start error."""
    bird = aviary.hatch(argv=["sh", "-c", "echo one >&2; echo 'no model is set up' >&2; exit 3"])
    events = await bird.turn("hello")
    exited = last_agent(events, "exited")
    assert (exited["status"], exited["stderr"]) == (3, ["one", "no model is set up"])
    assert events[-1].update["detail"] == "status 3: no model is set up"


async def test_stderr_is_drained_and_capped(aviary: Aviary) -> None:
    """12 MB of it block nobody, and at most two files of 5 MiB are kept."""
    talk = 'head -c 12000000 /dev/zero | tr "\\0" y >&2; exec "$@"'
    bird = aviary.hatch(argv=["sh", "-c", talk, "sh", *aviary.player()])
    assert await bird.reason("hello") == "end_turn"
    logs = sorted(bird.directory.glob(f"{paths.AGENT_LOG}*"))
    assert [log.name for log in logs] == ["agent.log", "agent.log.1"]
    assert all(0 < log.stat().st_size <= 5 * MEBIBYTE for log in logs)


async def test_empty_log_is_removed(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert not (bird.directory / paths.AGENT_LOG).exists()


NOISE = [
    "this is a print",
    "null",
    "[]",
    '{"jsonrpc":"2.0","id":999,"result":{}}',
    '{"jsonrpc":"2.0","id":"never asked","error":{"code":"odd","message":7}}',
    '{"no":"message"}',
    "{" * 100_000,
]


async def test_noise_is_kept_and_survived(aviary: Aviary) -> None:
    """Malformed lines, prints and answers to nothing are noted, never answered."""
    heard = aviary.root / "heard"
    bird = aviary.hatch(argv=["sh", "-c", 'tee "$0" | "$@"', str(heard), *aviary.player()])
    play: Steps = [{"raw": line} for line in NOISE]
    events = await bird.turn([*play, {"raw": "", "bytes_hex": "fffe00"}, {"text": "still here"}])
    assert events[-1].update["reason"] == "end_turn"
    assert "still here" in text_of(events)
    noted = raws(events)
    assert len(noted) == len(NOISE) + 1
    assert {update["source"] for update in noted} == {"line"}
    assert noted[0]["value"] == "this is a print"
    methods = [json.loads(line).get("method") for line in heard.read_text().splitlines()]
    assert methods == ["initialize", "session/new", "session/prompt"]


async def test_endless_noise_fills_no_log(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn([{"repeat": 500, "steps": [{"raw": "print"}]}])
    assert len(raws(events)) == 20
    assert "the rest is not kept" in raws(events)[-1]["why"]


async def test_unknown_method_is_answered(aviary: Aviary) -> None:
    """With -32601; the requests of one id are each answered."""
    bird = aviary.hatch()
    twice = json.dumps({"jsonrpc": "2.0", "id": "twin", "method": "odd/one", "params": {}})
    events = await bird.turn(
        [
            {"request": "no/such", "params": {}},
            {"text": "<$answer>"},
            {"raw": twice},
            {"raw": twice},
            {"request": "no/more", "params": {}},
            {"text": "<$answer>"},
        ]
    )
    assert text_of(events).count("<-32601: Method not found") == 2
    assert events[-1].update["reason"] == "end_turn"


async def test_unknown_notifications_and_kinds_are_kept(aviary: Aviary) -> None:
    """An update of an unknown kind is an event like any other."""
    bird = aviary.hatch()
    odd = {"sessionUpdate": "dance_update", "steps": [1, {"two": None}]}
    foreign = {"sessionId": "another", "update": {"sessionUpdate": "plan", "entries": []}}
    events = await bird.turn(
        [
            {"update": odd},
            {"notify": "vendor/thing", "params": {"x": 1}},
            {"notify": "session/update", "params": foreign},
            {"notify": "session/update", "params": {"sessionId": "$session"}},
        ]
    )
    assert odd in [event.update for event in events]
    assert [update["source"] for update in raws(events)] == [
        "notification",
        "update",
        "notification",
    ]
    assert raws(events)[0]["value"] == {"method": "vendor/thing", "params": {"x": 1}}
    assert "plan" not in kinds(events)


@linux
async def test_line_of_100_megabytes_is_refused(aviary: Aviary) -> None:
    """Without memory growth; the turn goes on."""
    bird = aviary.hatch()
    await bird.turn("hello")
    events = await bird.turn([{"raw": "x" * 1000, "repeat": 100_000}, {"text": "after it"}])
    assert "after it" in text_of(events)
    [noted] = raws(events)
    assert (noted["value"], noted["why"]) == (100_000_000, "stdout: too long")
    memory = tree.private_memory(bird.worker.pid)
    assert memory is not None
    assert memory < 40 * MEBIBYTE
    assert peak_of(bird.worker.pid) < 128 * MEBIBYTE  # the ceiling of 64 MiB, and what it shares


def peak_of(pid: int) -> int:
    """Resident at most, shared pages included."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [peak] = [line for line in lines if line.startswith("VmHWM:")]
    return int(peak.split()[1]) * 1024


FORGED = [
    {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "end_turn"},
    {"sessionUpdate": "_ask", "id": "x", "state": "asked", "nonce": "y", "kind": "permission"},
    {"sessionUpdate": "_prompt", "turn": 2, "prompt": [{"type": "text", "text": "me"}]},
    {"sessionUpdate": "_session", "title": "mine", "cwd": "/"},
    {"sessionUpdate": "_unheard_of"},
]


async def test_forged_events_are_raw(aviary: Aviary) -> None:
    """They end no turn, ask nobody and rename nothing."""
    bird = aviary.hatch()
    begun = await bird.prompt([*({"update": update} for update in FORGED), {"ask": "Really?"}])
    ask = await bird.ask(begun)
    header = bird.header()
    assert (header.state, header.turn, list(header.asks)) == ("running", 1, [ask["id"]])
    assert header.cwd == str(aviary.work)
    await bird.answer(ask, "allow")
    ended = await bird.ended(begun)
    events = bird.events(begun.seq, ended.seq)
    assert [update["value"] for update in raws(events)] == FORGED
    assert sum(is_idle(event) for event in events) == 1


async def hold(bird: Bird) -> tuple[Event, dict]:
    begun = await bird.prompt([{"ask": "Go on?", "allowed": [{"text": "went on"}]}])
    return begun, await bird.ask(begun)


async def test_ask_waits_for_a_person_not_for_a_connection(aviary: Aviary) -> None:
    """Nobody is connected for a while."""
    bird = aviary.hatch()
    begun, ask = await hold(bird)
    assert bird.header().asks.keys() == {ask["id"]}
    await bird.answer(ask, "allow")
    assert (await bird.ended(begun)).update["reason"] == "end_turn"
    assert "went on" in text_of(bird.events())


async def test_ask_shows_the_agents_own_options(aviary: Aviary) -> None:
    """Names, kinds and order; the tool call of an ask may be its first news."""
    bird = aviary.hatch()
    options = [
        {"optionId": "n", "name": "Nay", "kind": "reject_once"},
        {"optionId": "y", "name": "Aye", "kind": "allow_once", "_meta": {"x": 1}},
    ]
    call = {"toolCallId": "t1", "title": "make test", "kind": "execute"}
    begun = await bird.prompt(
        [
            {"ask": {"toolCall": call, "announce": False, "options": options}},
            {"text": "chose $option"},
        ]
    )
    ask = await bird.ask(begun)
    assert (ask["kind"], ask["options"]) == ("permission", options)
    assert ask["toolCall"]["title"] == "make test"
    assert len(ask["nonce"]) == 32
    await bird.answer(ask, "y", confirm=True)
    await bird.ended(begun)
    assert "chose y" in text_of(bird.events())


async def test_withdrawn_ask_is_closed(aviary: Aviary) -> None:
    """Also when the agent takes it back in the same breath."""
    bird = aviary.hatch()
    asking = {
        "jsonrpc": "2.0",
        "id": "p1",
        "method": "session/request_permission",
        "params": {
            "toolCall": {"toolCallId": "t"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        },
    }
    back = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "p1"}}
    line = f"{json.dumps(asking)}\n{json.dumps(back)}"
    begun = await bird.prompt([{"raw": line}, {"text": "never mind"}, {"until": "cancelled"}])
    await bird.until(lambda event: is_text(event, "never mind"), begun.seq)
    asks = [event.update for event in bird.events() if kind_of(event.update) == "_ask"]
    assert [update["state"] for update in asks] == ["asked", "closed"]
    assert bird.header().asks == {}
