"""What is said at the start outlives whoever said it. Real workers, a scripted agent that asks when
its client is long gone."""

import asyncio
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.client.fleet import heads
from rookery.core.json.events import Event, kind_of
from tests.cli.driving import Running, Terminal, play, rookery
from tests.worker.aviary import Bird, is_idle

type Json = dict[str, Any]

QUESTION: Json = {
    "question": "Which branch?",
    "schema": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
    "accepted": [{"text": "<told>"}],
    "declined": [{"text": "<declined>"}],
}
ODD: Json = {"ask": "odd", "kind": "other", "allowed": [{"text": "<odd>"}]}
ODD |= {"rejected": [{"text": "<not odd>"}]}


def run(line: str) -> Json:
    told = {"allowed": [{"text": f"<ran {line}>"}], "rejected": [{"text": f"<not {line}>"}]}
    return {"ask": line, "kind": "execute", "rawInput": {"command": line}, **told}


def gate(name: str) -> Json:
    """The agent goes on when the file is there."""
    return {"command": f"until [ -e {name} ]; do sleep 0.05; done"}


ASKS = [run("make"), ODD, run("rm -rf x"), QUESTION]
STEPS = [{"text": "begun\n"}, gate("one"), {"text": "more\n" * 2000}, gate("two"), *ASKS]


def interrupt(client: Running, _work: Path) -> None:
    client.signal(signal.SIGINT)
    assert client.end().code == 130


def kill(client: Running, _work: Path) -> None:
    client.signal(signal.SIGKILL)
    assert client.end().code == -signal.SIGKILL


def close_pipe(client: Running, work: Path) -> None:
    """As `| head` does: the client finds out when it writes the next time."""
    assert client.process.stdout is not None
    client.process.stdout.close()
    (work / "one").touch()
    assert client.process.wait(60) == 141


ENDS: list[Callable[[Running, Path], None]] = [interrupt, kill, close_pipe]

TOLD: dict[str, tuple[list[str], list[str], str]] = {
    "--yolo": (
        ["unattended:all", "unattended:all", "unattended:reject", "unattended:reject"],
        [
            "allowed (run --yolo)",
            "allowed (run --yolo)",
            "rejected: this …, and this session never asks you (run --yolo)",
            "declined: this session never asks you (run --yolo)",
        ],
        "<ran make><odd><not rm -rf x><declined>",
    ),
    "--approve reject": (
        ["unattended:reject"] * 4,
        [
            *["rejected: this session never asks you (run --approve reject)"] * 3,
            "declined: this session never asks you (run --approve reject)",
        ],
        "<not make><not odd><not rm -rf x><declined>",
    ),
    "--llm-approve": (
        ["unattended:risky", *["unattended:reject"] * 3],
        [
            "allowed (run --llm-approve)",
            "rejected: it may be risky, and this session never asks you (run --llm-approve)",
            "rejected: this …, and this session never asks you (run --llm-approve)",
            "declined: this session never asks you (run --llm-approve)",
        ],
        "<ran make><not odd><not rm -rf x><declined>",
    ),
}


def only(home: Path) -> Bird:
    (head,) = heads(str(home))
    return Bird(str(home), str(head["id"]))


def ended(bird: Bird, since: int = 0) -> Event:
    """The end of the turn that runs, or ran."""
    return asyncio.run(bird.until(is_idle, since))


def closings(bird: Bird) -> list[Event]:
    events = bird.events()
    return [e for e in events if kind_of(e.update) == "_ask" and e.update["state"] == "closed"]


def text_of(bird: Bird) -> str:
    chunks = [e.update for e in bird.events() if kind_of(e.update) == "agent_message_chunk"]
    return "".join(each["content"]["text"] for each in chunks).rpartition("more\n")[2]


