"""The API as a page to read, made from the OpenAPI document: no script, nothing from elsewhere."""

from html import escape
from typing import Any

STYLE = "/api/docs.css"


def page(document: dict[str, Any]) -> str:
    parts = [_operation(path, method, said) for path, method, said in _operations(document)]
    title = escape(document["info"]["title"])
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<title>{title}: the API</title><link rel=stylesheet href={STYLE}>"
        f"<main><h1>{title}: the API</h1><p>{_words(document['info']['description'])}</p>"
        "<p>As a document for programs: <a href=/api/openapi.json>/api/openapi.json</a></p>"
        f"<ul class=index>{''.join(_entry(*each) for each in _operations(document))}</ul>"
        f"{''.join(parts)}</main></html>"
    )


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, said)
        for path, methods in document["paths"].items()
        for method, said in methods.items()
    ]


def _name(path: str, method: str) -> str:
    return f"{method}{path}".replace("/", "-").replace("{", "").replace("}", "")


def _entry(path: str, method: str, said: dict[str, Any]) -> str:
    words = escape(said.get("summary", ""))
    return (
        f"<li><a href=#{escape(_name(path, method))}><b>{method.upper()}</b> "
        f"<code>{escape(path)}</code></a> {words}</li>"
    )


def _operation(path: str, method: str, said: dict[str, Any]) -> str:
    rows = [
        (each["name"], each["in"], each.get("description", ""), each.get("required", False))
        for each in said.get("parameters", [])
    ]
    body = said.get("requestBody", {}).get("content", {})
    statuses = said.get("responses", {})
    return (
        f"<section id={escape(_name(path, method))}><h2><b>{method.upper()}</b> "
        f"<code>{escape(path)}</code></h2><p>{_words(said.get('description', ''))}</p>"
        + _table(rows)
        + "".join(f"<p>Body: <code>{escape(kind)}</code>{_of(body[kind])}</p>" for kind in body)
        + "<p>Answers: "
        + ", ".join(
            f"{status} {escape(each.get('description', ''))}" for status, each in statuses.items()
        )
        + "</p></section>"
    )


def _of(content: dict[str, Any]) -> str:
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f", {escape(name)}" if name else ""


def _table(rows: list[tuple[str, str, str, bool]]) -> str:
    if not rows:
        return ""
    lines = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(place)}"
        f"{', required' if required else ''}</td><td>{_words(words)}</td></tr>"
        for name, place, words, required in rows
    )
    return f"<table>{lines}</table>"


def _words(text: str) -> str:
    """Text in which `backticks` mark code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{each}</code>" if at % 2 else each for at, each in enumerate(pieces))
