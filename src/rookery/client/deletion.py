"""Deleting a session on the side of the agents that had it: each deletes its own conversation, too.
Best effort: a deletion waits briefly for it and never fails because of it.

The last agent is asked by its worker, awake or started for the purpose; a sleeping one only if it
declared that it can delete. Those before a switch, a clear or a lost conversation are started on
their own. The conversations of Rookery's own agent are directories in this home."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rookery.agents import programs, registry
from rookery.client.config import agent_address
from rookery.client.daemon.origin import run
from rookery.client.environment import kept_of
from rookery.client.session import SessionClient
from rookery.client.start import connectable
from rookery.core.agent.addresses import address_of
from rookery.core.agent.opening import KINDS, Conversation, conversations
from rookery.core.header import Header
from rookery.core.json import Json, lenient, loads
from rookery.core.refusals import Refused, sentences
from rookery.core.settings.agent_tables import Extras
from rookery.home import config, paths
from rookery.log.errors import LogError
from rookery.log.lock import is_held
from rookery.log.reader import Reader
from rookery.processes import tree
from rookery.processes.child import Child
from rookery.wire.jsonrpc import ConnectionClosed, Peer, RpcError

START = 20.0
"""Seconds for a sleeping agent to come awake, or for an earlier one to start and delete."""

ANSWER = 5.0
"""Seconds for a worker that is awake: more than its agent has."""

FEEDBACK = "feedback.jsonl"
REMOVED = "removed.jsonl"
"""The conversations of sessions that were deleted permanently."""
MAX_REMOVED = 20_000
FOLDER = re.compile(r"[0-9a-f]{32}")


def ask_agent_to_delete(home: str, session: str) -> str:
    """Have the session's agent delete it; return the outcome for the log, or "" if no agent knows
    the session."""
    directory = paths.session_dir(home, session)
    try:
        with Reader.open(directory) as log:
            header = log.header()
    except LogError as error:
        return f"its agents could not be looked up: {error}"
    if header.agent_session is None:
        return ""
    if _is_homeless(header):
        return ""
    awake = connectable(paths.socket_path(directory))
    if not awake and not can_delete(header):
        return f"{header.agent} is not running, and may not support deleting sessions"
    try:
        return run(_told_by_worker(home, session, header, awake=awake))
    except TimeoutError:
        return f"{header.agent} did not answer in time"
    except (Refused, OSError) as error:
        return f"{header.agent} could not be reached: {sentences(error)}"


def went_wrong(outcome: str) -> bool:
    """Tell whether an agent may still keep what it should have deleted."""
    return "could not be" in outcome or "did not answer in time" in outcome


def can_delete(header: Header) -> bool:
    abilities = lenient.mapping(header.capabilities, "sessionCapabilities")
    return isinstance(abilities.get("delete"), dict)


async def _told_by_worker(home: str, session: str, header: Header, *, awake: bool) -> str:
    with SessionClient(home, session) as client:
        if not awake or (can_delete(header) and header.process["state"] != "ready"):
            async with asyncio.timeout(START):
                await client.send({"do": "start"})
        async with asyncio.timeout(ANSWER):
            outcome = await client.send({"do": "delete"})
        return lenient.text(outcome.update, "detail")


def conversations_of(directory: str, *, last_too: bool = False) -> list[Conversation]:
    """Return the conversations in a session's log, except the last one, whose agent is asked by its
    worker. That one is included too if it is our own to remove, if no worker is started for it, or
    with `last_too`."""
    try:
        with Reader.open(directory) as log:
            recorded = conversations(log.of_kinds(*KINDS))
            header = log.header()
    except LogError:
        return []
    last = lenient.text(header.agent_session, "id"), header.agent
    if last_too or _is_homeless(header):
        last = "", ""
    return [each for each in recorded if _is_ours(each) or (each.id, each.agent) != last]


def _is_homeless(header: Header) -> bool:
    """Whether the session's directory is gone, like a merged worktree: no worker starts there, so
    its agent is told like the earlier ones."""
    return not os.path.isdir(header.cwd)


def forget(home: str, directory: str, earlier: Sequence[Conversation]) -> list[str]:
    """Delete conversations before the session's directory, which has the environment, is removed.
    Returns a sentence for each failure."""
    _remember(home, conversations_of(directory, last_too=True))
    environment = kept_of(paths.read_json(os.path.join(directory, paths.ENVIRONMENT)))
    outcomes = [_remove(home, environment, each) for each in earlier if _is_ours(each)]
    others: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in earlier:
        if each.deletable and not _is_ours(each):
            others.setdefault((each.agent, each.argv), []).append(each.id)
    for (agent, argv), ids in others.items():
        outcomes.append(_tell(home, environment, agent, list(argv), ids))
    return [outcome for outcome in outcomes if outcome]


def _is_ours(conversation: Conversation) -> bool:
    return conversation.agent == registry.OWN and not conversation.argv


def _remove(home: str, environment: Mapping[str, str], conversation: Conversation) -> str:
    moved = environment.get("ROOKERY_CONVERSATIONS")
    place = os.path.abspath(os.path.expanduser(moved)) if moved else f"{home}/conversations"
    name = conversation.id.replace("-", "").lower()
    folder = os.path.join(place, name)
    if not FOLDER.fullmatch(name) or not os.path.isdir(folder):
        return ""
    if is_held(os.path.join(folder, paths.LOCK)):
        return f"{folder} was kept: another process has it open"
    shutil.rmtree(folder, ignore_errors=True)
    return ""


def _tell(
    home: str, environment: dict[str, str], agent: str, argv: list[str], ids: list[str]
) -> str:
    try:
        settings = config.load(home)
        argv = argv or registry.resolve(agent, settings.agents).argv
        if url := address_of(argv):
            remote = settings.extras.get(agent, Extras()).remote
            run(agent_address.forgotten(url, remote, environment, ids, START))
            return ""
        argv = programs.located(registry.bare(argv), environment, settings.node_path)
        run(_request(argv, programs.beside(argv, environment), ids))
    except TimeoutError:
        return f"{agent} did not answer in time"
    except (config.ConfigError, registry.UnknownAgent, OSError, ValueError) as error:
        return f"{agent} could not be reached: {sentences(error)}"
    except (ConnectionClosed, RpcError) as error:
        return f"{agent} did not delete its session: {error}"
    return ""


def _remember(home: str, removed: Sequence[Conversation]) -> None:
    """Note that these were removed: an agent that still has them goes on listing them, but the user
    does not want them back. Best effort: at worst they can be imported again."""
    path = os.path.join(home, REMOVED)
    rows = [json.dumps([each.agent, each.id]).encode("ascii") for each in removed]
    if not rows:
        return
    with suppress(OSError):
        before = [row for row in _lines(path) if row not in rows]
        paths.write_atomic(path, b"".join(row + b"\n" for row in [*before, *rows][-MAX_REMOVED:]))


def removed(home: str, agent: str) -> set[str]:
    """Return the ids of an agent's conversations whose sessions were deleted permanently."""
    ids = set[str]()
    for line in _lines(os.path.join(home, REMOVED)):
        match _read(line):
            case [str(name), str(conversation)] if name == agent:
                ids.add(conversation)
    return ids


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []


