"""The commands' words: new ones, old ones that still work, several sessions at once, one prefix for
errors."""

from pathlib import Path

import pytest

from rookery.cli.aliases import WORDS
from rookery.cli.app import FIRST, GROUPS, PLUMBING
from rookery.cli.commands import TOPICS
from rookery.operations.catalogue.finding import every
from tests.cli.driving import RIGGED, ROOKERY, Running, made, play, rookery
from tests.tui.tmux import Tmux

IDLE = "Nothing was running."


def rows(text: str) -> set[str]:
    """The words that a help lists."""
    lines = [line for line in text.splitlines() if line.startswith("  ") and line[2:3].isalpha()]
    return {line.split()[0] for line in lines}


def sleeping(count: int = 2) -> list[str]:
    return [rookery("new", "--agent", "demo").out.strip() for _ in range(count)]


def test_the_main_help_lists_no_plumbing(home: Path) -> None:
    first, asked = rookery("--help").out, rookery("help").out
    assert first == asked
    listed = rows(first.partition("Start and talk:")[2].partition("Options:")[0])
    assert not listed & (PLUMBING | WORDS.keys())
    assert len(listed) == len(FIRST) == 20
    _, _, below = rookery("help", "all").out.partition("Start and talk:")
    everything = rows(below.partition("Options:")[0])
    assert everything >= {word for group in GROUPS.values() for word in group}
    assert everything >= {row.name for row in every() if row.traits.typed}
    assert rookery("help", "--all").out == rookery("help", "all").out
    behind = [rows(rookery("help", topic).out) for topic in ("sessions", "setup", "remote")]
    assert everything == set[str]().union(*behind)
    assert "rookery setup --help" in rookery("help", "setup").out
    assert first.index("Start and talk:") < first.index("Options:")


@pytest.mark.parametrize(("old", "new"), WORDS.items(), ids=WORDS)
def test_old_command_names_still_work(home: Path, old: str, new: tuple[str, ...]) -> None:
    asked = [[old, "--help"], ["help", old]][: 1 if old in TOPICS else 2]  # a list of commands
    for arguments in asked:
        done = rookery(*arguments)
        assert done.code == 0
        assert done.out.startswith(f"Usage: rookery {new[0]} ")


def test_help_reaches_the_commands_of_a_group(home: Path) -> None:
    assert rookery("help", "mcp", "add").out.startswith("Usage: rookery mcp add")
    assert rookery("help", "mcp", "rm").out.startswith("Usage: rookery mcp remove")
    assert rookery("help", "ps", "more").code == 2
    assert rookery("help", "nonsense").code == 2


def test_removing_and_listing_work_alike_in_every_group(home: Path) -> None:
    rookery("setup", "--model", "ollama_chat/a", "--name", "a", "--no-test")
    for listing in (["setup", "list"], ["setup", "ls"], ["setup", "--list"]):
        assert "ollama_chat/a" in rookery(*listing).out
    assert rookery("setup", "rm", "a").code == 0
    rookery("mcp", "add", "files", "--", "true")
    assert "files" in rookery("mcp", "ls").out
    assert rookery("mcp", "rm", "files").code == 0
    rookery("policy", "add", "allow", "--command", "ls")
    assert rookery("policy", "rm", "1").code == 0
    assert "demo" in rookery("agents", "ls").out
    session, other = sleeping()
    assert rookery("rm", "--yes", session).code == 0
    assert rookery("remove", "--yes", other).code == 0
    for group in ("setup", "mcp", "policy", "agents"):
        assert {"list", "remove"} <= rows(rookery(group, "--help").out)
        assert not {"ls", "rm"} & rows(rookery(group, "--help").out)
        assert "--list" not in rookery(group, "--help").out


