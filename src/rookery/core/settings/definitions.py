"""A whole config.toml as one value, and the definitions of everything in it. To add a setting, add
a field here or in `core.limits`, and use it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Any, NamedTuple

from rookery.core import budgets, limits
from rookery.core.limits import CRITICS, INTERFACES, NUMBERS, Setting, setting, written
from rookery.core.policy import approvals
from rookery.core.policy.modes import CHOICES, EVERY, VALUES
from rookery.core.policy.rules import Rule
from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.default_approval import default_approval
from rookery.core.settings.devices import DEVICES, DevicesPolicy
from rookery.core.settings.notify import NOTIFY, Notify
from rookery.core.settings.sandbox import KINDS, SANDBOX, Sandbox
from rookery.core.settings.web import WEB, Web
from rookery.core.settings.worktree_tables import Preparation

FORMAT = 1
"""The format of the files that this build writes. A file without a version has version 1."""


def _budget(scope: str, of: str) -> str:
    return setting(
        budgets.OFF,
        f"Budget per {scope}: ask before {of} uses more than this",
        unit=f"{budgets.EXAMPLE}, or off",
        scopes=f"`rookery set SESSION {budgets.NAMES[scope]}` for one session, [agents.NAME] for "
        "one agent",
        check=budgets.check,
        key=f"session.{budgets.NAMES[scope]}",
    )


class Config(NamedTuple):
    policy: limits.Policy = limits.Policy()
    default_agent: str = setting(
        "",
        "agent for new sessions",
        more="Default: Rookery's own agent if a model is set up (rookery setup), otherwise the "
        "demo.",
        unit="the name of an agent",
        how="agent",
        example='"claude"',
        effect="at once, for new sessions; others keep their agent",
        key="default_agent",
    )
    agents: Mapping[str, list[str]] = MappingProxyType({})
    """The user's own agents: name and argv."""
    extras: Mapping[str, Extras] = MappingProxyType({})
    """Environment and MCP servers of agents, ours and others'."""
    unconfined: frozenset[str] = frozenset()
    """Agents, ours and others', that run without Landlock's domain."""
    node_path: str = setting(
        "",
        "Node.js: node, or its directory, if PATH has none",
        unit="a path",
        more="Programs missing from PATH are looked for there first, then where nvm, fnm, "
        "volta, asdf and mise keep theirs. ROOKERY_NODE in the environment does the same.",
        example='"~/node/bin"',
        effect=limits.NEXT_AGENT,
        runs=True,
        key="node_path",
    )
    confirm: str = setting(
        EVERY,
        f"{approvals.TITLE}: how new sessions ask you for approval",
        choices=CHOICES,
        more="Existing sessions keep theirs.",
        scopes="`rookery set SESSION confirm` for one session",
        effect="at once, for sessions started from then on",
        strict_first=VALUES,
        meant=default_approval,
        older="approve_all",
        key="session.confirm",
    )
    approve_all: bool = setting(
        False,
        'older spelling of confirm = "all"; also for sessions in which nothing was chosen',
        effect="at the next start of a session's agent",
        strict_first=(False, True),
        key="session.approve_all",
    )
    budget_turn: str = _budget("turn", "one turn")
    budget_session: str = _budget("session", "one session")
    budget_day: str = _budget("day", "a day of all sessions")
    rules: tuple[Rule, ...] = ()
    critic: limits.CriticPolicy = limits.CriticPolicy()
    show_tool_durations: bool = setting(
        True,
        "Tool durations: show how long each tool call took",
        example="true",
        effect="at once, for what is printed from then on",
        key="show_tool_durations",
    )
    interface: limits.Interface = limits.Interface()
    notify: Notify = Notify()
    devices: DevicesPolicy = DevicesPolicy()
    sandbox: Sandbox = Sandbox()
    web: Web = Web()
    worktrees: Mapping[str, Preparation] = MappingProxyType({})
    """What worktrees of a repository need, by its directory."""
    keys: Mapping[str, str] = MappingProxyType({})
    """Keys of the terminal interface, by what they are for."""
    warm: bool = setting(
        True,
        "Warm start: keep a process loaded, so that Rookery's own agent starts at once",
        more="It takes about 250 MB, shared by its sessions, and ends after half an hour "
        "without use.",
        effect="at the next start of a session's agent",
        key="agent.warm",
    )
    memory: bool = setting(
        True,
        "let Rookery's own agent keep notes in MEMORY.md, yours and the project's",
        more="Yours is `memory/MEMORY.md` in Rookery's home, a project's "
        "`.openhands/memory/MEMORY.md`.",
        effect="at once, for sessions started from then on",
        key="agent.memory",
    )
    browser: bool = setting(
        False,
        "give Rookery's own agent a browser",
        more="It needs Chromium or Chrome; without one, the session says so and goes on.",
        effect="for sessions started from then on",
        strict_first=(False, True),
        key="agent.browser",
    )
    version: int = setting(
        FORMAT, "version of this file's format", unit="a whole number", key="version"
    )
    warnings: tuple[str, ...] = ()
    """What is in the file and not used, each with its place."""


