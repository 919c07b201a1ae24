"""Which calls cannot be undone: judged on the commands that their text runs, the tool's kind and
its paths. This guards against mistakes, not malice: an agent that wants to hide a command can."""

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from rookery.core.command_line.words import LONGEST, line_of
from rookery.core.dangers.places import Ground, named, normal, outside, special
from rookery.core.json import Json, lenient
from rookery.core.tools.names import name_of

if TYPE_CHECKING:
    from rookery.core.dangers.overwrites import Overwrite

__all__ = ["LONGEST", "danger_of", "gist", "judged", "normal", "overwritten"]

MOST_PATHS = 1000
"""Of a call that are judged, and words of its command."""
LONGEST_PATH = 4096
LONGEST_ARGUMENTS = 4096
"""Of a tool, for a rule that allows exactly them."""
UNKNOWN = "?"

_WRITES = frozenset({"edit", "delete", "move"})
TEXT_KEYS = ("command", "cmd", "script", "code", "query", "sql")
SQL_KEYS = ("query", "sql", "statement", "statements")
PATH_KEYS = ("path", "file_path", "filePath", "filepath", "filename", "target")


PLACE_KEYS = ("cwd", "workdir", "working_directory", "dir_path")
"""Where a call says that its command runs."""


def danger_of(call: Json, roots: Iterable[str], home: str) -> str:
    """Why this tool call wants a second confirmation, in a few words; "" when it does not."""
    return judged(call, Ground(tuple(roots), home))[0]


def judged(
    call: Json, ground: Ground, overwrites: "list[Overwrite] | None" = None
) -> tuple[str, str]:
    """All that cannot be undone of a tool call, and what only a snapshot would undo; each "" where
    there is nothing of it. `overwrites`: as `overwritten` found them on this ground."""
    found = overwritten(call, ground) if overwrites is None else overwrites
    dangers, risks = _of_text(call, _placed(call, ground), found)
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

    found = [why for line in lines for why in catalogue.judge(line, ground)]
    if code := _code(call):
        found += catalogue.judge_code(code, ground)
    found += map(sql.judge, statements)
    lost, risks = overwrites.judge(files, ground)
    return found + lost, risks


def overwritten(call: Json, ground: Ground) -> "list[Overwrite]":
    """The files of the session's directories that a call's commands may overwrite or delete: what
    becomes of them is to be found out (`Ground.fates`)."""
    lines, code = _commands(call), _code(call)
    if not lines and not code:
        return []
    from rookery.core.dangers import catalogue

    ground = _placed(call, ground)
    found = [each for line in lines for each in catalogue.overwritten(line, ground)]
    return found + (catalogue.overwritten_by_code(code, ground) if code else [])


def _placed(call: Json, ground: Ground) -> Ground:
    place = place_of(call, ground)
    return ground._replace(place=place) if place else ground


def place_of(call: Json, ground: Ground) -> str:
    """Where a call says that its command runs; "": it does not say."""
    given = filter(None, (lenient.text(call.get("rawInput"), key) for key in PLACE_KEYS))
    return next(map(normal, absolute(islice(given, 1), ground.roots, ground.home)), "")


def _code(call: Json) -> str:
    return lenient.text(call.get("rawInput"), "code")[:LONGEST]


def gist(call: Json) -> Json:
    """What of a tool call, or of its update, says how dangerous it is: its size is bounded."""
    found: Json = {key: call[key][:LONGEST] for key in ("title", "kind") if lenient.text(call, key)}
    if name := name_of(call):
        found["name"] = name[:LONGEST_PATH]
    given = call.get("rawInput")
    if isinstance(given, str):
        found["rawInput"] = given[:LONGEST]
    elif isinstance(given, dict):
        keys = (*TEXT_KEYS, *SQL_KEYS, *PATH_KEYS, "args")
        kept = {key: given[key] for key in keys if key in given}
        places = {key: given[key] for key in PLACE_KEYS if key in given} if kept else {}
        found["rawInput"] = {key: _short(value) for key, value in (kept | places).items()}
        if given and not kept:  # it says something that nobody here understands
            found["rawInput"] = {UNKNOWN: True}
        found["arguments"] = _as_json(given)
    for key in ("locations", "content"):
        if key in call and call[key] is not None:
            parts = islice(lenient.mappings(call, key), MOST_PATHS)
            paths = (lenient.text(part, "path") for part in parts)
            found[key] = [{"path": path[:LONGEST_PATH]} for path in paths if path]
    return found


def arguments_of(call: Json) -> str:
    """All that a tool is given, as JSON that is the same for the same; "": it is too much."""
    if isinstance(call.get("arguments"), str):  # of a gist
        return str(call["arguments"])
    given = call.get("rawInput")
    return _as_json(given) if isinstance(given, dict) else ""


def _as_json(given: Json) -> str:
    texts = [value for value in given.values() if isinstance(value, str)]
    if sum(map(len, texts)) > LONGEST_ARGUMENTS:
        return ""
    try:
        said = json.dumps(given, sort_keys=True, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return ""
    return said if len(said) <= LONGEST_ARGUMENTS and said.isprintable() else ""


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list):
        words = [word[:LONGEST] for word in value[:MOST_PATHS] if isinstance(word, str)]
        return words if sum(map(len, words)) <= LONGEST else [" ".join(words)[:LONGEST]]
    return None


def _commands(call: Json) -> list[str]:
    """What a shell may be given."""
    given = call.get("rawInput")
    found = [given] if isinstance(given, str) else []
    words = lenient.texts(given, "args")
    for key in TEXT_KEYS:
        value = lenient.mapping(call, "rawInput").get(key)
        if isinstance(value, list):
            texts = [word for word in value if isinstance(word, str)]
            found += [line_of([*texts, *words]), *(texts if len(texts) == 1 else ())]
        elif isinstance(value, str):
            found.append(value)
            if words:  # a program and its arguments apart
                found.append(f"{value} {line_of(words)}")
    if lenient.text(call, "kind") == "execute":
        found.append(lenient.text(call, "title").strip().strip("`"))
    return [text[:LONGEST] for text in dict.fromkeys(found) if text.strip()]


def _statements(call: Json) -> list[str]:
    """What a database may be given; what is looked up in an index is no statement."""
    looked_up = lenient.text(call, "kind") in ("search", "fetch", "think")
    keys = SQL_KEYS[1:] if looked_up else SQL_KEYS
    return [text[:LONGEST] for key in keys if (text := lenient.text(call.get("rawInput"), key))]


def paths_of(call: Json, roots: tuple[str, ...], home: str) -> list[str]:
    """What a call says that it reads or writes; absolute."""
    found = [lenient.text(place, "path") for place in lenient.mappings(call, "locations")]
    found += [lenient.text(part, "path") for part in lenient.mappings(call, "content")]
    found += [lenient.text(call.get("rawInput"), key) for key in PATH_KEYS]
    return absolute(found, roots, home)


def absolute(found: Iterable[str], roots: tuple[str, ...], home: str) -> list[str]:
    """Also the user's `~` and what is relative to the session's directory."""
    whole = [home + path[1:] if path.startswith("~/") else path for path in found if path]
    cwd = roots[0] if roots else "/"
    return [path if path.startswith("/") else f"{cwd}/{path}" for path in whole]
