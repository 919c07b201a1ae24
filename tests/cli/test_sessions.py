"""The commands around a session: lists, looks, names and ends."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rookery as package
from rookery.core.json.events import kind_of
from tests.cli.driving import RIGGED, ROOKERY, Running, Terminal, made, play, rookery
from tests.conftest import belonging_to

COMMANDS = [
    *("run", "new", "prompt", "answer", "queue", "set", "cancel", "ps", "asks", "tail", "show"),
    *(
        "logs",
        "rename",
        "stop",
        "restart",
        *("remove", "restore", "trash"),
        "play",
        "completions",
        "open",
        "retry",
        "help",
    ),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(home: Path, command: str) -> None:
    done = rookery(command, "--help")
    assert done.code == 0
    assert "rookery " + command in done.out.replace("Usage: rookery " + command, "")
    assert "\x1b" not in done.out


def test_version_is_the_literal(home: Path) -> None:
    assert rookery("--version").out == f"rookery {package.__version__}\n"
    assert rookery("-V").out == rookery("--version").out


def test_ps_loads_little(home: Path) -> None:
    code = (
        "import sys; sys.argv = ['rookery', 'ps']\n"
        "from rookery.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "heavy = ('asyncio', 'rookery.acp', 'tomllib', 'importlib.metadata', 'websockets')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_rookery_alone_welcomes_and_then_lists(home: Path) -> None:
    first = rookery()
    assert first.code == 0
    assert "There are no sessions yet" in first.out
    made({"text": "Hi"}, title="My first")
    again = rookery()
    assert "My first" in again.out
    assert "rookery tail" in again.out


def test_new_makes_a_session_and_starts_nothing(home: Path, tmp_path: Path) -> None:
    done = rookery("new", "--title", "Quiet", "--cwd", str(tmp_path), "--root", "/")
    session = done.out.strip()
    head = json.loads(rookery("ps", "--json").out)
    assert (head["id"], head["title"], head["cwd"]) == (session, "Quiet", str(tmp_path))
    assert (head["awake"], head["status"]) == (False, "asleep")
    first = json.loads(rookery("show", session, "--events").out)["update"]
    assert kind_of(first) == "_session"
    assert first["roots"] == ["/"]
    assert not belonging_to(home)


def test_ps_says_what_each_does(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    made({"text": "Hi"}, title="Idle one")
    made({"error": "No"}, title="Failed one")
    rookery("new", "--title", "New one 日本")
    headings, *table = rookery("ps").out.splitlines()
    rows = ((" ○ ", "not begun", "New one"), (" ✗ ", "failed", "Failed one"))
    for row, words in zip(table, (*rows, (" ● ", "idle", "Idle one")), strict=True):
        assert all(each in f" {row}" for each in words), row
    fixed = ["STATE", "ID", "TITLE", "AGENT", "ASKING", "AGE", "DIRECTORY", "BRANCH"]
    assert headings.split() == fixed
    rookery("archive", json.loads(rookery("ps", "--json").out.splitlines()[0])["id"])
    assert rookery("ps").out.splitlines()[0].split() == fixed, "the columns stay"
    assert rookery("ps", "--wide").out.splitlines()[0].split()[:8] == fixed
    assert [json.loads(line)["id"] for line in rookery("ps", "--json").out.splitlines()]


def test_show_in_three_forms(home: Path) -> None:
    session = made({"text": "One"})
    rookery("prompt", session, "--wait", play({"text": "Two"}))
    last = rookery("show", session)
    assert "Two" in last.out
    assert "One" not in last.out
    assert "turn 2 of 2" in last.err
    assert "One" in rookery("show", session, "--turn", "1").out
    assert rookery("show", session, "--turn", "9").code == 2
    document = json.loads(rookery("show", session, "--json", "--all").out)
    assert document["header"]["turn"] == 2
    assert [block["role"] for block in document["blocks"]] == ["prompt", "answer"] * 2
    events = rookery("show", session, "--all", "--events").events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_tail_since_an_event_tells_only_what_came_after(home: Path) -> None:
    session = made({"text": "One"}, {"command": "true", "output": "ok\n"})
    events = rookery("show", session, "--all", "--events").events
    middle = next(e["seq"] for e in events if e["update"].get("title") and e["seq"] > 3)
    with Running("tail", session, "--since", str(middle), "--json") as tail:
        assert f'"seq":{middle + 1},' in tail.read_until("\n").splitlines()[0]
    with Running("tail", session, "--since", str(middle)) as tail:
        assert "One" not in tail.read_until("run true")


@pytest.mark.long
def test_a_session_is_named_by_id_prefix_or_title(home: Path) -> None:
    session = made({"text": "Hi"}, title="Release notes")
    for name in (session, session[:4], "Release notes", "release"):
        assert "Hi" in rookery("show", name).out
    assert rookery("rename", "release", "Ship it").code == 0
    assert "Hi" in rookery("show", "Ship it").out
    rookery("stop", session)
    rookery("rename", session, "While asleep")
    assert "Hi" in rookery("show", "While asleep").out


def test_stop_restart_kill_and_the_next_prompt(home: Path) -> None:
    session = made({"text": "Hi"})
    assert rookery("stop", session).code == 0
    assert rookery("stop", session).err == "Already asleep.\n"
    assert rookery("restart", session).code == 0
    assert rookery("prompt", session, "--wait", play({"text": "Up"})).out == "Up\n"
    with Running("prompt", session, "--wait", play({"text": "x"}, {"until": "cancel"})) as waiting:
        waiting.read_until("x")
        assert rookery("kill", session).code == 0
        done = waiting.end()
    assert done.code == 1
    assert "ended during the turn" in done.err
    assert rookery("prompt", session, "--wait", play({"text": "Again"})).out.endswith("Again\n")


@pytest.mark.long
def test_rm_asks_in_a_terminal_and_needs_yes_elsewhere(home: Path) -> None:
    session = made({"text": "Hi"})
    assert rookery("rm", session).code == 2
    with Terminal("rm", session) as terminal:
        terminal.read_until("to the trash?")
        terminal.type("n\n")
        assert terminal.end().code == 130
    assert (home / "sessions" / session).exists()
    other = rookery("new").out.strip()
    assert rookery("rm", "--yes", session, other).code == 0
    assert os.listdir(home / "sessions") == []


def test_logs_are_what_the_agent_wrote(home: Path) -> None:
    session = made({"stderr": "the agent's \x1b[31mcomplaint\n"}, {"text": "Hi"}, flags=RIGGED)
    done = rookery("logs", session, "--agent")
    assert "the agent's complaint\n" in done.out
    with Running("logs", session, "-f") as following:
        following.read_until("complaint")


def test_another_agent_by_its_command(home: Path) -> None:
    argv = [sys.executable, "-m", "rookery", "play", "demo"]
    done = rookery("run", "--json", "--cmd", shlex.join(argv), play({"text": "Hi"}))
    assert done.code == 0
    assert done.events[0]["update"]["agent"] == os.path.basename(sys.executable)
    assert done.events[0]["update"]["argv"] == argv


def test_another_agent_by_its_name_in_the_configuration(home: Path) -> None:
    argv = json.dumps([sys.executable, "-m", "rookery", "play", "demo"])
    (home / "config.toml").write_text(f'default_agent = "mine"\n[agents.mine]\ncommand = {argv}\n')
    done = rookery("run", "--json", play({"text": "Hi"}))
    assert done.events[0]["update"]["agent"] == "mine"
    assert done.code == 0
    assert rookery("run", "--agent", "help").out.split()[1] == "mine"


def test_completions_know_sessions_and_agents(home: Path) -> None:
    session = rookery("new").out.strip()
    assert "_rookery_completion" in rookery("completions", "bash").out
    assert "compdef rookery" in rookery("completions", "zsh").out
    assert "complete" in rookery("completions", "fish").out

    def complete(line: str) -> list[str]:
        words = line.split(" ")
        variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        environment = {**os.environ, **variables, "_ROOKERY_COMPLETE": "bash_complete"}
        done = subprocess.run(
            [sys.executable, "-c", "from rookery.cli import main; main()"],
            env=environment,
            capture_output=True,
            check=False,
        )
        return done.stdout.decode().split()

    assert complete(f"rookery show {session[:3]}") == [f"plain,{session}"]
    away = rookery("new").out.strip()
    rookery("archive", away)
    assert complete("rookery show ") == [f"plain,{session}"]
    assert complete(f"rookery show {away}") == [f"plain,{away}"]
    assert complete("rookery unarchive ") == [f"plain,{away}"]
    assert "plain,claude" in complete("rookery run --agent c")
    assert "plain,restart" in complete("rookery re")


SHELLS = {
    "fish": 'rookery completions fish | source; complete -C "rookery open "',
    "zsh": 'eval "$(rookery completions zsh)"; print -r -- $_comps[rookery]',
}


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_in_the_shell_itself(home: Path, shell: str) -> None:
    """zsh as it is without a ~/.zshrc, which is where completion is set up."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    session = rookery("new", "--title", "Birds: a [list]").out.strip()
    place = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "HOME": str(home)}
    flag = "-fc" if shell == "zsh" else "-c"
    ran = subprocess.run(
        [program, flag, SHELLS[shell]], env=environment, capture_output=True, check=True, text=True
    )
    told = {"fish": f"{session}\tBirds: a [list]", "zsh": "_rookery_completion"}
    assert (ran.stdout.strip(), ran.stderr) == (told[shell], "")


def test_the_module_is_the_command(home: Path) -> None:
    script = [os.path.join(os.path.dirname(sys.executable), "rookery"), "--version"]
    by_script = subprocess.run(script, capture_output=True, check=True).stdout
    assert (
        by_script == subprocess.run([*ROOKERY, "--version"], capture_output=True, check=True).stdout
    )
