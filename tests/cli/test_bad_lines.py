"""Bad command lines: each is answered with a sentence and a documented exit code, never with a
traceback."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.driving import made, rookery

LINES = {
    "start": r"""
        run
        run ''
        run '   '
        run --agent
        run --agent '' x
        run --agent nosuch x
        run --agent 'de mo' x
        run --agent ../../etc x
        run --cmd '' x
        run --cmd '"' x
        1 run --cmd /nonexistent/agent x
        1 run --cmd /etc x
        run --cwd /nonexistent x
        run --cwd /etc/hostname x
        run --cwd '' x
        run --root /nonexistent x
        run --sandbox cage x
        run --budget 0 x
        run --budget -5 x
        run --budget '5 wishes' x
        run --budget 'week=5 USD' x
        run --model nosuch --agent rookery x
        run --approve maybe x
        run --approve all --llm-approve x
        run --approve ask --yolo x
        run --confirm-destructive --approve reject x
        run --confirm-destructive --llm-approve x
        run --json --verbose x
        run --attach /nonexistent x
        run --attach /etc x
        run --attach '' x
        run --remote nonsense x
        run --remote '' x
        run --remote ftp://host x
        run --remote http://user:secret@host x
        run --remote http://host:99999 x
        run --cloud --agent demo x
        run --cloud --cmd true x
        1 run --cloud x
        run --frobnicate x
        run --yol x
        run -x x
        1 run --agent demo --worktree='../up' x
        1 run --agent demo --worktree=a..b x
        1 run --agent demo --worktree=.. x
        race
        race --agents
        race --agents '' x
        race --agents , x
        race --agents demo,demo
        race --agents demo --agent demo x
        race --agents demo --cloud x
        race pick
        race pick nosuch
        race pick NEW --yes
        1 race show nosuch
        1 race drop nosuch
        new extra
        new --cwd /nonexistent
        open
        open nosuch
        open NEW --at -1
        prompt
        prompt nosuch hello
        prompt NEW
        prompt NEW ''
        prompt NEW --attach /nonexistent x
        prompt NEW --confirm-destructive x
        prompt NEW --json --verbose x
        answer
        answer nosuch
        1 answer NEW 1
        answer NEW --defer 1
        answer NEW --always-allow 0
        answer NEW --ask zero
        queue
        queue nosuch
        queue NEW frob
        queue NEW edit
        queue NEW edit 1 x
        queue NEW edit -1 x
        queue NEW edit one x
        queue NEW move 1 0
        queue NEW remove 99999999999999999999
        1 queue NEW send
        set
        set nosuch
        1 set NEW frob x
        set NEW agent demo
        set NEW critic maybe
        set NEW budget_session many
        1 retry NEW
        retry
        switch-agent NEW
        switch-agent NEW nosuch
        switch-agent NEW --cmd '"'
        clear
        clear nosuch
        rewind NEW
        rewind NEW -1
        rewind NEW one
        rewind NEW --undo 1
        rewind NEW --dry-run
        1 rewind NEW 7
        1 rewind NEW --undo
        fork NEW -1
        1 fork NEW 99
        fork
        cancel
        cancel nosuch
    """,
    "look": r"""
        ps extra
        ps --jso
        asks extra
        tail
        tail nosuch
        tail NEW --since -1
        tail NEW --since x
        show
        show ''
        show nosuch
        show NEW --turn -1
        show NEW --turn x
        show NEW --at x
        diff nosuch
        diff NEW extra
        diff --frob
        recap nosuch
        recap NEW --before 0
        search
        1 search nothingthatisthere
        1 search '"'
        1 search '***'
        1 search ' '
        search x --since yesterday
        search x --since 2030-13-45
        search x --role bird
        search x --limit 0
        search x --limit -3
        search x --limit 99999999
        logs nosuch
        logs
        export
        export nosuch
        export NEW --format pdf
        1 export NEW -o /nonexistent/file.md
        export NEW --turns x
        export NEW --turns 3-1
        usage --by moon
        usage --since x
        usage --since -5d
        usage extra
    """,
    "manage": r"""
        merge nosuch
        1 merge NEW
        merge
        drop
        drop nosuch
        1 drop NEW
        rename NEW
        rename nosuch x
        rename
        stop
        stop nosuch
        restart nosuch
        pin
        unpin nosuch
        archive nosuch
        unarchive
        snooze NEW
        snooze NEW --for
        snooze NEW --for never
        snooze NEW --for -2h
        snooze NEW --until 25:99
        snooze NEW --for 2h --off
        import /nonexistent
        import --agent nosuch
        prune
        prune --older-than x
        prune --older-than -1d
        prune --larger-than big
        prune extra --archived
        remove
        remove nosuch
        remove NEW
        remove --ye NEW
    """,
    "setup": r"""
        setup frob
        setup --model ''
        setup --model x/y --key a --key-stdin
        setup --timeout -1 --model x/y
        setup --base-url nonsense --model x/y --no-test
        setup remove
        setup remove nosuch
        agents frob
        agents install
        agents install nosuch
        1 agents remove claude
        agents add
        agents add build
        agents add 'a b' --cloud
        agents add demo --cloud
        agents add build --remote nonsense
        agents add build --remote http://h --container
        agents import
        agents import /nonexistent
        1 agents import /dev/null
        doctor nosuch
        doctor --timeout -1 demo
        doctor --prompt x
        doctor --all-logs demo
        mcp
        mcp frob
        mcp add
        mcp add a
        mcp add '' -- true
        mcp add a --url nonsense
        mcp get nosuch
        mcp remove nosuch
        mcp enable nosuch
        mcp test nosuch
        config
        config set
        config set nosuch.key 1
        config set worker.max_workers many
        config set worker.max_workers -1
        config explain nosuch
        policy
        policy frob
        policy add
        policy add perhaps
        policy add allow
        policy remove 99
        policy remove nosuch
        policy test --frob
    """,
    "other": r"""
        frob
        rum
        ''
        ' '
        -x
        --nonsense
        --clou
        --agent
        --agent nosuch
        --headless
        --headless --resume
        --headless --resume nosuch -t x
        --headless --last --agent demo -t x
        --headless --json --verbose -t x
        --json
        --task x --file /etc/hostname
        --file /nonexistent
        --file /etc
        --yolo --llm-approve
        --remote nonsense
        1 --cloud
        --cloud --agent demo
        --cloud run x
        --agent demo ps
        --yolo run x
        --daemon nonsense ps
        --daemon http://127.0.0.1:1 ps --nosuch
        1 --daemon http://127.0.0.1:1 ps
        --daemon http://127.0.0.1:1 setup
        serve --port x
        serve --port 99999999
        serve --auth magic
        serve extra
        login nonsense
        login --fingerprint x http://127.0.0.1:1
        1 logout http://127.0.0.1:1
        api
        api get
        api fly /x
        1 api get nonsense
        devices --frob
        notify
        notify frob
        acp --frob
        acp --agent
        acp --remote nonsense
        acp --cloud --agent demo
        acp --url
        acp --token-file x
        acp --resume a --last
        agent --frob
        agent --remote nonsense
        agent --directory x
        agent --image x
        play
        play /nonexistent
        play demo --speed fast
        model
        model demo --port http
        model demo --port 70000
        completions
        completions tcsh
        uninstall extra
        help nosuch
    """,
}
"""By the group of the command; a number before the command is its exit code, else 2. NEW stands for
a session that was never prompted."""


@pytest.fixture
def session(home: Path) -> str:
    return rookery("new", "--agent", "demo", "--title", "New").out.strip()


def check(line: list[str], code: int, done: tuple[int, str, str], *, usage: bool = True) -> None:
    said, words = done[2].strip(), " ".join(done[2].split())
    assert done[0] == code, (line, done)
    assert "Traceback" not in words, (line, words)
    assert "internal error" not in words, (line, words)
    assert said, line
    assert not said.startswith("Usage:"), (line, said)
    assert "--yolo" not in words.partition("Usage:")[0], (line, said)
    if code == 2 and usage:
        assert any(row.startswith("rookery: ") for row in said.splitlines()), (line, said)


@pytest.mark.parametrize("group", ["other", "start", "look", "manage", "setup"])
def test_a_bad_line_is_answered_with_a_sentence(home: Path, session: str, group: str) -> None:
    for row in filter(None, map(str.strip, LINES[group].splitlines())):
        words = shlex.split(row)
        code = int(words.pop(0)) if words[0].isdecimal() else 2
        words = [session if word == "NEW" else word for word in words]
        check(words, code, rookery(*words))


def test_there_are_many_of_them() -> None:
    assert sum(len(text.split("\n")) - 2 for text in LINES.values()) >= 150


ODD = ["\udcff", "\udcfe\udc80", "a\nb", "\x1b[31mred", "x" * 100_000, "-" * 5000, "é", "\u202e"]


@pytest.mark.parametrize("word", ODD, ids=range(len(ODD)))
def test_odd_words_are_answered_with_a_sentence_wherever_they_stand(home: Path, word: str) -> None:
    for line in (
        *([word], ["show", word], ["run", "--agent", word, "x"], ["run", f"--{word}", "x"]),
        *(["config", "set", word, "1"], ["policy", "remove", word], ["--daemon", word, "ps"]),
        *(["mcp", "get", word], ["completions", word], ["set", word, word], ["diff", word]),
    ):
        done = rookery(*line)
        check(line, 2, done)
        assert "\x1b" not in done.err
        assert len(done.err) < 20_000, "a long word is not repeated whole"


def real(line: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """In a shell, with an environment of its own; None takes a variable away."""
    whole = os.environ | {name: value for name, value in environment.items() if value is not None}
    whole = {name: value for name, value in whole.items() if environment.get(name, "") is not None}
    program = shlex.join([sys.executable, "-m", "rookery"])
    text = line.replace("rookery", program)
    return subprocess.run(
        ["bash", "-c", text], env=whole, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("line", "environment", "codes"),
    [
        ("rookery ps | head -0; exit ${PIPESTATUS[0]}", {}, {0, 141}),
        ("rookery --help >&-", {}, {0, 1}),
        ("rookery ps --json <&- 2>&-", {}, {0}),
        ("rookery run --agent demo <&-", {}, {2}),
        ("rookery remove New <&-", {}, {2}),
        ("rookery show nosuch", {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": None}, {2}),
        ("rookery", {"TERM": None}, {0}),
        ("rookery ps", {"HOME": None, "ROOKERY_HOME": None}, {0}),
        ("rookery ps", {"HOME": "/nonexistent", "ROOKERY_HOME": ""}, {0, 1}),
        ("rookery show nosuch >/dev/full", {}, {2}),
        ("rookery help >/dev/full", {}, {1}),
        ("mkdir gone; cd gone; rmdir ../gone; rookery run --agent demo x", {}, {1, 2}),
    ],
    ids=range(12),
)
@pytest.mark.long
def test_a_bad_place_to_run_in_is_answered_with_a_sentence(
    home: Path, session: str, line: str, environment: dict[str, str | None], codes: set[int]
) -> None:
    done = real(line, **environment)
    assert done.returncode in codes, done
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr


def test_a_script_without_yes_changes_nothing_and_exits_with_2(home: Path, session: str) -> None:
    rookery("archive", session)
    for line in (["remove", session], ["prune", "--archived"], ["uninstall"]):
        done = rookery(*line)
        assert done.code == 2, (line, done)
        assert "--yes" in done.err
    assert session in rookery("ps", "--all", "--json").out


def test_whoever_says_no_gets_130(home: Path, session: str) -> None:
    from tests.cli.driving import Terminal

    with Terminal("remove", session) as terminal:
        terminal.read_until("[y/N]")
        terminal.type("n\n")
        assert terminal.end().code == 130


@pytest.mark.parametrize(
    ("word", "near"),
    [("--attch", "--attach"), ("--yol", ""), ("--yollo", ""), ("--cloude", "--cloud")],
)
def test_only_a_near_and_harmless_option_is_suggested(home: Path, word: str, near: str) -> None:
    done = rookery("run", word, "x")
    assert done.err.startswith(f"rookery: There is no option {word}.")
    assert ("Did you mean" in done.err) == bool(near)
    assert near in done.err
    assert "yolo" not in done.err
    assert "Usage: rookery run" in done.err.splitlines()[1]


def test_force_is_never_suggested(home: Path) -> None:
    assert "Did you mean" not in rookery("remove", "--forc", "x").err
    made({"text": "hi"})
    assert "Did you mean" not in rookery("cancel", "--forcee", "x").err
