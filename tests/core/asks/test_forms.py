"""What a form takes."""

from typing import Any

import pytest
from hypothesis import given

from rookery.core.asks.forms import check, choices_of
from tests.core.hostile import foreign_json

type Json = dict[str, Any]


def wrong(field: Json, value: object) -> str:
    return check({"properties": {"f": field}}, {"f": value}).get("f", "")


@pytest.mark.parametrize(
    ("field", "right", "bad"),
    [
        ({"type": "string"}, ["", "x"], [1, True, ["x"], {}]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "日本語"], ["a", "abcd"]),
        ({"type": "string", "pattern": "^[a-z]+$"}, ["abc"], ["ABC", "a1"]),
        ({"type": "string", "pattern": "("}, ["anything"], []),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", ""]),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, ["a"], ["A"]),
        ({"type": "string", "format": "email"}, ["a@b.c"], ["a", "a b@c"]),
        ({"type": "string", "format": "uri"}, ["https://x", "mailto:a@b"], ["x.example"]),
        ({"type": "string", "format": "date"}, ["2026-01-31"], ["31.1.2026"]),
        ({"type": "string", "format": "date-time"}, ["2026-01-31T10:00:00Z"], ["2026-01-31"]),
        ({"type": "string", "format": "unheard-of"}, ["x"], []),
        ({"type": "number", "minimum": 0, "maximum": 1.5}, [0, 1.5, 1], [-1, 2, "1", True]),
        ({"type": "number"}, [1e300], [float("nan"), float("inf")]),
        ({"type": "integer", "minimum": 1}, [1, 2.0, 10**30], [0, 1.5, "1", False]),
        ({"type": "boolean"}, [True, False], [0, 1, "yes"]),
        (
            {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 2},
            [["x"], ["x", "y"]],
            [[], ["z"], ["x", "y", "x"], "x", [1]],
        ),
        ({"type": "array", "items": {"anyOf": [{"const": "x"}]}}, [["x"]], [["y"]]),
        ({"type": "of the future"}, [1, "x", None], []),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_field_takes_what_it_says(field: Json, right: list[Any], bad: list[Any]) -> None:
    assert [wrong(field, value) for value in right] == [""] * len(right)
    assert all(wrong(field, value) for value in bad)


@pytest.mark.parametrize("value", [None, ""])
def test_what_is_required_is_needed(value: object) -> None:
    schema = {"properties": {"f": {"type": "string"}}, "required": ["f", "unknown"]}
    assert check(schema, {"f": value}) == {"f": "is required"}
    assert check(schema, {}) == {"f": "is required"}
    assert check(schema, {"f": "x"}) == {}


def test_a_false_is_an_answer() -> None:
    assert check({"properties": {"f": {"type": "boolean"}}, "required": ["f"]}, {"f": False}) == {}


def test_what_is_not_in_the_form_is_refused() -> None:
    assert check({"properties": {}}, {"x": 1}) == {"x": "is not a field of this form"}


def test_choices_are_found_however_they_are_spelled() -> None:
    assert choices_of({"enum": ["a", 1]}) == ["a"]
    assert choices_of({"oneOf": [{"const": "a"}], "anyOf": [{"const": "b"}]}) == ["a", "b"]
    assert choices_of({}) == []


@given(foreign_json, foreign_json)
def test_any_form_is_checked(schema: object, value: object) -> None:
    given_schema = schema if isinstance(schema, dict) else {"properties": {"f": schema}}
    assert isinstance(check(given_schema, {"f": value}), dict)
    assert isinstance(check({"properties": {"f": given_schema}}, {"f": value}), dict)
