"""`config`: each setting with its origin and its meaning; a bad edit never replaces a good file."""

import json
import stat
import tomllib
from pathlib import Path

import pytest

from rookery.core.limits import NUMBERS, Policy, Setting, range_of
from rookery.core.settings import definitions as settings
from rookery.home.config import load
from tests.cli.driving import Terminal, made, rookery

ROOT = Path(__file__).resolve().parents[2]


def editor(directory: Path, body: str) -> str:
    """A program that stands in for a person at an editor; $1 is the file."""
    path = directory / "editor"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def edit(monkeypatch: pytest.MonkeyPatch, directory: Path, body: str) -> tuple[int, str]:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(directory, body))
    done = rookery("config", "edit")
    return done.code, done.err


def test_every_number_of_the_policy_is_a_setting() -> None:
    assert [each.name for each in NUMBERS] == list(Policy._field_defaults)
    assert all(setting.brief for setting in settings.SETTINGS)


def test_the_page_about_sessions_has_every_setting() -> None:
    page = (ROOT / "docs" / "sessions.md").read_text()
    assert f"```toml\n{settings.sample()}```" in page, "settings.sample() prints what is due there"


def test_the_sample_is_sound_and_says_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(settings.sample())
    assert load(str(tmp_path)).policy == Policy()
    assert tomllib.loads(settings.template()) == {}


def test_path(home: Path) -> None:
    assert rookery("config", "path").out == f"{home / 'config.toml'}\n"


def test_show_tells_value_and_whence(home: Path) -> None:
    (home / "config.toml").write_text(
        'default_agent = "codex"\n\n[worker]\ncancel_grace = 3\nstop_grace = 1000\n'
        '[agents.mine]\ncommand = ["my-agent"]\n'
    )
    lines = {line.split()[0]: line for line in rookery("config", "show").out.splitlines()}
    # No rules, no keys, no worktrees, and of no agent its variables, its servers, its sandbox, that
    # it is unconfined, or what one at an address has.
    assert len(lines) == len(settings.SETTINGS) - 8 - len(settings.OF_ADDRESSES)
    assert '"codex"' in lines["default_agent"]
    assert lines["default_agent"].endswith("config.toml, line 1")
    assert lines["worker.cancel_grace"].split()[1:] == ["3", "config.toml,", "line", "4"]
    assert "60" in lines["worker.stop_grace"]
    assert "which says 1000" in lines["worker.stop_grace"]
    assert lines["worker.queue_most"].split()[1:] == ["100", "default"]
    assert lines["agents.mine.command"].endswith("line 7")
    rows = [json.loads(line) for line in rookery("config", "show", "--json").out.splitlines()]
    assert {"key": "worker.stop_grace", "value": 60.0, "line": 5, "written": 1000} in rows


def test_show_tells_a_mistake_with_its_line(home: Path) -> None:
    (home / "config.toml").write_text("[worker]\ncancel_grace = true\n")
    done = rookery("config", "show")
    assert done.code == 1
    assert "line 2" in done.err


@pytest.mark.long
def test_an_unknown_key_warns_once_per_command(home: Path) -> None:
    (home / "config.toml").write_text("[worker]\ncancel_grase = 1\n")
    for words in (("config", "show"), ("agents",), ("policy", "list"), ("run", "hello")):
        done = rookery(*words)
        assert done.code == 0, done.err
        said = " ".join(done.err.split())
        warned = f"rookery: {home}/config.toml, line 2: worker.cancel_grase is not a setting"
        assert said.count(warned) == 1, words
        assert "Did you mean cancel_grace?" in said
    [session] = rookery("ps", "--json").events
    shown = rookery("show", session["id"], "--all")
    assert "line 2: worker.cancel_grase is not a setting" in " ".join(shown.out.split())
    assert "line 2: worker.cancel_grase is not a setting" in rookery("doctor").out
    (home / "config.toml").write_text("[worker]\ncancel_grace = true\n")
    done = rookery("run", "hello")
    assert (done.code, "line 2: worker.cancel_grace must be" in done.err) == (1, True)