def test_commands_of_the_openhands_cli_point_to_ours(home: Path) -> None:
    session, _ = sleeping()
    assert rookery("view", "--json", session).out == rookery("show", "--json", session).out
    for word in ("history", "conversations"):
        assert session in rookery(word).out
    assert rookery("version").out == rookery("-v").out == rookery("--version").out
    cloud = rookery("cloud", "-t", "Fix it")
    assert (cloud.code, "rookery agents add cloud --cloud" in cloud.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "said", "code"),
    [
        (["cancel"], IDLE, 0),
        (["cancel", "--force"], IDLE, 0),
        (["force-end"], IDLE, 0),
        (["stop"], "Already asleep.", 0),
        (["stop", "--now"], "Already asleep.", 0),
        (["kill"], "Already asleep.", 0),
        (["clear"], "Cleared.", 0),
        (["retry"], "The last prompt of this session has not failed or hit a rate limit", 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_several_sessions_at_once(home: Path, command: list[str], said: str, code: int) -> None:
    """Each is told about by its id; what fails for one does not keep the others from it."""
    sessions = sleeping()
    done = rookery(*command, *sessions)
    assert done.code == code, done.err
    lines = done.err.splitlines()
    for session in sessions:
        assert any(f"{session}: " in line and said in line for line in lines), lines
    alone = rookery(*command, sessions[0])
    assert said in alone.err
    assert f"{sessions[0]}: " not in alone.err


def test_several_sessions_can_be_shown_at_once(home: Path) -> None:
    sessions = [made({"text": f"Hi {n}"}, title=f"Title {n}") for n in (1, 2)]
    shown = rookery("show", *sessions).out
    assert shown.index(f"== {sessions[0]}  Title 1") < shown.index("Hi 1")
    assert shown.index("Hi 1") < shown.index(f"== {sessions[1]}  Title 2") < shown.index("Hi 2")
    assert len(rookery("show", "--json", *sessions).events) == 2
    assert "==" not in rookery("show", sessions[0]).out
    logs = rookery("logs", *sessions)
    assert all(f"== {session}" in logs.out for session in sessions)
    assert rookery("logs", "-f", *sessions).code == 2


def test_several_sessions_can_be_restarted_at_once(home: Path) -> None:
    sessions = [made({"text": "hi"}), made({"text": "hi"})]
    done = rookery("restart", *sessions)
    assert done.code == 0
    assert done.err.count("Restarted.") == 2


def test_force_ends_a_hanging_turn_and_now_a_session(home: Path) -> None:
    prompt = play({"deaf": True}, {"text": "working"}, {"wait": 1000})
    with Running("run", *RIGGED, "--title", "Deaf", prompt) as running:
        running.read_until("working")
        assert rookery("cancel", "--force", "Deaf").err == "Ended.\n"
        assert rookery("cancel", "--force", "Deaf").err == f"{IDLE}\n"
        assert "Killed." in rookery("stop", "--now", "Deaf").err


@pytest.mark.parametrize(
    "arguments",
    [
        ["rum"],
        ["--nonsense"],
        ["show"],
        ["show", "gone"],
        ["run", "--agent", "clade", "x"],
        ["setup", "remove", "gone"],
        ["mcp", "get", "gone"],
        ["policy", "remove", "9"],
        ["agents", "remove", "claude"],
        ["open"],
        ["acp", "--wings"],
        ["agent", "--wings"],
        ["play"],
        ["play", "gone.json"],
        ["play", "demo", "--speed", "fast"],
        ["model", "gone.json"],
        ["model", "demo", "--port", "http"],
        ["model", "demo", "--port", "70000"],
    ],
    ids=" ".join,
)
def test_every_error_begins_with_the_same_word(home: Path, arguments: list[str]) -> None:
    done = rookery(*arguments)
    assert done.code in {1, 2}
    assert "Error:" not in done.err
    assert [line for line in done.err.splitlines() if line.startswith("rookery: ")], done.err


@pytest.mark.long
def test_open_shows_a_session_in_the_terminal_interface(home: Path) -> None:
    session = made({"text": "Good morning."}, title="Birds")
    elsewhere = rookery("open", session)
    assert elsewhere.code == 2
    assert f"rookery show {session}" in elsewhere.err
    for word in ("open", "attach", "resume"):
        with Tmux(home, *ROOKERY, word, "Birds", size=(80, 24)) as screen:
            screen.wait_for("Good morning.", "● idle")
