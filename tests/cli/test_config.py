"""config.toml: a wrong value is refused with its line; a key that is not known is told with its
line, and the rest holds."""

from pathlib import Path

import pytest

from rookery.core.limits import NUMBERS, CriticPolicy, Policy
from rookery.core.policy.rules import Call, Verdict, call_of, decide
from rookery.home.config import Config, ConfigError, load


def load_text(directory: Path, text: str) -> Config:
    (directory / "config.toml").write_text(text)
    return load(str(directory))


def refusal(directory: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_text(directory, text)
    return str(caught.value)


def test_defaults_where_there_is_no_file(tmp_path: Path) -> None:
    assert load(str(tmp_path)) == Config(Policy(), "", {})


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    text = """
        default_agent = "claude"
        [worker]
        cancel_grace = 3
        queue_drain = "serial"
        queue_most = 7
        [agents.mine]
        command = ["my-agent", "--acp"]
        """
    found = load_text(tmp_path, text)
    assert found.default_agent == "claude"
    assert found.policy == Policy(cancel_grace=3.0, queue_drain="serial", queue_most=7)
    assert found.agents == {"mine": ["my-agent", "--acp"]}


def test_the_critics_settings(tmp_path: Path) -> None:
    found = load_text(tmp_path, '[critic]\ncommand = "make"\nscore_below = 1\niterations = 10\n')
    assert found.critic == CriticPolicy(command="make", score_below=1.0, iterations=10)
    assert found.policy == Policy()


def test_every_field_of_the_policy_has_its_limits() -> None:
    assert [each.name for each in NUMBERS] == list(Policy._field_defaults)


def test_every_default_lies_within_its_limits() -> None:
    for setting in NUMBERS:
        default, limit = setting.default, setting.limit
        if isinstance(default, str):
            assert default in limit
        elif not isinstance(default, bool):
            assert limit[0] <= default <= limit[1], setting.name


@pytest.mark.parametrize(
    ("written", "read"),
    [("cancel_grace = 0", 0.1), ("cancel_grace = 1e9", 600.0), ("cancel_grace = inf", 600.0)],
)
def test_numbers_are_clamped_where_they_are_read(tmp_path: Path, written: str, read: float) -> None:
    assert load_text(tmp_path, f"[worker]\n{written}\n").policy.cancel_grace == read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("default_agent = 3", ["line 1", "default_agent", "in quotes"]),
        ("[session]\nconfirm = 'plan'", ["line 2", "session.confirm", "run --plan"]),
        ("[worker]\ncancel_grace = 'soon'", ["line 2", "must be a number"]),
        ("[worker]\ncancel_grace = true", ["line 2", "must be a number"]),
        ("[worker]\ncancel_grace = nan", ["line 2", "must be a number"]),
        ("[worker]\nqueue_most = 1.5", ["line 2", "whole number"]),
        ("[worker]\nqueue_drain = 'none'", ["line 2", '"combined" or "serial"']),
        ("worker = 3", ["line 1", "must be a table"]),
        ("[agents.a]\ncommand = 'a b'", ["line 2", "agents.a.command", "list of strings"]),
        ("[agents.a]\ncommand = []", ["line 2", "list of strings"]),
        ("[agents.a]", ["line 1", "agents.a", "command"]),
        ("[agents]\na = 3", ["line 2", "agents.a", "table"]),
        ("[worker\n", ["line 1"]),
        ("[critic]\nscore_below = 1.01", ["line 2", "critic.score_below", "must be 0 to 1"]),
        ("[critic]\nissue_at = -0.1", ["line 2", "critic.issue_at", "must be 0 to 1"]),
        ("[critic]\niterations = 11", ["line 2", "must be 1 to 10"]),
        ("[critic]\niterations = 0", ["line 2", "must be 1 to 10"]),
        ("[critic]\ncommand = 3", ["line 2", "critic.command", "text"]),
        ("[critic]\nrefine = 1", ["line 2", "true or false"]),
        ("critic = 1", ["line 1", "must be a table"]),
        ("show_tool_durations = 1", ["line 1", "true or false"]),
        ("[keys]\nquit = 3", ["line 2", "keys.quit", "in quotes"]),
        ("[keys]\nquit = 'ctlr+x'", ["line 2", "keys.quit", "'ctlr+x' is not a key"]),
        (
            "[keys]\nquit = 'f9'\n'composer.send' = 'F9'",
            ["line 3", "keys.composer.send", "key f9", "keys.quit"],
        ),
        (
            "[keys]\n'block.copy' = 'z'\n\nblock.edit = 'x,z'",
            ["line 4", "keys.block.edit", "key z", "keys.block.copy"],
        ),
    ],
)
def test_a_mistake_names_key_line_and_what_is_allowed(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    message = refusal(tmp_path, text)
    assert str(tmp_path / "config.toml") in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\ndefault_agnet = 'x'", ["line 2", "default_agnet", "default_agent"]),
        ("[worker]\n\ncancel_grase = 3", ["line 3", "worker.cancel_grase", "cancel_grace"]),
        ("worker = { cancel_grase = 1 }", ["line 1", "worker.cancel_grase"]),
        ("[agents.a]\ncommand = ['a']\nenvy = 1", ["line 3", "agents.a.envy", "env"]),
        ("[critic]\nno_such = 1", ["line 2", "critic.no_such", "score_below"]),
        ("[keys]\nnothing = 'f9'", ["line 2", "keys.nothing", "composer.send"]),
        ("[agents.a]\ncomand = ['a']", ["line 2", "agents.a.comand", "command"]),
        ("[wroker]\ncancel_grace = 3", ["line 1", "wroker is not a setting"]),
        ("[policy]\nrule = []\n", ["line 2", "policy.rule ", "rules"]),
        ("[session]\napprove = true\n", ["line 2", "session.approve ", "approve_all"]),
        ("[interface]\nplan = 1\n", ["line 2", "interface.plan ", "plan_opens"]),
        ("[agent]\nwram = true\n", ["line 2", "agent.wram ", "warm"]),
        ("[keys.composer]\nsent = 'f9'", ["line 2", "keys.composer.sent "]),
        ("version = 7", ["line 1", "version is 7", "newer Rookery", "uses what it knows"]),
    ],
)
def test_an_unknown_key_is_reported_with_its_line_and_the_rest_holds(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    head = "" if "[critic]" in text else "[critic]\n"
    found = load_text(tmp_path, f"{text}\n{head}refine = true\n")
    [said] = found.warnings
    assert str(tmp_path / "config.toml") in said
    for word in words:
        assert word in said
    assert found.critic.refine, "all else holds"


@pytest.mark.parametrize("value", ["0", "-1", "true", "'1'", "1.0"])
def test_an_invalid_version_is_refused(tmp_path: Path, value: str) -> None:
    assert "line 1: version must be" in refusal(tmp_path, f"version = {value}\n")


def test_a_file_without_a_version_has_the_first_version(tmp_path: Path) -> None:
    assert load_text(tmp_path, "").version == load_text(tmp_path, "version = 1").version == 1


# --- a rule with a key that is not known: never is more allowed than was written ------------------


def test_an_allow_rule_with_an_unknown_ground_is_left_out(tmp_path: Path) -> None:
    text = (
        '[[policy.rules]]\ndo = "allow"\ncommand = "make*"\npaht = "src/**"\n'
        '[[policy.rules]]\ndo = "allow"\ncommand = "ls*"\n'
    )
    found = load_text(tmp_path, text)
    [said] = found.warnings
    assert "line 4: policy.rules 1.paht is not a setting. The rule is ignored" in said
    assert decide(found.rules, call("make")).do == ""
    assert decide(found.rules, call("ls")) == Verdict("allow", (found.rules[1],))
    assert [rule.name for rule in found.rules] == ["1", "2"], "numbers are places in the file"


def test_a_deny_rule_holds_without_its_unknown_ground(tmp_path: Path) -> None:
    text = '[[policy.rules]]\ndo = "deny"\ncommand = "make*"\npaht = "src/**"\n'
    found = load_text(tmp_path, text)
    [said] = found.warnings
    assert "Without it the rule denies make*" in said
    assert decide(found.rules, call("make")).do == "deny"
    assert decide(found.rules, call("ls")).do == ""
    bare = load_text(tmp_path, '[[policy.rules]]\ndo = "deny"\ncomand = "make*"\n')
    assert "Without it the rule denies everything" in bare.warnings[0]
    assert decide(bare.rules, call("ls")).do == "deny"
    asks = load_text(tmp_path, '[[policy.rules]]\ndo = "ask"\ncomand = "make*"\n')
    assert decide(asks.rules, call("ls")).do == "ask"


@pytest.mark.parametrize(
    "rule", ['od = "allow"\nkind = "read"', 'do = "allow"', 'do = "permit"\nkind = "read"']
)
def test_an_empty_rule_is_refused(tmp_path: Path, rule: str) -> None:
    assert "policy.rules 1" in refusal(tmp_path, f"[[policy.rules]]\n{rule}\n")


def call(line: str) -> Call:
    return call_of("a", {"kind": "execute", "rawInput": {"command": line}}, ["/w"], "/h")


def test_custom_keys_are_read_as_people_write_them(tmp_path: Path) -> None:
    text = "[keys]\nquit = 'Ctrl+X, ?'\n'fleet.open' = 'o'\nblock.show = 'o'"
    keys = load_text(tmp_path, text).keys
    assert keys == {"quit": "ctrl+x,question_mark", "fleet.open": "o", "block.show": "o"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[worker]\ncancel_grace =\n", "line 2, column 15: Invalid value."),
        ("[worker]\n\ncancel_grace =\n\n", "line 3, column 15: Invalid value."),
        ("a = [1\n", "line 1: Unclosed array."),
    ],
)
def test_a_file_that_is_not_toml_names_the_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}/config.toml, {said}"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ConfigError, match="line 2: not UTF-8"):
        load(str(tmp_path))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(str(tmp_path))
