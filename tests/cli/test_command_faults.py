"""What the commands say before, instead and beside: agents that are missing, homes that cannot be
used, thoughts, order, titles."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from rookery.cli.commands.look.ps import FEW, in_order, write_table
from rookery.cli.output import Screen
from rookery.cli.output.safe import columns
from rookery.core.header import EMPTY
from rookery.core.view.fleet import head_of
from tests.cli.driving import ROOKERY, Terminal, made, rookery
from tests.cli.test_table import in_terminal

SCREEN = "\x1b[?1049h"
"""How a terminal is told that a program takes all of it."""


@pytest.mark.parametrize(
    ("agent", "words", "code"),
    [
        ("clade", "Did you mean claude", 2),
        ("claude", "npm install -g @agentclientprotocol/claude-agent-acp", 1),
    ],
)
def test_an_unusable_agent_is_reported_before_anything_opens(
    home: Path, agent: str, words: str, code: int
) -> None:
    with Terminal("--agent", agent, PATH="/nonexistent") as terminal:
        done = terminal.end()
    assert done.code == code
    assert words in " ".join(done.out.split())
    assert SCREEN not in done.out
    assert not (home / "sessions").exists()


def test_the_error_for_an_unknown_agent_lists_the_agents(home: Path) -> None:
    with Terminal("--agent", "help") as terminal:
        done = terminal.end()
    assert (done.code, "demo" in done.out, SCREEN in done.out) == (0, True, False)


# --- a home that cannot be used ------------------------------------------------------------------

COMMANDS = [
    *(["ps"], ["ps", "--json"], ["asks"], ["run", "hi"], ["new"], ["open"], ["prompt", "x", "y"]),
    *(["answer", "x"], ["queue", "x"], ["set", "x"], ["retry", "x"], ["switch-agent", "x", "demo"]),
    *(["rewind", "x", "1"], ["rewind", "x", "--list"], ["fork", "x"]),
    *(["clear", "x"], ["cancel", "x"], ["tail", "x"], ["show", "x"], ["recap", "x"], ["logs", "x"]),
    *(["rename", "x", "y"], ["stop", "x"], ["stop", "--now", "x"], ["restart", "x"]),
    *(
        ["archive", "x"],
        ["unarchive", "x"],
        ["pin", "x"],
        ["unpin", "x"],
        ["snooze", "x", "--off"],
        ["prune", "--archived"],
    ),
    *(["remove", "x", "--yes"], ["setup", "list"], ["agents"], ["agents", "install", "claude"]),
    *(["setup", "--model", "ollama_chat/x", "--no-test"], ["mcp", "list"], ["config", "show"]),
    *(["mcp", "add", "a", "--", "b"], ["config", "set", "worker.max_workers", "3"]),
    *(["policy", "list"], ["policy", "add", "allow", "--command", "ls"], []),
    *(["--headless", "-t", "x"], ["--last"]),
]
"""Those that need a home; each must say so."""

ANYWAY = [["doctor"], ["uninstall"], ["completions", "bash"], ["help"], ["ps", "--help"]]
"""Those that do not, or say what is wrong with it in a report."""


def unusable(folder: Path) -> dict[str, Path]:
    (folder / "file").write_text("")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "dangling").symlink_to(folder / "gone")
    (folder / "inside").mkdir()
    (folder / "inside/sessions").write_text("")
    places = {name: folder / name for name in ("file", "loop", "dangling", "inside")}
    return places | {"below": folder / "file/below", "long": folder / ("x" * 300)}


@pytest.mark.parametrize("kind", ["file", "below", "loop", "dangling", "inside", "long"])
def test_an_unusable_home_is_one_sentence_in_every_command(
    home: Path, tmp_path: Path, kind: str
) -> None:
    place = str(unusable(tmp_path)[kind])
    for command in COMMANDS:
        done = rookery(*command, ROOKERY_HOME=place)
        said = " ".join(done.err.split())
        assert done.code == 1, (command, done)
        assert said.startswith("rookery: "), (command, said)
        assert "cannot be used" in said, (command, said)
        assert "internal error" not in said
        assert "Traceback" not in said
    for command in ANYWAY:
        done = rookery(*command, ROOKERY_HOME=place)
        assert "Traceback" not in done.err, command
        assert "internal error" not in done.err, (command, done.err)
    for line in ("rookery show ", "rookery run --agent "):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()))}
        done = rookery(ROOKERY_HOME=place, _ROOKERY_COMPLETE="titled_complete", **words)
        assert (done.code, done.err) == (0, ""), line


@pytest.mark.parametrize("word", ["acp", "play demo", "agent"])
def test_an_unusable_home_is_no_traceback_on_stdio(home: Path, tmp_path: Path, word: str) -> None:
    place = str(unusable(tmp_path)["file"])
    new = {"cwd": "/", "mcpServers": []}
    calls = [("initialize", {"protocolVersion": 1}), ("session/new", new)]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(calls)
    ]
    done = subprocess.run(
        [*ROOKERY, *word.split()],
        input="\n".join([*lines, ""]),
        env={**os.environ, "ROOKERY_HOME": place},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert '"id": 0' in done.stdout or '"id":0' in done.stdout or done.stderr


def test_an_unusable_home_is_no_traceback_in_the_terminal_interface(
    home: Path, tmp_path: Path
) -> None:
    with Terminal(ROOKERY_HOME=str(unusable(tmp_path)["file"])) as terminal:
        done = terminal.end()
    assert done.code == 1
    assert "cannot be used: it is not a directory" in " ".join(done.out.split())
    assert "Traceback" not in done.out


# --- show, ps, completions -----------------------------------------------------------------------


def test_show_full_prints_thoughts(home: Path) -> None:
    thought = "First the tests.\nThen the rest."
    session = made({"thought": thought}, {"text": "Done."})
    short, full = rookery("show", session).out, rookery("show", session, "--full").out
    assert "Thought" in short
    assert "\n  First the tests." not in short
    assert "Thought\n  First the tests.\n  Then the rest.\n" in full


def test_ps_sorts_by_the_state_and_time_it_shows() -> None:
    def head(name: str, since: int, at: int, **more: object) -> dict[str, object]:
        found = head_of(EMPTY.with_(turn=1), 1, at)
        return {**found, "id": name, "since": since, "awake": True, "unread": True, **more}

    heads = [
        head("old", 10, 900, unread=False),
        head("new", 500, 600, unread=False),
        head("never", 0, 950, created=20, turn=0, unread=False),
        head("read", 1, 1),
        head("hung", 5, 5, hung=True),
        head("failed", 300, 5, reason="failed"),
        head("asks", 1, 1, asks=1),
        head("runs", 1, 990, state="running"),
    ]
    shown = [each["id"] for each in in_order(heads)]
    assert shown == ["asks", "hung", "failed", "read", "runs", "new", "never", "old"]


def test_ps_lists_what_is_awake_unread_or_pinned_and_counts_what_sleeps() -> None:
    def head(number: int, **more: object) -> dict[str, object]:
        found = head_of(EMPTY.with_(turn=1, since=number + 1), 1, 1)
        given = {"id": f"s{number:02}", "awake": False, "unread": False, "worker": None}
        return {**found, **given, "agentName": "", **more}

    def listed(*heads: dict[str, object]) -> list[str]:
        out = StringIO()
        write_table(Screen(out, out, live=False), in_order(list(heads)), FEW)
        return out.getvalue().splitlines()[1:]

    sleepers = [head(number) for number in range(30)]
    few = listed(*sleepers[:FEW])
    assert len(few) == FEW
    assert all("asleep" in line for line in few), "a short list is whole"
    *rows, last = listed(*sleepers, head(40, awake=True), head(41, unread=True))
    assert ["s41" in rows[0], "s40" in rows[1], len(rows)] == [True, True, FEW]
    assert last == "22 more asleep: rookery ps --all"
    awake = [head(number, awake=True) for number in range(50, 62)]
    *rows, last = listed(*sleepers, *awake, head(70, pinned=True))
    assert len(rows) == len(awake) + 1
    assert "(pinned)" in rows[-1]
    assert last == "30 asleep: rookery ps --all"


def test_ps_of_archived_sessions_alone_says_so(home: Path) -> None:
    assert "No sessions yet" in rookery("ps").err
    session = rookery("new", "--title", "Old").out.strip()
    rookery("archive", session)
    assert rookery("ps").err == "No sessions but 1 archived or snoozed: rookery ps --all\n"


@pytest.mark.parametrize("width", [80, 200])
def test_ps_fits_and_keeps_the_title_readable(home: Path, width: int) -> None:
    title = "A title that says rather well what is done"
    made({"text": "hi"}, title=title)
    other = made({"text": "hi"}, title="Another")
    rookery("archive", other)
    lines = in_terminal(width, "ps", "--all")
    assert len(lines) == 3, "a row is a line"
    assert all(columns(line) <= width for line in lines), lines
    assert any(title[:20] in line for line in lines), lines
    assert "AGE" in lines[0]


@pytest.mark.long
def test_completions_show_titles_beside_ids(home: Path) -> None:
    sessions = {rookery("new", "--title", f"Title {n}").out.strip(): f"Title {n}" for n in (1, 2)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def completed(*words: str, kind: int = 9) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = (
            f'eval "$(rookery completions bash)"\ncompopt() {{ :; }}\n'
            f"COMP_WORDS=(rookery {line}); COMP_CWORD={len(words)}; COMP_TYPE={kind}\n"
            f"_rookery_completion rookery\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        )
        done = subprocess.run(
            ["bash", "-c", script],
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        assert not done.stderr
        return done.stdout.splitlines()

    assert sorted(completed("show", "")) == sorted(f"{id_}  {t}" for id_, t in sessions.items())
    assert sorted(completed("show", "", kind=37)) == sorted(sessions), "what is inserted is bare"
    one = next(iter(sessions))
    assert completed("show", one) == [one]
    assert "rename   Give a session a title." in completed("re")
    assert "resume" not in " ".join(completed("re"))