def test_edit_saves_a_file_with_an_unknown_key_and_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, err = edit(monkeypatch, tmp_path, "printf 'version = 9\\ncolour = 1\\n' >\"$1\"")
    assert code == 0
    said = " ".join(err.split())
    assert "line 1: version is 9" in said
    assert "line 2: colour is not a setting" in said
    assert "version" in rookery("config", "explain", "version").out


@pytest.mark.parametrize("setting", settings.SETTINGS, ids=lambda each: each.key)
def test_each_setting_is_found_and_has_a_range(setting: Setting) -> None:
    assert settings.find(setting.key) is setting
    assert range_of(setting)


@pytest.mark.long
def test_explain(home: Path) -> None:
    told = rookery("config", "explain", "silent_after").out
    for words in ("went silent", "0 (off) or 120 to 86,400 seconds", "default   120", "at once"):
        assert words in told
    assert "rookery restart SESSION" in rookery("config", "explain", "node_path").out
    assert "0 to 1\n" in rookery("config", "explain", "critic.issue_at").out
    assert "default   true" in rookery("config", "explain", "show_tool_durations").out
    assert '"combined" or "serial"' in rookery("config", "explain", "worker.queue_drain").out
    assert "list of strings" in rookery("config", "explain", "agents.mine").out
    assert len(rookery("config", "explain").out.splitlines()) == len(settings.SETTINGS)
    unknown = rookery("config", "explain", "silentafter")
    assert unknown.code == 2
    assert "Did you mean worker.silent_after" in unknown.err


