"""Detecting calls that cannot be undone, from the commands in their text, the tool's kind and its
paths. This guards against mistakes, not malice: an agent that wants to hide a command can."""

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from rookery.core.command_line.syntax import MAX_LINE_LENGTH, line_of
from rookery.core.dangers.places import Ground, named, normal, outside, special
from rookery.core.json import Json, lenient
from rookery.core.tools.names import name_of

if TYPE_CHECKING:
    from rookery.core.dangers.overwrites import Overwrite

__all__ = ["MAX_LINE_LENGTH", "danger_of", "gist", "judged", "normal", "overwritten"]

MOST_PATHS = 1000
"""How many of a call's paths are judged, and how many words of its command."""
LONGEST_PATH = 4096
LONGEST_ARGUMENTS = 4096
"""The longest arguments of a tool that a rule can allow exactly."""
UNKNOWN = "?"

_WRITES = frozenset({"edit", "delete", "move"})
TEXT_KEYS = ("command", "cmd", "script", "code", "query", "sql")
SQL_KEYS = ("query", "sql", "statement", "statements")
PATH_KEYS = ("path", "file_path", "filePath", "filepath", "filename", "target")


PLACE_KEYS = ("cwd", "workdir", "working_directory", "dir_path")
"""Where a call says that its command runs."""


def danger_of(call: Json, roots: Iterable[str], home: str) -> str:
    """Return why this tool call needs a second confirmation, in a few words; "" if it does not."""
    return judged(call, Ground(tuple(roots), home))[0]


def judged(
    call: Json, ground: Ground, overwrites: "list[Overwrite] | None" = None
) -> tuple[str, str]:
    """Return all that a tool call does that cannot be undone, and what only a snapshot would undo;
    each is "" if there is nothing. `overwrites`: as `overwritten` found them on this ground."""
    affected = overwritten(call, ground) if overwrites is None else overwrites
    dangers, risks = _of_text(call, _placed(call, ground), affected)
    if lenient.text(call, "kind") in _WRITES:
        paths = map(normal, paths_of(call, ground.roots, ground.home))
        dangers += [special(path, ground) or outside(path, ground) for path in paths]
    return named(dangers), named(risks)


def _of_text(call: Json, ground: Ground, files: "list[Overwrite]") -> tuple[list[str], list[str]]:
    lines, statements = _commands(call), _statements(call)
    if not lines and not statements:
        return [], []
    # Here, not above: most that import this never judge a command.
    from rookery.core.dangers import catalogue, overwrites, sql

    dangers = [why for line in lines for why in catalogue.judge(line, ground)]
    if code := _code(call):
        dangers += catalogue.judge_code(code, ground)
    dangers += map(sql.judge, statements)
    lost, risks = overwrites.judge(files, ground)
    return dangers + lost, risks


def overwritten(call: Json, ground: Ground) -> "list[Overwrite]":
    """Return the files in the session's directories that a call's commands may overwrite or delete;
    the caller has yet to look up their fates (`Ground.fates`)."""
    lines, code = _commands(call), _code(call)
    if not lines and not code:
        return []
    from rookery.core.dangers import catalogue

    ground = _placed(call, ground)
    affected = [each for line in lines for each in catalogue.overwritten(line, ground)]
    return affected + (catalogue.overwritten_by_code(code, ground) if code else [])


def _placed(call: Json, ground: Ground) -> Ground:
    place = place_of(call, ground)
    return ground._replace(place=place) if place else ground


def place_of(call: Json, ground: Ground) -> str:
    """Return the directory in which a call says its command runs; "" if it does not say."""
    given = filter(None, (lenient.text(call.get("rawInput"), key) for key in PLACE_KEYS))
    return next(map(normal, absolute(islice(given, 1), ground.roots, ground.home)), "")


def _code(call: Json) -> str:
    return lenient.text(call.get("rawInput"), "code")[:MAX_LINE_LENGTH]


