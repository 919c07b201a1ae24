"""A session's hooks: the user's own, and the project's, for which the user is asked."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from rookery.agent.conversation.hooks import ProjectHooks, read
from rookery.agent.session import asks
from rookery.client.config import in_force
from rookery.client.project_hooks import trust
from rookery.client.project_hooks.hook_file import HookFile
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
    """Tell whether the user is asked with the first prompt: nothing begins before that."""
    known = None if session.record.remote else session.running.project_hooks
    return known is not None and known.file is not None and not known.trusted


async def ask(
    session: "Session", unless_stopped: asks.UnlessStopped, cancel: Callable[[], None]
) -> None:
    """Ask the user, before anything of the project's runs, whether its hooks may, once for what
    they are now. If nothing shall be done without them, cancels the turn, which then raises
    Stopped."""
    if not session.record.remote and not await _settled(session, unless_stopped):
        cancel()
        await unless_stopped(asyncio.get_running_loop().create_future())


async def _settled(session: "Session", unless_stopped: asks.UnlessStopped) -> bool:
    """Decide whether hooks run. False: nothing shall be done without the user's answer."""
    home, now = session.models.home, session.running.project_hooks
    try:
        new = await asyncio.to_thread(read, home, session.record.cwd, now.choices)
    except SettingsError as error:
        session.notice(HOPELESS.format(str(error).rstrip(".")))
        now.take(ProjectHooks(None, {}, now.choices))
        return True
    hook_file = new.file
    if now.file is not None and hook_file is None:
        session.notice(GONE)
    if (
        hook_file is not None
        and now.file is not None
        and hook_file.fingerprint == now.file.fingerprint
    ):
        if not now.kept_in:
            new.trusted, new.known = now.trusted or new.trusted, now.known
        new.notified = now.notified
    now.take(new)
    if hook_file is None or now.trusted or (now.plans and not hook_file.guards):
        return True
    if hook_file.fault or now.known == "refused" or not _can_ask(session):
        if not now.notified:
            unasked = LEFT_OUT if _can_ask(session) else OLDER
            session.notice(HOPELESS.format(hook_file.fault) if hook_file.fault else unasked)
        now.notified = True
        return True
    return await _ask(session, hook_file, unless_stopped)


def _can_ask(session: "Session") -> bool:
    """Tell whether the client asks the user: an older worker would answer by its rules."""
    known = session.client.capabilities
    return offers(known, "_meta", "rookery", "hooks") or not offers(
        known, "_meta", "rookery", "judge"
    )


async def _ask(session: "Session", hook_file: HookFile, unless_stopped: asks.UnlessStopped) -> bool:
    about: Json = {
        "hooks": hook_file.fingerprint,
        "guards": hook_file.guards,
        "toolName": hook_asks.TOOL,
    }
    call: Json = {
        "toolCallId": f"hooks-{hook_file.fingerprint[:16]}-{os.urandom(4).hex()}",
        "title": ASKED,
        "name": hook_asks.TOOL,
        "kind": "execute",
        "rawInput": {"command": hook_file.script()},
        "status": "pending",
        "_meta": {"rookery": about},
    }
    session.tell({"sessionUpdate": "tool_call", **call})
    outcome = "Not decided"
    now = session.running.project_hooks
    try:
        verdict = await asks.request(session, call, hook_asks.OPTIONS, unless_stopped)
        now.trusted = verdict.outcome == "allowed"
        if verdict.outcome in ("allowed", "rejected"):
            outcome = "Trusted" if now.trusted else "Left out"
        if now.trusted or verdict.never:
            now.known = "trusted" if now.trusted else "refused"
            await asyncio.to_thread(_remember, session, hook_file, now.trusted)
            await asyncio.to_thread(now.note_kept, session.models.home)
    finally:
        text = {"type": "text", "text": f"{outcome}."}
        ended: Json = {"status": "completed" if now.trusted else "failed"}
        ended |= {
            "toolCallId": call["toolCallId"],
            "content": [{"type": "content", "content": text}],
        }
        session.tell({"sessionUpdate": "tool_call_update", **ended})
    return verdict.outcome != "cancelled"


def _remember(session: "Session", hook_file: HookFile, trusts: bool) -> None:
    """Remember the answer, unless a worker has done so itself. Blocks."""
    if offers(session.client.capabilities, "_meta", "rookery", "hooks"):
        return
    try:
        trust.remember(session.models.home, hook_file, trusts=trusts, asked=True)
    except (in_force.Waiting, ConfigError, OSError) as error:
        session.on_loop(session.notice, f"The answer holds for this session only: {error}\n")