@pytest.mark.parametrize("leave", ENDS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("flags", TOLD)
def test_flags_of_run_outlive_the_client(
    home: Path, tmp_path: Path, flags: str, leave: Callable[[Running, Path], None]
) -> None:
    """The asks come after the client is gone; each is answered as told, and the log says by
    what."""
    with Running("run", *flags.split(), "--cwd", str(tmp_path), play(*STEPS)) as client:
        client.read_until("begun")
        leave(client, tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).touch()
    bird = only(home)
    assert ended(bird).update["reason"] == "end_turn"
    by, words, text = TOLD[flags]
    assert [event.by for event in closings(bird)] == by
    told = [re.sub("this .*, and", "this …, and", e.update["ruled"]) for e in closings(bird)]
    assert told == words
    assert text_of(bird) == text


def test_unattended_is_in_the_first_event_and_shown_everywhere(home: Path) -> None:
    done = rookery("run", "--confirm-destructive", "--json", play(run("rm -rf x")))
    assert done.code == 0
    told = {
        "approve": "all",
        "destructive": True,
        "told": "rookery run --confirm-destructive",
        "without_hooks": False,
    }
    first = done.events[0]["update"]
    assert (first["confirm"], first["unattended"]) == ("all", told)
    bird = only(home)
    assert closings(bird)[0].update["ruled"] == "allowed (rookery run --confirm-destructive)"
    assert "approve all" in rookery("ps").out
    words = "uto-approving (even destructive commands); set by rookery run"
    assert words in rookery("show", bird.id).err
    assert words in rookery("set", bird.id, "confirm").err


@pytest.mark.long
def test_unattended_holds_for_the_next_prompt_and_a_new_worker(home: Path) -> None:
    first = rookery("run", "--approve", "reject", play(run("make")))
    assert (first.code, "<not make>" in first.out) == (3, True)
    bird = only(home)
    worker = bird.worker
    os.kill(worker.pid, signal.SIGKILL)
    asyncio.run(bird.gone(worker))
    again = rookery("prompt", bird.id, "--wait", play(run("make")))
    assert (again.code, "<not make>" in again.out) == (3, True)
    assert "(run --approve reject)" in again.err


@pytest.mark.long
def test_asks_wait_again_once_the_user_takes_over(home: Path, tmp_path: Path) -> None:
    steps = play({"text": "begun"}, gate("one"), run("make"))
    with Running("run", "--yolo", "--cwd", str(tmp_path), steps) as client:
        client.read_until("begun")
        bird = only(home)
        done = rookery("set", bird.id, "confirm", "every")
        assert "Ask always" in done.err
        (tmp_path / "one").touch()
        client.read_err_until("┃ 1  ")
        assert bird.header().unattended is None
        assert rookery("answer", bird.id, "1").code == 0
        assert "<ran make>" in client.end().out
    assert closings(bird)[-1].by.startswith("cli:")


@pytest.mark.long
def test_a_prompts_flag_becomes_the_sessions_and_says_so(home: Path) -> None:
    session = rookery("new").out.strip()
    done = rookery("prompt", session, "--wait", "--approve", "all", play(run("make")))
    assert (done.code, "<ran make>" in done.out) == (0, True)
    told = " ".join(done.err.split())
    assert "Approve all (destructive commands are refused), from now on." in told
    assert f"rookery set {session} confirm ask-always" in told
    again = rookery("prompt", session, "--wait", play(run("make"), run("rm -rf x")))
    assert (again.code, "<ran make>" in again.out) == (3, True)
    assert "from now on" not in again.err
    assert "(prompt --approve all)" in again.err
    same = rookery("prompt", session, "--wait", "--approve", "all", play({"text": "hi"}))
    assert "from now on" not in same.err
    with Running("prompt", session, "--wait", "--approve", "ask", play(run("make"))) as client:
        told = client.read_err_until("┃ 1  ")
        assert "Ask always, from now on." in told
        assert rookery("answer", session, "reject").code == 0
        assert client.end().code == 0


def test_asks_are_answered_for_a_prompt_without_wait(home: Path) -> None:
    """Without --wait the flag was passed over in silence."""
    session = rookery("new").out.strip()
    bird = Bird(str(home), session)
    assert rookery("prompt", session, "--approve", "reject", play(run("make"))).code == 0
    assert ended(bird).update["reason"] == "end_turn"
    assert [event.by for event in closings(bird)] == ["unattended:reject"]


@pytest.mark.long
def test_headless_on_a_session_keeps_what_it_was_told(home: Path) -> None:
    """Without a flag it approves all, and says so; but not where somebody said otherwise."""
    session = rookery("new").out.strip()
    done = rookery("--headless", "--resume", session, "-t", play(run("make")))
    assert (done.code, "<ran make>" in done.out) == (0, True)
    assert "Approve all (destructive commands are refused), from now" in done.err
    rookery("prompt", session, "--wait", "--approve", "reject", play({"text": "hi"}))
    done = rookery("--headless", "--resume", session, "-t", play(run("make")))
    assert (done.code, "<not make>" in done.out) == (3, True)
    done = rookery("--headless", "--llm-approve", "--resume", session, "-t", play(run("make")))
    assert (done.code, "<ran make>" in done.out) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--approve", "reject", "--confirm-destructive", "x"],
        ["run", "--llm-approve", "--confirm-destructive", "x"],
        ["prompt", "S", "--confirm-destructive", "x"],
        ["prompt", "S", "--approve", "reject", "--confirm-destructive", "x"],
    ],
)
def test_no_flag_is_ignored_in_silence(home: Path, words: list[str]) -> None:
    rookery("new", "--title", "S")
    done = rookery(*words)
    assert (done.code, "needs --approve all" in done.err) == (2, True)


@pytest.mark.long
def test_unattended_can_be_set_and_is_not_a_confirm_mode(home: Path) -> None:
    session = rookery("new").out.strip()
    done = rookery("set", session, "unattended", "reject")
    assert "Auto-rejecting (except what a rule allows)" in " ".join(done.err.split())
    assert "reject all" in rookery("ps").out
    assert "▸" not in rookery("set", session, "confirm").out  # none of these holds
    assert rookery("set", session, "unattended", "ask").code == 2
    assert rookery("set", session, "confirm", "every").code == 0
    assert "▸ every" in rookery("set", session, "confirm").out


def test_approve_ask_waits_when_the_client_is_gone(home: Path, tmp_path: Path) -> None:
    steps = play({"text": "begun"}, gate("one"), run("make"))
    with Terminal("run", "--approve", "ask", "--cwd", str(tmp_path), steps) as terminal:
        terminal.read_until("begun")
        terminal.type("\x03")
        assert terminal.end().code == 130
    (tmp_path / "one").touch()
    bird = only(home)
    asked = asyncio.run(
        bird.until(lambda event: kind_of(event.update) == "_ask")  # and it stays open
    )
    assert "ruled" not in asked.update
    assert rookery("answer", bird.id, "1").code == 0
    assert ended(bird, asked.seq).update["reason"] == "end_turn"
