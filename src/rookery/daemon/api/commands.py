"""Routes that send commands to a session; each responds with the resulting event."""

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from rookery.core.asks.kept_asks import LATE
from rookery.core.json import Json
from rookery.core.json.secrets import encoded
from rookery.daemon.api import bodies, shapes
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.sending import send
from rookery.daemon.state import Daemon, SessionId, State
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.operations.catalogue.finding import find
from rookery.operations.catalogue.row import At

router = APIRouter(tags=["commands"])


class Outcome(BaseModel):
    seq: int = Field(description="The event that is the command's outcome.")
    kind: str = Field(description="That event's kind.", examples=["_prompt", "_done"])
    at: int = Field(description=shapes.WHEN)
    cause: str | None = Field(description="The command's id.")
    by: str | None = Field(description="Which client sent it.")
    update: dict[str, Any] = Field(description="What the event says.")


@router.post("/api/sessions/{session}/commands", responses=WRITES)
async def send_command(
    daemon: Daemon,
    session: SessionId,
    given: Annotated[
        bodies.Command,
        Body(examples=[{"do": "cancel"}, {"do": "set", "option": "model", "value": "large"}]),
    ],
) -> Outcome:
    """Send a command; which fields it has depends on `do`."""
    command = given.model_dump(exclude_defaults=True)
    if command["do"] == "prompt":
        command.setdefault("prompt", [])
    return await sent(daemon, session, command)


async def sent(daemon: State, session: str, command: Json) -> Outcome:
    row = find(command["do"])
    if row is not None and row.traits.completes is not None:
        at = At(daemon.home, session)
        command = await asyncio.to_thread(row.traits.completes, at, command)
    outcome = await send(daemon, session, command)
    await daemon.hub.look()
    event = json.loads(encoded(outcome._asdict()))  # with its secrets masked, as everywhere
    if outcome.update.get("detail") == LATE:
        who = await asyncio.to_thread(_answered_by, daemon, session, str(command["ask"]))
        event["update"] |= {"by": who} if who else {}
    return Outcome(kind=str(outcome.update.get("sessionUpdate")), **event)


def _answered_by(daemon: State, session: str, ask: str) -> str:
    """Return the client whose answer counted, or "" if none did or it was long ago."""
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        for event in reversed(log.before(log.last_seq() + 1)):
            update = event.update
            if update.get("sessionUpdate") == "_ask" and update.get("id") == ask:
                return event.by or ""
    return ""
