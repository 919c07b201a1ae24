"""What each key of config.toml means, said once: for the reader of the file, for `rookery config`
and for the page about sessions."""

from typing import NamedTuple

from rookery.core.limits import CriticPolicy, Interface, Policy

type Limit = tuple[float, float] | tuple[str, ...]
"""The least and the greatest number, or the words that are allowed."""

WORKER = "worker"
CRITIC = "critic"
INTERFACE = "interface"
TABLES: dict[str, type[Policy] | type[CriticPolicy] | type[Interface]] = {
    WORKER: Policy,
    CRITIC: CriticPolicy,
    INTERFACE: Interface,
}

AT_ONCE = "at once, in sessions that are awake too"
NEXT_TERMINAL = "at once, for terminals that are started from then on"
NEXT_START = "at once, for whatever is started from then on"
NEXT_AGENT = "at the next start of a session's agent (rookery restart SESSION)"


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
    effect: str = AT_ONCE
    initial: bool | int | str | None = None
    """The default of what stands in no table."""
    older: str = ""  # a key of the same table by which the same was said before

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def default(self) -> float | int | str | bool | None:
        fields = TABLES.get(self.key.partition(".")[0])
        return self.initial if fields is None else fields._field_defaults[self.name]


_DAY = 86400.0

VERSION = Setting("version", "of this file's spelling", unit="a whole number", initial=1)

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
        effect=NEXT_AGENT,
    ),
    Setting(
        "show_tool_durations",
        "say how long each tool call took",
        unit="true or false",
        example="true",
        initial=True,
        effect="at once, for what is printed from then on",
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
    Setting(
        "start_timeout",
        "until an agent must have answered its start",
        (1.0, 600.0),
        effect=NEXT_START,
    ),
    Setting(
        "cold_start_timeout",
        "the same for npx, uvx and the like",
        (1.0, 3600.0),
        effect=NEXT_START,
    ),
    Setting("crash_within", "an agent that ends before failed to start", (0.1, 600.0)),
    Setting(
        "crash_most",
        "starts that may fail within crash_window; after one more the agent is parked",
        (1.0, 100.0),
        unit="starts",
        more="Parked: nothing starts it by itself. A prompt, or rookery restart, tries again.",
    ),
    Setting("crash_window", "see crash_most", (1.0, _DAY)),
    Setting("stop_grace", "between TERM and KILL", (0.0, 60.0)),
    Setting("switch_grace", "the same where another agent takes over", (0.0, 60.0)),
    Setting("delete_grace", "for an agent to forget a deleted session", (0.0, 60.0)),
    Setting("chunk_window", "text is gathered into events of so long", (0.0, 1.0)),
    Setting(
        "line_bytes",
        "a longer line of an agent's is skipped",
        (1024.0**2, 1024.0**3),
        unit="bytes",
        effect=NEXT_AGENT,
    ),
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
        effect=NEXT_TERMINAL,
    ),
    Setting(
        "confirm_destructive",
        "a second yes for what cannot be undone",
        (0.0, 1.0),
        unit="true or false",
        more="Without it, sessions that approve all approve that, too.",
    ),
    Setting(
        "max_workers",
        "awake at once; over it the longest idle one sleeps, or the prompt waits its turn",
        (1.0, 1000.0),
        unit="workers",
        effect=NEXT_START,
    ),
    Setting(
        "max_cold_starts",
        "starting at once; others wait for their turn",
        (1.0, 1000.0),
        unit="workers",
        more="At most max_workers.",
        effect=NEXT_START,
    ),
    Setting(
        "rate_limit_auto_resume",
        "send a prompt that met a rate limit again when that is lifted",
        (0.0, 1.0),
        unit="true or false",
        more="See rate_limit_grace, rate_limit_least and rate_limit_most.",
    ),
    Setting("rate_limit_grace", "so long after the reset time that the agent gave", (0.0, 3600.0)),
    Setting("rate_limit_least", "and at least so long after the limit was met", (1.0, _DAY)),
    Setting("rate_limit_most", "tries in a row", (1.0, 100.0), unit="tries"),
    Setting(
        "ask_timeout",
        "an ask is rejected after so long, counted while somebody is attached; 0: it waits",
        (0.0, _DAY),
    ),
    Setting(
        "keep_events",
        "of a session's older events, what the agent said and did is dropped; 0: nothing is",
        (0.0, 1e9),
        unit="events",
        least_on=1000.0,
        more="At the end of each turn, for good. Prompts, ends, asks and whatever a session's "
        "state is made of stay.",
    ),
)

NUMBERS = tuple(setting._replace(key=f"{WORKER}.{setting.key}") for setting in _NUMBERS)

_CRITIC = (
    Setting("enabled", "judge turns at all", (0.0, 1.0), unit="true or false"),
    Setting(
        "command",
        "judges each turn that ended well, in the session's directory; empty: none",
        unit="a line for the shell",
        more="Exit code 0 is a score of 1, any other 0; the end of its output goes with it. It has "
        "the session's own environment.",
        example='"pytest -q"',
    ),
    Setting(
        "refine",
        "send a poor verdict back to the agent",
        (0.0, 1.0),
        unit="true or false",
        more="`rookery set SESSION refine on` says so for one session.",
    ),
    Setting("score_below", "a lower score is poor", (0.0, 1.0), unit=""),
    Setting("issue_at", "an issue of behaviour that is so probable is, too", (0.0, 1.0), unit=""),
    Setting(
        "iterations",
        "refinements at most, until a person's next prompt",
        (1.0, 10.0),
        unit="refinements",
    ),
    Setting("timeout", "for the command", (1.0, _DAY)),
)

