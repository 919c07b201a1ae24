"""The agents that sessions can be created with."""

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from rookery.core.refusals import Refused
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read, work

if TYPE_CHECKING:
    from rookery.forms.agent_install import Job

GROUP = "Setup"
PERSON = "install agents"

Name = Annotated[str, Arg("The agent to install.", pattern=".", max_length=200)]


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


class Installation(TypedDict):
    state: Literal["planned", "running", "done", "failed"]
    plan: Annotated[list[str], "What is run, and where it goes."]
    output: Annotated[list[str], "The last lines of it."]
    message: Annotated[str, "Why it failed, or what to do next; may be empty."]


@read("Agents", on="rookery", group=GROUP, typed=False)
def agents(at: At) -> Agents:
    """List the known agents: which are installed, what is missing, and how to install the rest."""
    from rookery.client.config import in_force
    from rookery.models.agents import listed
    from rookery.models.choice import default_agent

    settings = in_force.load(at.home)
    rows: list[Any] = listed(at.home, settings, at.home)
    default = default_agent(at.home, settings.default_agent, os.environ)
    return {"agents": rows, "default": default}


@read("An installation", on="rookery", group=GROUP, role="all", typed=False)
def installation(at: At, agent: Name) -> Installation:
    """Tell how far the installation of an agent is; before it was begun, what would be run."""
    from rookery.forms import agent_install

    job = agent_install.job_of(at.home, agent)
    if job is not None:
        return _shown(job)
    plan = agent_install.described(agent_install.prepare(at.home, agent))
    return {"state": "planned", "plan": plan, "output": [], "message": ""}


@work("Install an agent", on="rookery", group=GROUP, person=PERSON, typed=False, once="harmless")
def install_agent(at: At, agent: Name) -> Installation:
    """Install an agent into Rookery's home, or update it there. It goes on after the answer:
    `installation` says how it ended."""
    from rookery.forms import agent_install

    return _shown(agent_install.begun(at.home, agent))


@work("End an installation", on="rookery", group=GROUP, person=PERSON, typed=False, once="harmless")
def cancel_installation(at: At, agent: Name) -> Installation:
    """End the installation of an agent; nothing of it stays."""
    from rookery.forms import agent_install

    job = agent_install.job_of(at.home, agent)
    if job is None or job.state != "running":
        raise Refused("not_running", f"{agent} is not being installed.")
    job.cancel()
    return _shown(job)


def _shown(job: "Job") -> Installation:
    return {"state": job.state, "plan": job.plan_text, "output": job.output, "message": job.message}
