"""Parsing and matching the tables of this folder.

A line says what cannot be undone, and which uses of programs do it; an indented line
continues it:

    deletes a cluster: rke remove; kops delete; k3d ~delete|rm; kubectl delete !--dry-run (kubectl)
    as docker: podman; nerdctl

The second gives programs the uses of another one. A use begins with the program's name,
then:

- a plain word is the program's next operand (`*` any, `a|b` one of them);
- `-f|--force`: one of these options is given, also within `-uf`; several groups: one of each;
- `--prune=now`: with this value, `--delete*`: with this prefix (`*` stands for anything);
- `!-n|--dry-run`: none of them is given;
- `@:*|+*`: some operand after the words matches one of these;
- `~a|b`: some operand is one of these words;
- `#2`: at least this many operands follow the words;
- `(kubectl)`: how the use is named to the user; else the program with its first words and
  options.

If several uses match, the first counts."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import NamedTuple

from rookery.core.command_line import globs
from rookery.core.command_line.arguments import SINGLE, Arguments, all_values_of
from rookery.core.command_line.syntax import Simple

type Check = Callable[[Simple, Arguments], str]
"""A judgement that the tables cannot express; it returns "" if the command is not dangerous."""


class Row(NamedTuple):
    tokens: tuple[tuple[str, ...], ...]
    needed: tuple[tuple[str, ...], ...]
    refused: tuple[str, ...]
    like: tuple[str, ...]
    among: tuple[str, ...]
    least: int
    why: str


def uses_of(tables: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the uses of each program, each with what it does."""
    table: dict[str, list[tuple[str, str]]] = {}
    for line in "".join(tables).replace("\n    ", " ").split("\n"):
        why, _, uses = line.partition(": ")
        for use in filter(None, uses.split("; ")):
            if why.startswith("as "):
                table[use] = table[why.removeprefix("as ")]
            else:
                table.setdefault(use.split()[0], []).append((use, why))
    return table


def row_of(use: str, why: str) -> Row:
    left, paren, label = use.partition(" (")
    program, *tokens = left.split()
    given: dict[str, list[tuple[str, ...]]] = {sign: [] for sign in ("", *"-!@~#")}
    for token in tokens:
        sign = token[0] if token[0] in given else ""
        given[sign].append(tuple(token.removeprefix(sign.strip("-")).split("|")))
    operands, needed = given[""], given["-"]
    label = label[:-1] if paren else " ".join([program, *(each[0] for each in operands + needed)])
    refused, like, among = (tuple(chain(*given[sign])) for sign in "!@~")
    least = sum(int(number) for (number,) in given["#"])
    why = f"{why} ({label})" if label else why
    return Row(tuple(operands), tuple(needed), refused, like, among, least, why)


def arguments_of(command: Simple) -> Arguments:
    program = command.program
    return Arguments(command.tokens[1:], all_values_of(program), single=program in SINGLE)


def is_help(arguments: Arguments) -> bool:
    if not arguments.operands and any(n in arguments.options for n in ("--version", "-version")):
        return True  # of `cargo yank --version 1.0` it says which
    return any(name in arguments.options for name in ("--help", "-help"))


def find(rows: Iterable[Row], arguments: Arguments) -> str:
    """Return what a command does by the first row of its table that matches; "" if none does."""
    operands = [word.text for word in arguments.operands]
    for row in rows:
        if _fits(row, arguments, operands):
            return row.why
    return ""


def _fits(row: Row, arguments: Arguments, operands: list[str]) -> bool:
    if len(operands) < len(row.tokens) + row.least:
        return False
    for word, operand in zip(row.tokens, operands, strict=False):
        if "*" not in word and operand not in word:
            return False
    if any(_has(arguments, option) and _is_on(arguments, option) for option in row.refused):
        return False
    if not all(any(_has(arguments, option) for option in group) for group in row.needed):
        return False
    if row.among and not set(row.among).intersection(operands):
        return False
    behind = operands[len(row.tokens) :]
    return not row.like or any(
        globs.matches_text(like, each) for like in row.like for each in behind
    )


def _is_on(arguments: Arguments, option: str) -> bool:
    """Whether a trial option is really on: `--dry-run=none` is not."""
    return arguments.value(option) not in ("none", "false", "no", "0")


def _has(arguments: Arguments, option: str) -> bool:
    name, equals, wanted = option.partition("=")
    if not equals:
        if name.endswith("*"):
            return any(given.startswith(name[:-1]) for given in arguments.options)
        return arguments.has(name)
    values = [word.text for word in arguments.values(name)]
    return any(globs.matches_text(wanted, value) for value in values)
