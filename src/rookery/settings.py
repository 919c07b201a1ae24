"""What each key of config.toml means, said once: for the reader of the file, for `rookery config`
and for the page about sessions."""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.core.policy import Policy

type Limit = tuple[float, float] | tuple[str, ...]
"""The least and the greatest number, or the words that are allowed."""

WORKER = "worker"
NEXT_WORKER = "at the next start of a session's worker (rookery stop SESSION; the next prompt)"


class Setting(NamedTuple):
    key: str
    """Dotted, as it is explained and refused: worker.cancel_grace."""
    brief: str
    """Stands behind the key in a sample."""
    limit: Limit = ()
    unit: str = "seconds"
    least_on: float = 0.0
    """Of what 0 turns off: the least that it may be otherwise."""
    more: str = ""
    example: str = ""
    """Of what has no default: how it would be written."""
    effect: str = NEXT_WORKER

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def default(self) -> float | int | str | bool | None:
        return Policy._field_defaults[self.name] if self.key.startswith(f"{WORKER}.") else None


_DAY = 86400.0

PLAIN = (
    Setting(
        "default_agent",
        "who is meant where no agent is named",
        more="Else Rookery's own where a model is set up (rookery setup), or the demo.",
        unit="the name of an agent",
        example='"claude"',
        effect="at once, for new sessions; others keep their agent",
    ),
    Setting(
        "node_path",
        "a node, or its directory, where PATH has none",
        unit="a path",
        more="Programs that PATH lacks are looked for there first, then where nvm, fnm, volta, "
        "asdf and mise keep theirs. ROOKERY_NODE in the environment says the same.",
        example='"~/node/bin"',
    ),
)

_NUMBERS = (
    Setting("cancel_grace", "from a cancel until the agent is ended", (0.1, 600.0)),
    Setting(
        "force_end_after",
        "quiet until a turn may be ended by hand; 0: off",
        (0.0, _DAY),
        more="Quiet: nothing came, and no tool, ask or call is open.",
    ),
    Setting(
        "silent_after",
        "silence after progress until a turn is given up; 0: off, else at least 120",
        (0.0, _DAY),
        least_on=120.0,
        more="Only where no tool, ask or call is open. The agent is cancelled, then ended.",
    ),
    Setting(
        "silent_after_cost",
        "the same once usage with cost has come, from agents that send it last",
        (1.0, _DAY),
    ),
    Setting(
        "off_protocol_grace",
        "at least so long while background work or a wake-up is known of",
        (60.0, _DAY),
    ),
    Setting(
        "idle_stop_secs",
        "nothing to do for so long: the worker sleeps; 0: off",
        (0.0, 30 * _DAY),
        more="Never in mid-turn, nor while something is asked or queued.",
    ),
    Setting(
        "abandoned_after",
        "nobody attached and no event for so long: it sleeps, in mid-turn too",
        (3600.0, 30 * _DAY),
    ),
    Setting("start_timeout", "until an agent must have answered its start", (1.0, 600.0)),
    Setting("cold_start_timeout", "the same for npx, uvx and the like", (1.0, 3600.0)),
    Setting("stop_grace", "between TERM and KILL", (0.0, 60.0)),
    Setting("chunk_window", "text is gathered into events of so long", (0.0, 1.0)),
    Setting(
        "queue_drain",
        'what waits is joined into one prompt; "serial": sent one a turn',
        ("combined", "serial"),
        unit="a word",
        more="Joined by blank lines. A slash command is always sent alone.",
    ),
    Setting("queue_most", "prompts that may wait", (0.0, 1000.0), unit="prompts"),
    # A command's frame takes 1 MiB.
    Setting("queue_bytes", "of one prompt", (1024.0, 768.0 * 1024), unit="bytes"),
    Setting(
        "terminal_keep",
        "bytes kept of a terminal's output",
        (64.0 * 1024, 1024.0**3),
        unit="bytes",
        more="Its beginning and its end; what lies between is counted.",
    ),
    Setting(
        "confirm_destructive",
        "a second yes for what cannot be undone",
        (0.0, 1.0),
        unit="true or false",
    ),
    Setting(
        "max_workers",
        "awake at once; over it a start is refused, with the idle ones that you can stop",
        (1.0, 1000.0),
        unit="workers",
    ),
    Setting(
        "max_cold_starts",
        "starting at once; others wait for their turn",
        (1.0, 1000.0),
        unit="workers",
        more="At most max_workers.",
    ),
    Setting(
        "rate_limit_auto_resume",
        "send a prompt that met a rate limit again when that is lifted",
        (0.0, 1.0),
        unit="true or false",
        more="At the reset time that the agent gave, at least 30 s later, at most 5 times running.",
    ),
    Setting("rate_limit_grace", "so long after the reset time that the agent gave", (0.0, 3600.0)),
    Setting(
        "ask_timeout",
        "an ask is rejected after so long, counted while somebody is attached; 0: it waits",
        (0.0, _DAY),
    ),
)

NUMBERS = tuple(setting._replace(key=f"{WORKER}.{setting.key}") for setting in _NUMBERS)

OWN_AGENT = Setting(
    "agents.NAME.command",
    "an agent of your own: rookery run --agent NAME",
    unit="a list of words",
    example='["my-agent", "--acp"]',
)

SETTINGS: tuple[Setting, ...] = (*PLAIN, *NUMBERS, OWN_AGENT)
LIMITS: dict[str, Limit] = {setting.name: setting.limit for setting in NUMBERS}
OFF_OR = {setting.name: setting.least_on for setting in NUMBERS if setting.least_on}


def find(key: str) -> Setting | None:
    """By the whole key or by its last word; any own agent's command is one setting."""
    words = key.split(".")
    if words[0] == "agents" and len(words) <= 3:
        return OWN_AGENT
    return next((setting for setting in SETTINGS if key in (setting.key, setting.name)), None)


def written(value: object) -> str:
    """As it stands in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and value < 1e6 else str(value)


def range_of(setting: Setting) -> str:
    """What is allowed, in words."""
    if not setting.limit or isinstance(setting.default, bool):
        return setting.unit
    if isinstance(setting.default, str):
        return " or ".join(f'"{word}"' for word in setting.limit)
    least, greatest = (f"{number:,.10g}" for number in setting.limit)
    off = f"0 (off) or {setting.least_on:g}" if setting.least_on else least
    return f"{off} to {greatest} {setting.unit}"


def sample() -> str:
    """A whole config.toml, with every default in its place."""
    lines = [_line(setting.name, setting.example, setting.brief) for setting in PLAIN]
    lines += ["", f"{f'[{WORKER}]':<26} # seconds"]
    lines += [_line(each.name, written(each.default), each.brief) for each in NUMBERS]
    lines += ["", "[agents.mine]", _line("command", OWN_AGENT.example, "rookery run --agent mine")]
    return "\n".join(lines) + "\n"


def template() -> str:
    """The same as a file to begin with: nothing in it is set."""
    kept: Sequence[str] = sample().splitlines()
    return "\n".join(f"# {line}".rstrip() for line in kept) + "\n"


def _line(name: str, value: str, brief: str) -> str:
    return f"{f'{name} = {value}':<26} # {brief}"
