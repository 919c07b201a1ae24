"""Commands to a session: each is answered with the event that came of it."""

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
from rookery.daemon.api.sending import send, staged
from rookery.daemon.state import Daemon, SessionId, State
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.operations.catalogue.finding import find
from rookery.operations.catalogue.row import At
from rookery.operations.queue import with_secrets

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
        command = await asyncio.to_thread(with_secrets, At(daemon.home, session), command)
    if isinstance(given, bodies.PromptCommand) and command.pop("attachments", None):
        directory = paths.session_dir(daemon.home, session)
        blocks = await asyncio.to_thread(staged, directory, given.attachments)
        command["prompt"] = [*command.get("prompt", ()), *blocks]
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


@router.post("/api/sessions/{session}/prompt", responses=WRITES)
async def send_prompt(daemon: Daemon, session: SessionId, given: bodies.Prompt) -> Outcome:
    """Send a prompt, with files if there are any; it waits in the queue while a turn runs."""
    blocks: list[Json] = [{"type": "text", "text": given.text}] if given.text.strip() else []
    if given.attachments:
        directory = paths.session_dir(daemon.home, session)
        blocks += await asyncio.to_thread(staged, directory, given.attachments)
    command: Json = {"do": "prompt", "prompt": blocks}
    command |= {"id": given.id} if given.id else {}
    return await sent(daemon, session, command | ({"steer": True} if given.steer else {}))


@router.post("/api/sessions/{session}/answer", include_in_schema=False)
async def answer_ask(daemon: Daemon, session: SessionId, given: bodies.Answer) -> Outcome:
    """The operation's address from before: its id is in the body."""
    return await sent(daemon, session, {"do": "answer", **given.model_dump(exclude_defaults=True)})


def _answered_by(daemon: State, session: str, ask: str) -> str:
    """The client whose answer counted; "": it was none, or long ago."""
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        for event in reversed(log.before(log.last_seq() + 1)):
            said = event.update
            if said.get("sessionUpdate") == "_ask" and said.get("id") == ask:
                return event.by or ""
    return ""