HOLDERS = {"worker": "policy"} | {
    name: name for name in ("critic", "interface", "notify", "devices", "sandbox", "web")
}
"""Tables that are a value of their own in Config, with the name of its field."""

_OWN = [
    each._replace(default=None) if each.default == "" else each
    for each in limits.settings_with_keys()
]
[VERSION] = [each for each in _OWN if each.key == "version"]
[OLDER] = [each for each in _OWN if each.key == "session.approve_all"]
PLAIN = tuple(each for each in _OWN if "." not in each.key and each is not VERSION)
SESSION = tuple(each for each in _OWN if each.key.startswith("session.") and each is not OLDER)
AGENT = tuple(each for each in _OWN if each.key.startswith("agent."))

SINGLE = (
    *(VERSION, *PLAIN, *NUMBERS, *CRITICS, *SESSION, OLDER),
    *(*SANDBOX, *AGENT, *WEB, *NOTIFY, *DEVICES, *INTERFACES),
)
"""Each is one value."""

OWN_AGENT = Setting(
    "an agent of your own: rookery run --agent NAME",
    unit="a list of strings",
    example='["my-agent", "--acp"]',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.command",
)
CONFINED = Setting(
    "the kernel stops its commands from answering for you; sudo fails in them",
    example="false",
    effect=limits.NEXT_AGENT,
    key="agents.NAME.confined",
    default=True,
)
ENV = Setting(
    "environment variables for this agent; they override the session's",
    unit="a table of strings",
    example='{ KEY = "value" }',
    effect=limits.NEXT_AGENT,
    secret=True,
    key="agents.NAME.env",
)
MCP = Setting(
    "MCP servers for this agent: all, none, or some by name",
    unit="true, false, or a list of names",
    example='["tracker"]',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.mcp",
)
KIND = Setting(
    "what this agent's new sessions run in, instead of sandbox.kind",
    KINDS,
    example='"bwrap"',
    effect="at once, for new sessions; others keep theirs",
    key="agents.NAME.sandbox",
    default="",
)
URL = Setting(
    "the address of an agent on another machine, instead of a command",
    unit="wss://…, https://…, unix:/…; ws://… and http://… on this machine",
    example='"wss://build.example/acp"',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.url",
)
HEADERS = Setting(
    "headers for that address; each value comes from a variable or a private file",
    unit="a table of { env = NAME } or { file = PATH }",
    example='{ Authorization = { env = "BUILD_TOKEN" } }',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.headers",
)
CA = Setting(
    "certificates to trust at that address instead of the system's",
    unit="a path",
    example='"~/build.pem"',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.ca",
)
FINGERPRINT = Setting(
    "the only certificate to trust at that address",
    unit="sha256: and 64 hexadecimal digits",
    example='"sha256:…"',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.fingerprint",
)
FAR_CWD = Setting(
    "the working directory on the agent's machine (default: the session's)",
    unit="an absolute path",
    example='"/srv/project"',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.cwd",
)
OFFERS = Setting(
    "what an agent on another machine may use on this one (default: nothing)",
    unit="a list of: files, terminals",
    example='["files"]',
    effect=limits.NEXT_AGENT,
    key="agents.NAME.offers",
)
SETUP = Setting(
    'shell command that prepares a new worktree of this repository; "*": of any',
    more="It runs in the worktree's root before the session starts.",
    unit="text",
    example='"npm ci"',
    effect="at once, for new worktrees",
    key="worktrees.PATH.setup",
)
COPY = Setting(
    "untracked files to copy into its worktrees",
    unit="a list of globs",
    example='[".env"]',
    effect="at once, for new worktrees",
    key="worktrees.PATH.copy",
)
RULES = Setting(
    "rules that answer for you: rookery policy",
    unit='tables [[policy.rules]] with do = "allow", "ask" or "deny" and grounds: agent, kind, '
    "command, exact, path, tool",
    example='[{ do = "allow", command = "git status *" }]',
    key="policy.rules",
)
KEYS = Setting(
    "keys of the terminal interface; F1 lists them",
    unit="a key, such as ctrl+x or f6; several with a comma",
    example='"ctrl+x"',
    effect="at the next start of the terminal interface",
    key="keys.NAME",
)
SEVERAL = {
    "agents": (OWN_AGENT,),
    "unconfined": (CONFINED,),
    "extras": (ENV, MCP, KIND),
    "worktrees": (SETUP, COPY),
    "rules": (RULES,),
    "keys": (KEYS,),
}
"""Settings of several values, by the field of Config that holds them."""
OF_ADDRESSES = (URL, HEADERS, CA, FINGERPRINT, FAR_CWD, OFFERS)
"""The settings of agents on other machines."""
SETTINGS = (*SINGLE, *(each for known in SEVERAL.values() for each in known), *OF_ADDRESSES)


