"""Import of sessions that were begun elsewhere: an agent's session/list becomes sessions at once,
and session/load brings the history of one that is opened."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.agents import registry
from rookery.client.imports import agent_sessions
from rookery.client.imports.agent_sessions import AgentSessions, CannotImport
from rookery.core.agent.imported import Listed
from rookery.core.json.events import kind_of
from rookery.home import config, paths
from rookery.operations.calling.local import LocalRookery
from tests.cli.driving import PLAIN, rookery
from tests.e2e.house import until
from tests.rigs.player import player
from tests.worker.aviary import Aviary, Bird

type Json = dict[str, Any]


def elsewhere(
    argv: list[str], cwd: Path, *prompts: str, environment: dict[str, str] | None = None
) -> str:
    """A session that is begun without Rookery; its id."""
    pipes: Json = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
    program = shutil.which(argv[0], path=(environment or os.environ)["PATH"]) or argv[0]
    with subprocess.Popen([program, *argv[1:]], cwd=cwd, **pipes) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None

        def ask(id: int, method: str, **params: Any) -> Json:
            line = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            agent.stdin.write(json.dumps(line).encode() + b"\n")  # type: ignore[union-attr]
            agent.stdin.flush()  # type: ignore[union-attr]
            while True:
                said = json.loads(agent.stdout.readline())  # type: ignore[union-attr]
                if said.get("id") == id:
                    return dict(said["result"])

        ask(1, "initialize", protocolVersion=1, clientCapabilities={})
        session = str(ask(2, "session/new", cwd=str(cwd), mcpServers=[])["sessionId"])
        for number, text in enumerate(prompts, 3):
            prompt = [{"type": "text", "text": text}]
            ask(number, "session/prompt", sessionId=session, prompt=prompt)
        agent.stdin.close()
    return session


@pytest.fixture
def argv(aviary: Aviary) -> list[str]:
    words = player("demo", "--state", str(aviary.root / "theirs"))
    text = f"[agents.mine]\ncommand = {json.dumps(words)}\n"
    Path(aviary.home, "config.toml").write_text(text)
    return words


def play(*steps: Json) -> str:
    return json.dumps({"play": list(steps)})


async def test_a_session_begun_elsewhere_is_imported_and_continued(
    aviary: Aviary, argv: list[str]
) -> None:
    one = elsewhere(argv, aviary.work, play({"text": "First answer"}), play({"text": "Second"}))
    other = elsewhere(argv, aviary.root, play({"text": "Elsewhere"}))
    place = str(aviary.work)
    [row] = rookery("import", "--agent", "mine", "--list", "--json", place).events
    assert (row["id"], row["cwd"], row["here"]) == (one, place, None)
    assert other in rookery("import", "--agent", "mine", "--list", "--all").out
    done = rookery("import", "--agent", "mine", place)
    assert done.code == 0, done.err
    session = done.out.strip()
    bird = Bird(aviary.home, session)
    aviary.birds.append(bird)
    assert bird.header().turn == 0, "nothing was loaded"
    [head] = rookery("ps", "--json").events
    assert (head["last"], head["unloaded"]) == ("History comes when opened", True)
    assert "First answer" in rookery("show", "--all", session).out
    assert "Second" in rookery("show", session).out
    assert bird.header().agent_session == {"name": "mine", "id": one}
    again = rookery("import", "--agent", "mine", place)
    assert (again.out, again.err) == ("", "1 session already imported.\n")
    assert (
        rookery("import", "--agent", "mine", "--list", "--json", place).events[0]["here"] == session
    )
    turn = await bird.turn([{"text": "Third"}])
    assert turn[-1].update["reason"] == "end_turn"
    events = bird.events()
    assert [e.update["turn"] for e in events if kind_of(e.update) == "_prompt"] == [1, 2, 3]
    assert not [e for e in events if kind_of(e.update) == "_context"], "it was continued"
    answers = [e for e in events if kind_of(e.update) == "agent_message_chunk"]
    assert len([e for e in answers if "First answer" in e.update["content"]["text"]]) == 1


async def test_a_prompt_to_a_session_that_is_not_loaded_comes_behind_its_history(
    aviary: Aviary, argv: list[str]
) -> None:
    elsewhere(argv, aviary.work, play({"text": "First answer"}))
    bird = Bird(aviary.home, rookery("import", "--agent", "mine", str(aviary.work)).out.strip())
    aviary.birds.append(bird)
    turn = await bird.turn([{"text": "Second answer"}])
    assert turn[-1].update["reason"] == "end_turn"
    shown = rookery("show", "--all", bird.id).out
    assert shown.index("First answer") < shown.index("Second answer")
    assert bird.header().turn == 2


LISTER = """
import json, os, signal, sys
mode, work = sys.argv[1:]
MODES = {"currentModeId": "bypassPermissions", "availableModes": [
    {"id": "default", "name": "Default"}, {"id": "bypassPermissions", "name": "Bypass"}]}
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
def row(n, **other):
    found = {"sessionId": f"s{n}", "cwd": work, "title": f"No. {n}", "updatedAt": "2024-05-01"}
    return found | other
