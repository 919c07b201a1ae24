"""Policy on the command line: rules, "always allow this", confirmation modes, headless."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import Running, play, rookery

type Json = dict[str, Any]


def run(line: str, **fields: Any) -> Json:
    told = {"allowed": [{"text": f"ran {line}. "}], "rejected": [{"text": f"not {line}. "}]}
    return {"ask": line, "kind": "execute", "rawInput": {"command": line}, **told, **fields}


ODD: Json = {"ask": "Odd", "kind": "other", "allowed": [{"text": "odd. "}], "rejected": []}


def add(*arguments: str) -> None:
    done = rookery("policy", "add", *arguments)
    assert done.code == 0, done.err


# --- list, add, remove -------------------------------------------------------------------------


def test_rules_are_added_listed_and_removed(home: Path) -> None:
    empty = rookery("policy", "list")
    assert (empty.code, empty.out) == (0, "")
    assert "policy add" in empty.err
    (home / "config.toml").write_text("# mine\n[worker]\ncancel_grace = 3\n")
    add("allow", "--agent", "claude", "--kind", "execute", "--command", "git status*")
    add("deny", "--path", "**/.env", "--name", "secrets", "--reason", "none of yours")
    add("ask", "--tool", "mcp__*", "--tool", "web*", "--first")
    rows = [line.split() for line in rookery("policy", "list").out.splitlines()]
    assert [row[:2] for row in rows[1:]] == [["1", "ask"], ["2", "allow"], ["3", "deny"]]
    assert rows[3][2] == "secrets"
    written = (home / "config.toml").read_text().splitlines()
    assert written[int(rows[3][-1]) - 1 :][:2] == ["[[policy.rules]]", 'name = "secrets"']
    listed = [json.loads(line) for line in rookery("policy", "list", "--json").out.splitlines()]
    assert [each["do"] for each in listed] == ["ask", "allow", "deny"]
    assert listed[0]["tool"] == ["mcp__*", "web*"]
    gone = rookery("policy", "remove", "secrets")
    assert (gone.code, gone.err) == (0, "Removed: deny **/.env\n")
    assert rookery("policy", "remove", "1").code == 0
    text = (home / "config.toml").read_text()
    assert text.startswith("# mine\n[worker]\ncancel_grace = 3\n")
    assert "git status*" in text
    assert "mcp" not in text
    shown = rookery("config", "show").out
    assert "policy.rules 1" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "permit"], "allow"),
        (["add", "allow"], "at least one of"),
        (["add", "allow", "--kind", "exec"], "read"),
        (["add", "deny", "--command", "x", "--destructive"], "--destructive"),
        (["add", "allow", "--command", "x", "--reason", "y"], "--reason"),
        (["add", "allow", "--command", " "], "--command"),
        (["remove", "9"], "policy list"),
        (["test", "--agent", "a", "--agent", "b"], "one agent"),
        (["test", "ghost"], "ghost"),
    ],
)
def test_bad_input_is_one_sentence(home: Path, arguments: list[str], words: str) -> None:
    done = rookery("policy", *arguments)
    assert done.code in (1, 2)
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (home / "config.toml").exists()


def test_two_rules_with_one_name_are_refused(home: Path) -> None:
    add("allow", "--command", "x", "--name", "a")
    before = (home / "config.toml").read_text()
    assert rookery("policy", "add", "deny", "--command", "y", "--name", "a").code == 2
    assert (home / "config.toml").read_text() == before


def test_a_broken_file_is_named_with_its_line_and_kept(home: Path) -> None:
    (home / "config.toml").write_text('[[policy.rules]]\ndo = "permit"\n')
    for arguments in (["list"], ["add", "allow", "--command", "x"], ["remove", "1"], ["test"]):
        done = rookery("policy", *arguments)
        assert done.code != 0
        assert "line 2" in done.err
    assert rookery("run", "hello").code != 0
    assert (home / "config.toml").read_text() == '[[policy.rules]]\ndo = "permit"\n'


# --- test --------------------------------------------------------------------------------------


def test_policy_test_tries_a_call_without_running_it(home: Path) -> None:
    add("allow", "--agent", "claude", "--command", "git status*", "--name", "status")
    add("deny", "--command", "rm *", "--name", "no-rm", "--reason", "keep it")
    tried = {
        "git status": "allowed by rule status\n",
        "git status; rm x": "denied by rule no-rm: keep it\n",
        "git status $(x)": "no rule matches: the session's confirmation mode decides\n",
    }
    for line, said in tried.items():
        assert rookery("policy", "test", "--agent", "claude", "--command", line).out == said
    other = rookery("policy", "test", "--agent", "codex", "--command", "git status", "--json")
    assert json.loads(other.out)["rules"] == ""
    risky = rookery("policy", "test", "--command", "rm -rf x")
    assert "Destructive: this deletes files" in risky.err


@pytest.mark.long
def test_policy_test_replays_the_log_and_lists_differences(home: Path) -> None:
    steps = play(run("git status"), run("git push"), run("make"))
    with Running("run", "--approve", "ask", "--title", "Past", steps) as running:
        for said in ("allow", "allow", "reject"):
            running.read_err_until("┃ 1  ")
            assert rookery("answer", "Past", said).code == 0
        running.end()
    nothing = rookery("policy", "test")
    assert (nothing.out, nothing.err) == (
        "",
        "3 questions, 3 answered by you, 0 would differ.\n",
    )
    add("allow", "--command", "git status*")
    add("deny", "--command", "git push*", "--name", "no-push")
    add("allow", "--command", "make*", "--name", "make")
    done = rookery("policy", "test", "Past")
    assert "2 would differ" in done.err
    assert "git status" not in done.out
    rows = [json.loads(line) for line in rookery("policy", "test", "--json").out.splitlines()]
    found = [(row["what"], row["said"], row["rules"], row["rule"]) for row in rows]
    assert found == [("git push", "allow", "deny", "no-push"), ("make", "deny", "allow", "make")]
    every = rookery("policy", "test", "--all", "--json").out.splitlines()
    assert len(every) == 3


def test_a_pattern_ending_inside_a_word_warns_wherever_rules_are_shown(home: Path) -> None:
    told = rookery("policy", "add", "allow", "--command", "git diff*").err
    assert "Write 'git diff *'" in told
    assert "Write 'git diff *'" in rookery("policy", "list").err
    assert "Write 'git diff *'" in rookery("policy", "test").err
    assert "Write 'git diff *'" in rookery("policy", "test", "--command", "git diff").err
    assert "Write 'git diff *'" in rookery("doctor").out
    held = rookery("policy", "test", "--command", "git diff --output=x")
    assert "no rule matches" in held.out
    assert "does not allow --output" in held.err
    rookery("policy", "remove", "1")
    assert "Write" not in rookery("policy", "add", "allow", "--command", "git diff *").err
    assert "rules" not in rookery("doctor").out


# --- always allow ------------------------------------------------------------------------------


def test_always_allow_makes_a_rule_from_an_ask(home: Path) -> None:
    steps = play(run("make"), run("rm -rf x"))
    with Running("run", "--approve", "ask", "--title", "House", steps) as running:
        running.read_err_until("┃ 4  Always allow exactly `make` in this project [a]")
        done = rookery("answer", "House", "--always-allow")
        assert done.code == 0
        assert "rookery policy remove demo-execute" in done.err
        running.read_err_until("┃ 1  ")
        refused = rookery("answer", "House", "--always-allow")
        assert refused.code == 3
        assert "Can't be always-allowed" in refused.err
        assert rookery("answer", "House", "--always-allow", "0").code == 2
        assert rookery("answer", "House", "1", "--always-allow").code == 2
        rookery("answer", "House", "reject")
        running.end()
    again = rookery("prompt", "House", "--wait", play(run("make")))
    assert "Allowed by rule demo-execute" in again.err
    assert rookery("policy", "remove", "demo-execute").code == 0
    with Running("prompt", "House", "--wait", play(run("make"))) as running:
        running.read_err_until("┃ 4  ")
        assert rookery("answer", "House", "4").code == 0  # the number that is shown
        running.end()
    assert "demo-execute" in rookery("policy", "list").out


# --- confirmation modes ------------------------------------------------------------------------


@pytest.mark.long
def test_the_confirmation_mode_is_set_and_shown_everywhere(home: Path) -> None:
    session = rookery("new", "--title", "Calm").out.strip()
    chosen = rookery("set", session, "confirm", "risky")
    assert chosen.err.startswith("Ask when risky: ")
    assert rookery("set", session, "confirm", "sometimes").code == 2
    assert "▸ risky" in rookery("set", session, "confirm").out
    assert "ask when risky" in rookery("ps").out
    assert json.loads(rookery("ps", "--json").out)["confirm"] == "risky"
    done = rookery("prompt", session, "--wait", play(run("ls")))
    assert "Allowed, not risky (ask when risky)" in done.err
    assert "Ask when risky" in rookery("show", session).err
    assert json.loads(rookery("show", session, "--json").out)["header"]["confirm"] == "risky"
    second = rookery("new").out.strip()
    assert "▸ every" in rookery("set", second, "confirm").out  # it is that session's alone


def test_an_agent_that_never_asks_is_shown_as_such(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long its directory and however narrow the terminal, that word is shown whole.
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "crow.json"
    script.write_text("{}")
    argv = json.dumps([sys.executable, "-P", "-m", "rookery", "play", str(script)])
    (home / "config.toml").write_text(f"[agents.crow]\ncommand = {argv}\n")
    session = rookery("new", "--agent", "crow").out.strip()
    assert "never asks" in rookery("ps").out
    assert json.loads(rookery("ps", "--json").out)["neverAsks"] is True
    assert "never asks" in rookery("set", session).err


# --- headless ----------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [[], ["--always-approve"], ["--yolo"], ["--approve", "all"]])
def test_headless_approves_everything_but_destructive_calls(home: Path, flag: list[str]) -> None:
    done = rookery("run", *flag, play(run("make"), ODD))
    assert (done.code, "ran make." in done.out, "odd." in done.out) == (0, True, True)
    assert "Approve all (destructive commands are refused)" in done.err
    risky = rookery("run", *flag, play(run("make"), run("rm -rf x")))
    assert risky.code == 3
    assert "ran make." in risky.out
    assert "not rm -rf x." in risky.out


@pytest.mark.long
def test_headless_can_ask_for_high_risk_only(home: Path) -> None:
    calm = rookery("run", "--llm-approve", play(run("make")))
    assert (calm.code, "ran make." in calm.out) == (0, True)
    for step in (ODD, run("rm -rf x")):
        done = rookery("run", "--llm-approve", play(run("make"), step))
        assert done.code == 3
        assert "Rejected" in done.err
    assert rookery("run", "--llm-approve", "--yolo", "x").code == 2


def test_a_denial_by_rule_has_its_own_exit_code(home: Path) -> None:
    add("deny", "--command", "make*", "--name", "no-make", "--reason", "not today")
    done = rookery("run", "--yolo", play(run("make")))
    assert done.code == 3
    assert "Denied by rule no-make: not today" in done.err
    assert "not make." in done.out


def test_a_rule_may_allow_destructive_calls_headless(home: Path) -> None:
    add("allow", "--command", "rm *", "--destructive", "--name", "rm")
    done = rookery("run", play(run("rm -rf x")))
    assert (done.code, "ran rm -rf x." in done.out) == (0, True)
    assert "Allowed by rule rm" in done.err
    assert "Rejected" not in done.err


@pytest.mark.long
def test_a_rule_that_asks_does_not_hang(home: Path) -> None:
    """Nobody is there whom it could ask: the answer is no, and it says so."""
    add("ask", "--command", "make*", "--name", "look")
    for flags in ([], ["--yolo"], ["--llm-approve"], ["--confirm-destructive"]):
        done = rookery("run", *flags, play(run("make")))
        assert done.code == 3
        assert "rule look asks, and this session never asks you" in " ".join(done.err.split())
