"""Extracts a provider's own message from an error's prefixes, JSON, bytes and HTML pages."""

import ast
import json
import re
from typing import Any

_PREFIX = re.compile(r"^(?:(?:litellm\.\w+|[\w ]*(?:Error|Exception))\b\s*[:-]\s*)+")
_ADDED = re.compile(
    r"\s*(?:Handle with `litellm|Received Model Group=|Model: \S+,? API Base:|LiteLLM Retried:).*$",
    re.S,
)
_BYTES = re.compile(r"""b(['"]).*\1""", re.S)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.S | re.I)
_PAGE = re.compile(r"<!doctype html|<html|<head|<body", re.I)


def spoken(text: str) -> str:
    """Return the message in one line; "" if there is nothing to read."""
    text = _unwrapped(text.strip())
    message = _message_in(text)
    if message is None and (raw := _BYTES.search(text)):
        text = _decoded(raw[0])
        message = _message_in(text)
    if message is not None:
        text = message
    if page := _PAGE.search(text):
        title = _TITLE.search(text)
        before = text[: page.start()]
        text = _unwrapped(before) or (title[1] if title else "")
    line = " ".join(_unwrapped(text).split())
    return "" if line in ("{}", "[]", "None", "b''") else line


def _unwrapped(text: str) -> str:
    return _ADDED.sub("", _PREFIX.sub("", text)).strip(" -:")


def _decoded(literal: str) -> str:
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _message_in(text: str) -> str | None:
    """Return the message of the first JSON object that has one."""
    for start in (match.start() for match in re.finditer(r"[{\[]", text)):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if message := _text(value):
            return spoken(message) if "{" in message else message
    return None


def _text(value: Any) -> str:
    match value:
        case [first, *_]:
            return _text(first)
        case {"error": str(message)} | {"message": str(message)} | {"detail": str(message)}:
            return str(message)
        case {"error": dict() as inner}:
            return _text(inner)
    return ""
