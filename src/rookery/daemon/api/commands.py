"""Commands to a session: each is answered with the event that came of it."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from rookery.client import fleet
from rookery.core import commands
from rookery.core.json.events import Json
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.sending import send
from rookery.daemon.state import Daemon, SessionId

router = APIRouter(tags=["commands"])

NAMES = tuple(name for name in commands.NAMES if name not in ("delete", "start"))
Id = Annotated[str, Field(max_length=200, pattern="^[A-Za-z0-9_.:-]*$")]


class Outcome(BaseModel):
    seq: int = Field(description="The event that is the command's outcome.")
    kind: str


class Command(BaseModel):
    """Any command of the worker's, by its name; docs/api.md lists their fields."""

    model_config = ConfigDict(extra="allow")
    do: Literal[NAMES]  # type: ignore[valid-type]
    id: Id = Field("", description="Sent again with the same id, it is done once.")


@router.post("/api/sessions/{session}/commands", responses=WRITES)
async def command(daemon: Daemon, session: SessionId, given: Command) -> Outcome:
    """Send a command: prompt, queue, cancel, force_end, answer, set, rename, stop, restart,
    archive, unarchive, snooze, switch, clear."""
    wanted: Json = given.model_dump(exclude_defaults=True)
    return await _sent(daemon, session, wanted)


async def _sent(daemon: Any, session: str, command: Json) -> Outcome:
    outcome = await send(daemon, session, command)
    await daemon.hub.look()
    return Outcome(seq=outcome.seq, kind=str(outcome.update.get("sessionUpdate")))


class Prompt(BaseModel):
    text: str = Field(min_length=1, max_length=1_000_000)
    id: Id = Field("", description="Sent again with the same id, it is done once.")


@router.post("/api/sessions/{session}/prompt", responses=WRITES)
async def prompt(daemon: Daemon, session: SessionId, given: Prompt) -> Outcome:
    """Send a prompt; it waits in the queue while a turn runs."""
    wanted: Json = {"do": "prompt", "prompt": [{"type": "text", "text": given.text}]}
    return await _sent(daemon, session, wanted | ({"id": given.id} if given.id else {}))


class Answer(BaseModel):
    ask: str = Field(max_length=500, description="The ask's id.")
    option: str = Field("", max_length=500, description="One of its options.")
    feedback: str = Field("", max_length=100_000, description="Why, for the agent.")
    id: Id = ""


@router.post("/api/sessions/{session}/answer", responses=WRITES)
async def answer(daemon: Daemon, session: SessionId, given: Answer) -> Outcome:
    """Answer an agent's question."""
    return await _sent(daemon, session, {"do": "answer", **given.model_dump(exclude_defaults=True)})


class Killed(BaseModel):
    left: list[str] = Field(description="What could not be ended: another user's processes.")


@router.post("/api/sessions/{session}/kill", responses=WRITES)
async def kill(daemon: Daemon, session: SessionId) -> Killed:
    """End a session's processes, whatever state they are in. Its history is kept."""
    left = await asyncio.to_thread(fleet.kill, daemon.home, session)
    await daemon.hub.look()
    return Killed(left=left)
