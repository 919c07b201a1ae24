"""The terminal of our agent, with real shells: what ends, what stays, what is heard and when."""

import os
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from openhands.tools.terminal.definition import TerminalAction, TerminalObservation

from rookery.agent.terminal import shell
from rookery.agent.terminal.session import Session, keys_of
from rookery.agent.terminal.transcript import HEAD, TAIL, Transcript, plain
from rookery.processes.tree import Process, descendants, start_time

WAIT = 60.0


class Heard:
    """A listener that can be waited for."""

    def __init__(self) -> None:
        self.text = ""
        self._changed = threading.Condition()

    def __call__(self, text: str) -> None:
        with self._changed:
            self.text += text
            self._changed.notify_all()

    def wait(self, words: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: words in self.text, WAIT), self.text

    def not_within(self, words: str, seconds: float) -> None:
        with self._changed:
            assert not self._changed.wait_for(lambda: words in self.text, seconds), self.text


class Running:
    """A command in a thread of its own, as the SDK runs it."""

    def __init__(self, session: Session, command: str, *, is_input: bool = False) -> None:
        self.heard = Heard()
        self.found: list[TerminalObservation] = []
        action = TerminalAction(command=command, is_input=is_input)
        self._thread = threading.Thread(
            target=lambda: self.found.append(session.execute(action, self.heard))
        )
        self._thread.start()

    def result(self) -> TerminalObservation:
        self._thread.join(WAIT)
        assert self.found, "the command did not come to its end"
        return self.found[0]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    home = tmp_path / "home"
    home.mkdir()
    made = Session(str(tmp_path), quiet_seconds=1, environment={"HOME": str(home)})
    yield made
    made.close()


def run(session: Session, command: str, *, is_input: bool = False) -> TerminalObservation:
    return session.execute(TerminalAction(command=command, is_input=is_input))


def gone(pid: int) -> bool:
    return start_time(pid) is None


def wait_gone(pid: int) -> None:
    waited = threading.Event()
    for _ in range(600):
        if gone(pid):
            return
        waited.wait(0.05)
    raise AssertionError(f"process {pid} lives on")


# --- commands ------------------------------------------------------------------------------------


def test_commands_are_answered(session: Session, tmp_path: Path) -> None:
    first = run(session, "echo one; echo two >&2; false")
    assert first.text == "one\ntwo"
    assert first.exit_code == 1
    assert first.metadata.working_dir == os.path.realpath(tmp_path)
    assert first.metadata.suffix == "\n[exit code 1]"
    moved = run(session, "mkdir below; cd below")
    assert moved.metadata.suffix == f"[exit code 0, in {os.path.realpath(tmp_path)}/below]"
    run(session, "cd ..; (exit 1)")
    assert run(session, "echo $?").text == "1", "the exit code of the last command is known"
    heredoc = "cat <<'END'\n\ttab and 'quotes'\nEND\necho after"
    assert run(session, heredoc).text == "\ttab and 'quotes'\nafter"
    long = run(session, "echo " + "x" * 20_000)
    assert len(long.text) == 20_000


def test_markup_in_a_command_breaks_nothing(session: Session) -> None:
    assert run(session, "echo \\[test\\] '[bold]' '[/red]'").text == "[test] [bold] [/red]"


def test_a_mistake_in_the_shell_is_answered(session: Session) -> None:
    assert run(session, "echo '").exit_code == 2
    assert run(session, "no-such-command-at-all").exit_code == 127
    assert run(session, "echo fine").text == "fine"


def test_directory_and_environment_last(session: Session, tmp_path: Path) -> None:
    """Across commands, and across one that is interrupted."""
    (tmp_path / "below").mkdir()
    run(session, "cd below; export COLOUR=green; greet() { echo hello; }")
    sleeping = Running(session, "echo begun; sleep 611")
    sleeping.heard.wait("begun")
    session.interrupt()
    sleeping.result()
    after = run(session, "echo $COLOUR; pwd; greet")
    assert after.text.splitlines() == ["green", str((tmp_path / "below").resolve()), "hello"]


