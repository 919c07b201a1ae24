"""`config.toml`: a wrong value is refused with its line, and nothing starts; a key that is not
known is told with its line, and all else holds.

    version = 1                 # of the file's spelling: core.settings.migrations
    default_agent = "claude"

    [worker]                    # numbers of core.limits.Policy, clamped as settings.LIMITS says
    cancel_grace = 10

    [agents.mine]               # then: rookery run --agent mine …
    command = ["my-agent", "--acp"]

    [[policy.rules]]            # answers for you: core.policy.rules
    do = "allow"
    command = "git status *"

Every worker imports this, so the parser is loaded only where there is a file to parse.
"""

import os
from collections.abc import Mapping, Sequence
from math import isnan
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from rookery.core.limits import CriticPolicy, Interface, Policy
from rookery.core.policy.modes import ALL, EVERY, OPTION, VALUES
from rookery.core.policy.rule_tables import Fault, consequence, rule_of, unknown_keys
from rookery.core.policy.rules import Rule
from rookery.core.settings import agent_tables, migrations
from rookery.core.settings.agent_tables import Extras
from rookery.home.ownership import others_word
from rookery.home.settings import (
    CRITIC,
    CRITIC_LIMITS,
    INTERFACE,
    INTERFACE_LIMITS,
    LIMITS,
    OFF_OR,
    WORKER,
    Setting,
)

FILE = "config.toml"
PLAIN = {
    "default_agent": "the name of an agent, in quotes",
    "node_path": "a path, in quotes",
    "show_tool_durations": "true or false",
}
KNOWN = (
    *("version", *PLAIN),
    *("[worker]", "[critic]", "[session]", "[agent]", "[interface]", "[keys]"),
    *("[agents.NAME]", "[[policy.rules]]"),
)
TABLES = ("worker", "critic", "session", "agent", "interface", "keys", "agents", "policy")


class Config(NamedTuple):
    policy: Policy = Policy()
    default_agent: str = ""
    """The name, as it stands in the file; "": none was chosen."""
    agents: Mapping[str, list[str]] = MappingProxyType({})
    """A person's own agents: name and argv."""
    extras: Mapping[str, Extras] = MappingProxyType({})
    """Environment and MCP servers of agents, ours and others'."""
    unconfined: frozenset[str] = frozenset()
    """Agents, ours and others', that run without Landlock's domain."""
    node_path: str = ""
    """Where to look for programs that PATH has not."""
    confirm: str = EVERY
    """How much is asked in sessions that are made from now on (row P6)."""
    approve_all: bool = False
    """The older spelling: sessions in which nothing else was chosen approve all."""
    rules: tuple[Rule, ...] = ()
    critic: CriticPolicy = CriticPolicy()
    show_tool_durations: bool = True
    interface: Interface = Interface()
    keys: Mapping[str, str] = MappingProxyType({})
    """Of the terminal interface: what a key is for, and which it is."""
    warm: bool = True
    """Whether a process with the SDK loaded is kept for sessions of our own agent."""
    version: int = migrations.VERSION
    warnings: tuple[str, ...] = ()
    """What stands in the file and is not used, each with its place."""


class ConfigError(Exception):
    """The file cannot be used. The message names the place, the key and what is allowed."""


def load(home: str) -> Config:
    """What the home's config.toml says, or the defaults where there is none. Raises ConfigError."""
    path = os.path.join(home, FILE)
    try:
        with open(path, "rb") as file:
            foreign = others_word(file.fileno(), path, home)
            data = file.read()
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    if foreign:
        raise ConfigError(foreign)
    return parse(data, path)


def value_of(found: Config, setting: Setting) -> Any:
    """What holds for a setting of settings.SINGLE."""
    table, _, name = setting.key.rpartition(".")
    holders: dict[str, object] = {
        WORKER: found.policy,
        CRITIC: found.critic,
        INTERFACE: found.interface,
    }
    return getattr(holders.get(table, found), name)


def parse(data: bytes, path: str) -> Config:
    import tomllib

    try:
        text = data.decode()
        tables = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}.") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply.") from None
    return _File(path, text).config(tables)


