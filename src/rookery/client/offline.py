"""The work that a client does itself while no worker is awake: take the lock, append, release it.
Also finds logs that cannot be read or have lost their end, which are reported and can still be
deleted."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from rookery import agents, client
from rookery.client import attach, guard
from rookery.client import config as client_config
from rookery.core import commands
from rookery.core.asks import kept_asks
from rookery.core.asks.asks import Refusal
from rookery.core.commands import Command
from rookery.core.header import Header
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.json.safe_text import count
from rookery.core.limits import Policy
from rookery.core.turn.messages import rejected
from rookery.core.turn.worker_idle import post_mortem
from rookery.home import paths
from rookery.log.errors import BadPlace, LogError, NoSession, TooNew
from rookery.log.reader import Reader
from rookery.log.store import Writer

MAX_PROMPT_BYTES = 256 * 1024
"""Most bytes of a prompt that waits for a worker."""


def check_format(home: str) -> None:
    """Refuse to use a home that a newer Rookery has taken over while this process was running.
    Raises BadPlace."""
    try:
        paths.check_format(home)
    except paths.PathError as error:
        raise BadPlace(str(error)) from error


@contextmanager
def writing(directory: str, wait: float = 1.0) -> Iterator[Writer]:
    """Open the log for writing, under the lock; if a worker died in mid-turn, its post-mortem is
    written first. Raises Busy if someone is writing (then no worker died), BadPlace if the home
    belongs to a newer Rookery."""
    check_format(os.path.dirname(os.path.dirname(os.path.abspath(directory))))
    with closing(Writer.open(directory, wait=wait)) as writer:
        drafts = [*loss(directory, writer), *post_mortem(writer.header)]
        if drafts:
            _append(directory, writer, drafts)
        yield writer


def write_post_mortem(directory: str) -> None:
    """Write the post-mortem of a worker that died in mid-turn; nothing if it left nothing open."""
    with writing(directory):
        pass


def carry_out(directory: str, command: Json, by: str, row: Command | None = None) -> None:
    """Execute a command that needs no worker, once. Raises Busy if a worker has woken up
    meanwhile."""
    with writing(directory) as writer:
        if writer.knows(command["id"]) is None:
            _append(directory, writer, _outcome(directory, writer, command, row, by))


def note(directory: str, draft: Draft, wait: float = 10.0) -> None:
    """Append one event once the worker that is about to end has gone. Raises Busy if it does not
    go, or another has come."""
    with writing(directory, wait) as writer:
        _append(directory, writer, [draft])


def _outcome(
    directory: str, writer: Writer, command: Json, row: Command | None, by: str
) -> list[Draft]:
    """The events of a command; its own outcome is the last one."""
    header = writer.header
    refusal = commands.check(command, MAX_PROMPT_BYTES, row) or _from_agent(directory, command, row)
    if refusal is None and command["do"] == "switch":
        refusal = _check_successor(directory, header, command)
    if refusal is None and command["do"] in ("prompt", "queue"):
        command, refusal = _queued(directory, writer, command)
    if refusal is not None:
        name = str(command["do"])
        return [rejected(name, refusal.reason, refusal.message, command["id"], by)]
    asked = kept_asks.offline(header, command, by)
    if asked is not None:
        return asked
    update = commands.offline(command, header, row)
    assert update is not None
    return [*kept_asks.forgotten(header, update), Draft(update, command["id"], by)]


def _queued(directory: str, writer: Writer, command: Json) -> tuple[Json, Refusal | None]:
    """Prepare a prompt that waits for a worker, or a change of one: its files are stored in the
    log, as a worker does it."""
    queue = writer.header.queue
    if command["do"] == "prompt" and len(queue) >= Policy().queue_most:
        message = f"The queue is full ({Policy().queue_most} prompts): remove one, or wait."
        return command, Refusal("queue_full", message)
    if command["do"] == "queue" and command.get("item") not in [item["id"] for item in queue]:
        return command, Refusal("not_queued", "That prompt is no longer in the queue.")
    if "prompt" not in command:
        return command, None
    try:
        blocks = attach.taken_up(directory, writer, command["prompt"])
    except ValueError as error:
        return command, Refusal("bad_attachment", str(error))
    return {**command, "prompt": blocks}, None


def _from_agent(directory: str, command: Json, row: Command | None) -> Refusal | None:
    """The refusal that a worker would give an agent's process."""
    home = os.path.dirname(os.path.dirname(directory))
    refusal = commands.agents_refusal(command, row)
    return refusal if refusal is not None and guard.of_an_agent(home) else None


