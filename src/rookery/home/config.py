"""`config.toml`: a wrong value is refused with its line, and nothing starts; an unknown key is
reported with its line, and everything else applies.

    version = 1                 # of the file's format: core.settings.definitions
    default_agent = "claude"

    [worker]                    # core.limits.Policy, clamped
    cancel_grace = 10

    [agents.mine]               # then: rookery run --agent mine …
    command = ["my-agent", "--acp"]

    [agents.far]                # on another machine: core.settings.agent_tables
    url = "wss://build.example/acp"
    headers = { Authorization = { env = "BUILD_TOKEN" } }

    [[policy.rules]]            # answers for you: core.policy.rules
    do = "allow"
    command = "git status *"

Every worker imports this, so the parser is loaded only if there is a file to parse.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from rookery.core import safety
from rookery.core import settings as core_settings
from rookery.core.json.files import Unusable
from rookery.core.limits import BadValue, Policy, Setting, checked
from rookery.core.policy.modes import ALL
from rookery.core.policy.rule_tables import Fault, consequence, rule_of, unknown_keys
from rookery.core.policy.rules import Rule
from rookery.core.settings import agent_tables, definitions, worktree_tables
from rookery.core.settings.definitions import HOLDERS, Config, value_of
from rookery.home import ownership

__all__ = [
    "FILE",
    "Config",
    "ConfigError",
    "line_of",
    "load",
    "load_or_defaults",
    "parse",
    "rule_key",
    "value_of",
]

FILE = "config.toml"
OWN = {each.key: each for each in definitions.SINGLE}
TABLES = (
    *("worker", "critic", "session", "sandbox", "agent", "web", "notify", "devices", "interface"),
    "keys",
    *("agents", "worktrees", "policy"),
)
KNOWN = (
    *(key for key in OWN if "." not in key),
    *(f"[{table}]" for table in TABLES[:-3]),
    *("[agents.NAME]", "[worktrees.PATH]", "[[policy.rules]]"),
)


ConfigError = Unusable


def load(home: str) -> Config:
    """Return the configuration in the home's config.toml, or the defaults if there is none. Raises
    ConfigError."""
    path = os.path.join(home, FILE)
    data = ownership.read(path, home)
    return Config() if data is None else parse(data, path)


def load_or_defaults(home: str, load: Callable[[str], Config] = load) -> Config:
    """Return the same, with the defaults also if config.toml cannot be used: for callers that leave
    it to others to report that. `load`: another way to read it."""
    try:
        return load(home)
    except ConfigError:
        return Config()


def parse(data: bytes, path: str) -> Config:
    import tomllib

    try:
        text = data.decode()
        tables = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_mistake(path, text, str(error))) from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply.") from None
    return _File(path, text).config(tables)


def _mistake(path: str, text: str, message: str) -> str:
    """Return a parser's message with the line in front: `…/config.toml, line 12: Invalid value.`"""
    reason, _, place = message.rstrip(")").rpartition(" (at ")
    if not reason:
        return f"{path}: {message}."
    line = place.removeprefix("line ")
    if place == "end of document":
        line = str(len(text.rstrip().splitlines()))
    return f"{path}, line {line}: {reason}."


