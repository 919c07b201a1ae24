"""Bridges for tests: what an editor offers, and how to make an agent do odd things."""

from collections.abc import Callable
from typing import Any

from tests.acp.driving import Agent, Json

ALLOW: Json = {"outcome": {"outcome": "selected", "optionId": "allow"}}
FORMS: Json = {"elicitation": {"form": {}}}
FILES: Json = {"fs": {"readTextFile": True, "writeTextFile": True}}
SCREENS: Json = {"terminal": True, "_meta": {"terminal_output": True}}
NOTICES: Json = {"session": {"notices": {}, "compaction": {}}}


def is_call(method: str) -> Callable[[Json], bool]:
    return lambda line: line.get("method") == method


async def asked(agent: Agent) -> Json:
    """The next dialog that the bridge opens."""
    return await agent.until(is_call("session/request_permission"))


def update(kind: str, /, **fields: Any) -> Json:
    """A step of the player's that sends an update as it is."""
    return {"update": {"sessionUpdate": kind, **fields}}
