"""Import of sessions that were begun elsewhere, through the agent's own session/list and
session/load: listed, imported once, read and continued."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.client.imports import agent_sessions
from rookery.core.json.events import kind_of
from tests.cli.driving import PLAIN, rookery
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


async def test_I16_a_session_begun_elsewhere_is_listed_imported_read_and_continued(
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
    assert "First answer" in rookery("show", "--turn", "1", session).out
    assert "Second" in rookery("show", session).out
    assert bird.header()["agentSession"] == {"name": "mine", "id": one}
    again = rookery("import", "--agent", "mine", place)
    assert again.out == ""
    assert f"rookery open {session}" in again.err
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


def test_I17_5_many_are_imported_by_one_process_and_a_second_time_by_none(
    aviary: Aviary, argv: list[str]
) -> None:
    """Given up in the middle, it goes on where it was."""
    count = aviary.root / "starts"
    program = aviary.root / "counted"
    program.write_text(f'#!/bin/sh\necho >>{count}\nexec "$@"\n')
    program.chmod(0o755)
    for number in range(4):
        elsewhere(argv, aviary.work, play({"text": f"Answer {number}"}))
    text = f"[agents.mine]\ncommand = {json.dumps([str(program), *argv])}\n"
    Path(aviary.home, "config.toml").write_text(text)
    words = [*PLAIN, "import", "--agent", "mine", "--all"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert b"Traceback" not in child.stderr.read()
    assert child.returncode == 130
    assert count.read_text() == "\n"
    done = rookery("import", "--agent", "mine", "--all")
    made = rookery("ps", "--json").events
    assert (done.code, len(made)) == (0, 4)
    assert count.read_text() == "\n\n"
    assert rookery("import", "--agent", "mine", "--all").out == ""


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
            while mode == "flood":
                update("s1", "x" * 100_000)
            if mode == "dies":
                sys.exit(3)
            if mode == "error":
                send(id=asked["id"], error={"code": -32000, "message": "no such session"})
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


@pytest.mark.parametrize("mode", ["plain", "cursor"])
def test_I16_updates_of_another_session_are_left_out_and_counted(aviary: Aviary, mode: str) -> None:
    liar(aviary, mode)
    done = imported(aviary)
    assert done.code == 0, done.err
    shown = rookery("show", done.out.strip()).out
    assert "not yours" not in shown
    assert "2 updates of another session" in shown


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("poor", "liar cannot list its sessions, so none can be imported."),
        ("dies", "liar ended before it answered session/load."),
        ("error", "no such session"),
    ],
)
def test_I16_what_cannot_be_imported_is_a_sentence_and_leaves_nothing(
    aviary: Aviary, mode: str, words: str
) -> None:
    liar(aviary, mode)
    done = imported(aviary)
    assert done.code == 1
    assert words in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert rookery("ps", "--json").out == ""


async def test_I16_a_history_without_end_is_cut(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rookery.agents.registry import Agent
    from rookery.client.imports.importing import bring, find
    from rookery.home.config import load

    monkeypatch.setattr(agent_sessions, "LARGEST", 1_000_000)
    liar(aviary, "flood")
    config = load(aviary.home)
    agent = Agent("liar", list(config.agents["liar"]))
    [found] = await find(aviary.home, agent, config, {}, str(aviary.work))
    made = await bring(aviary.home, agent, config, {}, found.session)
    bird = Bird(aviary.home, made.here)
    aviary.birds.append(bird)
    assert [e for e in bird.events() if "too long to import" in e.update.get("text", "")]


def test_I16_a_directory_that_is_gone_is_said(aviary: Aviary, argv: list[str]) -> None:
    gone = aviary.root / "gone"
    gone.mkdir()
    session = elsewhere(argv, gone, play({"text": "hi"}))
    gone.rmdir()
    done = rookery("import", "--agent", "mine", "--all", "--session", session)
    assert done.code == 1
    assert "which no longer exists" in done.err
    missing = rookery("import", "--agent", "mine", "--all", "--session", "nosuch")
    assert "No agent lists the session nosuch" in missing.err
