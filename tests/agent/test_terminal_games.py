"""What a command can do to its shell, and what the next command sees of it: the terminal goes
on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.terminal.session import Session
from rookery.processes.lineage import MARK
from tests.agent.test_terminal import Running, run

GAMES = {
    "unset": "unset PROMPT_COMMAND PS1",
    "never ends": "PROMPT_COMMAND='sleep 1000'",
    "reads": "PROMPT_COMMAND='read -r x'",
    "one more": "PROMPT_COMMAND+=('sleep 1000')",
    "exported": "export PROMPT_COMMAND='sleep 1000' PS1='> '",
    "another prompt": "PS1='(venv) $ '; PROMPT_COMMAND=",
    "taken literally": "shopt -u promptvars",
    "stderr closed": "exec 2>/dev/null",
    "stdout closed": "exec >/dev/null",
    "printf is another": 'printf() { :; }; builtin() { command builtin "$@"; }; alias eval=false',
    "prompt for good": "readonly PS1='> '",
    "fails on anything": "set -eu",
    "ours unset": "unset ROOKERY_TERMINAL",
}

INTERRUPTED = [GAMES[name] for name in ("never ends", "another prompt", "stderr closed")]
"""After an interrupt bash leaves out the rest of the line."""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "home").mkdir()
    made = Session(str(tmp_path), quiet_seconds=5, environment={"HOME": str(tmp_path / "home")})
    yield made
    made.close()


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_prompt_games_do_not_hang_the_terminal(session: Session, game: str) -> None:
    """The command that plays it ends, and so do those behind it, with their own exit codes."""
    played = run(session, game)
    assert played.metadata.exit_code == 0, played.text
    assert run(session, "test -n x").metadata.exit_code == 0
    said = run(session, "echo on >/dev/tty; (exit 3) || echo code $? >/dev/tty")
    assert (said.metadata.exit_code, said.text.split()) == (0, ["on", "code", "3"])
    if game not in INTERRUPTED:
        return
    running = Running(session, "echo begun >/dev/tty; sleep 1000")
    running.heard.wait("begun")
    session.interrupt()
    assert running.result().metadata.exit_code in (130, 137)
    assert run(session, "echo still >/dev/tty").text.strip() == "still"


def test_a_prompt_that_stays_broken_costs_the_shell(session: Session) -> None:
    """It is said, and the next command gets a new one in the same directory."""
    run(session, "mkdir -p below && cd below")
    played = run(session, "readonly PROMPT_COMMAND='sleep 1000'")
    assert "the shell ended" in played.metadata.suffix
    assert run(session, "pwd").text.strip().endswith("/below")


def test_variables_made_readonly_by_startup_files_are_tolerated(tmp_path: Path) -> None:
    """As on machines where every command is noted down."""
    (tmp_path / ".bashrc").write_text("readonly PROMPT_COMMAND='echo noted >>~/noted'\n")
    session = Session(str(tmp_path), quiet_seconds=5, environment={"HOME": str(tmp_path)})
    try:
        for word in ("one", "two"):
            assert run(session, f"echo {word}").text.strip() == word
        running = Running(session, "echo begun; sleep 1000")
        running.heard.wait("begun")
        session.interrupt()
        assert running.result().metadata.exit_code in (130, 137)
        assert run(session, "cat noted").text.startswith("noted")
    finally:
        session.close()


def test_commands_inherit_none_of_the_shells_plumbing(session: Session) -> None:
    """But the name of the step, by which what it left behind is found."""
    seen = run(session, "env").text.splitlines()
    names = {line.partition("=")[0] for line in seen}
    assert not names & {"PS1", "PS2", "PROMPT_COMMAND"}
    assert not {name for name in names if name.startswith("RK_")}
    ours = {name for name in names if name.startswith("ROOKERY_")}
    assert ours <= {"ROOKERY_TERMINAL", "ROOKERY_HOME", MARK}
    assert "ROOKERY_TERMINAL=shell.1" in seen


def test_what_became_of_a_job_is_told_with_the_next_command(session: Session) -> None:
    run(session, "(exit 4) & sleep 0; wait")
    begun = run(session, "sleep 0.05 & echo on")
    assert "on" in begun.text
    assert "Done" in run(session, "sleep 0.2; true").text