def strike(home: str, session: str) -> None:
    """Remove a session from the recorded feedback about its critic."""
    path = os.path.join(home, FEEDBACK)
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines(keepends=True)
    except OSError:
        return
    kept = [line for line in lines if lenient.text(_read(line), "session") != session]
    if len(kept) < len(lines):
        paths.write_atomic(path, b"".join(kept))


def _read(line: bytes) -> object:
    try:
        return loads(line)
    except ValueError:
        return None


async def _request(argv: list[str], environment: dict[str, str], ids: list[str]) -> None:
    ended = asyncio.Event()
    child = Child(lambda _status: ended.set())
    peer = Peer(on_request=lambda request: request.unknown())
    home = os.path.expanduser("~")
    cwd = home if os.path.isdir(home) else "/"
    stdin, stdout, _ = child.spawn(
        argv, cwd=cwd, environment=environment, umask=0o077, stderr=subprocess.DEVNULL
    )
    try:
        peer.attach(stdout, stdin)
        async with asyncio.timeout(START):
            params: Json = {"protocolVersion": 1, "clientCapabilities": {}}
            await peer.request("initialize", params)
            for name in ids:
                await peer.request("session/delete", {"sessionId": name})
    finally:
        peer.close()
        rows = tree.table()
        root = [row for row in rows if row.pid == child.pid]
        left = await asyncio.to_thread(tree.end_tree, root)
        tree.end_group(child.pid, signal.SIGKILL)
        if not left:
            await ended.wait()
