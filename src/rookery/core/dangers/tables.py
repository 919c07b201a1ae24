"""How the tables of this folder are read.

A line names a program, a way to use it, and what that does; `tofu = terraform` copies lines:

    docker volume rm|prune !--dry-run :: deletes volumes with their data (docker volume rm)

- a plain word is the program's next operand (`*` any, `a|b` one of them);
- `-f|--force`: one of these options is given, also within `-uf`; several groups: one of each;
- `--prune=now`: with this value, `--delete*`: with this beginning (`*` stands for anything);
- `!-n|--dry-run`: none of them is given;
- `@:*|+*`: some operand after the words is like one of these;
- `~a|b`: some operand is one of these words;
- `#2`: at least this many operands follow the words.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rookery.core.command_line import globs
from rookery.core.command_line.arguments import SINGLE, Arguments, all_values_of
from rookery.core.command_line.words import Simple

type Check = Callable[[Simple, Arguments], str]
"""What a command does that the tables cannot say; "": nothing."""


class Row(NamedTuple):
    words: tuple[tuple[str, ...], ...]
    needed: tuple[tuple[str, ...], ...]
    refused: tuple[str, ...]
    like: tuple[str, ...]
    among: tuple[str, ...]
    least: int
    why: str


def lines_of(tables: Iterable[str]) -> dict[str, list[str]]:
    """The lines of each program, without its name."""
    found: dict[str, list[str]] = {}
    for line in "".join(tables).split("\n"):
        names, same, program = line.partition(" = ")
        if same:
            found |= dict.fromkeys(names.split(), found[program])
        elif line:
            program, _, row = line.partition(" ")
            found.setdefault(program, []).append(row)
    return found


def row_of(line: str) -> Row:
    left, _, why = line.partition("::")
    words: list[tuple[str, ...]] = []
    needed: list[tuple[str, ...]] = []
    refused: list[str] = []
    like: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    least = 0
    for token in left.split():
        if token.startswith("!"):
            refused += token[1:].split("|")
        elif token.startswith("-"):
            needed.append(tuple(token.split("|")))
        elif token.startswith("@"):
            like = tuple(token[1:].split("|"))
        elif token.startswith("~"):
            among = tuple(token[1:].split("|"))
        elif token.startswith("#"):
            least = int(token[1:])
        else:
            words.append(tuple(token.split("|")))
    return Row(tuple(words), tuple(needed), tuple(refused), like, among, least, why.strip())


def arguments_of(command: Simple) -> Arguments:
    program = command.program
    return Arguments(command.words[1:], all_values_of(program), single=program in SINGLE)


def is_help(arguments: Arguments) -> bool:
    names = ("--help", "--version", "-help", "-version")
    return any(name in arguments.options for name in names)


def find(rows: Iterable[Row], arguments: Arguments) -> str:
    """What a command does by the first line of its table that fits; "": none does."""
    operands = [word.text for word in arguments.operands]
    for row in rows:
        if _fits(row, arguments, operands):
            return row.why
    return ""


def _fits(row: Row, arguments: Arguments, operands: list[str]) -> bool:
    if len(operands) < len(row.words) + row.least:
        return False
    for word, operand in zip(row.words, operands, strict=False):
        if "*" not in word and operand not in word:
            return False
    if any(_has(arguments, option) and _is_on(arguments, option) for option in row.refused):
        return False
    if not all(any(_has(arguments, option) for option in group) for group in row.needed):
        return False
    if row.among and not set(row.among).intersection(operands):
        return False
    behind = operands[len(row.words) :]
    return not row.like or any(
        globs.matches_text(pattern, text) for pattern in row.like for text in behind
    )


def _is_on(arguments: Arguments, option: str) -> bool:
    """`--dry-run=none` is no trial."""
    return arguments.value(option) not in ("none", "false", "no", "0")


def _has(arguments: Arguments, option: str) -> bool:
    name, equals, wanted = option.partition("=")
    if not equals:
        if name.endswith("*"):
            return any(given.startswith(name[:-1]) for given in arguments.options)
        return arguments.has(name)
    values = [word.text for word in arguments.values(name)]
    return any(globs.matches_text(wanted, value) for value in values)
