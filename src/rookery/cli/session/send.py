"""Sending a command to a session and reporting the outcome; or to several, where a failure of one
does not hold up the others."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from rookery.cli import errors, exits, target
from rookery.cli.flags import sessions_argument
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.output.queue import strip, waits_for_user, why_held
from rookery.client.liveness import silence
from rookery.core.asks import kept_asks
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.refusals import Refused
from rookery.core.view import below_asks
from rookery.log.errors import LogError
from rookery.render.local_time import clock_time

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.operations.calling.interface import Session


type Say = Callable[[str], None]

MAX_EVENTS = 1000
"""How many events are searched for processes that were left running."""


def header_of(session: str) -> Header:
    with target.rookery().history(session) as log:
        return log.header()


def send(session: str, command: Json, files: "Sequence[Attachment]" = ()) -> Event:
    """Send a command, and files with a prompt; return its outcome once it is in the log."""

    async def sending(client: "Session") -> Event:
        client.on_silence = partial(say_silent, session)
        return await client.send(command, files=files)

    return _with_client(session, sending)


def perform(session: str, command: Json) -> Event:
    """Send a command; print its outcome with `--json`."""
    outcome = send(session, command)
    result_of(session, outcome._asdict())
    return outcome


def result_of(session: str, outcome: Json) -> None:
    """Print the outcome with `--json`, along with its session, since several may have been named;
    "" if it belongs to none."""
    standard().result({"session": session, **outcome} if session else outcome)


def renew_environment(say: Say, session: str, command: Json) -> None:
    """Give an agent that the command starts again the environment of this terminal, where the user
    may just have exported a key or logged in."""
    changes = _with_client(session, lambda client: client.renew(command))
    if changes:
        say(clean_line(changes))


def awaited[Match](
    session: str, since: int, pick: Callable[[Event], Match | None], seconds: float
) -> Match | None:
    """Return the first result of `pick` that is not None, for the events after `since`; None if
    nothing comes in time."""

    async def watching(client: "Session") -> Match | None:
        try:
            async with asyncio.timeout(seconds):
                async for event in client.follow(since):
                    if (picked := pick(event)) is not None:
                        return picked
        except TimeoutError:
            pass
        return None

    return _with_client(session, watching)


def _with_client[Result](session: str, work: Callable[["Session"], Awaitable[Result]]) -> Result:
    async def working() -> Result:
        with target.rookery().open(session) as client:
            return await work(client)

    return asyncio.run(working())


def say_silent(session: str) -> None:
    """Tell the user, who is waiting, that the worker hangs."""
    standard().note(silence(session))


def tell_left_running(say: Say, session: str, since: int) -> None:
    """Report what the log says, after an event, about processes that could not be ended."""
    try:
        with target.rookery().history(session) as log:
            events = log.read(since, MAX_EVENTS)
    except LogError:
        return
    for event in events:
        if kind_of(event.update) == "_notice" and event.update.get("left"):
            say(clean_line(lenient.text(event.update, "text")))


def tell_queued(say: Say, session: str) -> int:
    """Tell the user what a queued prompt waits for; return the exit code."""
    header = header_of(session)
    if waits_for_user(header) or kept_asks.unanswered(header):
        say(why_held(session, header))
        if notice := below_asks.notice(header):
            say(notice)
        return exits.WAITING
    say("\n".join(["Queued: a turn is running.", *strip(header)]))
    return exits.DONE


def tell_resumption(say: Say, session: str) -> None:
    """Tell the user when a session that hit a rate limit, or the day's budget, continues by itself,
    even asleep."""
    rookery = target.rookery()
    try:
        at = rookery.call("resumption", session)["at"]
    except Refused as error:
        if error.kind != "version":  # else that daemon's session says when in its notice
            raise
        return
    if at is None:
        return
    head = rookery.head(session)
    now = time.time() * 1000
    when, ordered = clock_time(max(at, now), now), head is not None and head.get("resumes")
    if head is not None and head.get("paused"):
        sentence = f"The session continues at {when}, when its budget allows."
    else:
        sentence = f"The prompt is sent again at {when}, when the rate limit resets"
        sentence += "." if ordered else " (rate_limit_auto_resume)."
    stop = f"rookery retry {session} --not-at-reset" if ordered else f"rookery archive {session}"
    say(f"{sentence} To prevent that: {stop}")


type Work = Callable[..., int | None]
"""Carries out a command on one session, with a `Say` for messages."""


def for_each(
    work: Work, argument: Callable[[Work], Work] = sessions_argument
) -> Callable[..., int | None]:
    """Return a command that does the work for every session it names, and ends with the worst exit
    code. With several, each message begins with the session's id."""

    @argument
    @wraps(work)
    def command(sessions: tuple[str, ...], **given: Any) -> int:
        screen = standard()
        if len(sessions) == 1:
            return work(sessions[0], screen.note, **given) or exits.DONE
        return max([_one(screen, session, work, given) for session in sessions])

    return command


def _one(screen: Screen, session: str, work: Work, given: dict[str, Any]) -> int:
    try:
        return work(session, lambda text: screen.note(f"{session}: {text}"), **given) or exits.DONE
    except click.ClickException as error:
        errors.say(f"rookery: {session}: {error.format_message()}")
        return error.exit_code
    except errors.EXPECTED as error:
        known = errors.explain(error)
        if known is None:
            raise
        errors.say(f"rookery: {session}: {known[0]}")
        return known[1]


def head_line(screen: Screen, session: str, *, first: bool) -> None:
    """Print the line above each of several sessions."""
    head = target.rookery().head(session)
    title = clean_line(head["title"]) if head else ""
    screen.line(("" if first else "\n") + screen.paint.faint(f"== {session}  {title}".rstrip()))
