"""The agents that have names: one table, so that a new vendor's agent is one row and no code.

Whether an agent is installed is checked when it is used; nothing here installs one (see `install`).
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery import agents as known_agents
from rookery import installation
from rookery.agents import programs
from rookery.core.agent import switching
from rookery.core.agent.addresses import address_of
from rookery.core.asks.asks import Refusal
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.refusals import Fixed
from rookery.core.settings import sandbox as kinds
from rookery.core.vendors import demo
from rookery.installation.home import home

OWN = "rookery"
"""Rookery's own agent: the default where a model is set up."""

OWN_EXTRA = "agent"
"""The extra that its libraries come with."""

DEMO = demo.NAME
"""Needs no model and no account."""

PYTHON = "$python"
"""Stands in an argv for the interpreter that runs now."""


class Entry(NamedTuple):
    name: str
    title: str
    argv: tuple[str, ...]
    package: str = ""
    """The command that installs it, or where to read; "" where it comes with Rookery."""
    environment: tuple[str, ...] = ()
    """The variables for its key or its model, if it is not logged in otherwise."""
    module: str = ""
    """The module of the extra that an agent of ours needs."""

    @property
    def install(self) -> str:
        """The command that installs it; "" if it is included."""
        if not self.module:
            return self.package
        return installation.commands.extra_line(OWN_EXTRA)


class Agent(NamedTuple):
    """The agent of a session: its name and its command."""

    name: str
    argv: list[str]


class UnknownAgent(Fixed):
    """No agent has that name; the message suggests others."""

    kind = "unclear"
    reason = "unknown_agent"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), known, n=3)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"There is no agent {name!r}.{guess} Known: {', '.join(known)}.")


class NotInstalled(Fixed):
    """The agent's program was not found; the message says so, and how to install it."""

    reason = "not_installed"

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        install = install_line(agent.name, agent.argv)
        if lacks_module(agent):
            super().__init__(not_installed("Rookery's own agent", install))
        else:
            super().__init__(not_installed(agent.name, install, program=agent.argv[0]))


def not_installed(what: str, install: str, *, program: str = "") -> str:
    """Return the message of every face about a missing agent or extra."""
    why = f"{program} does not exist" if "/" in program else f"{program!r} is not on PATH"
    how = f" To install it: {install}" if install else ""
    return f"{what} is not installed{f': {why}' if program else ''}.{how}"


def missing_extra(what: str, extra: str) -> str:
    """Return the message of every face about something that comes with an extra of Rookery."""
    return not_installed(what, installation.commands.extra_line(extra))


_NPM, _UV = "npm install -g", "uv tool install"
_TABLE = {
    # -P: a `json.py` in the session's directory is nothing to import.
    OWN: ("Rookery", f"{PYTHON} -P -m rookery agent", ""),
    DEMO: ("Demo", f"{PYTHON} -P -m rookery play demo", ""),
    "claude": ("Claude", "claude-agent-acp", f"{_NPM} @agentclientprotocol/claude-agent-acp"),
    "codex": ("Codex", "codex-acp", f"{_NPM} @agentclientprotocol/codex-acp"),
    "gemini": ("Gemini", "gemini --acp", f"{_NPM} @google/gemini-cli"),
    "opencode": ("OpenCode", "opencode acp", f"{_NPM} opencode-ai"),
    "qwen": ("Qwen Code", "qwen --acp", f"{_NPM} @qwen-code/qwen-code"),
    "pi": ("Pi", "pi-acp", f"{_NPM} pi-acp @earendil-works/pi-coding-agent"),
    "goose": ("goose", "goose acp", "see https://block.github.io/goose"),
    "vibe": ("Mistral Vibe", "vibe-acp", f"{_UV} mistral-vibe"),
    "kimi": ("Kimi", "kimi acp", f"{_NPM} @moonshot-ai/kimi-code"),
    "copilot": ("GitHub Copilot", "copilot --acp", f"{_NPM} @github/copilot"),
    "cline": ("Cline", "cline --acp", f"{_NPM} cline"),
    "crow": ("Crow", "crow-cli acp", f"{_UV} --python 3.13 crow-cli"),
    "swival": ("Swival", "swival --acp", f"{_UV} --python 3.13 swival"),
    "hermes": ("Hermes", "hermes-acp", f"{_UV} 'hermes-agent[acp,mcp]'"),
    "deepagents": ("Deep Agents", "dcode --acp", f"{_UV} deepagents-code --with deepagents-acp"),
    "openhands": ("OpenHands", "openhands acp", f"{_UV} --python 3.12 openhands"),
}
"""Title, command, and how to install it."""

_VARIABLES = {
    "claude": ("ANTHROPIC_API_KEY",),
    "codex": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY",),
    "qwen": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"),
    "vibe": ("MISTRAL_API_KEY",),
    "deepagents": ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
}
_MODULES = {OWN: "openhands.sdk"}

AGENTS: Mapping[str, Entry] = {
    name: Entry(
        *(name, title, tuple(command.split()), install),
        *(_VARIABLES.get(name, ()), _MODULES.get(name, "")),
    )
    for name, (title, command, install) in _TABLE.items()
}


def title_of(name: str) -> str:
    """Return the name that users call the agent by; for one of their own, its plain name."""
    return AGENTS[name].title if name in AGENTS else name


def names(custom: Mapping[str, Sequence[str]]) -> list[str]:
    """Return every name that `resolve` accepts: the user's own first."""
    return [*custom, *(name for name in AGENTS if name not in custom)]


