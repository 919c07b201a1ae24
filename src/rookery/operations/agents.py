"""The agents that sessions can be created with."""

import os
from typing import Annotated, Any, Literal, TypedDict

from rookery.operations.catalogue.row import At, read


class AgentLogin(TypedDict):
    state: Literal["authenticated", "unauthenticated", "not_required", "unknown"]
    account: Annotated[str, "What the agent calls it; may be empty."]
    at: Annotated[int, "When that was learnt, in milliseconds of the epoch; 0: never."]


class Agent(TypedDict):
    name: str
    title: str
    argv: list[str]
    own: Annotated[bool, "Defined in your config.toml."]
    installed: bool
    program: Annotated[str | None, "Where it is."]
    address: Annotated[str, "Where it runs, if not as a program; else empty."]
    installedHere: Annotated[bool, "Whether Rookery installed it."]
    onPath: Annotated[bool, "Whether it was found on PATH."]
    version: str | None
    install: Annotated[str, "The command that installs it; empty: none is known."]
    environment: Annotated[list[str], "Variables that it needs, unless it is logged in."]
    needs: Annotated[str, "What is still missing although it is installed; may be empty."]
    login: Annotated[AgentLogin, "As the agent said when it last ran."]


class Agents(TypedDict):
    agents: list[Agent]
    default: Annotated[str, "The one that a session gets when none is named."]


@read("Agents", on="rookery", group="Setup", typed=False)
def agents(at: At) -> Agents:
    """List the known agents: which are installed, what is missing, and how to install the rest."""
    from rookery.client.config import in_force
    from rookery.models.agents import listed
    from rookery.models.choice import default_agent

    settings = in_force.load(at.home)
    found: list[Any] = listed(at.home, settings, at.home)
    default = default_agent(at.home, settings.default_agent, os.environ)
    return {"agents": found, "default": default}
