"""A question shows its choices, and what was chosen."""

import pytest

from rookery.core.asks import forms
from tests.core.making import Json, only, play, prompt, running, update

COLOURS: Json = {
    "type": "string",
    "title": "Colour",
    "oneOf": [
        {"const": "r", "title": "Red"},
        {"const": "b", "title": "Blue", "description": "like the sky"},
    ],
}
SIZES: Json = {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]}
SEVERAL: Json = {"type": "array", "title": "Toppings", "items": {"anyOf": COLOURS["oneOf"]}}


def schema(**fields: Json) -> Json:
    return {"type": "object", "properties": fields}


def test_a_questions_choices_are_read_in_every_spelling() -> None:
    words = ["Red (r)", "Blue (b): like the sky"]
    assert [choice.line for choice in forms.choices(COLOURS)] == words
    assert [choice.line for choice in forms.choices(SEVERAL)] == words
    assert [choice.line for choice in forms.choices(SIZES)] == ["Small (s)", "Large (l)"]
    assert [choice.line for choice in forms.choices({"enum": ["x"]})] == ["x"]
    assert forms.choices({"type": "string"}) == forms.choices(None) == []
    assert forms.listed(schema(c=COLOURS, free={}, s=SIZES)) == [
        "Colour: Red, Blue",
        "s: Small, Large",
    ]
    assert forms.value_of(COLOURS, "blue") == forms.value_of(COLOURS, "b") == "b"


@pytest.mark.parametrize(
    ("fields", "content", "words"),
    [
        ({"c": COLOURS}, {"c": "b"}, "Blue"),
        ({"c": COLOURS, "other": {"type": "string"}}, {"c": "b", "other": ""}, "Blue"),
        ({"c": COLOURS, "s": SIZES}, {"c": "b", "s": "l"}, "Colour: Blue, s: Large"),
        ({"t": SEVERAL}, {"t": ["r", "b"]}, "Red, Blue"),
        ({"ok": {"type": "boolean"}}, {"ok": False}, "no"),
        ({"n": {"type": "integer"}}, {"n": 3}, "3"),
        ({"k": {"type": "string", "format": "password"}}, {"k": "hunter2"}, "(not shown)"),
        ({"k": {"_meta": {"codex": {"isSecret": True}}}}, {"k": "hunter2"}, "(not shown)"),
        ({}, {"gone": "x"}, "x"),
        ({"c": COLOURS}, {}, "Answered"),
        ({"c": COLOURS}, {"c": {"a": 1}}, "Answered"),
    ],
)
def test_the_outcome_of_a_question_says_what_was_chosen(
    fields: Json, content: Json, words: str
) -> None:
    asked = update("_ask", id="q", state="asked", nonce="n", kind="question", message="Which?")
    outcome = {"action": "accept", "content": content}
    closed = update("_ask", id="q", state="closed", outcome=outcome, name="accept")
    document = play(prompt(), running(), {**asked, "schema": schema(**fields)}, closed)
    assert only(document, "ask")["text"] == words


def test_a_question_that_was_declined_says_so() -> None:
    asked = update("_ask", id="q", state="asked", nonce="n", kind="question", message="Which?")
    closed = update("_ask", id="q", state="closed", outcome={"action": "decline"}, name="decline")
    document = play(prompt(), {**asked, "schema": schema(c=COLOURS)}, closed)
    assert only(document, "ask")["text"] == "Declined"
