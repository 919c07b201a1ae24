"""The environment of what a worker starts (row A1)."""

from hypothesis import given
from hypothesis import strategies as st

from rookery.core.environment import OURS, cleaned


def test_what_the_session_was_made_in_is_passed_on_a1() -> None:
    kept = {
        "PATH": "/bin",
        "HTTPS_PROXY": "p",
        "VIRTUAL_ENV": "/v",
        "CROW_API_KEY": "k",
        "OLD_": "",
    }
    assert cleaned(kept) == kept


def test_ours_the_loaders_and_the_denied_are_not_a1() -> None:
    ours = dict.fromkeys(OURS, "x")
    loader = {"LD_PRELOAD": "x", "LD_LIBRARY_PATH": "x", "DYLD_INSERT_LIBRARIES": "x"}
    assert cleaned({**ours, **loader, "DENIED": "x", "A": "y"}, ["DENIED"]) == {"A": "y"}


@given(st.dictionaries(st.text() | st.sampled_from(sorted(OURS)), st.text()), st.lists(st.text()))
def test_nothing_is_added_or_changed_a1(environment: dict[str, str], denied: list[str]) -> None:
    kept = cleaned(environment, denied)
    assert kept.items() <= environment.items()
    assert not kept.keys() & (OURS | set(denied))
    assert cleaned(kept, denied) == kept
