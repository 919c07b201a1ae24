"""The environment of what a worker starts."""

from hypothesis import given
from hypothesis import strategies as st

from rookery.core.vendors.environment import (
    LACKING,
    OURS,
    OVERRIDE,
    OVERRIDES,
    cleaned,
    completed,
    withheld,
)


def test_the_environment_of_the_sessions_creation_is_passed_on() -> None:
    kept = {
        "PATH": "/bin",
        "HTTPS_PROXY": "p",
        "VIRTUAL_ENV": "/v",
        "CROW_API_KEY": "k",
        "OLD_": "",
    }
    assert cleaned(kept) == kept


def test_our_own_loader_and_denied_variables_are_not_passed_on() -> None:
    ours = dict.fromkeys(OURS, "x")
    loader = {"LD_PRELOAD": "x", "LD_LIBRARY_PATH": "x", "DYLD_INSERT_LIBRARIES": "x"}
    assert cleaned({**ours, **loader, "DENIED": "x", "A": "y"}, ["DENIED"]) == {"A": "y"}


@given(st.dictionaries(st.text() | st.sampled_from(sorted(OURS)), st.text()), st.lists(st.text()))
def test_nothing_is_added_or_changed(environment: dict[str, str], denied: list[str]) -> None:
    kept = cleaned(environment, denied)
    assert kept.items() <= environment.items()
    assert not kept.keys() & (OURS | set(denied))
    assert cleaned(kept, denied) == kept


def test_overrides_of_our_own_agents_model_are_withheld() -> None:
    """Never persisted (agent.md, Settings); to another vendor's agent they are its keys."""
    given_ = {"LLM_API_KEY": "k", "LLM_BASE_URL": " ", "ANTHROPIC_API_KEY": "a", "A": "b"}
    assert withheld(given_, own=True) == ["LLM_API_KEY"]
    assert withheld(given_, own=False) == []
    assert withheld({**given_, OVERRIDE: "1"}, own=False) == ["LLM_API_KEY"]
    assert withheld({**given_, OVERRIDE: "0"}, own=False) == []


def test_what_was_withheld_is_taken_from_who_starts_or_missed() -> None:
    kept, names = {"A": "b", OVERRIDE: "1"}, ["LLM_MODEL", "LLM_API_KEY"]
    present = {"LLM_MODEL": "m", "LLM_API_KEY": "k", "LLM_BASE_URL": "u", "A": "other"}
    assert completed(kept, names, present) == kept | {"LLM_MODEL": "m", "LLM_API_KEY": "k"}
    some = completed(kept, names, {"LLM_MODEL": "m", "LLM_API_KEY": ""})
    assert some == kept | {"LLM_MODEL": "m", LACKING: "LLM_API_KEY"}
    assert completed(kept, names, {})[LACKING] == "LLM_MODEL LLM_API_KEY"
    assert completed({"A": "b"}, names, {}) == {"A": "b"}, "it needs none of them"
    assert completed(kept, [], present) == kept


@given(
    st.dictionaries(st.sampled_from([*OVERRIDES, OVERRIDE, "A"]), st.sampled_from(["", "1", "x"])),
    st.booleans(),
)
def test_a_worker_beside_its_maker_has_what_the_maker_had(
    environment: dict[str, str], own: bool
) -> None:
    names = withheld(environment, own=own)
    kept = cleaned(environment, names)
    assert {**environment, **completed(kept, names, environment)} == environment
    assert LACKING not in completed(kept, names, environment)
