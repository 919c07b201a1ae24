"""What a client does itself while no worker is awake: takes the lock, appends, lets go (§4 of the
design)."""

import os

from rookery import paths
from rookery.client import choices, guard
from rookery.client.create import write_head
from rookery.core import commands, confirming, loose
from rookery.core.asks import Refusal
from rookery.core.events import Draft, Event, Json
from rookery.core.postmortem import post_mortem
from rookery.log.store import Writer

MOST = 256 * 1024
"""Bytes of a prompt; none is taken while nobody is awake."""


def bury(directory: str) -> list[Event]:
    """The post-mortem of a worker that died in mid-turn (row W8); nothing where it left nothing
    open.

    Raises Busy where someone writes: then nobody died.
    """
    writer = Writer.open(directory)
    try:
        drafts = post_mortem(writer.header)
        return _append(directory, writer, drafts) if drafts else []
    finally:
        writer.close()


def carry_out(directory: str, command: Json, by: str) -> None:
    """Do a command that needs no worker, once. Raises Busy where a worker has come awake
    meanwhile."""
    writer = Writer.open(directory)
    try:
        drafts = post_mortem(writer.header)
        if writer.knows(command["id"]) is None:
            drafts.append(_outcome(directory, writer.header, command, by))
        if drafts:
            _append(directory, writer, drafts)
    finally:
        writer.close()
    if drafts and loose.text(drafts[-1].update, confirming.OPTION):
        home = os.path.dirname(os.path.dirname(directory))
        choices.remember_confirm(home, drafts[-1].update[confirming.OPTION])


def _outcome(directory: str, header: Json, command: Json, by: str) -> Draft:
    refusal = commands.check(command, MOST) or _from_agent(directory, command)
    if refusal is None and command["do"] == "switch":
        refusal = _check_successor(directory, header, command)
    if refusal is not None:
        said = {"reason": refusal.reason, "message": refusal.message}
        rejected = {"sessionUpdate": "_rejected", "command": command["do"], **said}
        return Draft(rejected, command["id"], by)
    update = commands.offline(command, header)
    assert update is not None
    return Draft(update, command["id"], by)


def _from_agent(directory: str, command: Json) -> Refusal | None:
    """What a worker would say to an agent's process (row P10)."""
    home = os.path.dirname(os.path.dirname(directory))
    if not commands.is_guarded(command) or not guard.of_an_agent(home):
        return None
    words = "An agent cannot answer or choose what is asked; this came from an agent's process."
    return Refusal("from_the_agent", words)


def _check_successor(directory: str, header: Json, command: Json) -> Refusal | None:
    """By the environment that the session was made in: its agents get that one."""
    from rookery import registry
    from rookery.client import in_force

    settings = in_force.load(os.path.dirname(os.path.dirname(directory)))
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    environment = loose.mapping(saved, "environment") if saved is not None else dict(os.environ)
    found = settings.agents, environment, settings.node_path
    return registry.check_successor(header, command, *found)


def note(directory: str, draft: Draft, wait: float = 10.0) -> None:
    """Append one event once the worker that is about to end has gone. Raises Busy when it does not,
    or when another has come."""
    writer = Writer.open(directory, wait=wait)
    try:
        _append(directory, writer, [*post_mortem(writer.header), draft])
    finally:
        writer.close()


def _append(directory: str, writer: Writer, drafts: list[Draft]) -> list[Event]:
    events = writer.append(drafts, full=True)
    if os.path.isdir(directory):
        write_head(directory, writer.header, events[-1].seq, events[-1].at)
    return events


def left_open(header: Json) -> bool:
    """Whether a session that nobody hosts still looks as if somebody did."""
    return bool(post_mortem(header))


def lock_path(directory: str) -> str:
    return os.path.join(directory, paths.LOCK)
