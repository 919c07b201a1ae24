"""Agents installed over HTTP, as the terminal installs them: what will be run, its output while it
runs, and why it failed. One at a time of each; it ends with the daemon."""

import asyncio
import atexit
import threading
from collections import deque
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from rookery.agents.install import InstallError, Plan, Watch
from rookery.client.config import in_force
from rookery.core.json.safe_text import clean_line
from rookery.core.json.secrets import masked
from rookery.daemon.api.answers import WRITES, faults
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, State
from rookery.forms import agent_install

router = APIRouter(tags=["agents"])

LINES = 40
"""Of the output, the last."""

Agent = Annotated[str, Path(max_length=200, description="The agent's name.")]


class Installation(BaseModel):
    state: Literal["planned", "running", "done", "failed"]
    plan: list[str] = Field(description="What is run, and where it goes.")
    output: list[str] = Field(description="The last lines of it.")
    message: str = Field(description="Why it failed, or what to do next; may be empty.")


class _Job:
    def __init__(self, home: str, name: str, plan: Plan) -> None:
        self.home, self.name, self.plan = home, name, plan
        self.words = agent_install.described(plan)  # before there is anything of it
        self.state: Literal["running", "done", "failed"] = "running"
        self.output = deque[str](maxlen=LINES)
        self.message = ""
        self.watch = Watch(self.output.append)

    def run(self) -> None:
        try:
            agent_install.run(self.home, self.plan, self.watch)
        except (InstallError, OSError) as error:
            self.state, self.message = "failed", str(error)
        else:
            self.state, self.message = "done", agent_install.login_hint(self.name)


_lock = threading.Lock()
_jobs: dict[tuple[str, str], _Job] = {}
"""By home and agent: the last one."""


@atexit.register
def _end() -> None:
    for job in _jobs.values():
        if job.state == "running":
            job.watch.cancel()


def _planned(daemon: State, name: str) -> Plan:
    """Raises UnknownAgent, FromAgent, InstallError."""
    return agent_install.prepare(daemon.home, name, in_force.load(daemon.home).node_path)


def _told(job: _Job) -> Installation:
    output = [masked(clean_line(line)) for line in list(job.output)]
    message = masked(clean_line(job.message))
    return Installation(state=job.state, plan=job.words, output=output, message=message)


@router.get("/api/agents/{agent}/install", responses=faults(404, 409))
async def read_installation(daemon: Daemon, agent: Agent) -> Installation:
    """How far it is; before it was begun, what would be run."""
    job = _jobs.get((daemon.home, agent))
    if job is not None:
        return _told(job)
    plan = await asyncio.to_thread(_planned, daemon, agent)
    return Installation(state="planned", plan=agent_install.described(plan), output=[], message="")


@router.post("/api/agents/{agent}/install", status_code=202, responses=WRITES)
async def install_agent(daemon: Daemon, agent: Agent) -> Installation:
    """Install an agent into Rookery's home, or update it there. It goes on after the answer: read
    it again to see how it ended."""
    plan = await asyncio.to_thread(_planned, daemon, agent)
    with _lock:
        job = _jobs.get((daemon.home, agent))
        if job is None or job.state != "running":
            job = _jobs[daemon.home, agent] = _Job(daemon.home, agent, plan)
            threading.Thread(target=job.run, name=f"install {agent}", daemon=True).start()
    return _told(job)


@router.delete("/api/agents/{agent}/install", responses=WRITES)
async def cancel_installation(daemon: Daemon, agent: Agent) -> Installation:
    """End an installation; nothing of it stays."""
    job = _jobs.get((daemon.home, agent))
    if job is None or job.state != "running":
        raise Problem(409, "not_running", f"{agent[:200]} is not being installed.")
    await asyncio.to_thread(job.watch.cancel)
    return _told(job)
