"""The command lines of a tool call, wherever its agent puts them; and what looks like one and is
none: a file tool's verb (`create`), which says nothing about what is made."""

import re
from collections.abc import Iterator

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.json.quoting import line_of
from rookery.core.policy import danger

VERBS = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
"""Of the usual file editor, in the place of a command."""

FILE_KINDS = frozenset({"read", "edit", "delete", "move", "search"})
_BARE = re.compile(r"[A-Za-z_]{1,40}")


def lines_of(call: Json) -> list[str]:
    """The command lines of a call. The title of one that runs something stands for them where
    no input was told at all."""
    given = call.get("rawInput")
    found = [given] if isinstance(given, str) else []
    raw = given if isinstance(given, dict) else {}
    words = lenient.texts(raw, "args")
    verb = file_verb(call)
    for key in danger.TEXT_KEYS:
        value = raw.get(key)
        if key == "command" and verb:
            continue
        if isinstance(value, list):
            value = line_of([*(w for w in value if isinstance(w, str)), *words])
        elif isinstance(value, str) and words:
            value = f"{value} {line_of(words)}"
        if isinstance(value, str) and value.strip():
            found.append(value)
    if not found and not raw and lenient.text(call, "kind") == "execute":
        found.append(titled(lenient.text(call, "title")))
    return [line for line in found if line.strip()]


def file_verb(call: Json) -> str:
    """What a file tool is told to do with its path, where that stands for a command; "": it does
    not."""
    raw, kind = lenient.mapping(call, "rawInput"), lenient.text(call, "kind")
    said = lenient.text(raw, "command").strip()
    if kind == "execute" or "args" in raw or not any(_paths(raw)):
        return ""
    known = said in VERBS or (kind in FILE_KINDS and _BARE.fullmatch(said))
    return said if known else ""


def _paths(raw: Json) -> Iterator[str]:
    return (lenient.text(raw, key) for key in danger.PATH_KEYS)


def titled(title: str) -> str:
    bare = title.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and "`" not in bare[1:-1]:
        bare = bare[1:-1]
    return bare