def _check_successor(directory: str, header: Header, command: Json) -> Refusal | None:
    """Check with the environment that the session was created in: its agents get that one."""
    settings = client_config.in_force.load(os.path.dirname(os.path.dirname(directory)))
    environment = client.environment.kept_of(
        paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    )
    known = settings.agents, environment, settings.node_path
    return agents.registry.check_successor(header, command, *known)


def _append(directory: str, writer: Writer, drafts: list[Draft]) -> None:
    events = writer.append(drafts, full=True)
    if os.path.isdir(directory):
        client.create.write_head(directory, writer.header, events[-1].seq, events[-1].at)


def left_open(header: Header) -> bool:
    """Tell whether a session without a worker still looks as if it had one."""
    return bool(post_mortem(header))


class Fault(NamedTuple):
    """Why a session cannot be used, and what helps."""

    why: str
    """A sentence's end."""
    remedy: str = ""
    damaged: bool = False
    """Its log is damaged or gone: no other user and no other build can read it either."""

    def __str__(self) -> str:
        return f"{self.why.rstrip('.')}. {self.remedy}".rstrip()


def fault_of(home: str, session: str, *, whole: bool = False) -> Fault | None:
    """Return what is wrong with a session, or None. `whole`: check every page of its log."""
    directory = paths.session_dir(home, session)
    for place in (directory, os.path.join(directory, paths.LOG)):
        if os.path.exists(place) and not os.access(place, os.R_OK):
            return _closed(place, directory)
    try:
        with Reader.open(directory) as log:
            why = _damage(directory, log, whole=whole)
    except TooNew as error:
        return Fault(str(error))
    except NoSession:
        return Fault("it has no log", _deletion(session), True)
    except (LogError, OSError) as error:
        why = str(error)
    return Fault(f"its log is damaged: {why}", way_out(home, session), True) if why else None


def _closed(place: str, directory: str) -> Fault:
    owner, own = os.stat(place).st_uid, os.geteuid()
    if owner == own:
        return Fault(f"you may not read {place}", f"To open it: chmod -R u+rwX {directory}")
    why = f"{place} belongs to another user (uid {owner}), and you may not read it"
    return Fault(why, f"To take the session over, as root: chown -R {own} {directory}")


def _damage(directory: str, log: Reader, *, whole: bool) -> str:
    known = _head_seq(directory)  # before the log: a head is written after its events
    last = log.last_seq()
    if not last:
        return "all of its events are gone" if known else "it has no events"
    if not log.header().id:
        return "its first event is gone"
    if whole and (damage := log.damage()):
        return damage
    if lost := max(0, known - last):
        return f"its last {count(lost, 'event')} are gone: {paths.LOG}-wal was lost"
    return ""


def missing(directory: str, last: int) -> int:
    """Return how many events that the session's head counts are missing from its log: a head is
    written after them."""
    return max(0, _head_seq(directory) - last)


def loss(directory: str, writer: Writer) -> list[Draft]:
    """Return the events by which the next writer notes in the log that it has lost some."""
    lost = missing(directory, writer.last_seq)
    if not lost or not writer.last_seq:
        return []
    text = (
        f"The last {count(lost, 'event')} of this session are gone: {paths.LOG}-wal was "
        "removed or not copied with the log, or the power failed."
    )
    return [Draft(notice(text))]


def _head_seq(directory: str) -> int:
    return lenient.integer(paths.read_json(os.path.join(directory, paths.HEAD)), "seq") or 0


def way_out(home: str, session: str) -> str:
    """Explain how to save what can be saved, and how to delete the session."""
    log = os.path.join(paths.session_dir(home, session), paths.LOG)
    return (
        f"To save what can be read: rookery show {session} --all --events > saved.jsonl, "
        f"or sqlite3 {log} .recover | sqlite3 saved.db. {_deletion(session)}"
    )


def _deletion(session: str) -> str:
    return f"To delete it: rookery remove {session}"
