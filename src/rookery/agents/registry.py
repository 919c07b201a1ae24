"""Which agents have names: one table, so that a new vendor's agent is one row and no code.

A row holds facts only. Whether an agent is installed is asked at use; nothing here installs one.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery.agents import programs
from rookery.core.agent import switching
from rookery.core.asks.asks import Refusal
from rookery.core.json import lenient
from rookery.core.json.events import Json

OWN = "rookery"
"""Rookery's own agent: the default where a model is set up."""

DEMO = "demo"
"""Needs no model and no account: what a newcomer meets first."""

PYTHON = "$python"
"""Stands in an argv for the interpreter that runs now: where that lies is known at use only."""


class Entry(NamedTuple):
    name: str
    title: str
    argv: tuple[str, ...]
    install: str = ""
    """A command, or where to read; "" where it comes with Rookery."""
    environment: tuple[str, ...] = ()
    """What the agent reads its key or its model from, where it was not logged in otherwise."""
    module: str = ""
    """Of an agent that comes with Rookery: what an extra of the package has to bring."""


class Agent(NamedTuple):
    """What a session is made with."""

    name: str
    argv: list[str]


class UnknownAgent(Exception):
    """No agent has that name; `near` are the names it may have been meant for."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        from difflib import get_close_matches

        super().__init__(name)
        self.name = name
        self.known = list(known)
        self.near = get_close_matches(name.lower(), self.known, n=3)


class NotInstalled(Exception):
    """The agent's program is nowhere; `install` says how to get it ("": nobody knows)."""

    def __init__(self, agent: Agent, install: str) -> None:
        super().__init__(agent.name)
        self.agent = agent
        self.install = install


_TABLE = (
    # -P: a `json.py` in the session's directory is nothing to import.
    Entry(
        OWN,
        "Rookery",
        (PYTHON, "-P", "-m", "rookery", "agent"),
        "pip install 'rookery[agent]'",
        module="openhands.sdk",
    ),
    Entry("demo", "Demo", (PYTHON, "-P", "-m", "rookery", "play", "demo")),
    Entry(
        "claude",
        "Claude",
        ("claude-agent-acp",),
        "npm install -g @agentclientprotocol/claude-agent-acp",
        ("ANTHROPIC_API_KEY",),
    ),
    Entry(
        "codex",
        "Codex",
        ("codex-acp",),
        "npm install -g @agentclientprotocol/codex-acp",
        ("OPENAI_API_KEY",),
    ),
    Entry(
        "gemini",
        "Gemini",
        ("gemini", "--acp"),
        "npm install -g @google/gemini-cli",
        ("GEMINI_API_KEY",),
    ),
    Entry("opencode", "OpenCode", ("opencode", "acp"), "npm install -g opencode-ai"),
    Entry(
        "qwen",
        "Qwen Code",
        ("qwen", "--acp"),
        "npm install -g @qwen-code/qwen-code",
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"),
    ),
    Entry(
        "pi",
        "Pi",
        ("pi-acp",),
        "npm install -g pi-acp @earendil-works/pi-coding-agent",
    ),
    Entry("goose", "goose", ("goose", "acp"), "see https://block.github.io/goose"),
    Entry(
        "vibe",
        "Mistral Vibe",
        ("vibe-acp",),
        "uv tool install mistral-vibe",
        ("MISTRAL_API_KEY",),
    ),
    Entry("kimi", "Kimi", ("kimi", "acp"), "npm install -g @moonshot-ai/kimi-code"),
    Entry("copilot", "GitHub Copilot", ("copilot", "--acp"), "npm install -g @github/copilot"),
    Entry("cline", "Cline", ("cline", "--acp"), "npm install -g cline"),
    Entry("crow", "Crow", ("crow-cli", "acp"), "uv tool install --python 3.13 crow-cli"),
    Entry("swival", "Swival", ("swival", "--acp"), "uv tool install --python 3.13 swival"),
    Entry("hermes", "Hermes", ("hermes-acp",), "uv tool install 'hermes-agent[acp,mcp]'"),
    Entry(
        "deepagents",
        "Deep Agents",
        ("dcode", "--acp"),
        "uv tool install deepagents-code --with deepagents-acp",
        ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
    ),
    Entry(
        "openhands",
        "OpenHands",
        ("openhands", "acp"),
        "uv tool install --python 3.12 openhands",
    ),
)

