"""Commands to a session: each is answered with the event that came of it."""

import asyncio
import json
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field

from rookery.client.reading import prompt_text
from rookery.core.agent.prompt import words_of
from rookery.core.asks.asks import MEANINGS, Refusal, meant, options_of
from rookery.core.asks.kept_asks import LATE
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import MASK, encoded, masked, restored
from rookery.daemon.api import bodies, shapes
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.sending import send, staged
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
    edits = int(command.pop("edits", 0))
    if MASK in words_of(command.get("prompt", [])):
        command["prompt"] = await asyncio.to_thread(_restored, daemon, session, command, edits)
    if isinstance(given, bodies.PromptCommand) and command.pop("attachments", None):
        directory = paths.session_dir(daemon.home, session)
        blocks = await asyncio.to_thread(staged, directory, given.attachments)
        command["prompt"] = [*command.get("prompt", ()), *blocks]
    return await sent(daemon, session, command)


async def sent(daemon: State, session: str, command: Json) -> Outcome:
    if command["do"] == "answer" and command.get("option") in MEANINGS:
        command = await asyncio.to_thread(_meant, daemon, session, command)
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


def _restored(daemon: State, session: str, command: Json, edits: int) -> list[Json]:
    """A prompt that clients know without its secrets: one that hit a limit and is sent again, or
    one that waits or was sent before, and was edited."""
    sent: list[Json] = command["prompt"]
    words = words_of(sent)
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        header = log.header()
        before = prompt_text(log, edits) if edits else ""
    if command["do"] == "prompt" and not before:
        known = list(lenient.mappings(header["rateLimit"], "prompt"))
        return known if words == masked(words_of(known)) else sent
    waiting = [each for each in header["queue"] if each["id"] == command.get("item")]
    before = before or (words_of(waiting[0]["prompt"]) if waiting else words)
    text = restored(words, before)
    if text is None:
        raise Problem(
            409,
            "hidden_secret",
            "This prompt contains a secret, which is not shown here.",
            f"Replace {MASK} with it.",
        )
    return [{"type": "text", "text": text}, *(each for each in sent if each["type"] != "text")]


@router.post("/api/sessions/{session}/answer", responses=WRITES)
async def answer_ask(daemon: Daemon, session: SessionId, given: bodies.Answer) -> Outcome:
    """Answer an agent's question: one of its options, or the fields of its form."""
    command: Json = {"do": "answer", **given.model_dump(exclude_defaults=True)}
    if not given.nonce:
        command["nonce"] = await asyncio.to_thread(_nonce, daemon, session, given.ask)
    return await sent(daemon, session, command)


def _meant(daemon: State, session: str, command: Json) -> Json:
    """An answer by its meaning, as the command that it stands for; an option whose id is that
    letter goes first. Raises Problem."""
    ask, letter = _asks(daemon, session).get(command["ask"]), command["option"]
    if ask is None or letter in [each["optionId"] for each in options_of(ask)]:
        return command
    answer = meant(ask, letter)
    if isinstance(answer, Refusal):
        raise Problem(409, answer.reason, answer.message, "Choose one of its options.")
    return {key: value for key, value in command.items() if key != "option"} | answer


def _answered_by(daemon: State, session: str, ask: str) -> str:
    """The client whose answer counted; "": it was none, or long ago."""
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        for event in reversed(log.before(log.last_seq() + 1)):
            said = event.update
            if said.get("sessionUpdate") == "_ask" and said.get("id") == ask:
                return event.by or ""
    return ""


def _nonce(daemon: State, session: str, ask: str) -> str:
    return lenient.text(_asks(daemon, session).get(ask), "nonce")


def _asks(daemon: State, session: str) -> dict[str, Json]:
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        return cast("dict[str, Json]", log.header()["asks"])
