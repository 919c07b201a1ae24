"""Files that a command replaces, empties or deletes by name. What is lost depends on facts about
the file (`Ground.fates`): nothing if it does not exist, nothing that a rewind cannot restore if a
snapshot has it, the file if nothing does. Without facts, only a command that is plainly meant to
empty or delete is dangerous."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.syntax import Simple, Word, listed
from rookery.core.dangers import code, writes
from rookery.core.dangers.places import (
    KEPT,
    LOST,
    NEW,
    Ground,
    is_below,
    is_sink,
    is_temporary,
    normal,
)

EMPTIES, DELETES, OVERWRITES = "empties", "deletes", "overwrites"
CUTS = "removes lines from"
_LONGEST = 200
"""Characters of a path that is named."""

_KEEPS = (
    *("-n", "--no-clobber", "-i", "--interactive", "-b", "--backup", "--dry-run"),
    *("--ignore-existing", "--list-only"),
)
"""Options of who copies with which nothing is lost unasked."""
_EDITORS = listed("ed red ex vim vi nvim")


class Overwrite(NamedTuple):
    does: str
    path: str
    """Absolute; "": known only once it runs, or on another machine."""
    meant: bool = False
    """It is plainly meant to take the content away, whatever that is."""
    label: str = ""
    """What is said of it where nobody knows the file."""


def of(command: Simple, ground: Ground) -> Iterator[Overwrite]:
    """Yield the files that a command overwrites within the session's directories; outside of them,
    any write is a danger."""
    for does, word, meant in _effects(command):
        text = word.text
        sure = word.certain and "{}" not in text and not command.remote
        path = writes.resolved(text, command, ground) if sure else None
        if path is None or not ground.roots:
            if meant and not is_temporary(normal(text)):
                yield Overwrite(does, "", meant, text)
        elif not is_sink(path) and not is_below(path, "/dev"):
            inside = ground.is_inside(path) and any(path != root for root in ground.roots)
            if inside:
                yield Overwrite(does, path, meant, text)


def judge(overwrites: Iterable[Overwrite], ground: Ground) -> tuple[list[str], list[str]]:
    """Return what cannot be undone, and what only a snapshot can undo."""
    dangers, risks = list[str](), list[str]()
    for each in overwrites:
        fate = (ground.fates or {}).get(each.path, "") if each.path else ""
        shown = _shown(each, ground)
        if fate == LOST:
            dangers.append(f"{each.does} a file that nothing brings back ({shown})")
        elif fate == KEPT:
            risks.append(f"{each.does} {shown}")
        elif fate != NEW and each.meant:
            dangers.append(f"{each.does} a file ({shown})")
    return dangers, risks


def _shown(each: Overwrite, ground: Ground) -> str:
    inner = next((r for r in ground.roots if each.path.startswith(f"{r.rstrip('/')}/")), "")
    return (each.path[len(inner.rstrip("/")) + 1 :] if inner else each.label)[:_LONGEST]


# --- what each command does --------------------------------------------------------------------


type Effect = tuple[str, Word, bool]
"""The effect, the file, and whether the effect is plainly meant."""


def _effects(command: Simple) -> Iterator[Effect]:
    for redirect in command.redirects:
        if redirect.writes and redirect.operator not in (">>", "&>>", "<>"):
            yield _filled(redirect.target, empty=_is_empty(command))
    for does, path in code.files(command):
        if does:
            yield does, Word(path), does in (EMPTIES, DELETES)
    arguments = writes.arguments_of(command) if command.tokens else None
    if arguments is not None and not arguments.has("--help"):
        yield from _by_program(command, arguments)


def _filled(word: Word, *, empty: bool = False) -> Effect:
    return EMPTIES if empty else OVERWRITES, word, empty


def _by_program(command: Simple, arguments: Arguments) -> Iterator[Effect]:
    match command.program:
        case "tee" | "sponge" if not arguments.has("-a", "--append"):
            empty = _reads_nothing(command)
            yield from (_filled(word, empty=empty) for word in arguments.operands)
        case "cp" | "mv" | "install" | "ln" | "rsync" | "scp":
            yield from _copied(command)
        case "dd":
            empty = "if=/dev/null" in command.argv
            yield from (_filled(word, empty=empty) for word in writes.dd_files(command))
        case "rm" | "unlink":
            recursive = arguments.has("-r", "-R", "--recursive")
            yield from ((DELETES, word, False) for word in arguments.operands if not recursive)
        case "sed" | "gsed" | "perl":
            if does := _cut(command):
                yield from ((does, word, does == EMPTIES) for word in writes.edited(arguments))
        case "tar" | "gtar" | "bsdtar" if _creates(arguments):
            yield from map(_filled, writes.packed(arguments))
        case program if program in writes.OUTPUTS:
            yield from map(_filled, arguments.values(*writes.OUTPUTS[program]))
        case program if program in _EDITORS and _wipes(command):
            yield from ((EMPTIES, word, True) for word in arguments.operands[-1:])


def _creates(arguments: Arguments) -> bool:
    letters = arguments.operands[0].text if arguments.operands else ""
    return arguments.has("-c", "--create") or (letters.isalpha() and letters[:1] == "c")


def _is_empty(command: Simple) -> bool:
    """Whether the command writes nothing."""
    if not command.tokens:
        return not command.children and command.here is None
    args = command.argv[1:]
    given = {word for word in args if word[:1] != "-"}
    match command.program:
        case ":" | "true":
            return True
        case "echo":
            return not any(word for word in args if word != "-n")
        case "printf":
            return args == [""]
        case "cat" if given == {"/dev/null"} or _reads_nothing(command):
            return True
    # `sort f > f`: it is emptied before it is read.
    return any(each.operator == ">" and each.target.text in given for each in command.redirects)


def _reads_nothing(command: Simple) -> bool:
    return any(
        each.operator == "<" and each.target.text == "/dev/null" for each in command.redirects
    ) or (command.input is not None and not command.input.strip())


def _copied(command: Simple) -> Iterator[Effect]:
    """Yield the targets of a copy: the given name, or the source's name in that directory. Facts
    about the files decide which."""
    arguments = writes.arguments_of(command)
    forced = arguments.has("-f", "--force")
    if arguments.has(*_KEEPS) and not (command.program == "ln" and forced):
        return
    if command.program == "ln" and not forced:
        return  # it refuses where a file stands
    if command.program == "install" and arguments.has("-d", "--directory"):
        return
    operands = arguments.operands
    into = arguments.values("-t", "--target-directory")
    sources = operands if into else operands[:-1]
    empty = any(word.text in ("/dev/null", "/dev/zero") for word in sources)
    empty = empty and command.program in ("install", "cp")
    does = EMPTIES if empty else OVERWRITES
    for place in into or operands[-1:] if sources else ():
        if ":" in place.text and command.program in ("rsync", "scp"):
            return
        yield does, place, empty
        for word in sources if not empty else ():
            name = word.text.rstrip("/").rpartition("/")[2]
            if name and not word.text.endswith("/"):
                text = f"{place.text.rstrip('/')}/{name}"
                yield does, Word(text, place.certain and word.certain), False


_ALL_LINES = re.compile(
    r"\s*(?:0?1?\s*,\s*\$|/\^?\.?\*?\$?/)?\s*d\s*|\s*(?:1\s*)?[Qd]\s*|s(.)\^?\.\*\$?\1\1g?\s*"
)
_LINES = re.compile(r"(?:[\d$/,!~+}]|^)\s*[dDcqQ]\s*$")


def _cut(command: Simple) -> str:
    """Return what an in-place edit removes: everything, some lines, or nothing (a substitution)."""
    texts = [text for language, text in command.code if language == "perl"]
    arguments = writes.arguments_of(command)
    if command.program == "perl":
        if any(re.search(r"\$_\s*=\s*(?:\"\"|''|undef|q\(\))|undef\s+\$_", text) for text in texts):
            return EMPTIES
        quiet = arguments.has("-n") and not arguments.has("-p")
        if not quiet or any("print" in text for text in texts):
            return CUTS if quiet else ""
        return EMPTIES
    scripts = arguments.values("-e", "--expression") or arguments.operands[:1]
    parts = [part for script in scripts for part in re.split(r"[;\n]", script.text)]
    quiet = arguments.has("-n", "--quiet", "--silent")
    prints = any("p" in part for part in parts)
    if (quiet and not prints) or any(map(_ALL_LINES.fullmatch, parts)):
        return EMPTIES
    return CUTS if quiet or any(map(_LINES.search, parts)) else ""


_WIPES = re.compile(r"(?:^|[\s|:\"'!])(?:%|1,\$|,|g/\^?\.?\*?/)d(?:$|[\s|\"'_])|\bggdG\b", re.M)


def _wipes(command: Simple) -> bool:
    """Whether an editor is told to delete every line."""
    texts = [word.text.lstrip("+") for word in command.tokens[1:]]
    return any(map(_WIPES.search, [*texts, command.input or ""]))
