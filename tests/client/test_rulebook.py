"""Rules are added to and taken from a file that stays a person's own."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.client.config import edit, rules, toml_file
from rookery.core.policy.rules import Rule
from rookery.home import last_choices
from rookery.home.config import ConfigError, load, parse

MINE = """\
# my settings, by hand
default_agent = "codex"   # the best one

[worker]
cancel_grace = 3

# why I trust it
[[policy.rules]]
name = "status"
do = "allow"            # always
command = [
  "git status*",
  "git diff*",
]

# agents of mine
[agents.mine]
command = ["my-agent"]
"""

LS = Rule("ls", "allow", command=("ls*",))
RM = Rule("no-rm", "deny", command=("rm *",), reason='never "ever"\n')


def write(home: Path, text: str) -> Path:
    file = home / "config.toml"
    file.write_text(text)
    return file


def test_a_rule_is_appended_and_nothing_else_changes(tmp_path: Path) -> None:
    file = write(tmp_path, MINE)
    assert rules.add(str(tmp_path), lambda known: LS) == LS
    assert file.read_text().startswith(MINE)
    assert [rule.name for rule in load(str(tmp_path)).rules] == ["status", "ls"]


def test_a_rule_can_be_put_before_the_others(tmp_path: Path) -> None:
    file = write(tmp_path, MINE)
    rules.add(str(tmp_path), lambda known: RM, first=True)
    assert load(str(tmp_path)).rules[0] == RM
    text = file.read_text()
    assert text.index("no-rm") < text.index("# why I trust it") < text.index('"status"')


def test_removing_an_added_rule_leaves_no_trace(tmp_path: Path) -> None:
    file = write(tmp_path, MINE)
    rules.add(str(tmp_path), lambda known: LS)
    rules.add(str(tmp_path), lambda known: RM)
    assert rules.remove(str(tmp_path), "ls") == LS
    assert rules.remove(str(tmp_path), "2") == RM
    assert file.read_text() == MINE


def test_removing_a_rule_takes_only_its_own_lines(tmp_path: Path) -> None:
    file = write(tmp_path, MINE)
    rules.remove(str(tmp_path), "status")
    text = file.read_text()
    assert tomllib.loads(text) == {k: v for k, v in tomllib.loads(MINE).items() if k != "policy"}
    for comment in ("# my settings, by hand", "# the best one", "# agents of mine"):
        assert comment in text


def test_a_rule_is_changed_in_place(tmp_path: Path) -> None:
    """Its comments stay, and so does a key that is not known."""
    file = write(tmp_path, MINE.replace("# always", '# always\nmaybe = "x"'))
    new = Rule("status", "deny", command=("git push *",), path=("/x",), reason="no")
    rules.change(str(tmp_path), "status", lambda others, number: new)
    text = file.read_text()
    told = {"name": "status", "do": "deny", "maybe": "x", "command": "git push *"}
    assert tomllib.loads(text)["policy"]["rules"] == [told | {"path": "/x", "reason": "no"}]
    for line in ("# why I trust it\n[[policy.rules]]", "# always", "\n\n# agents of mine\n[agents"):
        assert line in text
    rules.change(str(tmp_path), "1", lambda others, number: LS)
    assert load(str(tmp_path)).rules == (LS._replace(left_out=True),)
    with pytest.raises(KeyError):
        rules.change(str(tmp_path), "status", lambda others, number: LS)


def test_rules_move_with_their_comments(tmp_path: Path) -> None:
    more = '\n# look\n[[policy.rules]]\ndo = "allow"\ncommand = "ls *"\n\n# agents of mine'
    file = write(tmp_path, MINE.replace("\n# agents of mine", more))
    unnamed = load(str(tmp_path)).rules[1]
    key = rules.key_of(unnamed)
    moved = rules.move(str(tmp_path), key, -1)
    assert [rule.do for rule in load(str(tmp_path)).rules] == ["allow", "allow"]
    assert load(str(tmp_path)).rules[0] == moved == unnamed._replace(name="1")
    text = file.read_text()
    order = ["# look", "ls *", "# why I trust it", '"status"', "# agents of mine", "[agents.mine]"]
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)
    with pytest.raises(KeyError):
        rules.move(str(tmp_path), key, -1)  # another rule is there now
    rules.move(str(tmp_path), "status", 1)  # it is the last
    assert file.read_text() == text
    rules.move(str(tmp_path), "1", 1)
    assert file.read_text() == MINE.replace("\n# agents of mine", more)


def test_an_empty_home_gets_a_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rules.add(str(home), lambda known: LS)
    assert load(str(home)).rules == (LS,)
    assert (home / "config.toml").stat().st_mode & 0o777 == 0o600


def test_a_link_to_the_users_own_file_stays_a_link(tmp_path: Path) -> None:
    home, dotfiles = tmp_path / "home", tmp_path / "dotfiles.toml"
    home.mkdir()
    dotfiles.write_text("")
    (home / "config.toml").symlink_to(dotfiles)
    rules.add(str(home), lambda known: LS)
    assert (home / "config.toml").is_symlink()
    assert "ls*" in dotfiles.read_text()


def test_rules_in_another_toml_form_are_left_to_the_user(tmp_path: Path) -> None:
    inline = 'policy = { rules = [{ do = "allow", command = "x" }] }\n'
    file = write(tmp_path, inline)
    with pytest.raises(toml_file.NotEdited):
        rules.add(str(tmp_path), lambda known: LS)
    with pytest.raises(toml_file.NotEdited):
        rules.remove(str(tmp_path), "1")
    assert file.read_text() == inline
    tricky = '[[policy.rules]]\ndo = "allow"\nexact = """\n[x]\ndo = 1"""\n'
    file = write(tmp_path, f"# mine\n{tricky}[worker]\n")
    rules.remove(str(tmp_path), "1")
    assert file.read_text() == "# mine\n[worker]\n"


def test_a_broken_file_is_not_touched(tmp_path: Path) -> None:
    file = write(tmp_path, "[worker\n")
    with pytest.raises(ConfigError):
        rules.add(str(tmp_path), lambda known: LS)
    assert file.read_text() == "[worker\n"


def test_an_unknown_rule_cannot_be_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        rules.remove(str(tmp_path), "ghost")


TEXTS = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_any_text_survives_the_file(tmp_path: Path, texts: list[str]) -> None:
    clean = tuple(text.encode("utf-8", "replace").decode() for text in texts)
    rule = Rule("x", "deny", exact=clean, reason=clean[0])
    assert parse(rules.written(rule).encode(), "f").rules == (rule,)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            '[[policy.rules]]\ndo = "ask"\nkind = "read"\n\n[[policy.rules]]\nkind = "read"\n',
            5,
            "policy.rules 2 needs do",
        ),
        ('[[policy.rules]]\nkind = "exec"\ndo = "allow"\n', 2, "Known kinds: read"),
        (
            '[[policy.rules]]\nname = "a"\ndo = "ask"\nkind = "read"\n'
            '[[policy.rules]]\nname = "a"\ndo = "ask"\nkind = "read"\n',
            6,
            "another rule's name",
        ),
        ('\n[policy]\nrules = "x"\n', 3, "must be tables"),
        ("policy = 1\n", 1, "must be a table"),
        ("[session]\napprove_all = 1\n", 2, "must be true or false"),
        ('[session]\nconfirm = "never"\n', 2, 'must be "every" or "risky" or "all"'),
    ],
)
def test_a_mistake_is_reported_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as told:
        parse(text.encode(), "config.toml")
    assert f"line {line}:" in str(told.value)
    assert words in str(told.value)


def test_choices_json_is_dropped_and_loosens_nothing(tmp_path: Path) -> None:
    home, file = str(tmp_path), tmp_path / last_choices.FILE
    assert last_choices.drop(home) == ""
    for text, held in (
        ('{"confirm": "risky"}', "risky"),
        ('{"confirm": "all"}', "all"),
        ('{"confirm": "every"}', ""),
        ('{"confirm": "bogus"}', ""),
        ('{"confirm": ["all"]}', ""),
        ("[]", ""),
        ("{", ""),
    ):
        file.write_text(text)
        assert last_choices.drop(home) == held
        assert not file.exists()


@pytest.mark.parametrize(
    ("text", "confirm", "approves"),
    [
        ("", "every", False),
        ('confirm = "risky"', "risky", False),
        ("approve_all = true", "all", True),
        ("approve_all = false", "every", False),
        ('approve_all = true\nconfirm = "every"', "every", False),  # the newer spelling wins
        ('confirm = "all"', "all", False),
    ],
)
def test_the_mode_of_new_sessions_is_read_from_the_configuration(
    text: str, confirm: str, approves: bool
) -> None:
    found = parse(f"[session]\n{text}\n".encode(), "config.toml")
    assert (found.confirm, found.approve_all) == (confirm, approves)


def test_writing_the_newer_key_removes_the_older_one(tmp_path: Path) -> None:
    """Else a stricter choice would leave what loosens."""
    file = tmp_path / "config.toml"
    for value in ("risky", None):
        file.write_text("# mine\n[session]\napprove_all = true\n")
        edit.change(str(tmp_path), {"session.confirm": value})
        assert load(str(tmp_path)).confirm == (value or "every")
        assert "approve_all" not in file.read_text()
        assert "# mine" in file.read_text()