def test_between_commands_the_shell_runs_nothing_of_the_users(
    session: Session, tmp_path: Path
) -> None:
    run(session, 'command() { echo "$*" >>asked; builtin command "$@"; }')
    assert run(session, "true").exit_code == 0
    assert not (tmp_path / "asked").exists()


def test_no_history_is_written(session: Session, tmp_path: Path) -> None:
    run(session, "echo secret words")
    session.close()
    assert not (tmp_path / "home" / ".bash_history").exists()


# --- cancel --------------------------------------------------------------------------------------


def test_an_interrupt_ends_the_command(session: Session) -> None:
    sleeping = Running(session, "sh -c 'echo $$; exec sleep 60'; echo never")
    sleeping.heard.wait("\n")
    pid = int(sleeping.heard.text)
    session.interrupt()
    found = sleeping.result()
    assert found.exit_code == 130
    assert "interrupted" in found.metadata.suffix
    assert "never" not in found.text
    wait_gone(pid)


def test_a_command_that_ignores_the_interrupt_is_killed_with_its_tree(session: Session) -> None:
    script = (
        "sh -c \"trap '' INT; echo \\$\\$; sleep 612 & echo \\$!; wait; sleep 613\"; echo never"
    )
    stubborn = Running(session, script)
    stubborn.heard.wait("\n")
    while stubborn.heard.text.count("\n") < 2:
        stubborn.heard.wait("\n")
    shell, child = (int(line) for line in stubborn.heard.text.split())
    session.interrupt()
    found = stubborn.result()
    assert found.exit_code not in (0, -1)
    assert "never" not in found.text
    wait_gone(shell)
    wait_gone(child)
    assert run(session, "echo still here").text == "still here"


