"""A person's keys, before anything is opened: which they are, which clash, and what the others
keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.settings.keys import (
    DEFAULTS,
    KEY_IDS,
    PLACES,
    NoKey,
    clash,
    listed,
    meet,
    settled,
)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("ctrl+x", ["ctrl+x"]),
        ("Ctrl+X, F9", ["ctrl+x", "f9"]),
        ("shift+ctrl+left", ["ctrl+shift+left"]),
        ("shift+k", ["K"]),
        ("K", ["K"]),
        ("?", ["question_mark"]),
        ("question_mark", ["question_mark"]),
        ("+", ["plus"]),
        ("ctrl+/", ["ctrl+slash"]),
        ("comma", ["comma"]),
        ("ctrl+minus", ["ctrl+minus"]),
        ("f9,F9", ["f9"]),
    ],
)
def test_a_key_is_read_as_people_write_it(written: str, keys: list[str]) -> None:
    assert listed(written) == keys


@pytest.mark.parametrize("written", ["ctlr+x", "f99", "ctrl+", "", "ctrl+x,", "left arrow", "\x01"])
def test_an_invalid_key_is_reported(written: str) -> None:
    with pytest.raises(NoKey):
        listed(written)


def test_every_default_key_is_valid() -> None:
    assert all(listed(keys) == keys.split(",") for keys in DEFAULTS.values())


def test_a_custom_key_replaces_the_default_in_the_same_place() -> None:
    gone = {"block.edit": [], "ask.explain": []}
    assert settled({"block.copy": "e"}) == {"block.copy": ["e"], **gone}
    assert settled({"fleet.open": "j"}) == {"fleet.open": ["j"], "fleet.down": ["down"]}


def test_a_custom_global_key_is_taken_from_every_place() -> None:
    assert settled({"ask.next": "ctrl+r"}) == {"ask.next": ["ctrl+r"], "past.search": []}
    # Leaving also works over windows, the next ask does not.
    given = {"shell.give": []}
    assert settled({"ask.next": "ctrl+s"}) == {"ask.next": ["ctrl+s"], **given}
    assert settled({"quit": "ctrl+s"}) == {"quit": ["ctrl+s"], "form.send": [], **given}


def test_a_custom_local_key_is_taken_from_global_defaults() -> None:
    assert settled({"composer.editor": "f5"}) == {"composer.editor": ["f5"], "theme": []}
    assert settled({"models.new": "f6"}) == {"models.new": ["f6"]}


def test_two_places_that_never_meet_may_have_one_key() -> None:
    own = {"queue.edit": "f13", "fleet.open": "f13", "servers.new": "f13"}
    assert clash(own, "queue.edit") is None
    assert settled(own).keys() == own.keys()


def test_an_actions_own_default_key_is_taken_from_nobody() -> None:
    assert settled({"turn.cancel": "escape"}) == {"turn.cancel": ["escape"]}
    own = {"turn.cancel": "escape", "suggestion.close": "escape"}
    assert clash(own, "turn.cancel") is None


def test_two_keys_can_be_exchanged() -> None:
    own = {"block.copy": "s", "block.split": "c"}
    assert settled(own) == {"block.copy": ["s"], "block.split": ["c"]}
    assert clash(own, "block.copy") is None


def test_two_custom_actions_on_one_key_clash_where_they_meet() -> None:
    assert clash({"quit": "f12", "composer.send": "f11,f12"}, "quit") == ("composer.send", "f12")
    assert clash({"block.copy": "z", "block.edit": "z"}, "block.edit") == ("block.copy", "z")


@given(st.dictionaries(st.sampled_from(KEY_IDS), st.sampled_from(["f5", "enter", "e", "tab", "z"])))
def test_a_custom_key_never_means_anything_else(chosen: dict[str, str]) -> None:
    """Beside those that shared it from the beginning."""
    if any(clash(chosen, name) for name in chosen):
        return
    found = settled(chosen)
    keys = {name: found.get(name, DEFAULTS[name].split(",")) for name in KEY_IDS}
    for name, key in chosen.items():
        assert keys[name] == [key]
        if key in DEFAULTS[name].split(","):
            continue
        assert [other for other in KEY_IDS if meet(name, other) and key in keys[other]] == [name]
    kept = {name for place in PLACES.values() for name in place}
    assert found.keys() <= kept
