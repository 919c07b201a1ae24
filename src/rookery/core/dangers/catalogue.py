"""What one line does that cannot be undone: each of its commands by the tables and checks of its
program and by where it writes, then what they do together."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, starmap

from rookery.core.command_line.foreign_code import shell_lines
from rookery.core.command_line.line import read
from rookery.core.command_line.words import Line, Simple, Word
from rookery.core.dangers import clouds, code, databases, downloads, files, git, systems, writes
from rookery.core.dangers.tables import Check, Row, arguments_of, find, is_help, row_of, uses_of

_TABLES = (files, databases, clouds, systems)
_CHECKS: tuple[Mapping[str, Check], ...] = (
    {"git": git.judge},
    files.CHECKS,
    databases.CHECKS,
    clouds.CHECKS,
    systems.CHECKS,
)
MOST_LINES = 200
"""That one piece of code gives to a shell."""

_BOMB = re.compile(r"([\w:.]{1,40})\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1")
_POWERSHELL = frozenset({"powershell", "pwsh", "powershell.exe", "iex", "invoke-expression", "iwr"})
_LOADED = re.compile(r"\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b", re.I)
_INVOKED = re.compile(r"\b(?:iex|Invoke-Expression)\b", re.I)
_HELPLESS = frozenset({"find", "gfind", "kill", "dd"})
"""Programs whose `--help` is no way to be harmless, or that have none."""


def judge(text: str, roots: Sequence[str], home: str) -> str:
    """Why a line wants a second confirmation; "": it does not."""
    line = read(text)
    for command in line.commands:
        if why := _judge_one(command) or writes.judge(command, roots, home):
            return why
    if why := downloads.judge(line):
        return why
    if _BOMB.search(text):
        return "starts processes endlessly"
    if _is_invoked(line, text):
        return "runs what it downloads (Invoke-Expression)"
    return "" if line.whole else "is too long or too deeply nested to be judged"


def _is_invoked(line: Line, text: str) -> bool:
    return (
        any(command.program.lower() in _POWERSHELL for command in line.commands)
        and bool(_LOADED.search(text))
        and bool(_INVOKED.search(text))
    )


def judge_code(text: str, roots: Sequence[str], home: str) -> str:
    """The same, of code that is given to an interpreter other than a shell."""
    command = Simple([Word("python")])
    command.code.append(("python", text))
    if why := code.judge(command) or writes.judge(command, roots, home):
        return why
    lines = islice(shell_lines(text, "python"), MOST_LINES)
    return next(filter(None, (judge(line, roots, home) for line in lines)), "")


def _judge_one(command: Simple) -> str:
    program = command.program
    if not program:
        return ""
    rows, checks = _rows(program), _checks(program)
    if not rows and not checks and not command.code:
        return ""
    arguments = arguments_of(command)
    if is_help(arguments) and program not in _HELPLESS:
        return ""
    for check in checks:
        if why := check(command, arguments):
            return why
    return find(rows, arguments) or code.judge(command)


@lru_cache(maxsize=256)
def _rows(program: str) -> tuple[Row, ...]:
    """Read when first needed: a session uses few programs."""
    known = _uses()
    found = known.get(program) or known.get(program.rstrip(".-0123456789"))  # helm3, bfg-1.14
    return tuple(starmap(row_of, found or ()))


@cache
def _uses() -> dict[str, list[tuple[str, str]]]:
    return uses_of(table.TABLE for table in _TABLES)


@lru_cache(maxsize=256)
def _checks(program: str) -> tuple[Check, ...]:
    if program.startswith("mkfs"):
        return (files.mkfs,)
    return tuple(table[program] for table in _CHECKS if program in table)
