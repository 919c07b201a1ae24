"""The MCP servers that a session's agent is given at each start: the session's own, and those of
the home's mcp.json. What the file says stays out of the log: each start reads it again."""

import os
from collections.abc import Iterable
from contextlib import suppress

from rookery.client.config.in_force import InForce
from rookery.core.agent import opening
from rookery.core.json import Draft, Json, dumps, lenient, notice
from rookery.core.settings.agent_tables import Extras, McpChoice
from rookery.core.vendors.profiles import Profile
from rookery.home import mcp, paths
from rookery.worker.environment import Surroundings

TOLD_KEPT = 200


class Servers:
    def __init__(self, directory: str, surroundings: Surroundings) -> None:
        self._directory = directory
        self._home = os.path.dirname(os.path.dirname(directory))
        self._environment = surroundings.environment
        self._found = mcp.Resolved([], [])
        self._wanted: McpChoice = True
        self._brought: list[Json] = []

    def read(self, header: Json, settings: InForce, profile: Profile) -> list[Draft]:
        """Read the file, for an agent that is about to start; what is wrong with it, said once.
        Servers that wait until the user confirms them are not in the settings."""
        agent = header["agent"]
        chosen = settings.config.extras.get(agent, Extras()).mcp
        self._wanted = profile.takes_servers if chosen is None else chosen
        self._brought = [] if chosen is False else _own(profile, header["argv"])
        try:
            mcp.load(self._home)
            listed = mcp.listed(settings.guarded.servers)
            self._found = mcp.for_agent(listed, self._environment, settings.config.node_path)
            faults = [f"The MCP server {fault}. It is ignored." for fault in self._found.faults]
        except mcp.McpError as error:
            self._found = mcp.Resolved([], [])
            faults = [f"The agent got none of your MCP servers. {error}"]
        there = [*header["mcpServers"], *self._found.servers]
        if isinstance(chosen, tuple):
            known = [lenient.text(each, "name") for each in there]
            lost = [name for name in chosen if name not in known]
            faults += [f"There is no MCP server {name} (agents.{agent}.mcp)." for name in lost]
        if there and chosen is None and not profile.takes_servers:
            faults.append(
                f"{agent} does not get your MCP servers, because it does not work with them; "
                f"to pass them anyway, set agents.{agent}.mcp = true in config.toml."
            )
        return self._notices(faults)

    def given(self, own: list[Json]) -> list[Json]:
        """The session's own win where a name is there twice."""
        names = {server.get("name") for server in own}
        found = [*own, *(each for each in self._found.servers if each["name"] not in names)]
        wanted = [server for server in found if self._is_wanted(server)]
        names = {server.get("name") for server in wanted}
        return [*wanted, *(each for each in self._brought if each["name"] not in names)]

    def _is_wanted(self, server: Json) -> bool:
        wanted = self._wanted
        return wanted if isinstance(wanted, bool) else lenient.text(server, "name") in wanted

    def untaken(self, header: Json, capabilities: Json | None) -> list[Draft]:
        """What this agent cannot take, said once."""
        left = opening.untaken(capabilities, self.given(header["mcpServers"]))
        kinds = [(lenient.text(server, "name"), lenient.text(server, "type")) for server in left]
        return self._notices(
            f"{header['agent']} does not support MCP servers over {kind}: it did not get {name}."
            for name, kind in kinds
        )

    def _notices(self, texts: Iterable[str]) -> list[Draft]:
        """Of these sentences, the ones that are new to this session."""
        path = os.path.join(self._directory, paths.TOLD)
        told = lenient.texts(paths.read_json(path), "told")
        fresh = [text for text in dict.fromkeys(texts) if text not in told]
        if fresh:
            data = dumps({"told": [*told, *fresh][-TOLD_KEPT:]}).encode("ascii")
            with suppress(OSError):  # a full disk: it may be told twice
                paths.write_atomic(path, data, 0o600)
        return [Draft(notice(text)) for text in fresh]


def _own(profile: Profile, argv: list[str]) -> list[Json]:
    """Those that the agent brings itself, by its own path where it was started by that."""
    place = {os.path.basename(path): path for path in argv[:1]}
    return [
        {"name": name, "command": place.get(program, program), "args": arguments, "env": []}
        for name, program, *arguments in profile.own_servers
    ]