CRITICS = tuple(setting._replace(key=f"{CRITIC}.{setting.key}") for setting in _CRITIC)

NEXT_SCREEN = "at the next start of the terminal interface, or at once from its own settings"

_INTERFACE = (
    Setting(
        "theme",
        "the colours of the terminal interface",
        ("dark", "light", "contrast"),
        unit="a word",
        effect=NEXT_SCREEN,
    ),
    Setting(
        "diff",
        "changes in one column, or old and new side by side",
        ("unified", "split"),
        unit="a word",
        effect=NEXT_SCREEN,
    ),
    Setting(
        "cards_expanded",
        "tool cards are open until you fold them",
        unit="true or false",
        effect=NEXT_SCREEN,
    ),
    Setting(
        "plan_opens",
        "an agent's plan is shown whole; else as one line",
        unit="true or false",
        effect=NEXT_SCREEN,
    ),
)

INTERFACES = tuple(setting._replace(key=f"{INTERFACE}.{setting.key}") for setting in _INTERFACE)

OWN_AGENT = Setting(
    "agents.NAME.command",
    "an agent of your own: rookery run --agent NAME",
    unit="a list of words",
    example='["my-agent", "--acp"]',
    effect=NEXT_AGENT,
)

_CONFINED = "the kernel keeps its commands from answering for you; sudo fails in them"
CONFINED = Setting("agents.NAME.confined", _CONFINED, example="false", effect=NEXT_AGENT)
CONFINED = CONFINED._replace(unit="true or false", initial=True, more="See docs/security.md.")

ENV = Setting("agents.NAME.env", "variables that it is started with, over its session's own")
ENV = ENV._replace(unit="a table of texts", example='{ KEY = "value" }', effect=NEXT_AGENT)
MCP = Setting("agents.NAME.mcp", "the MCP servers that it is given: all, none, or some by name")
MCP = MCP._replace(unit="true, false, or a list of names", example='["tracker"]')
MCP = MCP._replace(effect=NEXT_AGENT)

SESSION = (
    Setting(
        "session.confirm",
        'when you are asked, in new sessions: "every", "risky" or "all"',
        ("every", "risky", "all"),
        more="A session keeps what it began with; `rookery set SESSION confirm` is for that one.",
        effect="at once, for sessions that are made from then on",
        initial="every",
        older="approve_all",
    ),
)

OLDER = Setting(
    "session.approve_all",
    'the older spelling of confirm = "all"; also for sessions in which nobody chose',
    unit="true or false",
    effect="at the next start of a session's agent",
    initial=False,
)

AGENT = (
    Setting(
        "agent.warm",
        "keep a process with the SDK loaded: sessions of Rookery's own agent start at once",
        unit="true or false",
        more="It takes some 250 MB, shared by its sessions, and ends after half an hour unused.",
        effect="at the next start of a session's agent",
        initial=True,
    ),
)

RULES = Setting(
    "policy.rules",
    "rules that answer for you: rookery policy",
    unit='tables [[policy.rules]] with do = "allow", "ask" or "deny" and grounds: agent, kind, '
    "command, exact, path, tool",
    example='[{ do = "allow", command = "git status *" }]',
    effect=AT_ONCE,
)

KEYS = Setting(
    "keys.NAME",
    "keys of the terminal interface, by what they are for; F1 lists them",
    unit="a key, such as ctrl+x or f6; several with a comma",
    example='"ctrl+x"',
    effect="at the next start of the terminal interface",
)

SINGLE: tuple[Setting, ...] = (
    *(VERSION, *PLAIN, *NUMBERS, *CRITICS, *SESSION, OLDER, *AGENT, *INTERFACES),
)
"""Each is one value."""
SETTINGS: tuple[Setting, ...] = (*SINGLE, OWN_AGENT, CONFINED, ENV, MCP, RULES, KEYS)
LIMITS: dict[str, Limit] = {setting.name: setting.limit for setting in NUMBERS}
CRITIC_LIMITS: dict[str, Limit] = {setting.name: setting.limit for setting in CRITICS}
INTERFACE_LIMITS: dict[str, Limit] = {setting.name: setting.limit for setting in INTERFACES}
OFF_OR = {setting.name: setting.least_on for setting in NUMBERS if setting.least_on}


def find(key: str) -> Setting | None:
    """By the whole key or by its last word; any own agent's command is one setting."""
    words = key.split(".")
    if words[0] == "agents" and len(words) <= 3:
        return {each.name: each for each in (CONFINED, ENV, MCP)}.get(words[-1], OWN_AGENT)
    if words[0] == "keys":
        return KEYS
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
    return f"{off} to {greatest} {setting.unit}".rstrip()
