"""Commands to a session: each is answered with the event that came of it."""

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from rookery.client import attach, fleet
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import encoded
from rookery.daemon.api import bodies, shapes
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.sending import send
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, SessionId, State
from rookery.home import paths
from rookery.log.reader import Reader

router = APIRouter(tags=["commands"])


class Outcome(BaseModel):
    seq: int = Field(description="The event that is the command's outcome.")
    kind: str = Field(description="That event's kind.", examples=["_prompt", "_done"])
    at: int = Field(description=shapes.WHEN)
    cause: str | None = Field(description="The command's id.")
    by: str | None = Field(description="Which client sent it.")
    update: dict[str, Any] = Field(description="What the event says.")


class Killed(BaseModel):
    left: list[str] = Field(description="What could not be ended: another user's processes.")


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
    if isinstance(given, bodies.PromptCommand) and command.pop("attachments", None):
        directory = paths.session_dir(daemon.home, session)
        staged = await asyncio.to_thread(_staged, directory, given.attachments)
        command["prompt"] = [*command.get("prompt", ()), *staged]
    return await sent(daemon, session, command)


async def sent(daemon: State, session: str, command: Json) -> Outcome:
    outcome = await send(daemon, session, command)
    await daemon.hub.look()
    event = json.loads(encoded(outcome._asdict()))  # with its secrets masked, as everywhere
    return Outcome(kind=str(outcome.update.get("sessionUpdate")), **event)


@router.post("/api/sessions/{session}/prompt", responses=WRITES)
async def send_prompt(daemon: Daemon, session: SessionId, given: bodies.Prompt) -> Outcome:
    """Send a prompt, with files if there are any; it waits in the queue while a turn runs."""
    blocks: list[Json] = [{"type": "text", "text": given.text}] if given.text.strip() else []
    if given.attachments:
        directory = paths.session_dir(daemon.home, session)
        blocks += await asyncio.to_thread(_staged, directory, given.attachments)
    command: Json = {"do": "prompt", "prompt": blocks}
    command |= {"id": given.id} if given.id else {}
    return await sent(daemon, session, command | ({"steer": True} if given.steer else {}))


def _staged(directory: str, given: Sequence[bodies.Attached]) -> list[Json]:
    """Laid beside the log, as the content blocks that stand for them."""
    found: list[attach.Attachment] = []
    for each in given:
        data = base64.b64decode(each.data)
        if len(data) > attach.LARGEST:
            most = attach.LARGEST // 1024 // 1024
            words = f"{each.name!r} is larger than {most} MiB."
            raise Problem(413, "too_large", words, "Send less.")
        found.append(attach.Attachment(each.name, data, attach.mime_of(data, each.name)))
    if words := attach.excess(found):
        raise Problem(413, "too_large", words, "Send less.")
    return attach.stage(directory, found)


@router.post("/api/sessions/{session}/answer", responses=WRITES)
async def answer_ask(daemon: Daemon, session: SessionId, given: bodies.Answer) -> Outcome:
    """Answer an agent's question: one of its options, or the fields of its form."""
    command: Json = {"do": "answer", **given.model_dump(exclude_defaults=True)}
    if not given.nonce:
        command["nonce"] = await asyncio.to_thread(_nonce, daemon, session, given.ask)
    return await sent(daemon, session, command)


def _nonce(daemon: State, session: str, ask: str) -> str:
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        return lenient.text(log.header()["asks"].get(ask), "nonce")


@router.post("/api/sessions/{session}/kill", responses=WRITES)
async def kill_session(daemon: Daemon, session: SessionId) -> Killed:
    """End a session's processes, whatever state they are in. Its history is kept."""
    left = await asyncio.to_thread(fleet.kill, daemon.home, session)
    await daemon.hub.look()
    return Killed(left=left)
