"""The one drawer of forms on the page: settings, operations' arguments, agents' questions.

`assets/fields.js` reads what is entered, and shows what is wrong."""

import json
from typing import Any

from rookery.core.asks import forms
from rookery.core.asks.forms import Choice, Field
from rookery.core.json import Json, lenient
from rookery.export.html.text import esc, esc_line, tag
from rookery.forms.form import about, hinted, is_shown, spelled

ONLY_BY_SCRIPT = 'method="dialog"'
"""For a form that only a script sends: outside of a dialog, a browser then submits nothing by
itself. Otherwise a key or prompt entered before the script has loaded would end up in the page's
URL."""

MAX_CHOICES, MAX_TITLE = 200, 200
RADIOS = 6
"""How many choices that say what they mean are shown without opening a list."""
LONG = 200
"""Characters from which on a text gets a box of several lines."""
INPUTS = {"email": "email", "uri": "url", "date": "date"}
"""Types of inputs, by the format of a text."""


def fields(schema: Json, values: Json, place: str = "") -> str:
    """Render all fields; those that do not apply to the current choices are hidden. `place` sets
    the ids of several forms on a page apart; without it, a field has its name in its own."""
    return "".join(
        _field(f"{place}-{number}" if place else f"f-{each.name}", each, values)
        for number, each in enumerate(forms.fields_of(schema))
    )


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


def _field(here: str, each: Field, values: Json) -> str:
    here, name, field = esc_line(here, 200), each.name, each.schema
    given = values.get(name)
    value = field.get("default") if given is None and isinstance(field, dict) else given
    kind, offered = lenient.text(field, "type", "string"), forms.choices(field)[:MAX_CHOICES]
    title = esc_line(each.title)
    star = tag("span", " required", "needs") if each.required else ""
    hint = hinted(field, values)
    note = esc_line(about(field) if hint is None else hint, 700)
    note = f'<p class="about" id="{here}-about">{note}</p>'
    aria = f'aria-describedby="{here}-about {here}-wrong"'
    shared = f'name="{esc_line(name, 200)}" {aria}' + (" required" if each.required else "")
    if offered and (kind == "array" or _explained(offered)):
        boxes = _boxes(offered, value, kind == "array", shared)
        inner = f"<fieldset><legend>{title}{star}</legend>{note}{boxes}</fieldset>"
    elif kind == "boolean":
        on = " checked" if value is True else ""
        box = f'<input type="checkbox" id="{here}" name="{esc_line(name, 200)}" {aria}{on}>'
        inner = f'<label class="tick">{box}<span>{title}</span></label>{note}'
    else:
        control = f'id="{here}" {shared}'
        line = _select(offered, value, control) if offered else _input(field, kind, value, control)
        clear = _clear(name) if lenient.flag(field, "clears") else ""
        inner = f'<label for="{here}">{title}{star}</label>{note}{line}{clear}'
    when, hints = lenient.mapping(field, "when"), lenient.mapping(field, "hints")
    data = f' data-when="{esc(json.dumps(when))}"' if when else ""
    data += f' data-hints="{esc(json.dumps(hints))}"' if hints else ""
    data += "" if is_shown(field, values) else " hidden"
    return (
        f'<div class="field" data-field="{esc_line(name, 200)}" data-type="{esc_line(kind, 20)}"'
        f'{data}>{inner}<p class="wrong" id="{here}-wrong"></p></div>'
    )


def _explained(offered: list[Choice]) -> bool:
    """Whether all choices are shown with what they mean."""
    return len(offered) <= RADIOS and any(each.about for each in offered)


def _boxes(offered: list[Choice], value: Any, many: bool, shared: str) -> str:
    """Render a choice of one of a few, or of any number."""
    kind, shared = ("checkbox", shared.removesuffix(" required")) if many else ("radio", shared)
    chosen = value if isinstance(value, list) else [value]
    rows = ""
    for each in offered:
        on = " checked" if each.value in chosen else ""
        note = tag("small", esc_line(each.about)) if each.about else ""
        box = f'<input type="{kind}" {shared} value="{esc_line(each.value, 500)}"{on}>'
        text = f"<span>{esc_line(each.name, MAX_TITLE)}{note}</span>"
        rows += f'<label class="tick">{box}{text}</label>'
    return tag("div", rows, "ticks" if many else "")


def _select(offered: list[Choice], value: Any, control: str) -> str:
    known = value in [each.value for each in offered]
    options = "" if known else '<option value="" selected>Choose</option>'
    for each in offered:
        on = " selected" if each.value == value else ""
        note = f": {each.about}" if each.about else ""
        text = esc_line(f"{each.name}{note}", MAX_TITLE) or "(empty)"
        options += f'<option value="{esc_line(each.value, 500)}"{on}>{text}</option>'
    return f"<select {control}>{options}</select>"


def _input(field: Any, kind: str, value: Any, control: str) -> str:
    hint, shown = esc_line(lenient.text(field, "hint")), spelled(value)
    hint = f' placeholder="{hint}"' if hint else ""
    if forms.is_secret(field):
        return f'<input type="password" {control} autocomplete="new-password"{hint}>'
    if kind in ("number", "integer"):
        limits = _limits(field, minimum="min", maximum="max")
        step = "1" if kind == "integer" else "any"
        return f'<input type="number" step="{step}" {control}{limits}{hint} value="{esc(shown)}">'
    limits = _limits(field, minLength="minlength", maxLength="maxlength")
    more = f"{control}{limits}{hint}"
    how, size = lenient.text(field, "how"), lenient.integer(field, "maxLength") or 0
    if how == "text" or (not how and size > LONG) or "\n" in shown:
        return f'<textarea rows="4" {more}>\n{esc(shown)}</textarea>'
    shape = INPUTS.get(lenient.text(field, "format"), "text")
    return (
        f'<input type="{shape}" {more} value="{esc_line(shown, 20_000)}" autocomplete="off" '
        'spellcheck="false" autocapitalize="off">'
    )


def _limits(field: Any, **attributes: str) -> str:
    known = ((attribute, lenient.number(field, key)) for key, attribute in attributes.items())
    return "".join(
        f' {attribute}="{limit:.12g}"' for attribute, limit in known if limit is not None
    )


def _clear(name: str) -> str:
    box = f'<input type="checkbox" data-clear="{esc_line(name)}">'
    return f'<label class="tick clear">{box}<span>Remove the saved one</span></label>'
