"""Route that starts a race. A request repeated with the same key is carried out once."""

import asyncio
import os
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rookery.core.json import Json
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.bodies import Strict
from rookery.daemon.api.sessions import Approval, Budget, Key, New, created
from rookery.daemon.idempotency import digest
from rookery.daemon.state import Daemon
from rookery.home import paths
from rookery.operations.calling.local import LocalRookery
from rookery.operations.merging import entry
from rookery.operations.merging import race as races

router = APIRouter(tags=["work tree"])


class Start(Strict):
    agents: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        min_length=1, max_length=20, examples=[["claude", "codex"]]
    )
    cwd: str = Field(min_length=1, max_length=4096, description="A directory in a git repository.")
    prompt: str = Field(min_length=1, max_length=1_000_000, pattern=r"\S")
    confirm: Approval = Field("", description="As for a session.")
    sandbox: Literal["", "none", "bwrap", "container"] = ""
    budget: dict[Literal["turn", "session", "day"], Budget] = Field(
        default={}, description="Settings of each session."
    )


class Entered(BaseModel):
    agent: str
    session: str = Field(description="Empty: the agent is skipped.")
    why: str = Field(description="Why the agent is skipped.")


class Started(BaseModel):
    id: str = Field(description="The race's id.")
    entries: list[Entered]


@router.post("/api/races", status_code=201, responses=WRITES)
async def start_race(daemon: Daemon, given: Start, idempotency_key: Key = "") -> Started:
    """Send the same prompt to several agents, each in a worktree of its own. One that cannot start
    does not hold up the others."""
    rookery, base = LocalRookery(daemon.home), given.model_dump(exclude={"agents", "prompt"})

    async def enter(race: str, agent: str, label: str) -> Json:
        new = New(agent=agent, worktree=f"{race}-{label}", race=race, **base)
        session = digest(f"{race} {label}")[: len(paths.new_id())]

        def create() -> str:
            is_there = os.path.isdir(paths.session_dir(daemon.home, session))
            return session if is_there else created(daemon, new, session)

        about = rookery, agent, given.prompt, create
        return (await entry.enter(*about, label=label, command=f"race.{session}"))._asdict()

    async def enter_all(race: str) -> Json:
        pairs = zip(given.agents, races.labels(given.agents), strict=True)
        return {"id": race, "entries": [await enter(race, *pair) for pair in pairs]}

    def work(name: str, _again: bool) -> Json:
        return asyncio.run(enter_all(name[: len(races.new_name())]))

    request = f"race {given.model_dump_json()}"
    outcome = await daemon.results.kept(idempotency_key, request, work)
    await daemon.hub.look()
    return Started(**outcome)
