"""The environment and umask that a session was created with and that everything it starts gets, and
the MCP servers that its agent gets at each start: the session's own, and those of the home's
mcp.json. The contents of that file stay out of the log: each start reads it again."""

import atexit
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from rookery.client.config.in_force import InForce
from rookery.client.environment import kept_of
from rookery.core.agent import opening
from rookery.core.agent.addresses import address_of
from rookery.core.header import Header
from rookery.core.json import Draft, Json, dumps, lenient, notice
from rookery.core.settings.agent_tables import Extras, McpChoice
from rookery.core.vendors.environment import OVERRIDES, change_of, cleaned, completed
from rookery.core.vendors.profiles import Profile
from rookery.home import mcp, paths, scratch
from rookery.home.config import Config
from rookery.processes import MARK
from rookery.processes.child import Fence

USUAL_UMASK = 0o022

MAX_TMUX_DIR = 60
"""Bytes of a directory in which a tmux server can listen: the path of its socket is longer, and has
a limit."""


class Surroundings(NamedTuple):
    environment: dict[str, str]
    umask: int
    fence: Fence | None = None
    """What is around all of it."""


def of_session(directory: str) -> Surroundings:
    """Return the environment and umask as saved at the session's creation; the worker's own if none
    can be read. Variables that are never saved are taken from the worker's starter."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    umask = lenient.integer(saved, "umask")
    return Surroundings(_environment(saved), USUAL_UMASK if umask is None else umask & 0o777)


def _environment(saved: Json | None) -> dict[str, str]:
    names = [name for name in lenient.texts(saved, "withheld") if name in OVERRIDES]
    environment = completed(kept_of(saved), names, os.environ)
    if mark := os.environ.get(MARK):
        environment[MARK] = mark
    return environment


def renew(directory: str, environment: dict[str, str]) -> None:
    """Update `environment` with what a terminal or editor brought (client/environment.py)."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    if saved is not None:
        new = _environment(saved)
        environment.clear()
        environment.update(new)


def news(directory: str) -> list[Draft]:
    """Report once what a terminal or an editor has brought: the names of the variables."""
    path = os.path.join(directory, paths.RENEWED)
    brought = paths.read_json(path)
    changes = change_of(brought).describe()
    if not changes:
        return []
    with suppress(OSError):
        os.unlink(path)
    of = lenient.text(brought, "of", "terminal")
    text = f"The agent now has your {of}'s environment: {changes}."
    return [Draft(notice(text, "info"))]


class AgentExtras:
    """Additions to the session's environment for one agent: variables of `[agents.NAME]`, and a
    directory for its tmux server."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._tmux = ""

    def environment(self, config: Config, agent: str, profile: Profile) -> dict[str, str]:
        variables = cleaned(config.extras.get(agent, Extras()).env)
        return {"TMUX_TMPDIR": self._tmux_place(), **variables} if profile.own_tmux else variables

    def _tmux_place(self) -> str:
        """Return the directory of this session's own tmux server: ending it ends no command of
        another session."""
        if not os.path.isdir(self._tmux):
            self._tmux = scratch.folder(self._home, "tmux-")
            if len(os.fsencode(self._tmux)) > MAX_TMUX_DIR:
                import shutil
                import tempfile

                self._tmux = tempfile.mkdtemp(prefix="rookery-tmux-")
                atexit.register(shutil.rmtree, self._tmux, ignore_errors=True)
        return self._tmux


TOLD_KEPT = 200


class Servers:
    def __init__(self, directory: str, surroundings: Surroundings) -> None:
        self._directory = directory
        self._home = os.path.dirname(os.path.dirname(directory))
        self._environment = surroundings.environment
        self._servers = mcp.Resolved([], [])
        self._wanted: McpChoice = True
        self._brought: list[Json] = []

    def read(self, header: Header, settings: InForce, profile: Profile) -> list[Draft]:
        """Read the file, for an agent that is about to start, and return notices about its faults,
        each given once. Servers that the user has yet to confirm are not in the settings."""
        agent = header.agent
        chosen = settings.config.extras.get(agent, Extras()).mcp
        self._wanted = profile.takes_servers if chosen is None else chosen
        self._brought = [] if chosen is False else _own(profile, header.argv)
        try:
            mcp.load(self._home)
            listed = mcp.listed(settings.guarded.servers)
            self._servers = mcp.for_agent(listed, self._environment, settings.config.node_path)
            faults = [f"The MCP server {fault}. It is ignored." for fault in self._servers.faults]
        except mcp.McpError as error:
            self._servers = mcp.Resolved([], [])
            faults = [f"The agent got none of your MCP servers. {error}"]
        there = [*header.mcp_servers, *self._servers.servers]
        if isinstance(chosen, tuple):
            known = [lenient.text(each, "name") for each in there]
            lost = [name for name in chosen if name not in known]
            faults += [f"There is no MCP server {name} (agents.{agent}.mcp)." for name in lost]
        if there and chosen is None and not profile.takes_servers:
            remote = address_of(settings.config.agents.get(agent, header.argv))
            why = "it runs on another machine" if remote else "it does not work with them"
            faults.append(
                f"{agent} does not get your MCP servers, because {why}; "
                f"to pass them anyway, set agents.{agent}.mcp = true in config.toml."
            )
        return self._notices(faults)

    def given(self, own: list[Json]) -> list[Json]:
        """Return the servers for the agent. If two have the same name, the session's own wins."""
        names = {server.get("name") for server in own}
        servers = [*own, *(each for each in self._servers.servers if each["name"] not in names)]
        wanted = [server for server in servers if self._is_wanted(server)]
        names = {server.get("name") for server in wanted}
        return [*wanted, *(each for each in self._brought if each["name"] not in names)]

    def _is_wanted(self, server: Json) -> bool:
        wanted = self._wanted
        return wanted if isinstance(wanted, bool) else lenient.text(server, "name") in wanted

    def untaken(self, header: Header, capabilities: Json | None) -> list[Draft]:
        """Return notices about the servers that this agent cannot take, each given once."""
        left = opening.untaken(capabilities, self.given(header.mcp_servers))
        kinds = [(lenient.text(server, "name"), lenient.text(server, "type")) for server in left]
        return self._notices(
            f"{header.agent} does not support MCP servers over {kind}: it did not get {name}."
            for name, kind in kinds
        )

    def _notices(self, texts: Iterable[str]) -> list[Draft]:
        """Return notices for those of the texts that are new to this session."""
        path = os.path.join(self._directory, paths.TOLD)
        shown = lenient.texts(paths.read_json(path), "told")
        fresh = [text for text in dict.fromkeys(texts) if text not in shown]
        if fresh:
            data = dumps({"told": [*shown, *fresh][-TOLD_KEPT:]}).encode("ascii")
            with suppress(OSError):  # a full disk: it may be told twice
                paths.write_atomic(path, data, 0o600)
        return [Draft(notice(text)) for text in fresh]


def _own(profile: Profile, argv: list[str]) -> list[Json]:
    """Return the servers that the agent provides itself, at the agent's own path if it was started
    by that."""
    place = {os.path.basename(path): path for path in argv[:1]}
    return [
        {"name": name, "command": place.get(program, program), "args": arguments, "env": []}
        for name, program, *arguments in profile.own_servers
    ]
