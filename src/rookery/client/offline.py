"""What a client does itself while no worker is awake: takes the lock, appends, lets go. And logs
that cannot be read, or have lost their end: they are reported, and can still be deleted."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from rookery.client import attach, guard
from rookery.core import commands
from rookery.core.asks import kept_asks
from rookery.core.asks.asks import Refusal
from rookery.core.commands import Command
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.json.safe_text import count
from rookery.core.limits import Policy
from rookery.core.turn.idle import post_mortem
from rookery.core.turn.messages import rejected
from rookery.home import paths
from rookery.log.errors import BadPlace, LogError, NoSession, TooNew
from rookery.log.reader import Reader
from rookery.log.store import Writer

MOST = 256 * 1024
"""Bytes of a prompt that waits for a worker."""


def check_format(home: str) -> None:
    """For processes that were running before a newer Rookery took the home. Raises BadPlace."""
    try:
        paths.check_format(home)
    except paths.PathError as error:
        raise BadPlace(str(error)) from error


@contextmanager
def writing(directory: str, wait: float = 1.0) -> Iterator[Writer]:
    """Under the lock; where a worker died in mid-turn, its post-mortem comes first. Raises Busy
    where someone writes: then no worker died. BadPlace: the home is a newer Rookery's."""
    check_format(os.path.dirname(os.path.dirname(os.path.abspath(directory))))
    with closing(Writer.open(directory, wait=wait)) as writer:
        drafts = [*loss(directory, writer), *post_mortem(writer.header)]
        if drafts:
            _append(directory, writer, drafts)
        yield writer


def write_post_mortem(directory: str) -> None:
    """The post-mortem of a worker that died in mid-turn; nothing where it left nothing open."""
    with writing(directory):
        pass


def carry_out(directory: str, command: Json, by: str, row: Command | None = None) -> None:
    """Do a command that needs no worker, once. Raises Busy where a worker has come awake
    meanwhile."""
    with writing(directory) as writer:
        if writer.knows(command["id"]) is None:
            _append(directory, writer, _outcome(directory, writer, command, row, by))


def note(directory: str, draft: Draft, wait: float = 10.0) -> None:
    """Append one event once the worker that is about to end has gone. Raises Busy when it does not,
    or when another has come."""
    with writing(directory, wait) as writer:
        _append(directory, writer, [draft])


def _outcome(
    directory: str, writer: Writer, command: Json, row: Command | None, by: str
) -> list[Draft]:
    """What it does; its own outcome is the last one."""
    header = writer.header
    refusal = commands.check(command, MOST, row) or _from_agent(directory, command, row)
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
    """A prompt that waits for a worker, or a change of one: its files are kept in the log, as a
    worker does it."""
    queue = writer.header["queue"]
    if command["do"] == "prompt" and len(queue) >= Policy().queue_most:
        words = f"The queue is full ({Policy().queue_most} prompts): remove one, or wait."
        return command, Refusal("queue_full", words)
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
    """What a worker would say to an agent's process."""
    home = os.path.dirname(os.path.dirname(directory))
    refusal = commands.agents_refusal(command, row)
    return refusal if refusal is not None and guard.of_an_agent(home) else None


def _check_successor(directory: str, header: Json, command: Json) -> Refusal | None:
    """By the environment that the session was made in: its agents get that one."""
    from rookery.agents import registry
    from rookery.client.config import in_force
    from rookery.client.environment import kept_of

    settings = in_force.load(os.path.dirname(os.path.dirname(directory)))
    environment = kept_of(paths.read_json(os.path.join(directory, paths.ENVIRONMENT)))
    found = settings.agents, environment, settings.node_path
    return registry.check_successor(header, command, *found)


def _append(directory: str, writer: Writer, drafts: list[Draft]) -> None:
    events = writer.append(drafts, full=True)
    if os.path.isdir(directory):
        from rookery.client.create import write_head  # a worker, which reads `loss`, has its own

        write_head(directory, writer.header, events[-1].seq, events[-1].at)


def left_open(header: Json) -> bool:
    """Whether a session without a worker still looks as if it had one."""
    return bool(post_mortem(header))


class Fault(NamedTuple):
    """Why a session cannot be used."""

    why: str
    """A sentence's end."""
    remedy: str = ""
    damaged: bool = False
    """Its log is damaged or gone: no other user and no other build can read it either."""

    def __str__(self) -> str:
        return f"{self.why.rstrip('.')}. {self.remedy}".rstrip()


def fault_of(home: str, session: str, *, whole: bool = False) -> Fault | None:
    """What is wrong with a session. `whole`: every page of its log is looked at."""
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
    known = _told(directory)  # before the log: a head is written after its events
    last = log.last_seq()
    if not last:
        return "all of its events are gone" if known else "it has no events"
    if not log.header()["id"]:
        return "its first event is gone"
    if whole and (found := log.damage()):
        return found
    if lost := max(0, known - last):
        return f"its last {count(lost, 'event')} are gone: {paths.LOG}-wal was lost"
    return ""


def missing(directory: str, last: int) -> int:
    """How many events the session's head tells of that its log has not: a head is written after
    them."""
    return max(0, _told(directory) - last)


def loss(directory: str, writer: Writer) -> list[Draft]:
    """What the log itself is to say of events that it has lost, for the next writer."""
    lost = missing(directory, writer.last_seq)
    if not lost or not writer.last_seq:
        return []
    text = (
        f"The last {count(lost, 'event')} of this session are gone: {paths.LOG}-wal was "
        "removed or not copied with the log, or the power failed."
    )
    return [Draft(notice(text))]


def _told(directory: str) -> int:
    return lenient.integer(paths.read_json(os.path.join(directory, paths.HEAD)), "seq") or 0


def way_out(home: str, session: str) -> str:
    """How to save what can be saved, and how to be rid of it."""
    log = os.path.join(paths.session_dir(home, session), paths.LOG)
    return (
        f"To save what can be read: rookery show {session} --all --events > saved.jsonl, "
        f"or sqlite3 {log} .recover | sqlite3 saved.db. {_deletion(session)}"
    )


def _deletion(session: str) -> str:
    return f"To delete it: rookery remove {session}"
