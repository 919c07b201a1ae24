"""A session that continues from a turn of another: its log begins with a copy of the turns up to
there, with their snapshots. They share the directory, unless the new one gets a worktree, and
nothing else."""

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count

from rookery.client import fleet, guard
from rookery.client.create import begun, complete, default_confirm, own_worktree, sweep, write_head
from rookery.client.daemon.origin import by, run
from rookery.client.rewind.preview import end_of, preview
from rookery.client.session import Rejected, SessionClient
from rookery.core.agent import pictures
from rookery.core.agent.opening import can
from rookery.core.asks import kept_asks
from rookery.core.header import Header
from rookery.core.json import Draft, Json, kind_of, lenient
from rookery.core.refusals import Refused, sentences
from rookery.core.turn import rewinding
from rookery.home import paths
from rookery.log.place import check_home
from rookery.log.reader import Reader
from rookery.log.store import Writer
from rookery.snapshots.job import FOLDER
from rookery.snapshots.seed import share

LEFT_BEHIND = frozenset(
    {
        *("_session", "_queue", "_settings", "_done", "_rejected", "_agent", "_context"),
        *(rewinding.KIND, "usage_update"),
    }
)
"""Kinds of events that are the other session's own: its state, its agent's sessions, its cost."""

AT_ONCE = 500
"""Events that are copied in one go."""

type Report = Callable[[str], object]

FORKED = re.compile(r"^Fork( \d+)?: | \(fork\)$")
"""The part of a title that marks a fork, in this build and in earlier ones."""

GIVEN = ("cwd", "roots", "mcpServers", "agent", "argv", "sandbox")


def fork(
    home: str,
    session: str,
    turn: int | None = None,
    title: str = "",
    worktree: str | None = None,
    report: Report = lambda _: None,
    name: str = "",
) -> str:
    """Fork a session and return the new one's id: `name`, if one is given. `turn`: the last that it
    has; None: the last that is over and that no rewind hides. `worktree`: the name of its own
    branch ("": its id), with the files as they were after that turn. Raises Rejected, FromAgent,
    LogError, NoWorktree."""
    guard.require_person(home, "fork a session")
    paths.ensure_home(home)
    check_home(home)
    source = paths.session_dir(home, session)
    sweep(home)
    with Reader.open(source) as log, ExitStack() as trees:
        header = log.header()
        turn = _checked(log, header, turn)
        then = log.header_at(end_of(log, turn))
        name, directory = trees.enter_context(begun(home, name))
        kept = os.path.join(directory, paths.ENVIRONMENT)
        shutil.copyfile(os.path.join(source, paths.ENVIRONMENT), kept)
        os.chmod(kept, 0o600)
        with suppress(FileNotFoundError):
            shutil.copyfile(*(os.path.join(each, paths.GIT_HOOKS) for each in (source, directory)))
        origin = lenient.text(header.worktree, "origin") or header.cwd
        made = trees.enter_context(own_worktree(home, name, origin, worktree, report))
        place: Json = {} if worktree is None else {"cwd": made[0], **made[1]}
        with Writer.open(directory, create=True) as writer:
            title = title.strip() or new_title(home, header.title)
            about = {"id": name, "title": title, **place} | default_confirm(home)
            _write(log, writer, about, header, then, turn)
            turns = writer.header.turn
            write_head(directory, writer.header, writer.last_seq, writer.last_at)
        share(os.path.join(source, FOLDER), os.path.join(directory, FOLDER))
        complete(home, name, directory)
    if worktree is not None:
        _fill(home, name, turns, report)
    return name


def _fill(home: str, session: str, turn: int, report: Report) -> None:
    """Set the files of a fork's own worktree to their state after its last turn."""

    async def rewind() -> None:
        command = {"do": "rewind", "turn": turn, "conversation": False}
        with SessionClient(home, session) as client:
            # All files: nobody has worked in the new worktree yet.
            await client.send(command | {"fingerprint": preview(home, session, turn).fingerprint})

    try:
        run(rewind())
    except (Refused, OSError) as error:
        report(f"The files are from the last commit. {sentences(error)}")


