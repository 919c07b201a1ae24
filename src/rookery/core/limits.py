"""The numeric and boolean settings of config.toml, each defined once: type, default, range,
description and effect. Reading, checking, `rookery config`, the forms of the terminal interface and
the table in docs/sessions.md are derived from it.

The values are clamped where the file is read; nothing in `core` clamps, so that a test can use
small numbers."""

from collections.abc import Callable
from math import isnan
from typing import Any, NamedTuple

type Limit = tuple[float, float] | tuple[str, ...]
"""The least and the greatest number, or the words that are allowed."""
type Choices = tuple[tuple[str, str, str], ...]
"""Words that are allowed: each with its title, and with what it means if that is not plain."""
KINDS = {bool: "boolean", int: "integer", float: "number"}

AT_ONCE = "at once, also in running sessions"
NEXT_TERMINAL = "at once, for terminals started from then on"
NEXT_START = "at once, for everything started from then on"
NEXT_AGENT = "at the next start of a session's agent (rookery restart SESSION)"
NEXT_SCREEN = "at the next start of the terminal interface, or at once from its own settings"

DAY = 86400.0


class Setting(NamedTuple):
    """The definition of a setting. Only the user may change one."""

    brief: str
    """What it is for: a sentence without its capital and full stop."""
    limit: Limit = ()
    unit: str = "seconds"
    least_on: float = 0.0
    """If 0 turns it off: the smallest other value."""
    more: str = ""
    """Further sentences."""
    scopes: str = ""
    """How to set it for less than everything, for users of the command line and the file."""
    choices: Choices = ()
    """The words of `limit`, with what faces call them."""
    how: str = ""
    """How faces read and complete a text: agent, the name of one."""
    example: str = ""
    """For a setting without a default: how it could be written."""
    effect: str = AT_ONCE
    exact: bool = False
    """A number out of range is refused, not clamped."""
    secret: bool = False
    """Its values are not shown."""
    strict_first: tuple[str | bool, ...] = ()
    """Its values, the strictest first: a looser one written while an agent runs is confirmed."""
    runs: bool = False
    """It names a program: another one written while an agent runs needs confirmation."""
    older: str = ""
    """An earlier key of the same table with the same meaning."""
    check: Callable[[str], str] | None = None
    """Of a text: the value, or a ValueError that says what is allowed."""
    meant: Callable[[str], str | None] | None = None
    """The value of `limit` that another word stands for; None: none."""
    title: str = ""
    """What forms call it; "": the words of its key."""
    key: str = ""
    """Dotted: worker.cancel_grace."""
    default: Any = None

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def label(self) -> str:
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def comment(self) -> str:
        """The sentence beside its key in a file: what it is for and what its words mean."""
        each = [
            f'"{value}"' + (f" ({title})" if title.lower() != value else "")
            for value, title, _ in self.choices
        ]
        return f"{self.brief}: {', '.join(each)}" if each else self.brief

    @property
    def kind(self) -> str:
        """The type of its values, as JSON schema names it."""
        return KINDS.get(type(self.default), "string")


class BadValue(ValueError):
    """A value that a setting cannot have; the message says what is allowed."""


_defined: list[Setting] = []


def setting[T](
    default: T, about: str, limit: Limit = (), *, choices: Choices = (), **more: Any
) -> T:
    """Return a field's default, and register the setting's definition. `about`: what forms call it
    and what it is for ("Limit: how many …"), or the latter alone."""
    title, colon, brief = about.partition(": ")
    if not colon or title[0].islower():
        title, brief = "", about
    limit = limit or tuple(value for value, *_ in choices)
    each = Setting(brief, limit, choices=choices, title=title, default=default, **more)
    _defined.append(each)
    return default


def settings_of(fields: type[tuple[Any, ...]], table: str) -> tuple[Setting, ...]:
    """Return the settings that the class just above defines, one per field."""
    names: tuple[str, ...] = fields._fields  # type: ignore[attr-defined]
    named = zip(names, settings_with_keys(), strict=True)
    return tuple(each._replace(key=f"{table}.{name}") for name, each in named)


def settings_with_keys() -> list[Setting]:
    """Return the settings that the class just above defines among other fields, each with
    its key."""
    settings = list(_defined)
    _defined.clear()
    return settings


def checked(setting: Setting, value: object, *, exact: bool = False) -> Any:
    """Return the value in the default's type; a number out of range is clamped unless `exact`.
    Raises BadValue."""
    if setting.meant is not None and isinstance(value, str):
        value = setting.meant(value) or value
    match setting.default:
        case bool():
            good = isinstance(value, bool)
        case int() | float():
            return _number(setting, value, exact or setting.exact)
        case _ if setting.limit:
            good = value in setting.limit
        case _:
            good = isinstance(value, str)
    if not good:
        quotes = ", in quotes" if setting.default in (None, "") else ""
        raise BadValue(f"must be {range_of(setting)}{quotes}")
    if setting.check is not None and isinstance(value, str):
        try:
            return setting.check(value)
        except ValueError as error:
            raise BadValue(str(error)) from None
    return value.strip() if setting.default is None and isinstance(value, str) else value