def test_edit_begins_with_a_file_in_which_nothing_is_set(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, err = edit(monkeypatch, tmp_path, "exit 0")
    assert (code, "Nothing was changed" in err) == (0, True)
    assert not (home / "config.toml").exists()
    code, _ = edit(monkeypatch, tmp_path, "sed -i.bak 's/^# default_agent/default_agent/' \"$1\"")
    assert code == 0
    assert load(str(home)).default_agent == "claude"
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


def test_a_bad_edit_keeps_the_old_file_and_what_was_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "config.toml"
    file.write_text('default_agent = "codex"\n')
    code, err = edit(monkeypatch, tmp_path, "printf '\\n[worker]\\nstop_grace = no\\n' >>\"$1\"")
    assert code == 1
    assert "line 4" in err
    assert file.read_text() == 'default_agent = "codex"\n'
    assert "stop_grace = no" in (home / "config.toml.rejected").read_text()
    assert sorted(path.name for path in home.iterdir()) == [
        "config.toml",
        "config.toml.rejected",
        "format",
        "sessions",
        "trash",
    ]


def test_an_editor_that_fails_changes_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, err = edit(monkeypatch, tmp_path, 'echo \'default_agent = "x"\' >"$1"; exit 3')
    assert code == 1
    assert "ended with 3" in err
    assert not (home / "config.toml").exists()
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "Set EDITOR" in rookery("config", "edit").err


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "config.toml"
    body = f'echo \'default_agent = "theirs"\' >{file}; echo \'default_agent = "mine"\' >"$1"'
    code, err = edit(monkeypatch, tmp_path, body)
    assert code == 1
    assert "another program" in err
    assert load(str(home)).default_agent == "theirs"


@pytest.mark.parametrize(
    ("line", "said", "unsaid"),
    [
        ("[worker]\ncancel_grace = 3", "Running sessions pick it up", "takes effect"),
        (
            'node_path = "/n"',
            "node_path takes effect at the next start",
            "Running sessions pick it up",
        ),
        ('[agents.x]\ncommand = ["x"]', "rookery restart SESSION", "Running sessions pick it up"),
        ("[worker]\nmax_workers = 3", "worker.max_workers takes effect at once, for", "themselves"),
        ("# nothing", "No setting changed", "takes effect"),
    ],
)
def test_edit_says_what_has_to_wait(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str, unsaid: str
) -> None:
    code, wrapped = edit(monkeypatch, tmp_path, f"cat >\"$1\" <<'END'\n{line}\nEND")
    err = " ".join(wrapped.split())
    assert (code, said in err, unsaid in err) == (0, True, False), err


def test_a_link_stays_a_link(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "dotfile"
    own.write_text("")
    (home / "config.toml").symlink_to(own)
    assert edit(monkeypatch, tmp_path, 'echo \'default_agent = "codex"\' >"$1"')[0] == 0
    assert (home / "config.toml").is_symlink()
    assert "codex" in own.read_text()


def test_on_a_terminal_one_may_go_on(home: Path, tmp_path: Path) -> None:
    body = 'if [ -e "$0.once" ]; then echo >"$1"; else : >"$0.once"; echo "worker = 1" >"$1"; fi'
    (home / "config.toml").write_text('default_agent = "codex"\n')
    with Terminal("config", "edit", EDITOR=editor(tmp_path, body), VISUAL="") as terminal:
        terminal.read_until("Continue editing?")
        terminal.type("\n")
        terminal.read_until("Saved")
        assert terminal.end().code == 0
    assert (home / "config.toml").read_text() == "\n"


def test_custom_keys_are_shown_and_mistakes_reported_with_their_line(home: Path) -> None:
    (home / "config.toml").write_text('[keys]\nquit = "f9"\ncomposer.send = "ctrl+s"\n')
    shown = rookery("config", "show").out
    assert "keys.composer.send" in shown
    assert "config.toml, line 3" in shown
    for text, words in (
        ("[keys]\nquit = 9", "line 2: keys.quit must be a key in quotes"),
        ('[keys]\nquit = " "', "must be a key in quotes"),
        ("keys = 1", "must be a table"),
    ):
        (home / "config.toml").write_text(text)
        done = rookery("config", "show")
        assert done.code == 1
        assert words in " ".join(done.err.split())


RULE = '[[policy.rules]]\ndo = "allow"\nexact = "make\\nrm -r x"\n'


@pytest.mark.long
def test_a_loosening_is_shown_whole_and_confirmed_in_a_terminal(home: Path) -> None:
    assert "Nothing to confirm" in rookery("config", "confirm").err
    made({"text": "hello"})
    (home / "config.toml").write_text(RULE)
    with Terminal("config", "confirm") as terminal:
        assert "make ⏎ rm -r x" in terminal.read_until("Confirm these changes?")
        terminal.type("\n")
        assert terminal.end().code == 130
    shown = json.loads(rookery("config", "confirm", "--json").out)
    assert (len(shown["held"]), len(shown["loosens"])) == (16, 1)
    with Terminal("config", "confirm") as terminal:
        terminal.read_until("Confirm these changes?")
        terminal.type("y\n")
        assert terminal.end().code == 0
    assert json.loads(rookery("config", "confirm", "--json").out) == {"held": ""}


@pytest.mark.long
def test_edit_can_withdraw_a_loosening_and_confirms_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made({"text": "hello"})
    (home / "config.toml").write_text(RULE)
    code, err = edit(monkeypatch, tmp_path, "echo '[session]\napprove_all = true' >>\"$1\"")
    assert (code, "rookery config confirm" in " ".join(err.split())) == (1, True)
    assert (home / "config.toml").read_text() == RULE
    code, err = edit(monkeypatch, tmp_path, "echo '[worker]\ncancel_grace = 3' >>\"$1\"")
    assert (code, "rookery config confirm" in " ".join(err.split())) == (0, True), "it waits still"
    code, err = edit(monkeypatch, tmp_path, 'echo >"$1"')
    assert (code, "rookery config confirm" in err) == (0, False)
    assert "Nothing to confirm" in rookery("config", "confirm").err


@pytest.mark.long
def test_an_unconfirmed_mcp_server_is_not_run_by_mcp_test(home: Path) -> None:
    made({"text": "hello"})
    evil = {"command": "touch", "args": [str(home / "ran")]}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"evil": evil}}))
    for words in (("mcp", "test"), ("mcp", "test", "evil")):
        done = rookery(*words)
        assert (done.code, "not confirmed" in done.err) == (2, True)
    assert rookery("mcp", "add", "mine", "--", "true").code == 1
    assert rookery("mcp", "remove", "evil").code == 0
    assert "Nothing to confirm" in rookery("config", "confirm").err
    assert not (home / "ran").exists()