def new_title(home: str, title: str) -> str:
    """Return a title that no other session has: the number comes first, since lists cut the end."""
    base = FORKED.sub("", title)
    taken = {str(head["title"]) for head in fleet.heads(home)}
    for number in count(1):
        named = f"Fork{f' {number}' if number > 1 else ''}: {base}" if base else f"Fork {number}"
        if named not in taken:
            return named
    return base


def _checked(log: Reader, header: Header, turn: int | None) -> int:
    last = header.turn - (header.state != "idle")
    if turn is None:
        hidden, numbers = header.hidden, range(last, 0, -1)
        shown = (n for n in numbers if not rewinding.is_hidden(hidden, log.first_seq(n)))
        return next(shown, 0)
    if turn > last:
        running = " It is still running." if turn == header.turn else ""
        message = f"There is no finished turn {turn}: the last one is {last}.{running}"
        raise Rejected({"reason": "no_turn", "message": message})
    return turn


def _write(
    log: Reader, writer: Writer, about: Json, header: Header, then: Header, turn: int
) -> None:
    about |= {"sessionUpdate": "_session", "created": time.time_ns() // 1_000_000}
    about = {key: header.raw[key] for key in GIVEN} | about
    about |= header.wanted | ({"budget": header.budget} if header.budget else {})
    writer.append([Draft(about, None, by())], full=True)
    end = end_of(log, turn)
    hidden = rewinding.joined(then.hidden)
    firsts = ((n, log.first_seq(n)) for n in range(1, turn + 1))
    shown = [n for n, first in firsts if not rewinding.is_hidden(hidden, first)]
    drafts: list[Draft] = []
    for event in log.events(0, end):
        if kind_of(event.update) in LEFT_BEHIND or rewinding.is_hidden(hidden, event.seq):
            continue
        _copy_blobs(log, writer, event.update)
        drafts.append(Draft(_renumbered(event.update, shown), None, event.by))
        if len(drafts) >= AT_ONCE:
            writer.append(drafts)
            drafts = []
    writer.append(drafts)
    later = _told_later(log, turn, end)
    writer.append([Draft(_renumbered(update, shown)) for update in later])
    writer.append(kept_asks.given_up(writer.header, "it is asked in the session it comes from"))
    origin = {"id": header.id, "turn": turn, "title": header.title}
    ours = _memory(log, header, turn)
    forked = {"sessionUpdate": "_session", "forkedFrom": origin, "agentSession": ours}
    writer.append([Draft(forked)], full=True)


def _renumbered(update: Json, shown: list[int]) -> Json:
    """Renumber a turn: hidden turns are not copied, so those after them shift."""
    turn = update.get("turn")
    if kind_of(update) not in ("_turn", rewinding.SNAPSHOT) or turn not in shown:
        return update
    return {**update, "turn": shown.index(turn) + 1}


def _told_later(log: Reader, turn: int, end: int) -> list[Json]:
    """The snapshot of the turn's end, if the next prompt came before it."""
    snapshots = [event.update for event in log.of_kinds(rewinding.SNAPSHOT) if event.seq > end]
    return [each for each in snapshots if (each.get("turn"), each.get("when")) == (turn, "end")]


def _memory(log: Reader, header: Header, turn: int) -> Json | None:
    """The agent's own session to fork, where the agent can do that; None if there is none."""
    if not turn or not can(header.capabilities, "fork"):
        return None
    if header.hidden and header.state == "idle" and turn == _checked(log, header, None):
        now = header.agent_session  # what a rewind left it with is its memory of this turn
        return {"before": 0, **now} if now and now["name"] == header.agent else None
    firsts = [log.first_seq(n) for n in range(1, header.turn + 1)]
    events = log.of_kinds(*rewinding.MEMORY)
    began = log.spans(turn + 1)[0]
    end = end_of(log, turn)
    session = rewinding.memory_at(events, firsts, turn, header, began, end).session
    return None if session is None else {"before": 0, **session}


def _copy_blobs(log: Reader, writer: Writer, update: Json) -> None:
    """Copy the blobs of attachments and pictures."""
    for name in pictures.named(update):
        if (data := log.blob(name)) is not None:
            writer.put_blob(data)