def _number(setting: Setting, value: object, exact: bool) -> float | int:
    whole = isinstance(setting.default, int)
    least, greatest = (float(each) for each in setting.limit)
    usable = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not usable or not isinstance(value, int | float) or isnan(value):
        kind = "a whole number" if whole else "a number"
        raise BadValue(f"must be {kind} ({range_of(setting)})")
    if value and setting.least_on:  # 0 turns it off; a little would end healthy turns
        least = setting.least_on
    clamped = min(max(value, least), greatest)
    if exact and clamped != value:
        raise BadValue(f"must be {range_of(setting)}")
    return int(clamped) if whole else float(clamped)


def range_of(setting: Setting) -> str:
    """Describe in words what a setting allows."""
    if isinstance(setting.default, bool):
        return "true or false"
    if not setting.limit:
        return setting.unit
    if isinstance(setting.default, str):
        return " or ".join(f'"{word}"' for word in setting.limit)
    least, greatest = (f"{number:,.10g}" for number in setting.limit)
    off = f"0 (off) or {setting.least_on:g}" if setting.least_on else least
    return f"{off} to {greatest} {setting.unit}".rstrip()


def written(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and value < 1e6 else str(value)


class Policy(NamedTuple):
    """The table [worker]."""

    cancel_grace: float = setting(
        10.0, "Cancel timeout: time a cancelled agent has before it is killed", (0.1, 600.0)
    )
    budget_grace: float = setting(
        60.0,
        "Grace after a budget: time that running calls have to end once a budget is reached",
        (0.0, DAY),
        more="Then they are cancelled. Rookery's own agent always finishes its step.",
    )
    force_end_after: float = setting(
        30.0,
        "Force end: how long an agent must be silent before you can end its turn by hand; 0: off",
        (0.0, DAY),
        more="Silence: nothing arrives, and no tool, question or call is open.",
    )
    silent_after: float = setting(
        120.0,
        "Silence timeout: end a turn that began and then went silent; 0: off, else 120 or more",
        (0.0, DAY),
        least_on=120.0,
        more="Only while no tool, question or call is open. The agent is cancelled, then killed.",
    )
    silent_after_cost: float = setting(
        20.0,
        "Silence after the cost: end a silent turn whose cost has arrived",
        (1.0, DAY),
    )
    off_protocol_grace: float = setting(
        1800.0,
        "Silence in the background: shortest silence while background work or a wake-up is pending",
        (60.0, DAY),
    )
    idle_stop_secs: float = setting(
        1800.0,
        "Idle timeout: stop a worker that has been idle for this long; 0: off",
        (0.0, 30 * DAY),
        more="Never during a turn, or while a question or a prompt is waiting.",
    )
    read_stop_secs: float = setting(
        600.0,
        "Idle timeout once read: stop a worker without clients whose result was read; 0: off",
        (0.0, 30 * DAY),
        more="Never while a question is open or a terminal of the agent is running.",
    )
    abandoned_after: float = setting(
        48 * 3600.0,
        "Abandoned workers: stop a worker without clients and events, even during a turn",
        (3600.0, 30 * DAY),
    )
    start_timeout: float = setting(30.0, "time an agent has to start", (1, 600), effect=NEXT_START)
    cold_start_timeout: float = setting(
        120.0,
        "time that npx, uvx, Rookery's own agent and agents installed today have to start",
        (1.0, 3600.0),
        effect=NEXT_START,
    )
    crash_within: float = setting(
        10.0, "Early exit: an agent that ends sooner failed to start", (0.1, 600.0)
    )
    crash_most: int = setting(
        3,
        "Failed starts: failed starts allowed within crash_window; one more parks the agent",
        (1.0, 100.0),
        unit="starts",
        more="A parked agent does not restart by itself. A prompt or rookery restart tries again.",
    )
    crash_window: float = setting(
        60.0, "Window for failed starts: period in which failed starts are counted", (1.0, DAY)
    )
    worker_crash_most: int = setting(
        5,
        "Worker restarts: starts of a worker that keeps dying; then its session is parked",
        (1.0, 1000.0),
        unit="starts",
        more="A parked session starts again with rookery restart, Retry, or a new daemon.",
    )
    stop_grace: float = setting(
        2.0,
        "Stop timeout: time an agent has to end when it is stopped, before it is killed",
        (0.0, 60.0),
    )
    switch_grace: float = setting(
        5.0, "Switch timeout: time an agent has to end when another one takes over", (0.0, 60.0)
    )
    delete_grace: float = setting(
        2.0, "Delete timeout: time an agent has to delete its part of a session", (0, 60)
    )
    chunk_window: float = setting(
        0.030, "Merge window: merge streamed text into one event per window", (0, 1)
    )
    line_bytes: int = setting(
        64 * 1024 * 1024,
        "Line length: skip longer lines from an agent",
        (1024.0**2, 1024.0**3),
        unit="bytes",
        effect=NEXT_AGENT,
    )
    queue_drain: str = setting(
        "combined",
        "Queued prompts: how queued prompts are sent",
        choices=(("combined", "All as one", ""), ("serial", "One per turn", "")),
        more="Joined by blank lines. A slash command is always sent alone.",
    )
    queue_most: int = setting(
        100, "Queue length: maximum number of queued prompts", (0, 1000), unit="prompts"
    )
    queue_bytes: int = setting(
        256 * 1024, "Prompt size: maximum size of a prompt", (1024.0, 768.0 * 1024), unit="bytes"
    )
    terminal_keep: int = setting(
        4 * 1024 * 1024,
        "Terminal output: how much of a terminal's output is kept",
        (64.0 * 1024, 1024.0**3),
        unit="bytes",
        more="Its beginning and its end; the rest is counted.",
        effect=NEXT_TERMINAL,
    )
    confirm_destructive: bool = setting(
        True,
        "Destructive actions: ask again before destructive actions",
        more="Otherwise sessions that approve everything approve those too.",
        strict_first=(True, False),
    )
    max_workers: int = setting(
        20,
        "Workers: maximum workers; beyond it the longest idle one stops, or the prompt waits",
        (1.0, 1000.0),
        unit="workers",
        effect=NEXT_START,
    )
    max_cold_starts: int = setting(
        4,
        "Starting workers: maximum workers starting at once; others wait",
        (1.0, 1000.0),
        unit="workers",
        more="At most max_workers.",
        effect=NEXT_START,
    )
    rate_limit_auto_resume: bool = setting(
        False,
        "Resend after a rate limit: resend a prompt that hit a rate limit once the limit is lifted",
        more="See rate_limit_grace, rate_limit_least and rate_limit_most.",
    )
    rate_limit_grace: float = setting(
        15.0, "Rate limit margin: extra wait after the reset time from the agent", (0.0, 3600.0)
    )
    rate_limit_least: float = setting(
        30.0, "Shortest rate limit wait: minimum wait after hitting a rate limit", (1.0, DAY)
    )
    rate_limit_most: int = setting(
        5, "Rate limit attempts: attempts in a row", (1.0, 100.0), unit="attempts"
    )
    ask_timeout: float = setting(
        0.0,
        "Question timeout: reject a question after this time with a client attached; 0: wait",
        (0.0, DAY),
    )
    keep_events: int = setting(
        0,
        "Event limit: drop an agent's output beyond this many events; 0: keep all",
        (0.0, 1e9),
        unit="events",
        least_on=1000.0,
        more="Deletes permanently, at the end of each turn. Prompts, results, questions and the "
        "session's state are kept.",
    )
    snapshots: bool = setting(
        True,
        "take a snapshot of the session's directory with each turn, for rookery rewind",
        more="Stored beside the log, separate from your own git.",
    )
    snapshot_file_bytes: int = setting(
        10 * 1024 * 1024,
        "Snapshot file size: leave larger files out of snapshots",
        (1024.0, 1024.0**3),
        unit="bytes",
    )


NUMBERS = settings_of(Policy, "worker")


class CriticPolicy(NamedTuple):
    """The table [critic]."""

    enabled: bool = setting(True, "Critic: judge finished turns")
    command: str = setting(
        "",
        "shell command that judges each successful turn in the session's directory",
        unit="text",
        more="Exit code 0 scores 1, any other 0; the end of its output is included. It has "
        "the session's environment.",
        example='"pytest -q"',
        runs=True,
    )
    refine: bool = setting(
        False,
        "Automatic retry: send a poor verdict back to the agent",
        scopes="`rookery set SESSION refine on` for one session",
    )
    score_below: float = setting(
        0.6, "Minimum score: refine when the score is lower", (0, 1), unit="", exact=True
    )
    issue_at: float = setting(
        0.75,
        "Issue threshold: also refine when a behavioural issue is at least this likely",
        (0.0, 1.0),
        unit="",
        exact=True,
    )
    iterations: int = setting(
        3,
        "Retries: maximum refinements until your next prompt",
        (1.0, 10.0),
        unit="refinements",
        exact=True,
    )
    timeout: float = setting(600.0, "time limit of the command", (1.0, DAY), exact=True)


CRITICS = settings_of(CriticPolicy, "critic")


class Interface(NamedTuple):
    """The table [interface]: how the terminal interface shows things."""

    theme: str = setting(
        "dark",
        "colours of the terminal interface",
        choices=(
            ("dark", "Dark", ""),
            ("light", "Light", ""),
            ("contrast", "High contrast", ""),
        ),
        effect=NEXT_SCREEN,
    )
    diff: str = setting(
        "unified",
        "Diffs: how changes are shown",
        choices=(("unified", "One column", ""), ("split", "Old and new side by side", "")),
        effect=NEXT_SCREEN,
    )
    cards_expanded: bool = setting(
        False, "Tool cards: show tool cards expanded", effect=NEXT_SCREEN
    )
    plan_opens: bool = setting(
        True, "Plan: show an agent's whole plan, not just one line", effect=NEXT_SCREEN
    )
    compact_list: bool = setting(
        False, "Session list: show one line per session in the session list", effect=NEXT_SCREEN
    )
    pictures: bool = setting(
        True, "Pictures: draw pictures in terminals that can", effect=NEXT_SCREEN
    )


INTERFACES = settings_of(Interface, "interface")
