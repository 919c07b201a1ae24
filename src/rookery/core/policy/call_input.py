"""Finding the command lines in a tool call's input, whatever its agent calls them: `lines_of` reads
the usual keys, which rules know; `lines` and `judged` also find a command under another name or one
level deeper."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from rookery.core.command_line.syntax import line_of, listed
from rookery.core.json import Json, lenient
from rookery.core.policy.danger import PATH_KEYS, TEXT_KEYS

VERBS = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
"""The actions of the usual file editor, which it passes in the `command` field."""

FILE_KINDS = frozenset({"read", "edit", "delete", "move", "search"})
_BARE = re.compile(r"[A-Za-z_]{1,40}")

_LINE = listed(
    "command cmd script code query sql commandline cmdline exec shellcommand shellcmd bashcommand "
    "bash shell run execute statement"
)
"""A line, or the words of one; spelled without case and underscores."""
_PROGRAM = frozenset({"program", "executable", "binary"})
_WORDS = frozenset({"args", "argv", "arguments"})
_LINES = frozenset({"commands", "scripts", "commandlines", "cmds"})
_SHELL = frozenset({"bash", "shell", "run", "exec", "execute"})
"""May also name a shell, or say whether: a line only where it has several words."""

_RUNS_NOTHING = frozenset({"read", "edit", "delete", "move", "search", "think"})

MAX_LINES = 50
"""How many lines under unusual names, and how many texts of an input we do not understand, are
looked at."""
DEEPEST = 4


def lines_of(call: Json) -> list[str]:
    """Return the command lines of a call; its title, if it runs something without input."""
    given = call.get("rawInput")
    lines = [given] if isinstance(given, str) else []
    raw = given if isinstance(given, dict) else {}
    args = lenient.texts(raw, "args")
    verb = file_verb(call)
    for key in TEXT_KEYS:
        value = raw.get(key)
        if key == "command" and verb:
            continue
        if isinstance(value, list):
            value = line_of([*(w for w in value if isinstance(w, str)), *args])
        elif isinstance(value, str) and args:
            value = f"{value} {line_of(args)}"
        if isinstance(value, str) and value.strip():
            lines.append(value)
    if not lines and not raw and lenient.text(call, "kind") == "execute":
        lines.append(titled(lenient.text(call, "title")))
    return [line for line in lines if line.strip()]


def file_verb(call: Json) -> str:
    """Return the action of a file tool on its path, if it is in the command field; else ""."""
    raw, kind = lenient.mapping(call, "rawInput"), lenient.text(call, "kind")
    verb = lenient.text(raw, "command").strip()
    if kind == "execute" or "args" in raw or not any(lenient.text(raw, key) for key in PATH_KEYS):
        return ""
    known = verb in VERBS or (kind in FILE_KINDS and _BARE.fullmatch(verb))
    return verb if known else ""


def titled(title: str) -> str:
    bare = title.strip()
    if len(bare) > 2 and bare[0] == bare[-1] == "`" and "`" not in bare[1:-1]:
        bare = bare[1:-1]
    return bare


# --- under other names ---------------------------------------------------------------------------


def lines(call: Json) -> list[str]:
    """Return every command line of a call: those under keys that rules know come first."""
    call = _named(call)
    known = lines_of(call)
    candidates = [*known, *(line for line in _more(call) if line not in known)]
    return [line for line in candidates if not _is_verb(call, line)]


def _is_verb(call: Json, line: str) -> bool:
    """Whether the line is an editor's action that runs nothing, such as `create` or `view`."""
    return lenient.text(call, "kind") in _RUNS_NOTHING and line.isidentifier()


def judged(call: Json) -> list[Json]:
    """Return the call in forms that rules can read: one for each line they would not find
    themselves. If it runs something and does not say where the command is, each of its texts may be
    one."""
    call = _named(call)
    raw = lenient.mapping(call, "rawInput")
    known, more = lines_of(call), _more(call)
    apart = [line for line in more if line not in known]
    if not known and not apart and raw and lenient.text(call, "kind") == "execute":
        return [call, *_each(call, islice(_texts(raw, DEEPEST), MAX_LINES))]
    return [call, *_each(call, apart)] if known or not apart else _each(call, apart)


def _named(call: Json) -> Json:
    """Treat an input that is a bare list as the words of one command line."""
    raw = call.get("rawInput")
    return {**call, "rawInput": {"command": raw}} if isinstance(raw, list) and raw else call


def is_command(key: str) -> bool:
    """Return whether the value under this key is already shown as a command."""
    name = _plain(key)
    return name in _LINE or name in _PROGRAM or name in _WORDS or name in _LINES


def _each(call: Json, lines: Iterable[str]) -> list[Json]:
    raw = lenient.mapping(call, "rawInput")
    rest = {key: value for key, value in raw.items() if not is_command(key)}
    return [{**call, "rawInput": {**rest, "command": line}} for line in lines]


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _more(call: Json) -> list[str]:
    raw = lenient.mapping(call, "rawInput")
    lines = list(_odd(raw))
    for value in raw.values():
        if isinstance(value, dict):
            lines += [*_known(value), *_odd(value)]
    return list(dict.fromkeys(lines))[:MAX_LINES]


def _known(raw: Json) -> list[str]:
    return lines_of({"rawInput": raw})


def _odd(raw: Json) -> Iterator[str]:
    """Yield the lines under names that rules do not know."""
    apart = [key for key in raw if _plain(key) in _WORDS and not (key == "args" and _known(raw))]
    programs = [value for key, value in raw.items() if _plain(key) in _PROGRAM]
    if programs and isinstance(programs[0], str) and programs[0].strip():
        args = [word for key in apart for word in _list(raw[key])]
        yield from _known({"command": [programs[0], *args]})
    else:
        for key in apart:
            yield from _known({"command": raw[key]})
    for key, value in raw.items():
        name = _plain(key)
        if key in TEXT_KEYS:
            continue
        if name in _LINE and (name not in _SHELL or _has_several_words(value)):
            yield from _known({"command": value})
        elif name in _LINES:
            yield from _several(value)


def _several(value: object) -> Iterator[str]:
    """Yield each line of a list of lines, or the one line that a list of words makes."""
    given = _list(value)
    if isinstance(value, str) or not any(" " in each or "\n" in each for each in given):
        yield from _known({"command": value})
    else:
        yield from (line for line in given if line.strip())


def _has_several_words(value: object) -> bool:
    return len(value.split() if isinstance(value, str) else _list(value)) > 1


def _list(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _texts(value: object, levels: int) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, dict | list) and levels:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, levels - 1)
