"""Judging what a command line does that cannot be undone: each of its commands by the tables and
checks of its program and by where it writes, then what they do together."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, starmap

from rookery.core.command_line.arguments import Arguments, values_of
from rookery.core.command_line.foreign_code import shell_lines
from rookery.core.command_line.line import read
from rookery.core.command_line.syntax import SHELLS, Line, Simple, Word, listed
from rookery.core.dangers import clouds, code, databases, files, git, overwrites, systems, writes
from rookery.core.dangers.overwrites import Overwrite
from rookery.core.dangers.places import Ground
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


def judge(text: str, ground: Ground) -> list[str]:
    """Return each reason why a line needs a second confirmation."""
    line = read(text)
    reasons: list[str] = []
    for command in line.commands:
        reasons += [*_judge_one(command), *writes.judge(command, ground)]
    reasons += [judge_downloads(line), _judge_loops(line, text)]
    if _BOMB.search(text):
        reasons.append("starts processes endlessly")
    if _is_invoked(line, text):
        reasons.append("runs what it downloads (Invoke-Expression)")
    if not line.whole:
        reasons.append("is too long or too deeply nested to be judged")
    return [why for why in reasons if why]


def overwritten(text: str, ground: Ground) -> list[Overwrite]:
    """Return the files that a line may overwrite or delete."""
    return [each for command in read(text).commands for each in overwrites.of(command, ground)]


def _is_invoked(line: Line, text: str) -> bool:
    return (
        any(command.program.lower() in _POWERSHELL for command in line.commands)
        and bool(_LOADED.search(text))
        and bool(_INVOKED.search(text))
    )


def judge_code(text: str, ground: Ground) -> list[str]:
    """Return the same for code that is given to an interpreter other than a shell."""
    command = _python(text)
    reasons = [*code.judge(command), *writes.judge(command, ground)]
    for line in islice(shell_lines(text, "python"), MOST_LINES):
        reasons += judge(line, ground)
    return reasons


def overwritten_by_code(text: str, ground: Ground) -> list[Overwrite]:
    return list(overwrites.of(_python(text), ground))


def _python(text: str) -> Simple:
    command = Simple([Word("python")])
    command.code.append(("python", text))
    return command


def _judge_one(command: Simple) -> list[str]:
    program = command.program
    if not program:
        return []
    rows, checks = _rows(program), _checks(program)
    if not rows and not checks and not command.code:
        return []
    arguments = arguments_of(command)
    if is_help(arguments) and program not in _HELPLESS:
        return []
    checked = next(filter(None, (check(command, arguments) for check in checks)), "")
    return [checked or find(rows, arguments), *code.judge(command)]


@lru_cache(maxsize=256)
def _rows(program: str) -> tuple[Row, ...]:
    """Return a program's table rows, parsed when first needed: a session uses few programs."""
    known = _uses()
    uses = known.get(program) or known.get(program.rstrip(".-0123456789"))  # helm3, bfg-1.14
    return tuple(starmap(row_of, uses or ()))


@cache
def _uses() -> dict[str, list[tuple[str, str]]]:
    return uses_of(table.TABLE for table in _TABLES)


@lru_cache(maxsize=256)
def _checks(program: str) -> tuple[Check, ...]:
    if program.startswith("mkfs"):
        return (files.mkfs,)
    return tuple(table[program] for table in _CHECKS if program in table)


_LISTS = r"(?:g?find|fd|fdfind|ls|locate|git\s+ls-files)\b"
_LOOPS = re.compile(
    rf"\bfor\s+\w{{1,40}}\s+in\s[^;\n]{{0,200}}(?:\$\(|`)\s*{_LISTS}"
    rf"|{_LISTS}.{{0,300}}\|\s*while\b[^;\n]{{0,100}}\bread\b"
    rf"|\bwhile\b[^;\n]{{0,100}}\bread\b.{{0,300}}<\(\s*{_LISTS}",
    re.DOTALL,
)


def _judge_loops(line: Line, text: str) -> str:
    """Judge loops over files found at run time: `find … | while read f; do rm "$f"; done`, `for f
    in $(ls); do rm $f; done`"""
    deletes = any(
        command.program in ("rm", "unlink")
        and any(word.text.startswith("$") and not word.certain for word in command.tokens[1:])
        for command in line.commands
    )
    return "deletes whatever is found (rm in a loop)" if deletes and _LOOPS.search(text) else ""


