"""The API documentation as an HTML page, made from the OpenAPI document: no scripts, nothing loaded
from elsewhere."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

STYLE = "/style.css"
DEEPEST = 3
"""The maximum depth of nested tables: a schema may contain itself."""

type Json = dict[str, Any]
type Operation = tuple[str, str, Json]
"""Path, method, and what the document says."""


def page(document: Json) -> str:
    title = escape(document["info"]["title"])
    tags = [(tag["name"], tag["description"], _of_tag(document, tag)) for tag in document["tags"]]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<title>{title}: the API</title><link rel=stylesheet href={STYLE}>"
        "<link rel=icon href=/favicon.svg>"
        f"<main><h1>{title}: the API</h1><p>{_html(document['info']['description'])}</p>"
        "<p>For programs: <a href=/api/openapi.json>/api/openapi.json</a>, OpenAPI 3.1.</p>"
        + "".join(
            f"<h2 class=topic>{escape(name)}</h2>{_index(operations)}"
            for name, _, operations in tags
        )
        + "".join(
            f"<h2>{escape(name.capitalize())}</h2><p>{_html(description)}</p>"
            + "".join(_operation(document, *each) for each in operations)
            for name, description, operations in tags
        )
        + "</main></html>"
    )


def _of_tag(document: Json, tag: Json) -> list[Operation]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if tag["name"] in operation["tags"]
    ]


def _index(operations: list[Operation]) -> str:
    lines = (
        f"<li><a href='#{escape(operation['operationId'])}'>{_address(path, method)}</a> "
        f"<span>{_html(_first(operation['description']))}</span></li>"
        for path, method, operation in operations
    )
    return f"<ul class=index>{''.join(lines)}</ul>"


def _address(path: str, method: str) -> str:
    return f"<b class={method}>{method.upper()}</b> <code>{escape(path)}</code>"


def _first(text: str) -> str:
    return text.split("\n\n", 1)[0]


def _operation(document: Json, path: str, method: str, operation: Json) -> str:
    rows = [
        (each["name"], _kind(document, each["schema"]), _must(each), each.get("description", ""))
        for each in operation.get("parameters", [])
    ]
    paragraphs = "".join(f"<p>{_html(text)}</p>" for text in operation["description"].split("\n\n"))
    return (
        f"<section id='{escape(operation['operationId'])}'><h3>{_address(path, method)}</h3>"
        f"{paragraphs}{_table(rows)}{_body(document, operation)}"
        f"{_answers(document, operation)}</section>"
    )


def _must(field: Json) -> str:
    place = field.get("in", "")
    return ", ".join(filter(None, [place, "required" if field.get("required") else ""]))


def _body(document: Json, operation: Json) -> str:
    parts = []
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        parts.append(f"<p class=faint>Body, <code>{escape(kind)}</code>:</p>")
        parts.append(_fields(document, schema))
        example = _example(document, content)
        if example is not None:
            parts.append(f"<pre>{escape(json.dumps(example))}</pre>")
    return "".join(parts)


def _answers(document: Json, operation: Json) -> str:
    parts = []
    faults = []
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            faults.append((status, "", "", answer["description"]))
            continue
        for kind, content in answer.get("content", {}).items():
            parts.append(f"<p class=faint>Answer {status}, <code>{escape(kind)}</code></p>")
            table = _fields(document, content.get("schema", {}))
            folded = f"<details><summary>Its fields</summary>{table}</details>"
            parts.append(folded if table else "")
    errors = f"<details><summary>Errors</summary>{_table(faults)}</details>"
    return "".join(parts) + errors


# --- schemas -----------------------------------------------------------------------------------


def _of(document: Json, schema: Json) -> Json:
    name = schema.get("$ref", "").rpartition("/")[2]
    resolved: Json = document["components"]["schemas"][name] if name else schema
    return resolved


def _fields(document: Json, schema: Json, depth: int = 0) -> str:
    """Return the fields of an object as a table; for a union, a table for each member; else ""."""
    resolved = _of(document, schema)
    if "oneOf" in resolved:
        return "".join(_choice(document, each, depth) for each in resolved["oneOf"])
    if resolved.get("type") == "array":
        return _fields(document, resolved["items"], depth)
    return _table(list(_rows(document, resolved, depth))) if "properties" in resolved else ""


def _choice(document: Json, schema: Json, depth: int) -> str:
    resolved = _of(document, schema)
    names = resolved["properties"].get("do", {})
    values = (
        [names["const"]] if "const" in names else names.get("enum", [resolved.get("title", "")])
    )
    label = ", ".join(f"<code>{escape(word)}</code>" for word in values)
    inner = (
        f"<p>{_html(resolved.get('description', ''))}</p>{_fields(document, resolved, depth + 1)}"
    )
    return f"<details><summary>{label}</summary>{inner}</details>"


def _rows(
    document: Json, schema: Json, depth: int, before: str = ""
) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        must = "required" if name in required else ""
        yield before + name, _kind(document, field), must, field.get("description", "")
        inner = _of(document, field.get("items", field))
        if "properties" in inner and depth < DEEPEST:
            below = f"{before}{name}{'[]' if 'items' in field else ''}."
            yield from _rows(document, inner, depth + 1, below)


def _kind(document: Json, schema: Json) -> str:
    """Describe a type in a few words."""
    resolved = _of(document, schema)
    if "const" in resolved:
        return json.dumps(resolved["const"])
    if "enum" in resolved:
        return " | ".join(json.dumps(value) for value in resolved["enum"])
    if "anyOf" in resolved:
        return " | ".join(dict.fromkeys(_kind(document, each) for each in resolved["anyOf"]))
    if resolved.get("type") == "array":
        return f"list of {_kind(document, resolved['items'])}" if resolved.get("items") else "list"
    return str(resolved.get("type", "any"))


def _example(document: Json, content: Json) -> Any:
    """Return the schema's own example, or one made of the examples of its fields, or None."""
    if content.get("examples") or content["schema"].get("examples"):
        return (content["schema"].get("examples") or [None])[0]
    resolved = _of(document, content["schema"])
    fields = {
        name: field["examples"][0]
        for name, field in resolved.get("properties", {}).items()
        if field.get("examples")
    }
    return fields or None


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td>"
        f"<td>{escape(', '.join(filter(None, (kind, must))))}</td>"
        f"<td>{_html(description)}</td></tr>"
        for name, kind, must, description in rows
    )
    return f"<div class=wide><table>{lines}</table></div>" if lines else ""


def _html(text: str) -> str:
    """Return text as HTML in which `backticks` mark code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{each}</code>" if at % 2 else each for at, each in enumerate(pieces))
