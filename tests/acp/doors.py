"""The ways into Rookery that speak ACP. One suite is run over each of them.

The tests of test_checklist_*.py state what holds of any agent. A way says which of these statements
it cannot be asked for, and why.
"""

import importlib.util
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rookery.home import paths
from tests.acp.driving import Agent
from tests.rigs.player import player

type Json = dict[str, Any]


class Way(NamedTuple):
    name: str
    argv: Callable[[list[str]], list[str]]
    """What is started, given the command of the player that is behind it all."""
    inapplicable: Mapping[str, str]
    """By a statement, its test's name without `test_`: the reason why it cannot be asked here."""


NO_LOGIN = "it has no authentication methods: a session's agent logs in by itself"


PLAYER = Way(
    "player",
    lambda player: player,
    {
        "notices_only_where_offered": "a script's `update` is played as it is",
    },
)
BRIDGE = Way(
    "bridge",
    lambda player: [sys.executable, "-m", "rookery", "acp", "--cmd", shlex.join(player)],
    {
        "terminal_login_only_where_the_client_offers_it": NO_LOGIN,
        "missing_credentials_are_refused_as_such": f"{NO_LOGIN}; -32000 would need a method",
        "logout_only_where_advertised": NO_LOGIN,
        "content_is_accepted_if_advertised": "it takes the same of any agent: test_bridge_prompts",
        "a_missing_file_is_written_as_a_new_one": "files are the worker's: an editor is asked for "
        "its unsaved ones at most",
        "every_terminal_is_released": "terminals are the worker's, never the editor's",
    },
)
WAYS = [PLAYER] + ([BRIDGE] if importlib.util.find_spec("rookery.acp.bridge.door") else [])


def ways_for(test: str) -> list[Way]:
    """Those that the test applies to."""
    statement = test.removeprefix("test_")
    return [way for way in WAYS if statement not in way.inapplicable]


class Door:
    """A way in during one test. All of its starts share one home and one player's memory."""

    def __init__(self, way: Way, home: Path, root: Path) -> None:
        self.name = way.name
        self.home = home
        self.root = root
        self.started: list[Agent] = []
        self._way = way

    def player(self, script: Json | str) -> list[str]:
        file = script
        if isinstance(script, dict):
            file = str(self.root / f"script-{len(self.started)}.json")
            Path(file).write_text(json.dumps(script))
        return player(str(file), "--state", str(self.root / "state"))

    def argv(self, script: Json | str | None = None) -> list[str]:
        return self._way.argv(self.player({} if script is None else script))

    async def start(
        self, script: Json | str | None = None, *, strict: bool = True, **environment: str
    ) -> Agent:
        everything = {**os.environ, **environment}
        agent = await Agent.start(
            self.argv(script), strict=strict, environment=everything, forked=True
        )
        self.started.append(agent)
        return agent

    async def start_own(self, *words: str, **environment: str) -> Agent:
        """The bridge with other arguments, in an editor with other variables."""
        argv = [sys.executable, "-m", "rookery", "acp", *words]
        agent = await Agent.start(argv, environment={**os.environ, **environment}, forked=True)
        self.started.append(agent)
        return agent

    async def open(self, script: Json | None = None, **capabilities: Any) -> Agent:
        """Started and initialized."""
        agent = await self.start(script)
        await agent.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        return agent

    def workers(self) -> list[Json]:
        """What the home's sessions say of their workers; none where there is no worker at all."""
        found = [
            paths.read_json(os.path.join(folder, paths.WORKER))
            for folder in Path(paths.sessions(str(self.home))).glob("*/")
        ]
        return [record for record in found if record]

    async def end(self) -> None:
        for agent in self.started:
            await agent.kill()