AGENTS: Mapping[str, Entry] = {entry.name: entry for entry in _TABLE}


def names(custom: Mapping[str, Sequence[str]]) -> list[str]:
    """Every name that `resolve` takes: a person's own first."""
    return [*custom, *(name for name in AGENTS if name not in custom)]


def resolve(
    name: str,
    custom: Mapping[str, Sequence[str]],
    environment: Mapping[str, str] | None = None,
    node_path: str = "",
) -> Agent:
    """The agent of that name; `custom` are those of config.toml, which win. Raises UnknownAgent.

    With an environment: a program that only a version manager has comes with its whole path.
    """
    if name in custom:
        argv = list(custom[name])
    elif (entry := AGENTS.get(name)) is not None:
        argv = [sys.executable if word == PYTHON else word for word in entry.argv]
    else:
        raise UnknownAgent(name, names(custom))
    if environment is not None:
        argv = programs.located(argv, environment, node_path)
    return Agent(name, argv)


def from_command(
    command: str, environment: Mapping[str, str] | None = None, node_path: str = ""
) -> Agent:
    """The agent that a command line starts, named after its program. Raises ValueError.

    The environment is taken as by `resolve`.
    """
    import shlex

    argv = shlex.split(command)
    if not argv:
        raise ValueError("the command is empty")
    name = os.path.basename(argv[0]) or argv[0]
    if environment is not None:
        argv = programs.located(argv, environment, node_path)
    return Agent(name, argv)


def check_installed(
    agent: Agent, environment: Mapping[str, str], cwd: str, node_path: str = ""
) -> None:
    """Raise NotInstalled where the agent's program cannot be found as it will be started."""
    program = agent.argv[0]
    if programs.find(program, environment, cwd, node_path) is None or lacks_module(agent):
        raise NotInstalled(agent, install_line(agent.name, agent.argv))


def lacks_module(agent: Agent) -> str:
    """The module that an agent of ours needs and this Python has not; "": none. It is looked for,
    never imported."""
    from importlib.util import find_spec

    entry = AGENTS.get(agent.name)
    if entry is None or not entry.module or agent.argv[:1] != [sys.executable]:
        return ""
    if sys.flags.no_site:
        return ""  # a worker: it sees no package that is installed, and so can miss none
    try:
        return "" if find_spec(entry.module) else entry.module
    except ModuleNotFoundError:
        return entry.module


def check_successor(
    header: Json,
    command: Json,
    custom: Mapping[str, Sequence[str]],
    environment: Mapping[str, str],
    node_path: str = "",
) -> Refusal | None:
    """Why an agent cannot take over a session (row S1); the environment is the session's."""
    refusal = switching.refusal(header, command, names(custom))
    if refusal is not None:
        return refusal
    argv = lenient.texts(command, "argv")
    agent = Agent(command["agent"], argv) if argv else resolve(command["agent"], custom)
    try:
        check_installed(agent, environment, header["cwd"], node_path)
    except NotInstalled as missing:
        how = f" To install it: {missing.install}" if missing.install else ""
        words = f"{agent.name} is not installed: there is no program {agent.argv[0]!r}.{how}"
        return Refusal("not_installed", words)
    return None


def install_line(name: str, argv: Sequence[str]) -> str:
    """How to install the program that an agent's command runs; "": nobody knows."""
    entry = AGENTS.get(name)
    if entry is None:
        return ""
    program = sys.executable if entry.argv[0] == PYTHON else entry.argv[0]
    return entry.install if list(argv[:1]) == [program] else ""


COLD = frozenset({"npx", "uvx", "bunx", "pnpx"})
COLD_VERBS = frozenset(
    {
        ("bun", "x"),
        ("npm", "exec"),
        ("pipx", "run"),
        ("pnpm", "dlx"),
        ("uv", "tool"),
        ("yarn", "dlx"),
    }
)


def is_own(argv: Sequence[str]) -> bool:
    """Whether the command starts Rookery's own agent."""
    return tuple(argv[1:]) == AGENTS[OWN].argv[1:]


def is_cold(argv: Sequence[str]) -> bool:
    """Whether the command may have to fetch its program first, or loads a library for seconds (many
    on a busy machine): it is then given longer to start."""
    if not argv:
        return False
    if is_own(argv):
        return True
    program = os.path.basename(argv[0])
    return program in COLD or (program, *argv[1:2]) in COLD_VERBS