def gist(call: Json) -> Json:
    """Return the fields of a call, or of its update, that show how dangerous it is; bounded."""
    facts: Json = {
        key: call[key][:MAX_LINE_LENGTH] for key in ("title", "kind") if lenient.text(call, key)
    }
    if name := name_of(call):
        facts["name"] = name[:LONGEST_PATH]
    given = call.get("rawInput")
    if isinstance(given, str):
        facts["rawInput"] = given[:MAX_LINE_LENGTH]
    elif isinstance(given, dict):
        keys = (*TEXT_KEYS, *SQL_KEYS, *PATH_KEYS, "args")
        kept = {key: given[key] for key in keys if key in given}
        places = {key: given[key] for key in PLACE_KEYS if key in given} if kept else {}
        facts["rawInput"] = {key: _short(value) for key, value in (kept | places).items()}
        if given and not kept:  # it says something that nobody here understands
            facts["rawInput"] = {UNKNOWN: True}
        facts["arguments"] = _as_json(given)
    for key in ("locations", "content"):
        if key in call and call[key] is not None:
            parts = islice(lenient.mappings(call, key), MOST_PATHS)
            paths = (lenient.text(part, "path") for part in parts)
            facts[key] = [{"path": path[:LONGEST_PATH]} for path in paths if path]
    return facts


def arguments_of(call: Json) -> str:
    """Return a tool's whole arguments as canonical JSON; "" if they are too long."""
    if isinstance(call.get("arguments"), str):  # of a gist
        return str(call["arguments"])
    given = call.get("rawInput")
    return _as_json(given) if isinstance(given, dict) else ""


def _as_json(given: Json) -> str:
    texts = [value for value in given.values() if isinstance(value, str)]
    if sum(map(len, texts)) > LONGEST_ARGUMENTS:
        return ""
    try:
        encoded = json.dumps(given, sort_keys=True, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return ""
    return encoded if len(encoded) <= LONGEST_ARGUMENTS and encoded.isprintable() else ""


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:MAX_LINE_LENGTH]
    if isinstance(value, list):
        texts = [word[:MAX_LINE_LENGTH] for word in value[:MOST_PATHS] if isinstance(word, str)]
        return (
            texts
            if sum(map(len, texts)) <= MAX_LINE_LENGTH
            else [" ".join(texts)[:MAX_LINE_LENGTH]]
        )
    return None


def _commands(call: Json) -> list[str]:
    """Return all that a shell may be given."""
    given = call.get("rawInput")
    lines = [given] if isinstance(given, str) else []
    args = lenient.texts(given, "args")
    for key in TEXT_KEYS:
        value = lenient.mapping(call, "rawInput").get(key)
        if isinstance(value, list):
            texts = [word for word in value if isinstance(word, str)]
            lines += [line_of([*texts, *args]), *(texts if len(texts) == 1 else ())]
        elif isinstance(value, str):
            lines.append(value)
            if args:  # a program and its arguments apart
                lines.append(f"{value} {line_of(args)}")
    if lenient.text(call, "kind") == "execute":
        lines.append(lenient.text(call, "title").strip().strip("`"))
    return [text[:MAX_LINE_LENGTH] for text in dict.fromkeys(lines) if text.strip()]


def _statements(call: Json) -> list[str]:
    """Return the statements a database may be given; a query to a search index is not one."""
    looked_up = lenient.text(call, "kind") in ("search", "fetch", "think")
    keys = SQL_KEYS[1:] if looked_up else SQL_KEYS
    return [
        text[:MAX_LINE_LENGTH] for key in keys if (text := lenient.text(call.get("rawInput"), key))
    ]


def paths_of(call: Json, roots: tuple[str, ...], home: str) -> list[str]:
    """Return the paths that a call says it reads or writes; absolute."""
    paths = [lenient.text(place, "path") for place in lenient.mappings(call, "locations")]
    paths += [lenient.text(part, "path") for part in lenient.mappings(call, "content")]
    paths += [lenient.text(call.get("rawInput"), key) for key in PATH_KEYS]
    return absolute(paths, roots, home)


def absolute(paths: Iterable[str], roots: tuple[str, ...], home: str) -> list[str]:
    """Make paths absolute, in the session's directory; the user's `~` is expanded."""
    whole = [home + path[1:] if path.startswith("~/") else path for path in paths if path]
    cwd = roots[0] if roots else "/"
    return [path if path.startswith("/") else f"{cwd}/{path}" for path in whole]
