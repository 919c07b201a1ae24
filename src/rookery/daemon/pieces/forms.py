"""Forms as HTML: fields with labels, help and errors. `settings.js` sends what was changed."""

import json
from typing import Any

from rookery.core.json import Json, lenient
from rookery.export.html.text import esc, esc_line, tag
from rookery.forms.form import about, hinted, is_secret, is_shown, spelled, titled

ONLY_BY_SCRIPT = 'method="dialog"'
"""For a form that only a script sends: outside of a dialog, a browser then submits nothing by
itself. Otherwise a key or prompt entered before the script has loaded would end up in the page's
URL."""

CHOSEN = 200
"""Characters of a choice's name."""


def fields(schema: Json, values: Json) -> str:
    """Render all fields; those that do not apply to the current choices are hidden."""
    required = lenient.texts(schema, "required")
    properties = lenient.mapping(schema, "properties").items()
    return "".join(_field(name, field, values, name in required) for name, field in properties)


def form(
    schema: Json,
    values: Json,
    *,
    given: Json,
    buttons: str,
    new: bool = False,
    back: str = "",
    busy: str = "",
) -> str:
    """Render a form. `given` identifies it, as arguments of `save-settings`; `buttons` and `fields`
    are HTML; `back` is where to go once it was saved. `busy` is shown meanwhile, for forms that do
    something else than save."""
    flags = f' data-given="{esc(json.dumps(given))}"' + (" data-new" if new else "")
    flags += f' data-busy="{esc_line(busy)}"' if busy else ""
    return (
        f'<form class="setup" {ONLY_BY_SCRIPT} data-do="save-form"'
        f' data-back="{esc_line(back)}"{flags} novalidate autocomplete="off">'
        f'<div class="form-fields">{fields(schema, values)}</div>'
        f'<div class="save-line">{buttons}<p class="outcome" role="status"></p></div></form>'
    )


def _field(name: str, field: Any, values: Json, required: bool) -> str:
    value = values.get(name)
    value = field.get("default") if value is None and isinstance(field, dict) else value
    here = f"f-{esc_line(name)}"
    hint = hinted(field, values)
    help_ = esc_line(about(field) if hint is None else hint, 700)
    aria = f'aria-describedby="{here}-about {here}-wrong"'
    kind = lenient.text(field, "type")
    items = lenient.mapping(field, "items")
    several = kind == "array" and bool(titled(items))
    if kind == "boolean":
        checked = " checked" if value is True else ""
        box = f'<input type="checkbox" id="{here}" name="{esc_line(name)}" {aria}{checked}>'
        inner = f'<label class="tick">{box}<span>{_title(name, field)}</span></label>'
    elif several:
        inner = _ticks(name, field, items, value, aria)
    else:
        label = _title(name, field) + (tag("span", " required", "soft") if required else "")
        inner = f'<label for="{here}">{label}</label>' + _line(name, field, value, aria)
    when, hints = lenient.mapping(field, "when"), lenient.mapping(field, "hints")
    data = f' data-when="{esc(json.dumps(when))}"' if when else ""
    data += f' data-hints="{esc(json.dumps(hints))}"' if hints else ""
    data += "" if is_shown(field, values) else " hidden"
    return (
        f'<div class="field" data-field="{esc_line(name)}"{data}>{inner}'
        f'<p class="wrong" id="{here}-wrong"></p>'
        f'<p class="about" id="{here}-about">{help_}</p></div>'
    )


def _title(name: str, field: Any) -> str:
    """Put the setting's name before what it is for."""
    title = lenient.text(field, "title") or name
    short, colon, rest = title.partition(": ")
    if colon and lenient.text(field, "called"):
        return f'<b>{esc_line(short)}</b> <span class="brief">{esc_line(rest)}</span>'
    return f"<b>{esc_line(title)}</b>"


def _line(name: str, field: Any, value: Any, aria: str) -> str:
    here = f'id="f-{esc_line(name)}" name="{esc_line(name)}" {aria}'
    choices = titled(field) if isinstance(field, dict) else []
    if choices and lenient.text(field, "type") == "string":
        known = [each for each, _ in choices]
        blank = "" if value in known else '<option value="" selected>nothing chosen</option>'
        options = blank + "".join(
            f'<option value="{esc_line(each)}"{" selected" if each == value else ""}>'
            f"{esc_line(title, CHOSEN) or '(empty)'}</option>"
            for each, title in choices
        )
        return f"<select {here}>{options}</select>"
    hint = esc_line(lenient.text(field, "hint"))
    if lenient.text(field, "how") == "text":
        return f'<textarea {here} rows="4">{esc(spelled(value))}</textarea>'
    if is_secret(field):
        clear = (
            f'<label class="tick clear"><input type="checkbox" data-clear="{esc_line(name)}">'
            "<span>Remove the saved one</span></label>"
            if hint and lenient.flag(field, "ranged")
            else ""
        )
        return (
            f'<input type="password" {here} autocomplete="new-password" '
            f'placeholder="{hint}">{clear}'
        )
    number = lenient.text(field, "type") in ("number", "integer")
    more = ' inputmode="decimal" class="short"' if number else ""
    shown = esc_line(spelled(value), 20_000)
    return (
        f'<input type="text" {here} value="{shown}" placeholder="{hint}" '
        f'spellcheck="false" autocapitalize="off"{more}>'
    )


def _ticks(name: str, field: Any, items: Json, value: Any, aria: str) -> str:
    chosen = value if isinstance(value, list) else []
    boxes = "".join(
        f'<label class="tick"><input type="checkbox" data-of="{esc_line(name)}" '
        f'value="{esc_line(each)}"{" checked" if each in chosen else ""}>'
        f"<span>{esc_line(title, CHOSEN)}</span></label>"
        for each, title in titled(items)
    )
    return (
        f'<fieldset id="f-{esc_line(name)}" {aria}><legend>{_title(name, field)}</legend>'
        f'<div class="ticks">{boxes}</div></fieldset>'
    )