def resolve(
    name: str,
    custom: Mapping[str, Sequence[str]],
    environment: Mapping[str, str] | None = None,
    node_path: str = "",
) -> Agent:
    """Return the agent of that name; `custom` are those of config.toml, which take precedence.
    Raises UnknownAgent.

    With an environment, a program that only a version manager has gets its full path."""
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
    """Return the agent that a command line starts, named after its program; the environment as in
    `resolve`. Raises ValueError."""
    argv = shlex.split(command)
    if not argv:
        raise ValueError("the command is empty")
    name = os.path.basename(argv[0]) or argv[0]
    if address := address_of(argv):
        name = address.partition(":")[2].strip("/").partition("/")[0]
    if environment is not None:
        argv = programs.located(argv, environment, node_path)
    return Agent(name, argv)


def is_installed(
    agent: Agent, environment: Mapping[str, str], cwd: str, node_path: str = ""
) -> bool:
    """Tell whether the agent's program is found the way it will be started. An agent at an address
    needs none, nor does one that always runs in a container."""
    if address_of(agent.argv) or image_of(agent.argv) is not None:
        return True
    program = programs.find(agent.argv[0], environment, cwd, node_path)
    return program is not None and not lacks_module(agent)


def installed(custom: Mapping[str, Sequence[str]], cwd: str, node_path: str) -> list[str]:
    """Return the names of the installed agents."""
    agents = (resolve(name, custom) for name in names(custom))
    return [each.name for each in agents if is_installed(each, os.environ, cwd, node_path)]


def check_installed(
    agent: Agent, environment: Mapping[str, str], cwd: str, node_path: str = ""
) -> None:
    """Raise NotInstalled unless the agent is installed."""
    if not is_installed(agent, environment, cwd, node_path):
        raise NotInstalled(agent)


def lacks_module(agent: Agent) -> str:
    """Return the module that an agent of ours needs and this Python lacks; "" if none. Never
    imports it."""
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
    header: Header,
    command: Json,
    custom: Mapping[str, Sequence[str]],
    environment: Mapping[str, str],
    node_path: str = "",
) -> Refusal | None:
    """Return why an agent cannot take over a session, or None; the environment is the session's. In
    a container, it depends on the image."""
    refusal = switching.refusal(header, command, names(custom))
    if refusal is not None:
        return refusal
    argv = lenient.texts(command, "argv")
    agent = Agent(command["agent"], argv) if argv else resolve(command["agent"], custom)
    inside = header.sandbox == kinds.CONTAINER
    installed = inside or is_installed(agent, environment, header.cwd, node_path)
    return None if installed else Refusal("not_installed", str(NotInstalled(agent)))


def install_hint(name: str) -> str:
    """Return how to install an agent, whatever its command; "" if it is included, or unknown."""
    entry = AGENTS.get(name)
    known = entry.install if entry else ""
    is_package = known and not known.startswith("see ")
    offered = not is_package and known_agents.downloads.offered(home(), name) is not None
    return f"rookery agents install {name}" if offered else known


def install_line(name: str, argv: Sequence[str]) -> str:
    """Return how to install the program that an agent's command runs; "" if unknown."""
    entry = AGENTS.get(name)
    if entry is None:
        return install_hint(name)
    if entry.module and sys.flags.no_site:
        return ""  # a worker sees nothing that is installed: `rookery doctor` does
    program = sys.executable if entry.argv[0] == PYTHON else entry.argv[0]
    return install_hint(name) if list(argv[:1]) == [program] else ""


COLD = frozenset({"npx", "uvx", "bunx", "pnpx"})
COLD_VERBS = frozenset(["bun x", "npm exec", "pipx run", "pnpm dlx", "uv tool", "yarn dlx"])


def is_own(argv: Sequence[str]) -> bool:
    """Tell whether the command starts Rookery's own agent, with whatever options."""
    args, own = tuple(argv[1:]), AGENTS[OWN].argv[1:]
    installed = os.path.basename(argv[0]) == "rookery" if argv else False
    return args[: len(own)] == own or (installed and args[:1] == own[-1:])


CONTAINER, IMAGE = "--container", "--image"
"""Options of our own agent: it runs in the sandbox `container`, from this image."""


def image_of(argv: Sequence[str]) -> str | None:
    """Return the image of an agent of ours that always runs in a container; "" for the usual one.
    None if it runs wherever its session says."""
    if not is_own(argv) or CONTAINER not in argv:
        return None
    parts = [part for word in argv for part in word.split("=", 1)]
    return parts[parts.index(IMAGE) + 1] if IMAGE in parts[:-1] else ""


def in_image(argv: Sequence[str]) -> list[str]:
    """Return the command as run in a container: this machine's Python is not there, but an image
    that has Rookery has it on its PATH."""
    args, own = list(argv), AGENTS[OWN].argv[1:-1]
    if tuple(args[1 : 1 + len(own)]) == own:
        args = ["rookery", *args[1 + len(own) :]]
    elif is_own(args):
        args[0] = "rookery"
    return bare(args)


def bare(argv: Sequence[str]) -> list[str]:
    """Return the command without the options that put an agent of ours into a container."""
    if image_of(argv) is None:
        return list(argv)
    kept, rest = list[str](), iter(argv)
    for word in rest:
        if word == IMAGE:
            next(rest, "")
        elif word != CONTAINER and not word.startswith(f"{IMAGE}="):
            kept.append(word)
    return kept


def is_cold(argv: Sequence[str]) -> bool:
    """Tell whether the command may have to download its program, or loads a library for seconds."""
    if not argv:
        return False
    if is_own(argv):
        return True
    program = os.path.basename(argv[0])
    return program in COLD or " ".join([program, *argv[1:2]]) in COLD_VERBS


def starts_slowly(argv: Sequence[str]) -> bool:
    """Tell whether an agent gets longer to start: a cold one, and one that was installed
    just now."""
    is_fresh = bool(argv) and os.sep not in argv[0] and programs.is_fresh(argv[0])
    return is_fresh or is_cold(argv)
