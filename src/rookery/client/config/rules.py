"""The rules of config.toml: added and removed without touching anything else in it.

Every change is tried on the text first: unless the file then says exactly what was meant, it is
left alone.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rookery.client import guard
from rookery.client.config import in_force
from rookery.core.policy.rules import GROUNDS, Rule
from rookery.home import config, confirmed, paths


class NotEdited(Exception):
    """The file was left as it is; the message says what to do."""


def add(home: str, make: Callable[[Sequence[Rule]], Rule], *, first: bool = False) -> Rule:
    """Write a rule behind all others, or before them. `make` is told the rules that there are.
    Raises ConfigError, NotEdited."""
    with editing(home) as (path, text):
        known = config.parse(text.encode(), path).rules
        rule = make(known)
        wanted = (rule, *known) if first else (*known, rule)
        lines = _lines(text)
        place = config.rule_line(lines, 1) if first and known else 0
        at = _before_comments(lines, place - 1) if place else len(lines)
        above = [*lines[:at], *([""] if at and lines[at - 1].strip() else [])]
        below = [*([""] if at < len(lines) else []), *lines[at:]]
        _save(home, text, [*above, *written(rule), *below], wanted)
    return rule


def remove(home: str, name: str) -> Rule:
    """Take a rule out by its name or its place. Raises KeyError, ConfigError, NotEdited."""
    with editing(home) as (path, text):
        known = config.parse(text.encode(), path).rules
        place = find(known, name)
        wanted = (*known[:place], *known[place + 1 :])
        lines = _lines(text)
        start = config.rule_line(lines, place + 1)
        if not start:
            raise NotEdited(f"{path} has its rules in one list: remove it there by hand.")
        ends = (n for n in range(start, len(lines)) if lines[n].lstrip().startswith("["))
        end = next(ends, len(lines))
        if end < len(lines):
            end = _before_comments(lines, end)
        _save(home, text, [*lines[: start - 1], *lines[end:]], wanted)
    return known[place]


def find(rules: Sequence[Rule], name: str) -> int:
    """The place of a rule, from 0. Raises KeyError."""
    for place, rule in enumerate(rules):
        if rule.name == name or str(place + 1) == name:
            return place
    raise KeyError(name)


def free_name(rules: Sequence[Rule], wanted: str) -> str:
    taken = {rule.name for rule in rules}
    names = (f"{wanted}-{number}" if number > 1 else wanted for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def written(rule: Rule) -> list[str]:
    """A rule as lines of TOML."""
    lines = ["[[policy.rules]]"]
    if not rule.name.isdecimal():
        lines.append(f"name = {quoted(rule.name)}")
    lines.append(f"do = {quoted(rule.do)}")
    for key in GROUNDS:
        texts = [quoted(text) for text in getattr(rule, key)]
        if texts:
            lines.append(f"{key} = {texts[0] if len(texts) == 1 else f'[{", ".join(texts)}]'}")
    if rule.destructive:
        lines.append("destructive = true")
    if rule.reason:
        lines.append(f"reason = {quoted(rule.reason)}")
    return lines


def quoted(text: str) -> str:
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(plain.get(s, s if s.isprintable() else _code(s)) for s in text) + '"'


def _code(sign: str) -> str:
    return f"\\U{ord(sign):08X}"


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _before_comments(lines: Sequence[str], place: int) -> int:
    """Comments that stand right before a table belong to it."""
    at = place
    while at and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return at


@contextmanager
def editing(home: str) -> Iterator[tuple[str, str]]:
    """The file's path, links followed, and its text; nobody else of ours changes it meanwhile.
    Raises NotEdited where this is an agent's process."""
    try:
        guard.require_person(home, "change the rules and the settings")
    except guard.FromAgent as error:
        raise NotEdited(str(error)) from None
    paths.ensure_home(home)
    with confirmed.locked(home):
        path = place(home)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            data = b""
        config.parse(data, path)  # one that is broken is mended by hand first
        yield path, data.decode()


def place(home: str) -> str:
    return os.path.realpath(os.path.join(home, config.FILE))


def replace(home: str, before: bytes, data: bytes) -> None:
    """The whole file at once, under the lock; who may read it stays as it was. What the user writes
    this way holds: it is recorded as confirmed. Raises NotEdited, ConfigError."""
    path = place(home)
    try:
        old: config.Config | None = config.parse(before, path)
    except config.ConfigError:
        old = None
    try:
        record = in_force.check(home, old, config.parse(data, path))
    except in_force.Waiting as error:
        raise NotEdited(str(error)) from None
    if record is not None:
        confirmed.write(home, record)
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o600
    paths.write_atomic(path, data, mode, sync=True)


def _save(home: str, before: str, lines: Sequence[str], wanted: Sequence[Rule]) -> None:
    path = place(home)
    data = ("\n".join(lines).rstrip("\n") + "\n").encode() if any(lines) else b""
    try:
        found = config.parse(data, path).rules
    except config.ConfigError as error:
        raise NotEdited(f"{path} was not changed: {error} Edit it by hand.") from None
    if [_nameless(rule) for rule in found] != [_nameless(rule) for rule in wanted]:
        raise NotEdited(f"{path} was not changed: it has to be edited by hand.")
    replace(home, before.encode(), data)


def _nameless(rule: Rule) -> Rule:
    """A rule that is named by its place is another's name after a change."""
    return rule._replace(name="") if rule.name.isdecimal() else rule
