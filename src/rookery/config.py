"""`config.toml`, read whole or not at all: a mistake in it is told with its line; nothing starts.

    default_agent = "claude"

    [worker]                    # numbers of core.policy.Policy, clamped as LIMITS says
    cancel_grace = 10

    [agents.mine]               # then: rookery run --agent mine …
    command = ["my-agent", "--acp"]

Every worker imports this, so the parser is loaded only where there is a file to parse.
"""

import os
from collections.abc import Mapping
from math import isnan
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from rookery.core.policy import Policy

FILE = "config.toml"

type Limit = tuple[float, float] | tuple[str, ...]

LIMITS: dict[str, Limit] = {
    "chunk_window": (0.0, 1.0),  # seconds in which text is gathered into one event
    "start_timeout": (1.0, 600.0),  # seconds until an agent must have answered its start
    "cold_start_timeout": (1.0, 3600.0),  # the same, where the command may have to install first
    "cancel_grace": (0.1, 600.0),  # seconds from a cancel until the agent is ended
    "force_end_after": (0.0, 86400.0),  # seconds of quiet until a turn may be ended by hand; 0: off
    "silent_after": (0.0, 86400.0),  # seconds of silence until a turn is given up; 0: off
    "silent_after_cost": (1.0, 86400.0),  # the same, once usage with cost has arrived
    "off_protocol_grace": (60.0, 86400.0),  # at least so long while something runs off the protocol
    "idle_stop_secs": (0.0, 30.0 * 86400),  # seconds without anything to do until it stops; 0: off
    "abandoned_after": (3600.0, 30.0 * 86400),  # the same, with nobody attached, also in mid-turn
    "stop_grace": (0.0, 60.0),  # seconds between TERM and KILL
    "queue_drain": ("combined", "serial"),
    "terminal_keep": (64.0 * 1024, 1024.0**3),  # bytes of one terminal's output in the log
    "confirm_destructive": (0.0, 1.0),  # a second yes for what cannot be undone
    "max_workers": (1.0, 1000.0),  # awake at once
    "max_cold_starts": (1.0, 1000.0),  # that start at once; at most max_workers
    "rate_limit_auto_resume": (0.0, 1.0),  # send again by itself what met a rate limit
    "rate_limit_grace": (0.0, 3600.0),  # seconds after the reset time that the agent gave
    "ask_timeout": (0.0, 86400.0),  # seconds that an ask waits while somebody is there; 0: for ever
    "queue_most": (0.0, 1000.0),  # prompts that may wait
    "queue_bytes": (1024.0, 1024.0 * 1024.0 * 3 / 4),  # of one prompt; a command frame takes 1 MiB
}
"""Of each field of Policy: the least and the greatest number, or the words that are allowed."""


OFF_OR = {"silent_after": 120.0}
"""Of what 0 turns off: the least that it may be otherwise."""


class Config(NamedTuple):
    policy: Policy = Policy()
    default_agent: str = ""
    """The name, as it stands in the file; "": none was chosen."""
    agents: Mapping[str, list[str]] = MappingProxyType({})
    """A person's own agents: name and argv."""


class ConfigError(Exception):
    """The file cannot be used. The message names the place, the key and what is allowed."""


def load(home: str) -> Config:
    """What the home's config.toml says, or the defaults where there is none. Raises ConfigError."""
    path = os.path.join(home, FILE)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    return parse(data, path)


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

    def config(self, tables: dict[str, Any]) -> Config:
        policy, agents, default = Policy(), dict[str, list[str]](), ""
        for key, value in tables.items():
            match key, value:
                case "default_agent", str() if value.strip():
                    default = value.strip()
                case "default_agent", _:
                    self.refuse([key], "must be the name of an agent, in quotes")
                case "worker", dict():
                    policy = self.policy(value)
                case "agents", dict():
                    agents = {name: self.agent(name, table) for name, table in value.items()}
                case (("worker" | "agents"), _):
                    self.refuse([key], f"must be a table: [{key}]")
                case _:
                    self.unknown([key], "default_agent", "[worker]", "[agents.NAME]")
        return Config(policy, default, agents)

    def policy(self, table: dict[str, Any]) -> Policy:
        known = Policy._field_defaults
        given = {}
        for key, value in table.items():
            if key not in known:
                self.unknown(["worker", key], *known)
            given[key] = self.setting(key, value, known[key])
        return Policy(**given)

    def setting(self, key: str, value: object, default: object) -> Any:
        """The value, clamped; of the type that the field's default has."""
        limit = LIMITS.get(key, (0.0, float("inf")))
        if isinstance(default, bool):
            if not isinstance(value, bool):
                self.refuse(["worker", key], "must be true or false")
            return value
        if isinstance(default, str):
            if value not in limit:
                words = " or ".join(f'"{word}"' for word in limit)
                self.refuse(["worker", key], f"must be {words}")
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
            self.refuse(["worker", key], "must be a number")
        if isinstance(default, int) and not isinstance(value, int):
            self.refuse(["worker", key], "must be a whole number")
        least, greatest = limit
        if value and key in OFF_OR:  # 0 turns it off; a little would end healthy turns
            least = OFF_OR[key]
        clamped = min(max(value, least), greatest)
        return int(clamped) if isinstance(default, int) else float(clamped)

    def agent(self, name: str, table: object) -> list[str]:
        place = ["agents", name]
        if not isinstance(table, dict):
            self.refuse(place, f'must be a table: [agents.{name}] with command = ["…"]')
        for key in table:
            if key != "command":
                self.unknown([*place, key], "command")
        command = table.get("command")
        words = command if isinstance(command, list) else []
        if not words or not all(isinstance(word, str) for word in words) or not words[0].strip():
            wanted = 'must be a list of words, such as ["my-agent", "--acp"]'
            self.refuse([*place, "command"] if "command" in table else place, f"command {wanted}")
        return words

    def unknown(self, key: list[str], *allowed: str) -> NoReturn:
        self.refuse(key, f"is not a setting. There are: {', '.join(allowed)}")

    def refuse(self, key: list[str], why: str) -> NoReturn:
        line = self.line_of(key)
        place = f"{self.path}, line {line}" if line else self.path
        raise ConfigError(f"{place}: {'.'.join(key)} {why}.")

    def line_of(self, key: list[str]) -> int:
        """Where a key is set, as far as the way people write TOML goes; 0 when it is not found."""
        table: list[str] = []
        nearest = 0
        for number, line in enumerate(self.lines, 1):
            bare = line.strip()
            if bare.startswith("["):
                table = _words(bare.strip("[] \t").split("]")[0])
                if table == key:
                    return number
                nearest = number if table == key[: len(table)] else nearest
            elif "=" in bare and not bare.startswith("#"):
                found = [*table, *_words(bare.split("=")[0])]
                if found == key:
                    return number
                # An inline table says several at once: `worker = { … }`.
                nearest = number if found == key[: len(found)] else nearest
        return nearest


def _words(dotted: str) -> list[str]:
    return [word.strip().strip("\"'") for word in dotted.split(".")]