able = {"loadSession": True, "sessionCapabilities": {"list": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            send(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": able})
        case "session/list":
            at = int(asked["params"].get("cursor", 0))
            rows, more = [row(n) for n in range(at, at + 5)], {"nextCursor": str(at + 5)}
            match mode:
                case "fails" if at == 10:
                    send(id=asked["id"], error={"code": -32603, "message": "the disk is gone"})
                    continue
                case "killed" if at == 10:
                    os.kill(os.getppid(), signal.SIGKILL)
                case "waits" if at == 10:
                    open(f"{work}/waits", "w").close()
                    continue
                case "circle":
                    more = {"nextCursor": "5"}
                case "twice":
                    rows = [row(1), row(1, title="again"), *rows]
                case "odd":
                    rows = [row(1, title="t\\u001b[31m\\nx\\u202e"), row(2, cwd="/no/such"), row(3),
                            {"sessionId": "s4"}, row(5, cwd="relative"), row(6, updatedAt=7)]
            if mode != "endless" and (at >= 15 or mode == "odd"):
                more = {}
            send(id=asked["id"], result={"sessions": rows, **more})
        case "session/load":
            session = asked["params"]["sessionId"]
            for kind in ("user_message_chunk", "agent_message_chunk"):
                content = {"type": "text", "text": f"{kind} of {session}"}
                update = {"sessionUpdate": kind, "content": content}
                send(method="session/update", params={"sessionId": session, "update": update})
            send(id=asked["id"], result={"modes": MODES})
        case method:
            with open(f"{work}/asked", "a") as file:
                print(method, json.dumps(asked.get("params")), file=file)
            if "id" in asked:
                send(id=asked["id"], result={})
"""


def lister(aviary: Aviary, mode: str, name: str = "lister") -> list[str]:
    """The words of an import from an agent with 20 sessions, which it lists five by five."""
    file = aviary.root / "lister.py"
    file.write_text(LISTER)
    command = json.dumps([player()[0], str(file), mode, str(aviary.work)])
    Path(aviary.home, "config.toml").write_text(f"[agents.{name}]\ncommand = {command}\n")
    return ["import", "--agent", name, "--all"]


def titles() -> list[str]:
    return sorted(head["title"] for head in rookery("ps", "--json").events)


@pytest.mark.parametrize("mode", ["plain", "circle", "twice"])
def test_every_session_of_a_list_is_imported_once(aviary: Aviary, mode: str) -> None:
    words = lister(aviary, mode)
    done = rookery(*words)
    made = 10 if mode == "circle" else 20
    assert (done.code, len(done.out.split())) == (0, made), done.err
    assert len({*titles()}) == made
    assert rookery(*words).out == ""
    heads = rookery("ps", "--json").events
    assert {head["created"] for head in heads} == {1714521600000}, "as old as the agent says"


def test_a_list_that_fails_keeps_what_was_listed_and_the_next_import_goes_on(
    aviary: Aviary,
) -> None:
    words = lister(aviary, "fails")
    done = rookery(*words)
    assert (done.code, len(done.out.split())) == (1, 10)
    assert "lister answered session/list with an error: the disk is gone" in done.err
    lister(aviary, "plain")
    assert len(rookery(*words).out.split()) == 10
    assert len(titles()) == 20


def test_an_import_that_is_killed_leaves_whole_sessions_and_goes_on(aviary: Aviary) -> None:
    words = lister(aviary, "killed")
    child = subprocess.run([*PLAIN, *words], capture_output=True, check=False)
    assert child.returncode == -signal.SIGKILL
    before = rookery("ps", "--json").events
    assert len(before) in (5, 10)
    assert not [head for head in before if head.get("damaged")]
    lister(aviary, "plain")
    assert rookery(*words).code == 0
    assert len(titles()) == 20
    assert not [head for head in rookery("ps", "--json").events if head.get("damaged")]
    assert not unfinished(aviary), "what was half made is gone"


def unfinished(aviary: Aviary) -> list[str]:
    return [name for name in os.listdir(paths.sessions(aviary.home)) if name[0] == "."]


def test_ctrl_c_keeps_what_was_imported_and_leaves_nothing_half_made(aviary: Aviary) -> None:
    words = lister(aviary, "waits")
    with subprocess.Popen([*PLAIN, *words], stdout=-1, stderr=-1, text=True) as child:
        until(lambda: len([*paths.session_ids(aviary.home)]) == 10, "ten are imported")
        child.send_signal(signal.SIGINT)
        rest, said = child.communicate()
    assert (child.returncode, rest) == (130, "")
    assert "Traceback" not in said
    assert len(titles()) == 10
    assert not unfinished(aviary)
    lister(aviary, "plain")
    assert len(rookery(*words).out.split()) == 10


def test_what_is_chosen_of_a_list_is_imported_without_starting_the_agent_again(
    aviary: Aviary,
) -> None:
    lister(aviary, "plain")
    here = LocalRookery(aviary.home)
    assert len(here.call("importable", agent="lister")["sessions"]) == 20
    (aviary.root / "lister.py").write_text("raise SystemExit(3)")
    said = here.call("import", agent="lister", ids=["s7"])
    assert [(each["id"], each["state"]) for each in said["sessions"]] == [("s7", "new")]
    with pytest.raises(CannotImport, match="ended before it answered"):
        here.call("import", agent="lister", ids=["s7", "other"])
    assert here.call("import", agent="lister")["sessions"] == [], "nothing is chosen"


@pytest.mark.parametrize("limit", ["MAX_PAGES", "MAX_SESSIONS"])
async def test_a_list_without_an_end_is_left_and_it_is_said(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    lister(aviary, "endless")
    most = 4 if limit == "MAX_PAGES" else 20
    monkeypatch.setattr(agent_sessions, limit, most)
    settings = config.load(aviary.home)
    agent = registry.resolve("lister", settings.agents)
    ids: list[str] = []

    async def read(pages: AsyncIterator[list[Listed]]) -> None:
        async for page in pages:
            ids.extend(each.id for each in page)

    async with AgentSessions(aviary.home, agent, settings, os.environ) as sessions:
        with pytest.raises(CannotImport, match="without an end: stopped at 20"):
            await read(sessions.pages())
    assert len(ids) == 20


def test_odd_rows_of_a_list_are_imported_or_counted(aviary: Aviary) -> None:
    done = rookery(*lister(aviary, "odd"), "--json")
    rows = {row["id"]: row for row in done.events}
    assert {name: row["state"] for name, row in rows.items()} == {
        "s1": "new",
        "s2": "no_directory",
        "s3": "new",
        "s4": "no_directory",
        "s5": "no_directory",
        "s6": "new",
    }
    assert "3 sessions left out: their directories no longer exist." in done.err
    plain = rookery("ps").out
    assert "\x1b[31m" not in plain
    assert "\u202e" not in plain


def test_what_was_removed_comes_back_only_when_asked(aviary: Aviary) -> None:
    words = lister(aviary, "plain")
    rookery(*words)
    of = {head["title"]: head["id"] for head in rookery("ps", "--json").events}
    rookery("remove", "--yes", of["No. 1"])
    rookery("remove", "--permanently", "--yes", of["No. 2"])
    done = rookery(*words)
    assert done.out == ""
    assert "1 session left in the trash." in done.err
    assert "1 session left out: you removed them. To import them again: --removed" in done.err
    assert "No. 2" not in titles()
    assert len(rookery(*words, "--removed").out.split()) == 1
    assert "No. 2" in titles()
    assert "No. 1" not in titles()


async def test_an_imported_session_asks_as_a_new_one_would(aviary: Aviary) -> None:
    """Its agent was left in a mode that never asks."""
    rookery(*lister(aviary, "odd", "claude"), "--session", "s1")
    [head] = rookery("ps", "--json").events
    aviary.birds.append(Bird(aviary.home, head["id"]))
    assert head["confirm"] == "every"
    assert "agent_message_chunk of s1" in rookery("show", head["id"]).out
    asked = (aviary.work / "asked").read_text()
    assert 'session/set_mode {"sessionId": "s1", "modeId": "default"}' in asked


def test_load_brings_the_histories_now_and_search_finds_them(aviary: Aviary) -> None:
    words = lister(aviary, "odd")
    done = rookery(*words, "--load")
    assert done.code == 0, done.err
    assert "Loaded the history of 3 sessions." in done.err
    heads = rookery("ps", "--json").events
    assert [(head["turn"], head["unloaded"], head["unread"]) for head in heads] == [
        (1, False, False)
    ] * 3
    assert rookery("search", "agent_message_chunk").out.count("s3")
    for head in heads:
        aviary.birds.append(Bird(aviary.home, head["id"]))


LIAR = """
import json, sys
mode = sys.argv[1]
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n"); sys.stdout.flush()
def update(session, text, kind="agent_message_chunk"):
    content = {"type": "text", "text": text}
    params = {"sessionId": session, "update": {"sessionUpdate": kind, "content": content}}
    send(method="session/update", params=params)
able = {"loadSession": True, "sessionCapabilities": {} if mode == "poor" else {"list": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            send(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": able})
        case "session/list":
            rows = [{"sessionId": "s1", "cwd": sys.argv[2], "title": "t\\u001b[31m\\nx"}]
            more = {"nextCursor": "again"} if mode == "cursor" else {}
            send(id=asked["id"], result={"sessions": rows, **more})
        case "session/load":
            update("s1", "Do it", "user_message_chunk")
            update("another", "not yours")
            update("s1", "Done")
            forged = {"sessionId": "s1", "update": {"sessionUpdate": "_turn"}}
            send(method="session/update", params=forged)
            if mode == "dies":
                sys.exit(3)
            if mode == "error":
                send(id=asked["id"], error={"code": -32000, "message": "no reason to open it"})
            elif mode != "silent":
                send(id=asked["id"], result=None)
"""


def liar(aviary: Aviary, mode: str) -> None:
    file = aviary.root / "liar.py"
    file.write_text(LIAR)
    command = json.dumps([player()[0], str(file), mode, str(aviary.work)])
    Path(aviary.home, "config.toml").write_text(f"[agents.liar]\ncommand = {command}\n")


def imported(aviary: Aviary) -> Any:
    return rookery("import", "--agent", "liar", str(aviary.work))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", "The history was not loaded."),
        ("error", "The history was not loaded. liar: no reason to open it"),
    ],
)
def test_a_history_that_cannot_be_loaded_is_a_sentence_and_can_be_tried_again(
    aviary: Aviary, mode: str, words: str
) -> None:
    liar(aviary, mode)
    session = imported(aviary).out.strip()
    aviary.birds.append(Bird(aviary.home, session))
    shown = rookery("show", session)
    assert words in " ".join(shown.err.split())
    assert "liar has the history of this session" in shown.out
    [head] = rookery("ps", "--json").events
    assert (head["unloaded"], head["turn"]) == (True, 0)
    rookery("stop", session)
    liar(aviary, "plain")
    assert "Done" in rookery("show", session).out


def test_an_agent_that_cannot_list_says_so(aviary: Aviary) -> None:
    liar(aviary, "poor")
    done = imported(aviary)
    assert done.code == 1
    assert "liar cannot list its sessions, so none can be imported." in done.err
    assert rookery("ps", "--json").out == ""


def test_a_missing_directory_is_reported(aviary: Aviary, argv: list[str]) -> None:
    gone = aviary.root / "gone"
    gone.mkdir()
    session = elsewhere(argv, gone, play({"text": "hi"}))
    gone.rmdir()
    done = rookery("import", "--agent", "mine", "--all", "--session", session)
    assert done.code == 1
    assert "which no longer exists" in done.err
    missing = rookery("import", "--agent", "mine", "--all", "--session", "nosuch")
    assert "No agent lists the session nosuch" in missing.err
