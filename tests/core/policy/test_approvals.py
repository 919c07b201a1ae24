"""One table of words for approvals: what every interface shows, and what each takes as input."""

import pytest

from rookery.core import argv, commands
from rookery.core.header import Header
from rookery.core.limits import BadValue, checked
from rookery.core.policy import approvals, modes
from rookery.core.settings import definitions
from rookery.core.vendors.profiles import vendor_profile


@pytest.mark.parametrize("each", approvals.TABLE, ids=lambda each: each.id)
def test_ids_words_and_flags_mean_the_same_everywhere(each: approvals.Approval) -> None:
    for word in (each.id, each.label, each.title, each.flag, each.label.replace(" ", "_")):
        assert approvals.id_of(word) == each.id
        assert commands.check({"do": "set", "option": "confirm", "value": word}, 0) is None
    assert argv.confirm({each.flag: "yes"}) == each.id


def test_earlier_flags_are_still_taken() -> None:
    found = {name: argv.confirm({name: "yes"}) for name in ("always-approve", "yolo")}
    assert set(found.values()) == {approvals.ALL}
    assert argv.confirm({"llm-approve": "yes"}) == approvals.RISKY


def test_config_toml_takes_the_words_and_means_the_ids() -> None:
    setting = definitions.find("session.confirm")
    assert setting is not None
    for each in approvals.TABLE[:3]:
        assert checked(setting, each.label) == checked(setting, each.id) == each.id
    with pytest.raises(BadValue):
        checked(setting, "sometimes")


def test_to_plan_is_the_agents_mode() -> None:
    done = commands.offline({"do": "set", "option": "confirm", "value": "plan"})
    assert done == {"sessionUpdate": "_session", "mode": "plan"}


@pytest.mark.parametrize(
    ("vendor", "mode", "title"),
    [
        ("claude", "default", "Ask always"),
        ("claude", "bypassPermissions", "Approve all"),
        ("claude", "plan", "Plan"),
        ("claude", "acceptEdits", ""),
        ("codex", "read-only", "Ask always"),
        ("codex", "agent-full-access", "Approve all"),
        ("gemini", "yolo", "Approve all"),
        ("rookery", "risk-based", "Ask when risky"),
        ("opencode", "build", ""),
    ],
)
def test_a_vendors_mode_has_our_words_where_it_means_the_same(
    vendor: str, mode: str, title: str
) -> None:
    assert vendor_profile(vendor) is not None
    assert modes.title_of(Header({"vendor": vendor}), mode) == title
