"""Rendering parts of a block as HTML, according to their type."""

from typing import Any

from rookery.core import units
from rookery.core.asks import forms
from rookery.core.blocks.parts import unshown
from rookery.core.json import lenient
from rookery.core.json.image_bytes import KINDS
from rookery.export.html import diff, markdown
from rookery.export.html.code import as_json, left_out, printed
from rookery.export.html.text import esc_line, link, tag
from rookery.export.html.view import View
from rookery.render.signs import SIGNS

type Part = dict[str, Any]

STEPS = {"completed": "done", "in_progress": "running"}
"""The state of a plan's step."""

CHOICES = 50


def rendered(part: Part, view: View) -> str:
    """Render a part; one of an unknown or damaged shape is shown as JSON."""
    match part:
        case {"type": "markdown", "text": str(text)}:
            return _markdown(part, text)
        case {"type": "diff"}:
            return diff.rendered(part)
        case {"type": "terminal"}:
            return output(lenient.text(part, "text"))
        case {"type": "checklist", "items": list(items)}:
            return checklist(items)
        case {"type": "image"}:
            return _image(part, view)
        case {"type": "link"}:
            name, uri = lenient.text(part, "name"), lenient.text(part, "uri")
            return tag("p", f"↗ {link(uri, esc_line(name or uri), name or uri)}", "attached")
        case {"type": "form"}:
            return _form(part)
    return raw(part.get("value") if part.get("type") == "json" else part)


def raw(value: object) -> str:
    return f'<pre class="out" tabindex="0">{as_json(value)}</pre>'


def output(text: str, command: str = "") -> str:
    """Render a command with its output below it."""
    lines = [tag("span", f"$ {command}", "command")] if command else []
    lines += [printed(text)] if text.strip() else []
    return f'<pre class="out" tabindex="0">{"\n".join(lines)}</pre>' if lines else ""


def checklist(items: list[Any]) -> str:
    return tag("ul", "".join(map(_step, items)), "steps")


def _step(item: object) -> str:
    state = STEPS.get(lenient.text(item, "status"), "pending")
    return f'<li class="{state}">{mark(state)}{esc_line(lenient.text(item, "text"))}</li>'


def mark(state: str) -> str:
    """Render the sign of a state, which needs no colour; the state's name is for screen readers."""
    sign = "·" if state == "pending" else SIGNS[state][0]
    return f'<span class="mark {state}" role="img" aria-label="{state}">{sign}</span>'


def _markdown(part: Part, text: str) -> str:
    body = tag("div", markdown.rendered(text.strip("\n")), "prose")
    if name := esc_line(lenient.text(part, "name")):
        body = tag("p", name, "attached") + body
    lost = lenient.integer(part, "cut") or 0
    return body + (tag("p", left_out(lost, "more character")) if lost and len(text) > 40 else "")


def _image(part: Part, view: View) -> str:
    name, size = lenient.text(part, "name"), lenient.number(part, "bytes")
    why, pixels = unshown(part), thumbnail(part)
    mime = lenient.text(part, "mime")
    kind = mime.removeprefix("image/").upper() if mime in KINDS else mime
    facts = [name, kind or ("" if name else "picture"), *pixels[2:]]
    facts += [units.size(size) if size else "", why]
    caption = esc_line(" · ".join(each for each in facts if each))
    address = view.image(part)
    place = esc_line(address, len(address))
    if not address or why:
        save = f' <a class="save" data-do="picture-save" href="{place}">Save</a>' if address else ""
        return tag("p", f"▣ {caption}{save}", "attached")
    size_set = f' width="{pixels[0]}" height="{pixels[1]}"' if pixels else ""
    about = f'alt="{esc_line(name or "picture")}"{size_set}'
    if address.startswith("/"):  # the page fetches its own
        image = f'<img data-src="{place}" {about}>'
        shown = f'<a class="thumb" data-do="picture" href="{place}">{image}</a>'
    else:
        shown = f'<details class="thumb"><summary><img src="{place}" {about}></summary></details>'
    return tag("figure", f"{shown}<figcaption>{caption}</figcaption>")


WIDE, HIGH = 320, 200


def thumbnail(part: Part) -> tuple[int, int, str] | tuple[()]:
    """Return the size of the preview and, as text, that of the image itself; empty if it is not
    known."""
    width, height = lenient.integer(part, "width") or 0, lenient.integer(part, "height") or 0
    if width <= 0 or height <= 0:
        return ()
    least = min(1.0, WIDE / width, HIGH / height)
    return max(1, round(width * least)), max(1, round(height * least)), f"{width:,} × {height:,}"


def _form(part: Part) -> str:
    html = ""
    for field in forms.fields_of(lenient.mapping(part, "schema")):
        title = tag("strong", esc_line(field.title))
        title += tag("span", " required", "needs") if field.required else ""
        about = esc_line(field.about)
        choices = [_choice(each) for each in forms.choices(field.schema)[:CHOICES]]
        listed = tag("ul", "".join(choices)) if choices else ""
        html += tag("li", f"{title} {tag('span', about, 'soft')}{listed}")
    return tag("ul", html, "fields")


def _choice(choice: Any) -> str:
    return tag("li", f"{esc_line(choice.name)} {tag('span', esc_line(choice.about), 'soft')}")
