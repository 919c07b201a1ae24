"""A session's hooks: the user's own, and the project's, which the user is asked about."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from rookery.agent.conversation.hooks import ProjectHooks, read
from rookery.agent.session import asks
from rookery.client.config import in_force
from rookery.client.project_hooks import trust
from rookery.client.project_hooks.found import Found
from rookery.core.json import Json
from rookery.core.policy import hook_asks
from rookery.home.config import ConfigError
from rookery.models.documents import SettingsError
from rookery.wire.params import offers

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

ASKED = "run this project's hooks"
HOPELESS = "This project's hooks are left out: {}.\n"
OLDER = (
    "This project's hooks are left out: the session's worker is from an older build and cannot "
    "ask you about them. Run rookery restart.\n"
)
GONE = "This project's hooks were removed; they no longer run.\n"
LEFT_OUT = "This project's hooks are not trusted, so they are left out: rookery policy hooks\n"


def waits(session: "Session") -> bool:
    """Whether the user is asked with the first prompt: nothing begins before that."""
    known = None if session.record.remote else session.running.project_hooks
    return known is not None and known.found is not None and not known.trusted


async def ask(
    session: "Session", unless_stopped: asks.UnlessStopped, cancel: Callable[[], None]
) -> None:
    """Before anything of the project runs: whether its hooks do is the user's to say, once for what
    they are now. Cancels the turn if nothing shall be done without them, which Stopped says."""
    if not session.record.remote and not await _settled(session, unless_stopped):
        cancel()
        await unless_stopped(asyncio.get_running_loop().create_future())


async def _settled(session: "Session", unless_stopped: asks.UnlessStopped) -> bool:
    """False: the user, or who stands for one, wants nothing done without an answer."""
    home, now = session.models.home, session.running.project_hooks
    try:
        new = await asyncio.to_thread(read, home, session.record.cwd, now.choices)
    except SettingsError as error:
        session.notice(HOPELESS.format(str(error).rstrip(".")))
        now.take(ProjectHooks(None, {}, now.choices))
        return True
    found = new.found
    if now.found is not None and found is None:
        session.notice(GONE)
    if found is not None and now.found is not None and found.fingerprint == now.found.fingerprint:
        if not now.kept_in:
            new.trusted, new.known = now.trusted or new.trusted, now.known
        new.told = now.told
    now.take(new)
    if found is None or now.trusted or (now.plans and not found.guards):
        return True
    if found.fault or now.known == "refused" or not _can_ask(session):
        if not now.told:
            unasked = LEFT_OUT if _can_ask(session) else OLDER
            session.notice(HOPELESS.format(found.fault) if found.fault else unasked)
        now.told = True
        return True
    return await _ask(session, found, unless_stopped)


def _can_ask(session: "Session") -> bool:
    """A worker of an earlier build would answer by its rules."""
    known = session.client.capabilities
    return offers(known, "_meta", "rookery", "hooks") or not offers(
        known, "_meta", "rookery", "judge"
    )


async def _ask(session: "Session", found: Found, unless_stopped: asks.UnlessStopped) -> bool:
    about: Json = {"hooks": found.fingerprint, "guards": found.guards, "toolName": hook_asks.TOOL}
    call: Json = {
        "toolCallId": f"hooks-{found.fingerprint[:16]}-{os.urandom(4).hex()}",
        "title": ASKED,
        "name": hook_asks.TOOL,
        "kind": "execute",
        "rawInput": {"command": found.script()},
        "status": "pending",
        "_meta": {"rookery": about},
    }
    session.tell({"sessionUpdate": "tool_call", **call})
    words = "Not decided"
    now = session.running.project_hooks
    try:
        verdict = await asks.request(session, call, hook_asks.OPTIONS, unless_stopped)
        now.trusted = verdict.outcome == "allowed"
        if verdict.outcome in ("allowed", "rejected"):
            words = "Trusted" if now.trusted else "Left out"
        if now.trusted or verdict.never:
            now.known = "trusted" if now.trusted else "refused"
            await asyncio.to_thread(_remember, session, found, now.trusted)
            await asyncio.to_thread(now.note_kept, session.models.home)
    finally:
        text = {"type": "text", "text": f"{words}."}
        ended: Json = {"status": "completed" if now.trusted else "failed"}
        ended |= {
            "toolCallId": call["toolCallId"],
            "content": [{"type": "content", "content": text}],
        }
        session.tell({"sessionUpdate": "tool_call_update", **ended})
    return verdict.outcome != "cancelled"


def _remember(session: "Session", found: Found, trusts: bool) -> None:
    """A worker has done so itself. Blocks."""
    if offers(session.client.capabilities, "_meta", "rookery", "hooks"):
        return
    try:
        trust.remember(session.models.home, found, trusts=trusts, asked=True)
    except (in_force.Waiting, ConfigError, OSError) as error:
        session.on_loop(session.notice, f"The answer holds for this session only: {error}\n")
