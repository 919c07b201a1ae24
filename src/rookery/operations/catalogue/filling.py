"""Arguments as users write them: the form that asks for them, the text after a slash command, and
the values that are sent."""

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from rookery.core.json import Json
from rookery.operations.catalogue import moments
from rookery.operations.catalogue.arguments import Argument
from rookery.operations.catalogue.row import Row

YES, NO = ("yes", "on", "true"), ("no", "off", "false")
"""Words typed for a switch; the argument's own word is a yes, too: /cancel force."""


class Filled(NamedTuple):
    arguments: Json
    wrong: Mapping[str, str] = {}
    """By argument: what completes the sentence that begins with its name."""


def form_of(row: Row) -> Json:
    """Return the arguments as a form's schema: moments are text; the row explains patterns."""
    schema, typed = row.schema, (each for each in row.arguments if each.about.typed)
    fields = {each.name: _field(each, schema["properties"][each.name]) for each in typed}
    return schema | {"properties": fields}


def _field(argument: Argument, field: Json) -> Json:
    if argument.about.each:
        choices = [
            {"const": each, "title": meaning.rstrip(".")}
            for each, meaning in argument.about.each.items()
        ]
        return {**field, "oneOf": choices, "enum": [*argument.about.each]}
    if argument.about.how != "moment":
        return {k: field[k] for k in field if k != "pattern"} | {"type": argument.kind}
    return {"type": "string", "title": field["title"], "description": "2h, 09:00 or 2030-01-31"}


def filled(row: Row, answers: Mapping[str, Any], now: datetime) -> Filled:
    """Convert a form's answers to arguments. `now`: local, with its time zone."""
    values, wrong = dict[str, Any](), dict[str, str]()
    for argument in row.arguments:
        value = answers.get(argument.name)
        if value is None or value == "":
            continue
        if argument.about.how == "moment":
            try:
                value = moments.read(str(value), now)
            except ValueError as error:
                wrong[argument.name] = str(error)
                continue
        if argument.kind == "boolean" and isinstance(value, str):
            yes = value.lower() in {*YES, argument.word}
            if not yes and value.lower() not in NO:
                wrong[argument.name] = "must be yes or no"
                continue
            value = yes
        values[argument.name] = value
    return Filled(values, wrong)


def words_in(row: Row, text: str) -> dict[str, str]:
    """Split the text after a slash command into arguments, in their order; the last one takes all
    that is left. A number that comes first may be missing."""
    names = [each.name for each in row.arguments if each.about.typed]
    if len(names) < 2:
        return {names[0]: text} if names and text else {}
    try:
        parts = shlex.split(text)
    except ValueError:
        parts = text.split()
    if row.arguments[0].kind == "integer" and parts and not parts[0].isdecimal():
        names = names[1:]
    *first, last = parts[: len(names)] or [""]
    rest = " ".join([last, *parts[len(names) :]])
    return {name: part for name, part in zip(names, [*first, rest], strict=False) if part}


def confirmation(row: Row, arguments: Json, session: str, now: datetime) -> str:
    """Return the sentence that is shown once the operation is done; "" if there is none."""
    shown = dict(arguments)
    for each in row.arguments:
        if each.about.how == "moment" and each.name in shown:
            shown[each.name] = moments.spelled(shown[each.name], now)
    return row.traits.done.format(session, **shown)
