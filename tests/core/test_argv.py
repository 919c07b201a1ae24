"""A command line of a few words, read by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core import argv


def read(*words: str) -> dict[str, str]:
    either = [("name", "last")]
    return argv.read(list(words), values=("name", "cmd"), flags=("last", "all"), either=either)


def test_values_and_flags() -> None:
    assert read() == {}
    assert read("--name=a=b", "--all") == {"name": "a=b", "all": "yes"}
    assert read("--cmd", "x --last", "--last") == {"cmd": "x --last", "last": "yes"}
    assert read("--name=", "--name", "--all") == {"name": "--all"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--name"], "--name needs a value"),
        (["--name=a", "--last"], "--name and --last cannot be combined"),
        (["--last="], "--last is not a known option"),
        (["name=a"], "name is not a known option"),
        (["--", "--last"], "-- is not a known option"),
        (["----last"], "----last is not a known option"),
        ([""], " is not a known option"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(words: list[str], told: str) -> None:
    with pytest.raises(argv.Misused) as caught:
        read(*words)
    assert str(caught.value) == told


@given(st.lists(st.text("-=aelmnst", max_size=8) | st.sampled_from(["--name", "--last"])))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    try:
        found = read(*words)
    except argv.Misused:
        return
    assert found.keys() <= {"name", "cmd", "last", "all"}
    assert not {"name", "last"} <= found.keys()


def test_one_other_word_and_numbers() -> None:
    def read_file(*words: str) -> dict[str, str]:
        return argv.read(list(words), values=("port",), operand="file")

    assert read_file("--port", "80", "a=b") == {"file": "a=b", "port": "80"}
    assert argv.number({"port": "80"}, "port", int) == 80
    assert argv.number({}, "port", int) is None
    for words, told in (([], "FILE is missing"), (["a", "b"], "b is not a known option")):
        with pytest.raises(argv.Misused, match=told):
            read_file(*words)
    with pytest.raises(argv.Misused, match="--port x is not a number"):
        argv.number({"port": "x"}, "port", int)
