"""What the agents of a deleted session still keep of it is deleted, too: of those before a switch,
a clear or a lost conversation, which no worker speaks to any more.

The conversations of Rookery's own agent are folders of this home. Any other agent is started for it
where it said that it can delete, and told. Best effort, as with the last one.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from rookery.agents import programs, registry
from rookery.core.agent.conversations import KINDS, Conversation, conversations
from rookery.core.json import lenient
from rookery.core.json.events import Json, loads
from rookery.core.vendors.environment import cleaned
from rookery.home import config, paths
from rookery.log.errors import LogError
from rookery.log.lock import is_held
from rookery.log.reader import Reader
from rookery.processes import tree
from rookery.processes.child import Child
from rookery.wire.jsonrpc import ConnectionClosed, Peer, RpcError

SECONDS = 20.0
"""For an agent to start and to delete."""

FEEDBACK = "feedback.jsonl"
FOLDER = re.compile(r"[0-9a-f]{32}")


def kept_of(directory: str) -> list[Conversation]:
    """The conversations that a session's log tells of; not the last one, whose agent is told by its
    worker, unless it is our own to remove."""
    try:
        with Reader.open(directory) as log:
            found = conversations(log.of_kinds(*KINDS))
            header = log.header()
    except LogError:
        return []
    last = lenient.text(header["agentSession"], "id"), header["agent"]
    return [each for each in found if _is_ours(each) or (each.id, each.agent) != last]


def forget(home: str, directory: str, told: Sequence[Conversation]) -> list[str]:
    """Before the session's directory is removed: it has the environment. What could not be deleted,
    in words."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    found = lenient.mapping(saved, "environment") if saved is not None else dict(os.environ)
    environment = cleaned({key: value for key, value in found.items() if isinstance(value, str)})
    said = [_remove(home, environment, each) for each in told if _is_ours(each)]
    others: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in told:
        if each.deletable and not _is_ours(each):
            others.setdefault((each.agent, each.argv), []).append(each.id)
    for (agent, argv), ids in others.items():
        said.append(_tell(home, environment, agent, list(argv), ids))
    return [words for words in said if words]


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
        argv = programs.located(argv, environment, settings.node_path)
        telling = _told(argv, programs.beside(argv, environment), ids)
        with ThreadPoolExecutor(1) as thread:  # whoever calls this may have a loop of their own
            thread.submit(asyncio.run, telling).result()
    except TimeoutError:
        return f"{agent} did not answer in time"
    except (config.ConfigError, registry.UnknownAgent, OSError, ValueError) as error:
        return f"{agent} could not be reached: {error}"
    except (ConnectionClosed, RpcError) as error:
        return f"{agent} did not delete its session: {error}"
    return ""


def strike(home: str, session: str) -> None:
    """Take a session out of what was said about its critic."""
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


async def _told(argv: list[str], environment: dict[str, str], ids: list[str]) -> None:
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
        async with asyncio.timeout(SECONDS):
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
