"""Unread marks, hung workers, archive and snooze, prune, logs and uninstall, as a user sees them:
real sessions and workers."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from rookery.home import mcp, paths
from rookery.home.log_rotation import LOG_BYTES
from rookery.log.lock import becomes_free
from tests.cli.driving import Running, Terminal, made, play, rookery

HELLO = {"text": "hello"}
WAITS = {"until": "cancel"}


def listed(*more: str) -> dict[str, dict[str, Any]]:
    lines = rookery("ps", "--json", *more).out.splitlines()
    return {head["id"]: head for head in map(json.loads, lines)}


def until_asleep(home: Path, session: str) -> None:
    assert becomes_free(paths.session_dir(str(home), session), 60)


def worker(home: Path, session: str) -> int:
    record = json.loads((home / "sessions" / session / paths.WORKER).read_text())
    return int(record["pid"])


# ---------------------------------------------------------------- unread


def detached(*steps: dict[str, Any]) -> str:
    """A session whose turn nobody follows; its id."""
    session = rookery("new", "--agent", "demo").out.strip()
    assert rookery("prompt", session, play(*steps)).code == 0
    return session


def until_unread(session: str) -> None:
    while not listed()[session]["unread"]:
        assert listed()[session]["state"] in ("idle", "running")


@pytest.mark.long
def test_a_session_is_unread_until_somebody_looks(home: Path) -> None:
    session = detached(HELLO)
    until_unread(session)
    assert "• " in rookery("ps").out
    assert "• " in rookery().out
    assert rookery("show", session).code == 0
    assert not listed()[session]["unread"]
    assert "• " not in rookery("ps").out
    followed = made(HELLO)
    assert not listed()[followed]["unread"], "who follows a turn has seen its end"


@pytest.mark.long
def test_looking_wakes_nobody_and_needs_no_lock(home: Path) -> None:
    session = detached(HELLO)
    until_unread(session)
    assert rookery("stop", session).code == 0
    assert listed()[session]["unread"], "a sleeping session keeps its mark"
    with Running("tail", session) as tail:
        tail.read_until("hello")
        while listed()[session]["unread"]:
            assert tail.process.poll() is None
    head = listed()[session]
    assert (head["awake"], head["unread"]) == (False, False)


# ---------------------------------------------------------------- hung


@pytest.mark.long
def test_a_hung_worker_is_shown_with_the_command_that_ends_it(home: Path) -> None:
    session, fine = made(HELLO, title="stuck"), made(HELLO)
    os.kill(worker(home, session), signal.SIGSTOP)
    shown = rookery("ps")
    [line] = [line for line in shown.out.splitlines() if session in line]
    assert "hung" in line
    assert f"To end it: rookery stop --now {session}" in shown.err
    heads = listed()
    assert (heads[session]["hung"], heads[fine]["hung"]) == (True, False)
    assert rookery("kill", session).code == 0
    assert not listed()[session]["awake"]
    assert rookery("prompt", "--wait", session, play(HELLO)).code == 0
    assert not listed()[session]["hung"]


# ---------------------------------------------------------------- archive and prune


@pytest.mark.long
def test_a_prompt_brings_an_archived_session_back(home: Path) -> None:
    session = made(HELLO)
    done = rookery("archive", session)
    assert (done.code, f"Archived {session}." in done.err) == (0, True)
    assert session not in listed()
    until_asleep(home, session)
    head = listed("--all")[session]
    assert (head["archived"], head["awake"]) == (True, False)
    assert "(archived)" in rookery("ps", "--all").out
    assert "already" in rookery("archive", session).err
    assert rookery("unarchive", session).code == 0
    assert (listed()[session]["archived"], listed()[session]["awake"]) == (False, False)
    assert rookery("archive", session).code == 0
    assert rookery("prompt", "--wait", session, play(HELLO)).code == 0
    assert not listed()[session]["archived"]


@pytest.mark.long
def test_archiving_does_not_end_a_turn(home: Path) -> None:
    session = rookery("new", "--agent", "demo").out.strip()
    with Running("prompt", "--wait", session, play({"text": "begun"}, WAITS)) as turn:
        turn.read_until("begun")
        done = rookery("archive", session)
        assert "when its turn ends" in done.err
        assert listed("--all")[session]["state"] == "running"
        rookery("cancel", session)
        assert turn.end().code == 130
    while listed("--all")[session]["awake"]:
        assert listed("--all")[session]["archived"]
    events = rookery("show", session, "--all", "--events").events
    [stopped] = [e["update"] for e in events if e["update"].get("state") == "stopped"]
    assert stopped["reason"] == "archived"


@pytest.mark.long
def test_a_snooze_lasts_until_its_time_or_a_prompt(home: Path) -> None:
    session = made(HELLO)
    done = rookery("snooze", session, "--for", "2h")
    assert (done.code, f"Snoozed {session} until " in done.err) == (0, True)
    assert session not in listed()
    head = listed("--all")[session]
    assert (head["awake"], head["archived"]) == (False, False)
    assert "(snoozed)" in rookery("ps", "--all").out
    assert "back in the lists" in rookery("snooze", session, "--off").err
    assert listed()[session]["snoozed"] == 0
    assert "is not snoozed" in rookery("snooze", session, "--off").err
    assert rookery("snooze", session, "--until", "2999-01-01T09:00").code == 0
    assert rookery("prompt", "--wait", session, play(HELLO)).code == 0
    assert listed()[session]["awake"]


@pytest.mark.long
def test_a_snooze_ends_by_itself(home: Path) -> None:
    session = made(HELLO)
    assert rookery("snooze", session, "--for", "0.5s").code == 0
    while session not in listed():
        pass
    assert not listed()[session]["awake"], "nothing was started for it"


@pytest.mark.parametrize(
    "words", [[], ["--for", "2h", "--off"], ["--until", "2001-01-01"], ["--for", "soon"]]
)
def test_a_snooze_says_until_when(home: Path, words: list[str]) -> None:
    session = rookery("new", "--agent", "demo").out.strip()
    done = rookery("snooze", session, *words)
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert session in listed()


@pytest.mark.long
def test_retry_resends_the_rate_limited_prompt(home: Path) -> None:
    session = rookery("new", "--agent", "demo").out.strip()
    missing = rookery("retry", session)
    assert (
        missing.code,
        "The last prompt of this session has not failed or hit a rate limit" in missing.err,
    ) == (1, True)
    limit = rookery("prompt", session, "--wait", play({"rate_limit": "2099-01-01T00:00:00Z"}))
    assert limit.code == 4
    assert f"Retry now: rookery retry {session}" in limit.err
    rookery("stop", session)
    assert rookery("retry", session).code == 0
    while listed()[session]["turn"] < 2 or listed()[session]["state"] != "idle":
        pass
    events = rookery("show", session, "--all", "--events").events
    prompts = [e["update"]["prompt"] for e in events if e["update"]["sessionUpdate"] == "_prompt"]
    assert len(prompts) == 2
    assert prompts[0] == prompts[1]


@pytest.mark.long
def test_prune_shows_first_and_deletes_when_told(home: Path) -> None:
    old, awake = made(HELLO, title="old one"), made(HELLO)
    rookery("archive", old)
    until_asleep(home, old)
    shown = rookery("prune", "--archived")
    assert shown.code == 2, "--yes is missing"
    assert "old one" in shown.out
    assert "1 session, " in shown.out
    assert "Dry run" in shown.err
    assert old in listed("--all")
    every = rookery("prune", "--older-than", "0s", "--json")
    assert [json.loads(line)["id"] for line in every.out.splitlines()] == [old]
    assert "1 session skipped: still awake" in every.err
    assert rookery("prune", "--older-than", "1h").out == ""
    assert rookery("prune", "--larger-than", "1G").out == ""
    done = rookery("prune", "--older-than", "0s", "--larger-than", "1K", "--yes")
    assert "Moved 1 session to the trash" in done.err
    assert list(listed("--all")) == [awake]


@pytest.mark.long
def test_prune_asks_in_a_terminal(home: Path) -> None:
    session = made(HELLO)
    rookery("archive", session)
    until_asleep(home, session)
    for key, left, code in (("n", True, 130), ("y", False, 0)):
        with Terminal("prune", "--archived") as terminal:
            terminal.read_until("Move this session to the trash?")
            terminal.type(f"{key}\n")
            assert terminal.end().code == code
        assert (session in listed("--all")) == left


@pytest.mark.parametrize(
    "arguments", [[], ["--older-than", "soon"], ["--larger-than", "big"], ["--older-than", "-1d"]]
)
def test_prune_needs_a_selection(home: Path, arguments: list[str]) -> None:
    done = rookery("prune", *arguments)
    assert done.code == 2
    assert "30d" in done.err or "100M" in done.err


@pytest.mark.long
def test_the_workers_log_is_rotated_while_it_runs(home: Path) -> None:
    session = made(HELLO)
    log = home / "sessions" / session / paths.WORKER_LOG
    with log.open("ab") as file:
        file.write(b"first\n" + b"x" * LOG_BYTES + b"\nlast\n")
    while log.stat().st_size:
        assert listed()[session]["awake"]
    before = log.with_name(paths.WORKER_LOG + ".1")
    assert before.stat().st_size == LOG_BYTES
    assert rookery("logs", session, "--worker").out.endswith("\nlast\n")


# ---------------------------------------------------------------- uninstall


@pytest.mark.long
def test_uninstall_lists_first_and_removes_when_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / ".bashrc").write_text('# mine\neval "$(rookery completions bash)"\n')
    monkeypatch.setenv("HOME", str(user))
    session = made(HELLO)
    mcp.add(str(home), "a", {"command": "x"})
    (home / "diary.txt").write_text("mine")
    said = rookery("uninstall")
    assert said.code == 2, "--yes is missing"
    for words in (str(home), "1 session", session, "mcp.json", "~/.bashrc, line 2", "diary.txt"):
        assert words in said.out, words
    assert "Dry run" in said.err
    assert "to remove it: " in said.out
    told = json.loads(rookery("uninstall", "--json").out)
    assert (told["sessions"], told["awake"], told["leaves"]) == (1, [session], ["diary.txt"])
    pid = worker(home, session)
    kept = rookery("uninstall", "--keep-sessions", "--yes")
    assert "The sessions are kept" in kept.err
    assert not Path(f"/proc/{pid}").exists()
    assert {file.name for file in home.iterdir()} == {"sessions", "trash", "format", "diary.txt"}
    assert "hello" in rookery("show", session).out
    assert rookery("uninstall", "--yes").code == 0
    assert [file.name for file in home.iterdir()] == ["diary.txt"]
    assert (user / ".bashrc").read_text().startswith("# mine")


@pytest.mark.long
def test_uninstall_is_not_held_up_by_a_hung_worker_or_a_turn(home: Path) -> None:
    stuck = made(HELLO)
    busy = detached({"text": "begun"}, WAITS)
    os.kill(worker(home, stuck), signal.SIGSTOP)
    pids = [worker(home, stuck), worker(home, busy)]
    assert rookery("uninstall", "--yes").code == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not home.exists()
    home.mkdir()  # for the fixture, which takes it away


def test_uninstall_without_a_home_is_no_error(home: Path) -> None:
    done = rookery("uninstall", "--yes")
    assert done.code == 0
    assert "There is no data to remove" in done.err