@pytest.mark.long
def test_a_shell_that_cannot_be_interrupted_is_replaced(session: Session, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    run(session, "cd below")
    spinning = Running(session, "trap '' INT; echo begun; while :; do :; done")
    spinning.heard.wait("begun")
    session.interrupt()
    assert "new shell" in spinning.result().metadata.suffix
    assert run(session, "pwd").text == str((tmp_path / "below").resolve())


def test_background_jobs_survive_an_interrupt(session: Session) -> None:
    begun = run(session, "sleep 614 & echo $!")
    pid = int(begun.text.splitlines()[-1])
    sleeping = Running(session, "echo begun; sleep 615")
    sleeping.heard.wait("begun")
    session.interrupt()
    sleeping.result()
    assert not gone(pid)
    session.close()
    wait_gone(pid)


LEAVE = {
    "background": "sleep 611 & echo pid $!",
    "nohup": "nohup sleep 611 >/dev/null 2>&1 & echo pid $!",
    "disowned": "sleep 611 & disown -a; echo pid $!",
    "a subshell": "(trap '' HUP; sleep 611 & echo pid $!; wait) &",
    "a loop": "{ while :; do sleep 611; done; } & echo pid $!",
    "setsid": "setsid sh -c 'echo pid $$; exec sleep 611' &",
    "a double fork": """(setsid sh -c 'sh -c "echo pid \\$\\$; exec sleep 611" &' &)""",
    "no environment": """(env -i setsid sh -c 'sh -c "echo pid \\$\\$; exec sleep 611" &' &)""",
    "a deaf one": "(setsid sh -c 'trap : TERM INT HUP; echo pid $$; while :; do sleep 1; done' &)",
}
PID = re.compile(r"pid (\d+)\s")


def pid_in(heard: Heard) -> int:
    for _ in range(600):
        if found := PID.search(heard.text):
            return int(found[1])
        threading.Event().wait(0.05)
    raise AssertionError(heard.text)


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process has more open files than `select` can watch."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048) if hard > 2048 else hard, hard))
    held = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while held[-1] < 1100:
            held.append(os.dup(held[0]))
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_process_with_many_sessions_hears_its_terminals(tmp_path: Path) -> None:
    session = Session(str(tmp_path), quiet_seconds=5, environment={"HOME": str(tmp_path)})
    assert run(session, "echo $((6 * 7))").text.endswith("42")
    session.close()


@pytest.mark.parametrize("way", LEAVE)
def test_an_interrupt_ends_everything_the_command_started(tmp_path: Path, way: str) -> None:
    """In whatever way it left the terminal."""
    session = Session(str(tmp_path), environment={"HOME": str(tmp_path)})
    sleeping = Running(session, f"{LEAVE[way]}\nsleep 612")
    pid = pid_in(sleeping.heard)
    assert not gone(pid)
    session.interrupt()
    assert sleeping.result().exit_code not in (0, -1)
    wait_gone(pid)
    assert run(session, "echo fine").text.endswith("fine")
    session.close()


def test_processes_of_earlier_commands_survive_an_interrupt(tmp_path: Path) -> None:
    """Also where it goes on to start things while a later command is interrupted."""
    session = Session(str(tmp_path), environment={"HOME": str(tmp_path)})
    forks = "(while :; do sleep 0.05; done) & echo pid $!"
    earlier = [LEAVE[way] for way in ("background", "a double fork", "no environment")]
    kept = []
    for line in (*earlier, forks):
        said = Running(session, f"{line}\nread -t 5 -r _ < <(sleep 1; echo)")
        kept.append(pid_in(said.heard))
        said.result()
    sleeping = Running(session, "sleep 613 & echo pid $!; sleep 615")
    pid = pid_in(sleeping.heard)
    session.interrupt()
    sleeping.result()
    wait_gone(pid)
    assert [gone(each) for each in kept] == [False] * 4
    session.close()
    for each in kept:
        wait_gone(each)


def test_interrupt_without_a_command_does_nothing(session: Session) -> None:
    run(session, "true")
    assert not session.interrupt()
    assert run(session, "echo fine").text == "fine"


@pytest.mark.parametrize("lines", [1, 10_000])
def test_what_an_interrupted_command_did_not_read_is_not_run(
    session: Session, tmp_path: Path, lines: int
) -> None:
    """Few lines, or more than a terminal holds: typing them waits until the interrupt, too."""
    assert run(session, "sleep 600").exit_code == -1
    typing = Running(session, "echo >>ran\n" * lines, is_input=True)
    typing.heard.wait("echo >>ran")
    assert session.interrupt()
    typing.result()
    assert run(session, "echo alive").text == "alive"
    assert not (tmp_path / "ran").exists()


def test_every_moment_is_right_for_an_interrupt(session: Session) -> None:
    """Also before the shell has read the command."""
    for _ in range(10):
        sleeping = Running(session, "sleep 616")
        while not session.interrupt() and not sleeping.found:
            pass
        assert sleeping.result().exit_code not in (0, -1)
    assert run(session, "echo fine").text == "fine"


def test_a_command_waits_until_the_last_ones_processes_are_gone(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that takes: an interrupt in this time would be lost, and what ends the last
    command would end the next one's processes."""
    real, swept, may_go_on = shell.end_foreground, threading.Event(), threading.Event()

    def slow(of: shell.Shell) -> list[Process]:
        left = real(of)
        swept.set()
        assert may_go_on.wait(WAIT)
        return left

    monkeypatch.setattr(shell, "end_foreground", slow)
    first = Running(session, "echo there; sleep 616")
    first.heard.wait("there")
    assert session.interrupt()
    assert swept.wait(WAIT)
    assert first.result().exit_code == 130
    second = Running(session, "echo there; sleep 617")
    second.heard.not_within("there", 1.5)
    may_go_on.set()
    second.heard.wait("there")
    assert session.interrupt()
    assert second.result().exit_code == 130


# --- output --------------------------------------------------------------------------------------


def test_output_comes_before_the_command_ends(session: Session, tmp_path: Path) -> None:
    """The command waits for us, and we wait for its output: it cannot be the other way round."""
    os.mkfifo(tmp_path / "gate")
    waiting = Running(session, "echo half; read answer < gate; echo $answer")
    waiting.heard.wait("half")
    assert not waiting.found
    (tmp_path / "gate").write_text("the other\n")
    assert waiting.result().text == "half\nthe other"
    assert waiting.heard.text == "half\r\nthe other\r\n"


def test_long_output_is_bounded(session: Session) -> None:
    found = run(session, "yes 0123456789 | head -c 10000000; echo the end")
    assert len(found.text) <= 30_000
    assert found.text.startswith("0123456789\n")
    assert found.text.endswith("the end")
    assert run(session, "head -c 3000000 /dev/zero | tr '\\0' x").exit_code == 0


def test_a_transcript_keeps_both_ends() -> None:
    transcript = Transcript()
    transcript.add("first ")
    for _ in range(100):
        transcript.add("x" * 50_000)
    transcript.add(" last")
    text = transcript.take()
    assert text.startswith("first ")
    assert text.endswith(" last")
    assert len(text) < HEAD + TAIL + 60_000
    assert "characters left out" in text
    assert transcript.take() == ""


def test_a_transcript_is_plain() -> None:
    assert plain("\x1b[1;31mred\x1b[0m\r\nnext") == "red\nnext"
    assert plain("10%\r50%\r100%\r\ndone") == "100%\ndone"
    assert plain("\x1b]0;title\x07text") == "text"


# --- programs that ask ---------------------------------------------------------------------------


def test_interactive_program(session: Session) -> None:
    begun = run(session, "read -p 'name? ' name && echo hello $name")
    assert begun.exit_code == -1
    assert "name?" in begun.text
    refused = run(session, "echo other")
    assert refused.is_error
    assert "not run" in refused.metadata.suffix
    answered = run(session, "you", is_input=True)
    assert answered.exit_code == 0
    assert answered.text.endswith("hello you")


def test_interactive_program_ended_by_a_key(session: Session) -> None:
    assert run(session, "cat").exit_code == -1
    ended = run(session, "C-c", is_input=True)
    assert ended.exit_code == 130
    assert "C-c was sent" in ended.metadata.suffix


def test_input_without_a_program_is_refused(session: Session) -> None:
    assert run(session, "yes", is_input=True).is_error
    assert run(session, "").is_error


@pytest.mark.parametrize(
    ("words", "typed"),
    [("C-c", "\x03"), ("ctrl+d", "\x04"), ("UP", "\x1b[A"), ("enter", "\n"), ("ls", "ls\n")],
)
def test_keys(words: str, typed: str) -> None:
    assert keys_of(words) == typed


# --- end -----------------------------------------------------------------------------------------


def test_an_ended_shell_is_made_anew(session: Session, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    begun = run(session, "cd below; sleep 617 & echo $!")
    pid = int(begun.text.splitlines()[-1])
    ended = run(session, "exit 3")
    assert ended.exit_code == 3
    assert "new shell" in ended.metadata.suffix
    assert run(session, "pwd").text == str((tmp_path / "below").resolve())
    session.close()
    wait_gone(pid)


@pytest.mark.long
def test_set_up_files_that_never_end_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("exec sleep 618\n")
    session = Session(str(tmp_path), environment={"HOME": str(tmp_path)})
    assert run(session, "echo fine").text == "fine"
    session.close()


def test_set_up_files_are_read(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export FROM_FILE=yes\nPS1='mine> '\n")
    session = Session(str(tmp_path), environment={"HOME": str(tmp_path)})
    assert run(session, "echo $FROM_FILE").text == "yes"
    session.close()


def test_nothing_is_left_after_close(session: Session) -> None:
    run(session, "sleep 619 & (setsid sleep 620 &) ; sh -c 'sleep 621 & sleep 622' &")
    mine = [one.pid for one in descendants(session.shell().pid)]
    shell = session.shell().pid
    assert mine
    session.close()
    for pid in [shell, *mine]:
        wait_gone(pid)


KILLED = """
import os, sys, threading
from openhands.tools.terminal.definition import TerminalAction
from rookery.agent.terminal.session import Session
session = Session(sys.argv[1], environment={"HOME": sys.argv[1]})
said = lambda text: print(session.shell().pid, text, flush=True)
session.execute(TerminalAction(command="sleep 623 & echo $!; echo $$; sleep 611"), said)
"""


@pytest.mark.long
def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    """The kernel hangs up: the shell, its foreground and its jobs end with the process that held
    the terminal."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    shell = int(process.stdout.readline().split()[0])
    inside = [one.pid for one in descendants(shell)]
    process.kill()
    process.wait()
    process.stdout.close()
    assert inside
    for pid in [shell, *inside]:
        wait_gone(pid)
    assert not list(tmp_path.glob("rookery-shell-*"))
