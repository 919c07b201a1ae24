"""Filling in an agent's form from the command line: `--set branch=main`."""

from typing import Any

import click

from rookery.cli.output import clean_line
from rookery.core.ask import Ask
from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.forms.form import typed


def form_answer(ask: Ask, option: str, values: tuple[str, ...]) -> Json:
    """Return the answer to a question, checked against its form. Raises click.UsageError."""
    if option not in ("accept", "decline", "cancel"):
        noun = "link" if ask.is_link else "form"
        message = f"answer a {noun} with accept, decline or cancel."
        raise click.BadParameter(message, param_hint="OPTION")
    if option != "accept":
        return {"action": option}
    if ask.is_link:
        if values:
            raise click.BadParameter("this question has no form.", param_hint="--set")
        return {"action": "accept"}
    schema = ask.schema or {}
    fields = lenient.mapping(schema, "properties")
    content: Json = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or name not in fields:
            known = clean_line(", ".join(fields))
            message = f"{value!r}: pass FIELD=VALUE, with FIELD one of {known}."
            raise click.BadParameter(message, param_hint="--set")
        content[name] = _meant(fields[name], typed(fields[name], text))
    missing = [name for name in lenient.texts(schema, "required") if name not in content]
    if missing:
        raise click.UsageError(f"Required: --set {'=… --set '.join(missing)}=…")
    if wrong := forms.check(schema, content):
        problems = "; ".join(f"{name} {why}" for name, why in wrong.items())
        raise click.BadParameter(clean_line(problems) + ".", param_hint="--set")
    return {"action": "accept", "content": content}


def _meant(field: Any, value: Any) -> Any:
    """Return the field's value; a choice may be given by its name."""
    if isinstance(value, list):
        return [forms.value_of(field, each) for each in value]
    return forms.value_of(field, value) if isinstance(value, str) else value
