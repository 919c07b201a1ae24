"""What protects the user is never replaced by a default."""

from typing import Any

import pytest

from rookery.core import safety
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json


def header_of(**fields: Any) -> Header:
    event = Event(1, 0, None, None, {"sessionUpdate": "_session", **fields})
    return EMPTY.with_(**advance(EMPTY, event))


@pytest.mark.parametrize(
    "fields",
    [{}, {"sandbox": "none"}, {"sandbox": None}, {"budget": {}}, {"budget": {"day": "off"}}],
    ids=str,
)
def test_a_session_without_a_safety_field_keeps_the_first_format(fields: Json) -> None:
    assert safety.format_of(header_of(**fields)) == safety.PLAIN
    assert safety.fault(header_of(**fields)) == ""


@pytest.mark.parametrize(
    "fields",
    [{"sandbox": "bwrap"}, {"sandbox": "container"}, {"budget": {"turn": "5k tokens"}}],
    ids=str,
)
def test_a_known_safety_field_raises_the_format(fields: Json) -> None:
    assert safety.format_of(header_of(**fields)) > safety.PLAIN
    assert safety.fault(header_of(**fields)) == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"sandbox": "firejail"},
        {"sandbox": {"kind": "bwrap", "network": "off"}},
        {"sandbox": ["bwrap"]},
        {"sandbox": True},
        {"budget": {"week": "5 USD"}},
        {"budget": {"turn": 5}},
        {"budget": {"turn": "two moons"}},
        {"budget": 5},
    ],
    ids=str,
)
def test_a_safety_field_that_is_not_understood_is_refused(fields: Json) -> None:
    [name] = fields
    header = header_of(**fields)
    assert f"This session's {name} is" in safety.fault(header)
    assert "rookery update" in safety.fault(header)
    assert safety.format_of(header) > safety.PLAIN