def find(key: str) -> Setting | None:
    """Return a setting by its key or its last part; all own agents' commands are one."""
    parts = key.split(".")
    if parts[0] == "agents" and len(parts) <= 3:
        known = [
            each for each in SETTINGS if each.key.startswith("agents.") and each.name == parts[-1]
        ]
        return known[0] if known else OWN_AGENT
    if parts[0] == "keys":
        return KEYS
    if parts[0] == "worktrees":
        return COPY if parts[-1] == COPY.name else SETUP
    return next((setting for setting in SETTINGS if key in (setting.key, setting.name)), None)


def value_of(config: Config, known: Setting) -> Any:
    """Return the value of a setting of SINGLE."""
    holder = HOLDERS.get(known.key.rpartition(".")[0])
    return getattr(getattr(config, holder) if holder else config, known.name)


def with_value(config: Config, known: Setting, value: Any) -> Config:
    if holder := HOLDERS.get(known.key.rpartition(".")[0]):
        inner = getattr(config, holder)._replace(**{known.name: value})
        return config._replace(**{holder: inner})
    return config._replace(**{known.name: value})


# ---------------------------------------------------------------- as a file


def sample() -> str:
    """Return a config.toml with every default in its place."""
    lines = [_line(VERSION.name, written(VERSION.default), VERSION.brief)]
    lines += [_line(setting.name, setting.example, setting.brief) for setting in PLAIN]
    lines += ["", f"{'[worker]':<26} # seconds"]
    lines += [_line(each.name, written(each.default), each.comment) for each in NUMBERS]
    for table in (SESSION, SANDBOX, AGENT, WEB, CRITICS, NOTIFY, DEVICES, INTERFACES):
        lines += ["", f"[{table[0].key.partition('.')[0]}]"]
        lines += [_line(each.name, written(each.default), each.comment) for each in table]
    lines += ["", "[agents.mine]", _line("command", OWN_AGENT.example, "rookery run --agent mine")]
    lines += [_line(CONFINED.name, "true", CONFINED.brief)]
    lines += [_line(each.name, each.example, each.brief) for each in (ENV, MCP, KIND)]
    lines += ["", '[worktrees."~/code/shop"]']
    lines += [_line(each.name, each.example, each.brief) for each in (SETUP, COPY)]
    lines += ["", "[keys]", _line("quit", KEYS.example, KEYS.brief)]
    lines += ["", f"{'[[policy.rules]]':<26} # {RULES.brief}", 'do = "allow"']
    lines += ['command = "git status *"']
    return "\n".join(lines) + "\n"


def template() -> str:
    """Return the same file with every line commented out."""
    return "\n".join(f"# {line}".rstrip() for line in sample().splitlines()) + "\n"


def _line(name: str, value: str, brief: str) -> str:
    return f"{f'{name} = {value}':<26} # {brief}"


# ---------------------------------------------------------------- earlier names


class Renamed(NamedTuple):
    old: str
    """Dotted, as in files of earlier versions."""
    new: str
    values: Mapping[Any, Any] | None = None
    """If the values changed too: the old and the new."""


RENAMED: tuple[Renamed, ...] = ()
"""An old name works forever and is reported with its line. To rename a key, add a row here and
raise FORMAT."""


def migrated(
    tables: dict[str, Any], renamed: Sequence[Renamed] = RENAMED
) -> tuple[dict[str, Any], list[tuple[list[str], str]]]:
    """Return the tables with today's names, and a sentence for each old key. A value that the old
    key could not have stays where it is, and is reported as unknown."""
    renewed = deepcopy(tables) if renamed else tables
    notices: list[tuple[list[str], str]] = []
    for row in renamed:
        old, new = row.old.split("."), row.new.split(".")
        holder = _table(renewed, old)
        if holder is None or old[-1] not in holder:
            continue
        value = holder[old[-1]]
        if row.values is not None:
            if not isinstance(value, str | bool | int) or value not in row.values:
                continue
            value = row.values[value]
        del holder[old[-1]]
        place = _table(renewed, new, make=True)
        if place is None or new[-1] in place:
            notices.append((old, f"is the old name of {row.new}, which is also set and wins"))
        else:
            place[new[-1]] = value
            notices.append((old, f"is now called {row.new}; the old name still works"))
    return renewed, notices


def _table(
    tables: dict[str, Any], key: Sequence[str], *, make: bool = False
) -> dict[str, Any] | None:
    """Return the table that holds a key; None if there is none."""
    for word in key[:-1]:
        inner = tables.setdefault(word, {}) if make else tables.get(word)
        if not isinstance(inner, dict):
            return None
        tables = inner
    return tables