class _File:
    """The file being read: knows where a key stands, for the sake of messages."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.warnings: list[str] = []

    def config(self, tables: dict[str, Any]) -> Config:
        given: dict[str, Any] = {"version": self.version(tables.pop("version", 1))}
        tables, moved = migrations.migrated(tables)
        for old, why in moved:
            self.warn(old, why)
        for key, value in tables.items():
            if key in TABLES and not isinstance(value, dict):
                self.refuse([key], f"must be a table: [{key}]")
            given |= self.table(key, value) if key in TABLES else self.plain(key, value)
        return Config(**given, warnings=tuple(self.warnings))

    def version(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.refuse(["version"], "must be a whole number of at least 1")
        if value > migrations.VERSION:
            why = (
                f"is {value}: a newer Rookery wrote this file. This one knows {migrations.VERSION}"
            )
            self.warn(["version"], f"{why}, and uses what it knows of it")
        return value

    def plain(self, key: str, value: object) -> dict[str, Any]:
        if key not in PLAIN:
            self.unknown([key], *KNOWN)
            return {}
        if key == "show_tool_durations":
            good = isinstance(value, bool)
        else:
            good = isinstance(value, str) and (bool(value.strip()) or key == "node_path")
        if not good:
            self.refuse([key], f"must be {PLAIN[key]}")
        return {key: value.strip() if isinstance(value, str) else value}

    def table(self, key: str, table: dict[str, Any]) -> dict[str, Any]:
        match key:
            case "worker":
                found = Policy(**self.fields(key, table, Policy._field_defaults))
                starts = min(found.max_cold_starts, found.max_workers)
                return {"policy": found._replace(max_cold_starts=starts)}
            case "critic":
                fields = self.fields(key, table, CriticPolicy._field_defaults)
                return {"critic": CriticPolicy(**fields)}
            case "interface":
                fields = self.fields(key, table, Interface._field_defaults)
                return {key: Interface(**fields)}
            case "agents":
                agents = {name: self.agent(name, each) for name, each in table.items()}
                free = [name for name, each in agents.items() if each.get("confined") is False]
                own = {name: each["command"] for name, each in agents.items() if "command" in each}
                more = {name: agent_tables.extras_of(each) for name, each in agents.items()}
                more = {name: each for name, each in more.items() if each != Extras()}
                return {"agents": own, "extras": more, "unconfined": frozenset(free)}
            case "session":
                return self.session(key, table)
            case "agent":
                return {"warm": self.switch(key, table, "warm", True)}
            case "keys":
                keys = self.keys(table)
                self.refuse_clash(keys)
                return {"keys": keys}
        return {"rules": self.rules(table)}

    def session(self, place: str, table: dict[str, Any]) -> dict[str, Any]:
        """`confirm`, or as it was said before: what is written as `confirm` wins."""
        older = {key: value for key, value in table.items() if key != OPTION}
        approves = self.switch(place, older, "approve_all", False)
        given = table.get(OPTION, ALL if approves else EVERY)
        if given not in VALUES:
            self.refuse([place, OPTION], f"must be {' or '.join(f'"{each}"' for each in VALUES)}")
        return {OPTION: given, "approve_all": approves and OPTION not in table}

    def switch(self, place: str, table: dict[str, Any], name: str, default: bool) -> bool:
        """Of a table that holds one thing, on or off."""
        for key, value in table.items():
            if key != name:
                self.unknown([place, key], name)
            elif not isinstance(value, bool):
                self.refuse([place, key], "must be true or false")
        return bool(table.get(name, default))

    def keys(self, table: dict[str, Any], *above: str) -> dict[str, str]:
        """`quit = "ctrl+x"`; a dotted name is a table to TOML."""
        from rookery.core.settings.keys import KEY_IDS

        found: dict[str, str] = {}
        for word, value in table.items():
            place = [*above, word]
            name = ".".join(place)
            if name not in KEY_IDS and not isinstance(value, dict):
                self.unknown(["keys", *place], *KEY_IDS)
            elif isinstance(value, dict):
                found |= self.keys(value, *place)
            elif not isinstance(value, str) or not value.strip():
                self.refuse(["keys", *place], 'must be a key in quotes, such as "ctrl+x"')
            else:
                found[name] = self.key(place, value)
        return found

    def key(self, place: list[str], value: str) -> str:
        from rookery.core.settings.keys import NoKey, listed

        try:
            return ",".join(listed(value))
        except NoKey as error:
            words = f'{str(error)!r} is no key; one is written as "ctrl+x", "f9" or "pageup"'
            self.refuse(["keys", *place], f"cannot be used: {words}")

    def refuse_clash(self, found: dict[str, str]) -> None:
        """Two of a person's own on one key, where both could be meant."""
        from rookery.core.settings.keys import clash

        for name in reversed(found):
            if (other := clash(found, name)) is not None:
                why = f"has the key {other[1]}, as keys.{other[0]} has, and both work in one place"
                self.refuse(["keys", *name.split(".")], why)

    def rules(self, table: dict[str, Any]) -> tuple[Rule, ...]:
        for key in table:
            if key != "rules":
                self.unknown(["policy", key], "rules")
        given = table.get("rules", [])
        if not isinstance(given, list):
            self.refuse(["policy", "rules"], "must be tables: [[policy.rules]]")
        found: list[Rule] = []
        for number, each in enumerate(given, 1):
            rule = rule_of(each, number)
            if not isinstance(rule, Fault) and rule.name in [known.name for known in found]:
                rule = Fault("name", f"{rule.name!r} is another rule's name")
            if isinstance(rule, Fault):
                raise ConfigError(self.said_of_rule(number, rule))
            for key in unknown_keys(each):
                why = f"is not a setting. {consequence(rule)}"
                self.warnings.append(self.said_of_rule(number, Fault(key, why)))
            found.append(rule)
        return tuple(found)

    def said_of_rule(self, number: int, fault: Fault) -> str:
        line = rule_line(self.lines, number, fault.key) or line_of(self.lines, ["policy", "rules"])
        place = f"{self.path}, line {line}" if line else self.path
        key = f".{fault.key}" if fault.key else ""
        return f"{place}: policy.rules {number}{key} {fault.why}."

    def fields(self, name: str, table: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
        given = {}
        for key, value in table.items():
            if key in known:
                given[key] = self.setting(name, key, value, known[key])
            else:
                self.unknown([name, key], *known)
        return given

    def setting(self, table: str, key: str, value: object, default: object) -> Any:
        """The value, of the type that the field's default has. The worker's numbers are clamped;
        the critic's must lie where they may."""
        place = [table, key]
        limits = {CRITIC: CRITIC_LIMITS, INTERFACE: INTERFACE_LIMITS}.get(table, LIMITS)
        limit: tuple[Any, ...] = limits.get(key, (0.0, float("inf")))
        if isinstance(default, bool):
            if not isinstance(value, bool):
                self.refuse(place, "must be true or false")
            return value
        if isinstance(default, str):
            if not limit and isinstance(value, str):
                return value
            if not limit:
                self.refuse(place, "must be a text, in quotes")
            if value not in limit:
                words = " or ".join(f'"{word}"' for word in limit)
                self.refuse(place, f"must be {words}")
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
            self.refuse(place, "must be a number")
        if isinstance(default, int) and not isinstance(value, int):
            self.refuse(place, "must be a whole number")
        least, greatest = limit
        if table == CRITIC and not least <= value <= greatest:
            self.refuse(place, f"must lie between {least:g} and {greatest:g}")
        if value and key in OFF_OR:  # 0 turns it off; a little would end healthy turns
            least = OFF_OR[key]
        clamped = min(max(value, least), greatest)
        return int(clamped) if isinstance(default, int) else float(clamped)

    def agent(self, name: str, table: object) -> dict[str, Any]:
        place = ["agents", name]
        if not isinstance(table, dict):
            self.refuse(place, f'must be a table: [agents.{name}] with command = ["…"]')
        for key in table:
            if key not in agent_tables.KEYS:
                self.unknown([*place, key], *agent_tables.KEYS)
        if (fault := agent_tables.fault_of(table)) is not None:
            self.refuse([*place, fault.key] if fault.key else place, fault.why)
        return table

    def unknown(self, key: list[str], *allowed: str) -> None:
        from difflib import get_close_matches

        near = get_close_matches(key[-1], allowed, 2)
        guess = (
            f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(allowed)}."
        )
        self.warn(key, f"is not a setting and is ignored. {guess}".rstrip("."))

    def warn(self, key: Sequence[str], why: str) -> None:
        self.warnings.append(self.said(key, why))

    def refuse(self, key: Sequence[str], why: str) -> NoReturn:
        raise ConfigError(self.said(key, why))

    def said(self, key: Sequence[str], why: str) -> str:
        line = line_of(self.lines, list(key))
        place = f"{self.path}, line {line}" if line else self.path
        end = "" if why.endswith("?") else "."
        return f"{place}: {'.'.join(key)} {why}{end}"


def line_of(lines: Sequence[str], key: list[str]) -> int:
    """Where a key is set, as far as the way people write TOML goes; 0 when it is not found."""
    table: list[str] = []
    nearest = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("["):
            table = words(bare.strip("[] \t").split("]")[0])
            if table == key:
                return number
            nearest = number if table == key[: len(table)] else nearest
        elif "=" in bare and not bare.startswith("#"):
            found = [*table, *words(bare.split("=")[0])]
            if found == key:
                return number
            # An inline table says several at once: `worker = { … }`.
            nearest = number if found == key[: len(found)] else nearest
    return nearest


RULES = ["policy", "rules"]


def rule_line(lines: Sequence[str], number: int, key: str = "") -> int:
    """Where the n-th rule, or a key of it, stands; 0 when it is not written as a table."""
    seen, start = 0, 0
    for place, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("["):
            if start:
                break
            if bare.startswith("[[") and words(bare[2:].split("]]")[0]) == RULES:
                seen += 1
                start = place if seen == number else 0
        elif start and key and "=" in bare and words(bare.split("=")[0]) == [key]:
            return place
    return start


def words(dotted: str) -> list[str]:
    return [word.strip().strip("\"'") for word in dotted.split(".")]
