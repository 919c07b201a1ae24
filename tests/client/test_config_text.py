"""Settings changed in the text of config.toml: what a person wrote there stays."""

from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from rookery.client.config.edit import change, edited
from rookery.core.limits import Setting
from rookery.core.settings import definitions as settings
from rookery.home import config

FILE = """\
# mine
default_agent = "demo"   # the quick one

# how long
[worker]
cancel_grace = 5  # short
# the rest stays

[agents.mine]
command = ["x", "# no comment"]
"""


def file(home: Path) -> Path:
    return home / "config.toml"


def test_replacing_a_value_keeps_every_comment(tmp_path: Path) -> None:
    file(tmp_path).write_text(FILE)
    change(str(tmp_path), {"worker.cancel_grace": 12.5, "default_agent": 'a "b" # c'})
    expected = FILE.replace("cancel_grace = 5", "cancel_grace = 12.5")
    assert file(tmp_path).read_text() == expected.replace('"demo"', '"a \\"b\\" # c"')
    assert config.load(str(tmp_path)).policy.cancel_grace == 12.5


def test_new_keys_go_into_their_table_and_new_tables_to_the_end(tmp_path: Path) -> None:
    file(tmp_path).write_text(FILE)
    change(str(tmp_path), {"worker.stop_grace": 3, "node_path": "~/n", "interface.theme": "light"})
    text = file(tmp_path).read_text()
    assert "cancel_grace = 5  # short\nstop_grace = 3\n# the rest stays\n" in text
    assert 'default_agent = "demo"   # the quick one\nnode_path = "~/n"\n' in text
    assert text.endswith('command = ["x", "# no comment"]\n\n[interface]\ntheme = "light"\n')


def test_setting_the_default_removes_the_line(tmp_path: Path) -> None:
    file(tmp_path).write_text(FILE)
    change(str(tmp_path), {"worker.cancel_grace": None, "default_agent": None})
    assert "cancel_grace" not in file(tmp_path).read_text()
    assert config.load(str(tmp_path)).default_agent == ""
    assert "# the rest stays" in file(tmp_path).read_text()


def test_a_missing_file_is_created(tmp_path: Path) -> None:
    change(str(tmp_path), {"critic.enabled": False, "show_tool_durations": False})
    assert (
        file(tmp_path).read_text() == "show_tool_durations = false\n\n[critic]\nenabled = false\n"
    )
    assert file(tmp_path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("worker = { cancel_grace = 5 }", "worker = { cancel_grace = 7 }"),
        ("worker.cancel_grace = 5 # mine", "worker.cancel_grace = 7 # mine"),
        ("[worker]\n'cancel_grace' = 5", "[worker]\n'cancel_grace' = 7"),
        ("[worker]\ncancel_grace =\t5.0 #", "[worker]\ncancel_grace =\t7 #"),
    ],
)
def test_a_value_is_replaced_however_it_is_written(tmp_path: Path, before: str, after: str) -> None:
    file(tmp_path).write_text(f"{before}\n[keys]\n" if "[" not in before else f"{before}\n")
    rest = file(tmp_path).read_text().removeprefix(before)
    change(str(tmp_path), {"worker.cancel_grace": 7.0})
    assert file(tmp_path).read_text() == after + rest


def test_a_file_that_does_not_parse_is_left_alone(tmp_path: Path) -> None:
    file(tmp_path).write_text("[worker\n")
    with pytest.raises(config.ConfigError, match=r"config\.toml, line 1, column 8: "):
        change(str(tmp_path), {"worker.cancel_grace": 7.0})
    assert file(tmp_path).read_text() == "[worker\n"


def test_an_invalid_value_changes_nothing(tmp_path: Path) -> None:
    file(tmp_path).write_text(FILE)
    with pytest.raises(config.ConfigError, match=r"critic\.score_below must be 0 to 1"):
        change(str(tmp_path), {"critic.score_below": 2.0})
    assert file(tmp_path).read_text() == FILE


VALUES = st.sampled_from([each for each in settings.SINGLE if each.default is not None])


@given(st.lists(VALUES, max_size=8))
def test_any_default_can_be_written_and_removed_again(picked: list[Setting]) -> None:
    before = config.parse(FILE.encode(), "f")
    text = edited(FILE, {each.key: each.default for each in picked})
    after = config.parse(text.encode(), "f")
    for each in picked:
        assert config.value_of(after, each) == each.default
    untouched = [each for each in settings.SINGLE if each not in picked]
    last = config.parse(edited(text, {each.key: None for each in picked}).encode(), "f")
    for each in untouched:
        assert config.value_of(last, each) == config.value_of(before, each)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('theme = "blue"', 'interface.theme must be "dark" or "light" or "contrast"'),
        ("cards_expanded = 1", "interface.cards_expanded must be true or false"),
    ],
)
def test_a_mistake_in_the_interface_table_is_reported_with_its_line(line: str, said: str) -> None:
    with pytest.raises(config.ConfigError) as told:
        config.parse(f"[interface]\n{line}\n".encode(), "f")
    assert str(told.value).startswith(f"f, line 2: {said}")


def test_the_interface_table_is_read() -> None:
    text = (
        b'[interface]\ntheme = "light"\ndiff = "split"\ncards_expanded = true\nplan_opens = false'
        b"\ncompact_list = true\npictures = false"
    )
    assert config.parse(text, "f").interface == ("light", "split", True, False, True, False)


def test_tomlkit_still_puts_a_new_key_behind_the_comments_of_the_next_table() -> None:
    """Once it does not, `rules.inserted` and its use of a private method are not needed."""
    document = tomlkit.parse("[a]\nx = 1\n\n# of b\n[b]\ny = 2\n")
    document["a"]["z"] = 3  # type: ignore[index]
    assert "# of b\nz = 3" in tomlkit.dumps(document)
