"""Worktrees merged and dropped, and races: started, compared, decided. What comes again with the
same key is done once."""

import asyncio
import os
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rookery.client import fleet
from rookery.core import worktree
from rookery.core.json import Json
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.bodies import Strict
from rookery.daemon.api.sessions import Approval, Budget, Key, New, created
from rookery.daemon.idempotency import digest
from rookery.daemon.state import Daemon, SessionId
from rookery.home import paths
from rookery.operations.calling.local import LocalRookery
from rookery.operations.merging import entry
from rookery.operations.merging import race as races
from rookery.operations.merging import session as branch
from rookery.operations.merging.move import move_session

router = APIRouter(tags=["work tree"])

How = Literal["merge", "rebase", "squash", "apply"]
MESSAGE = "The commit message; empty: a draft of what changed."


class Merged(BaseModel):
    summary: str = ""
    how: str
    into: str = Field(description="The branch, or the directory where none is checked out.")
    directory: str
    commit: str = Field(description="The branch's commit now; empty: nothing was committed.")
    kept: bool
    commits: int
    message: str = Field("", description="Of the commit that was made of the work; may be empty.")
    files: int
    added: int
    removed: int


class Move(Strict):
    name: str = Field("", max_length=100, description="Of its branch; empty: the session's id.")
    cancel: bool = Field(False, description="Cancel the running turn first.")


class Moved(BaseModel):
    directory: str = Field(description="Where the session works from now on.")
    branch: str
    files: list[str] = Field(description="Changed files that it took along, as copies.")
    from_: str = Field(alias="from", description="Where it worked before.")


class Drop(Strict):
    force: bool = Field(False, description="Also delete work that was not merged.")


class Dropped(BaseModel):
    dropped: bool


class Runner(BaseModel):
    session: str
    agent: str
    state: str
    branch: str
    files: int | None = Field(description="Changed files; null: its worktree is gone.")
    added: int
    removed: int
    tests: str = Field(description="By the critic's command: passed, failed, running or empty.")
    cost: dict[str, float] = Field(description="By currency.")
    tokens: int
    seconds: float


class Race(BaseModel):
    id: str
    sessions: list[Runner]


@router.post("/api/sessions/{session}/move", responses=WRITES)
async def move_to_worktree(
    daemon: Daemon, session: SessionId, given: Move, idempotency_key: Key = ""
) -> Moved:
    """Give a session a git worktree of its own, with copies of the files that it changed. While a
    turn runs it is refused (`running`) unless `cancel` is true."""

    def work(_name: str, again: bool) -> Json:
        tree = branch.tree_of(daemon.home, session) if again else None
        if tree and worktree.exists(tree):  # it was moved, and the answer was lost
            about = {"directory": tree["path"], "branch": tree["branch"], "from": tree["origin"]}
            return about | {"files": []}
        return move_session(daemon.home, session, given.name, cancel=given.cancel)

    request = f"move {session} {given.model_dump_json()}"
    found = await daemon.results.kept(idempotency_key, request, work)
    await daemon.hub.look()
    return Moved(**found)


@router.post("/api/sessions/{session}/drop", responses=WRITES)
async def drop_worktree(
    daemon: Daemon, session: SessionId, given: Drop, idempotency_key: Key = ""
) -> Dropped:
    """Delete the session's worktree and branch; the session stays. Work that was not merged is kept
    (`unmerged_work`) unless `force` is true."""

    def work(_name: str, again: bool) -> None:
        tree = branch.tree_of(daemon.home, session) or {}
        if not (again and tree.get("state") == worktree.DROPPED):
            branch.drop_session(daemon.home, session, force=given.force)

    await daemon.results.kept(idempotency_key, f"drop {session} {given.model_dump_json()}", work)
    await daemon.hub.look()
    return Dropped(dropped=True)


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


class Pick(Strict):
    session: Annotated[str, Field(min_length=1, max_length=200)]
    how: How = "merge"
    message: str = Field("", max_length=20_000, description=MESSAGE)


class Picked(BaseModel):
    merged: Merged
    dropped: list[str] = Field(description="The sessions whose worktrees were deleted.")


class DropRace(Strict):
    race: Annotated[str, Field(min_length=1, max_length=64)]


class RaceDropped(BaseModel):
    dropped: list[str] = Field(description="The sessions whose worktrees were deleted.")


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
    found = await daemon.results.kept(idempotency_key, request, work)
    await daemon.hub.look()
    return Started(**found)


@router.get("/api/races/{race}", responses=WRITES)
async def read_race(daemon: Daemon, race: str) -> Race:
    """The sessions of a race, compared. `latest`: of the latest one."""
    name, rows = await asyncio.to_thread(races.table, daemon.home, race)
    return Race(id=name, sessions=[Runner(**row._asdict()) for row in rows])


@router.post("/api/races/pick", responses=WRITES)
async def pick_winner(daemon: Daemon, given: Pick, idempotency_key: Key = "") -> Picked:
    """Merge one session of a race and drop the rest. If the merge fails, nothing is dropped."""
    session = await asyncio.to_thread(fleet.find, daemon.home, given.session)

    def work(_name: str, again: bool) -> Json:
        return races.pick(daemon.home, session, given.how, given.message, again=again)

    request = f"pick {given.model_dump_json()}"
    found = await daemon.results.kept(idempotency_key, request, work)
    await daemon.hub.look()
    return Picked(**found)


@router.post("/api/races/drop", responses=WRITES)
async def drop_race(daemon: Daemon, given: DropRace, idempotency_key: Key = "") -> RaceDropped:
    """Delete the worktrees of all sessions of a race, with all changes, and archive them."""

    def work(_name: str, _again: bool) -> list[str]:
        return races.drop(daemon.home, given.race)

    found = await daemon.results.kept(idempotency_key, f"drop race {given.race}", work)
    await daemon.hub.look()
    return RaceDropped(dropped=found)