class _File:
    """The file being read; it knows the line of a key, for messages."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.warnings: list[str] = []

    def config(self, tables: dict[str, Any]) -> Config:
        given: dict[str, Any] = {"version": self.version(tables.pop("version", 1))}
        tables, moved = definitions.migrated(tables)
        for old, why in moved:
            self.warn(old, why)
        for key, value in tables.items():
            if key in OWN:
                given[key] = self.value(OWN[key], value)
            elif key not in TABLES:
                self.unknown([key], *KNOWN)
            elif not isinstance(value, dict):
                self.refuse([key], f"must be a table: [{key}]")
            else:
                given |= self.table(key, value)
        return Config(**given, warnings=tuple(self.warnings))

    def version(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.refuse(["version"], "must be a whole number of at least 1")
        if value > definitions.FORMAT:
            why = (
                f"is {value}: a newer Rookery wrote this file. This one knows {definitions.FORMAT}"
            )
            self.warn(["version"], f"{why}, and uses what it knows of it")
        return value

    def table(self, key: str, table: dict[str, Any]) -> dict[str, Any]:
        match key:
            case "agents":
                agents = {name: self.agent(name, each) for name, each in table.items()}
                free = [name for name, each in agents.items() if each.get("confined") is False]
                commands = {name: agent_tables.command_of(each) for name, each in agents.items()}
                own = {name: command for name, command in commands.items() if command}
                more = {name: agent_tables.extras_of(each) for name, each in agents.items()}
                more = {name: each for name, each in more.items() if each != agent_tables.Extras()}
                return {"agents": own, "extras": more, "unconfined": frozenset(free)}
            case "keys":
                keys = self.keys(table)
                self.refuse_clash(keys)
                return {"keys": keys}
            case "policy":
                return {"rules": self.rules(table)}
            case "worktrees":
                return {"worktrees": dict(self.worktree(*each) for each in table.items())}
        known = [each.name for each in OWN.values() if each.key.startswith(f"{key}.")]
        given: dict[str, Any] = {}
        for name, value in table.items():
            if name in known:
                given[name] = self.value(OWN[f"{key}.{name}"], value)
            elif key in safety.TABLES:
                why = "is not a setting. It may be meant to protect you, so it is not ignored"
                self.refuse([key, name], f"{why}. There are: {', '.join(known)}")
            else:
                self.unknown([key, name], *known)
        if key == "session" and given.get("approve_all"):  # what is written as `confirm` wins
            return {"confirm": ALL} | given | {"approve_all": "confirm" not in given}
        if key == "worker":
            policy = Policy(**given)
            starts = min(policy.max_cold_starts, policy.max_workers)
            return {"policy": policy._replace(max_cold_starts=starts)}
        if key in HOLDERS:
            return {HOLDERS[key]: Config._field_defaults[HOLDERS[key]]._replace(**given)}
        return given

    def value(self, setting: Setting, value: object) -> Any:
        try:
            return checked(setting, value)
        except BadValue as error:
            self.refuse(setting.key.split("."), str(error))

    def keys(self, table: dict[str, Any], *above: str) -> dict[str, str]:
        """Parse the key bindings: `quit = "ctrl+x"`; a dotted name is a table to TOML."""
        bindings: dict[str, str] = {}
        for word, value in table.items():
            place = [*above, word]
            name = ".".join(place)
            if name not in core_settings.keys.KEY_IDS and not isinstance(value, dict):
                self.unknown(["keys", *place], *core_settings.keys.KEY_IDS)
            elif isinstance(value, dict):
                bindings |= self.keys(value, *place)
            elif not isinstance(value, str) or not value.strip():
                self.refuse(["keys", *place], 'must be a key in quotes, such as "ctrl+x"')
            else:
                bindings[name] = self.key(place, value)
        return bindings

    def key(self, place: list[str], value: str) -> str:
        try:
            return ",".join(core_settings.keys.listed(value))
        except core_settings.keys.NoKey as error:
            problem = f'{str(error)!r} is not a key like "ctrl+x", "f9" or "pageup"'
            self.refuse(["keys", *place], f"cannot be used: {problem}")

    def refuse_clash(self, bindings: dict[str, str]) -> None:
        """Refuse two actions in [keys] that have the same key in the same place."""
        for name in reversed(bindings):
            if (other := core_settings.keys.clash(bindings, name)) is not None:
                why = f"has the key {other[1]}, as keys.{other[0]} has, and both work in one place"
                self.refuse(["keys", *name.split(".")], why)

    def rules(self, table: dict[str, Any]) -> tuple[Rule, ...]:
        for key in table:
            if key != "rules":
                self.unknown(["policy", key], "rules")
        given = table.get("rules", [])
        if not isinstance(given, list):
            self.refuse(["policy", "rules"], "must be tables: [[policy.rules]]")
        parsed: list[Rule] = []
        for number, each in enumerate(given, 1):
            rule = rule_of(each, number)
            if not isinstance(rule, Fault) and rule.name in [known.name for known in parsed]:
                rule = Fault("name", f"{rule.name!r} is another rule's name")
            if isinstance(rule, Fault):
                self.refuse(rule_key(number, rule.key), rule.why)
            for key in unknown_keys(each):
                self.warn(rule_key(number, key), f"is not a setting. {consequence(rule)}")
            parsed.append(rule)
        return tuple(parsed)

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

    def worktree(self, path: str, table: object) -> tuple[str, worktree_tables.Preparation]:
        place = ["worktrees", path]
        if not isinstance(table, dict):
            self.refuse(place, 'must be a table: [worktrees."/path"] with setup = "…"')
        for key in table:
            if key not in worktree_tables.KEYS:
                self.unknown([*place, key], *worktree_tables.KEYS)
        if (fault := worktree_tables.fault_of(path, table)) is not None:
            self.refuse([*place, fault.key] if fault.key else place, fault.why)
        whole = path if path == worktree_tables.EVERY else os.path.expanduser(path)
        return os.path.normpath(whole), worktree_tables.preparation_from(table)

    def unknown(self, key: list[str], *allowed: str) -> None:
        from difflib import get_close_matches

        near = get_close_matches(key[-1], allowed, 2)
        guess = (
            f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(allowed)}."
        )
        self.warn(key, f"is not a setting and is ignored. {guess}".rstrip("."))

    def warn(self, key: Sequence[str], why: str) -> None:
        self.warnings.append(self.complaint(key, why))

    def refuse(self, key: Sequence[str], why: str) -> NoReturn:
        raise ConfigError(self.complaint(key, why))

    def complaint(self, key: Sequence[str], why: str) -> str:
        line = line_of(self.lines, key)
        place = f"{self.path}, line {line}" if line else self.path
        end = "" if why.endswith("?") else "."
        return f"{place}: {'.'.join(key).replace('policy.rules.', 'policy.rules ')} {why}{end}"


# ---------------------------------------------------------------- lines


def rule_key(number: int, *name: str) -> list[str]:
    """Return the key of the n-th rule, or of something in it, for `line_of`."""
    return ["policy", "rules", str(number), *filter(None, name)]


def line_of(lines: Sequence[str], key: Sequence[str]) -> int:
    """Return the line where a key is set, as far as usual TOML goes, else that of what encloses it;
    0 if it cannot be located."""
    nearest = 0
    for number, defined in _keys(lines):
        if defined == key:
            return number
        if defined == key[: len(defined)]:  # an inline table sets several at once: worker = { … }
            nearest = number
    return nearest


def _keys(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each header and each key with its line; the tables of an array are counted from 1."""
    table: list[str] = []
    seen = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("["):
            table = _dotted(bare.strip("[] \t").split("]")[0])
            if bare.startswith("[["):  # the rules are the only one
                seen += 1
                table.append(str(seen))
            yield number, table
        elif "=" in bare and not bare.startswith("#"):
            yield number, [*table, *_dotted(bare.split("=")[0])]


def _dotted(dotted: str) -> list[str]:
    return [word.strip().strip("\"'") for word in dotted.split(".")]
