"""Adds, changes, moves and removes the rules of config.toml; the rest of the file stays as
it is."""

from collections.abc import Callable, Sequence
from json import dumps
from zlib import crc32

from rookery.client import config as client_config
from rookery.client.config.toml_file import editing, place, save
from rookery.core.json import Json
from rookery.core.policy.rule_tables import KEYS
from rookery.core.policy.rules import GROUNDS, Rule
from rookery.home import config


def add(home: str, make: Callable[[Sequence[Rule]], Rule], *, first: bool = False) -> Rule:
    """Append a rule, or with `first` put it before all others. `make` gets the existing rules.
    Raises ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        rule = make(known)

        def meant(tables: Json) -> None:
            listed = tables.setdefault("policy", {}).setdefault("rules", [])
            listed.insert(0 if first else len(listed), table_of(rule))

        if first and known:
            after = client_config.rule_text.with_first(text, written(rule))
        else:
            after = "\n\n".join(filter(None, [text.rstrip("\n"), written(rule)]))
        save(home, text, after, meant)
    return rule


def remove(home: str, name: str) -> Rule:
    """Remove a rule by its name or its number. Raises KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        number = find(known, name)
        after = client_config.rule_text.without(text, number)
        save(home, text, after, lambda tables: tables["policy"]["rules"].pop(number))
    return known[number]


def change(home: str, name: str, make: Callable[[Sequence[Rule], int], Rule]) -> Rule:
    """Rewrite a rule in place, keeping any unknown key. `make` gets the other rules and this one's
    number. Raises KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        at = find(known, name)
        rule = make([*known[:at], *known[at + 1 :]], at + 1)
        table = table_of(rule)

        def meant(tables: Json) -> None:
            old = tables["policy"]["rules"][at]
            rest = {key: each for key, each in old.items() if key not in KEYS}
            tables["policy"]["rules"][at] = table | rest

        save(home, text, client_config.rule_text.changed(text, at, table), meant)
    return rule


def move(home: str, name: str, by: int) -> Rule:
    """Move a rule before its neighbour (-1) or behind it (1); at either end it stays. Raises
    KeyError, ConfigError, NotEdited."""
    with editing(home) as text:
        known = config.parse(text.encode(), place(home)).rules
        at = find(known, name)
        if not 0 <= at + by < len(known):
            return known[at]
        upper = min(at, at + by)

        def meant(tables: Json) -> None:
            listed = tables["policy"]["rules"]
            listed[upper], listed[upper + 1] = listed[upper + 1], listed[upper]

        save(home, text, client_config.rule_text.swapped(text, upper), meant)
    rule = known[at]
    return rule._replace(name=str(at + by + 1)) if rule.name.isdecimal() else rule


def find(rules: Sequence[Rule], name: str) -> int:
    """Return the index of a rule, given its name, its number or its key. Raises KeyError."""
    for at, rule in enumerate(rules):
        if name in (rule.name, str(at + 1), key_of(rule)):
            return at
    raise KeyError(name)


def key_of(rule: Rule) -> str:
    """Return the rule's name; for one without, its number and a digest, so that no other rule is
    taken for it if the list has changed meanwhile."""
    if not rule.name.isdecimal():
        return rule.name
    return f"{rule.name}-{crc32(dumps(table_of(rule)).encode()):08x}"


def free_name(rules: Sequence[Rule], wanted: str) -> str:
    taken = {rule.name for rule in rules}
    names = (f"{wanted}-{number}" if number > 1 else wanted for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def table_of(rule: Rule) -> Json:
    named = {} if rule.name.isdecimal() else {"name": rule.name}
    given = {key: list(getattr(rule, key)) for key in GROUNDS}
    grounds = {key: texts[0] if len(texts) == 1 else texts for key, texts in given.items() if texts}
    more = {key: getattr(rule, key) for key in ("destructive", "reason") if getattr(rule, key)}
    return {**named, "do": rule.do, **grounds, **more}


def written(rule: Rule) -> str:
    """Return a rule as TOML, with unprintable characters escaped. Does without tomlkit: a worker,
    which adds rules too, runs without site-packages."""
    lines = [f"{key} = {dumps(value, ensure_ascii=False)}" for key, value in table_of(rule).items()]
    text = "\n".join(["[[policy.rules]]", *lines, ""])
    return "".join(
        sign if sign.isprintable() or sign == "\n" else f"\\U{ord(sign):08X}" for sign in text
    )