_LOADERS = listed("curl wget fetch aria2c http https xh lwp-request lynx")
_DECODERS = frozenset({"base64", "base32", "xxd", "openssl", "uudecode", "gpg", "tr", "rev"})
_INTERPRETERS = SHELLS | listed(
    "python python2 python3 perl ruby node nodejs php deno bun lua osascript pwsh powershell tclsh "
    "Rscript julia iex"
)
_READERS = frozenset({"eval", "source", "."})
_RUNS = "runs what it downloads"
_DECODES = "runs what it decodes"
MAX_COMMANDS = 300
"""Commands of a line that are checked for running what the line downloads."""


def judge_downloads(line: Line) -> str:
    """Return why it is dangerous that one command of a line downloads what another one runs."""
    commands = line.commands
    if not any(each.program in _LOADERS or each.program in _DECODERS for each in commands):
        return ""
    saved: set[str] = set()
    for command in commands[:MAX_COMMANDS]:
        if command.program in _LOADERS:
            saved |= set(_saved(command))
        elif why := _judge_run(command, commands, saved):
            return why
    return ""


def _judge_run(command: Simple, commands: tuple[Simple, ...], saved: set[str]) -> str:
    name = command.program.rstrip(".0123456789") or command.program
    runs = command.program in _INTERPRETERS or name in _INTERPRETERS
    if not runs and command.program not in _READERS:
        return "runs what it downloaded" if _plain(command.argv[:1]) & saved else ""
    sources = {place for word in command.tokens[1:] for place in word.made_by}
    if reads_input(command) if runs else "/dev/stdin" in command.argv[1:]:
        sources.update(command.fed_by)
        if command.here is not None:
            sources.update(command.here.word.made_by)
    for each in behind(sources, commands):
        if each.program in _LOADERS:
            return f"{_RUNS} ({each.program} | {command.program})"
        if each.program in _DECODERS and _decodes(each):
            return f"{_DECODES} ({each.program} | {command.program})"
    operands = [word.text for word in command.tokens[1:] if not word.text.startswith("-")]
    return "runs what it downloaded" if _plain(operands[:2]) & saved else ""


def reads_input(command: Simple) -> bool:
    """Whether a command runs its input as code; with a script or `-c` it is only data."""
    args = [word.text for word in command.tokens[1:]]
    if command.program in SHELLS:
        if any(w.startswith("-") and not w.startswith("--") and "c" in w for w in args[:4]):
            return False
        operands = [w for w in args if w[:1] not in ("-", "+")]
        return not operands or "-s" in args or "-" in args or "/dev/stdin" in args
    codes = {"-c", "-e", "-E", "-r", "-m", "-p", "--eval", "-n", "-ne", "-pe", "-lne", "-ane"}
    if codes & set(args):
        return False
    operands = [w for w in args if not w.startswith("-") or w == "-"]
    return not operands or operands[0] in ("-", "/dev/stdin")


def _decodes(command: Simple) -> bool:
    args = set(command.argv[1:])
    return command.program in ("tr", "rev", "uudecode") or bool(
        args & {"-d", "-D", "--decode", "-r", "-di", "--decrypt"}
    )


def behind(places: set[int], commands: Sequence[Simple]) -> Iterator[Simple]:
    """Yield these commands, what they run, and what feeds them."""
    waiting, seen = list(places), set[int]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        command = commands[place]
        yield command
        waiting += [*command.fed_by, *command.children]
        waiting += [each for word in command.tokens for each in word.made_by]


def _saved(command: Simple) -> Iterator[str]:
    """Yield the files that a download writes."""
    arguments = Arguments(command.tokens[1:], values_of(command.program))
    names = [word.text for word in arguments.values("-o", "-O", "--output", "--output-document")]
    names += [each.target.text for each in command.redirects if each.writes]
    addresses = [word.text for word in arguments.operands]
    if (command.program == "wget" and not names) or (
        command.program == "curl" and arguments.has("-O", "--remote-name", "-J")
    ):
        folder = arguments.value("-P", "--directory-prefix", "--output-dir")
        before = folder.rstrip("/") + "/" if folder else ""
        names += [before + each.partition("?")[0].rpartition("/")[2] for each in addresses]
    yield from (name for name in _plain(names) if name not in ("-", "", "/dev/null", "null"))


def _plain(names: list[str]) -> set[str]:
    return {name.removeprefix("./") for name in names}
