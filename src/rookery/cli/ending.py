"""`stop`, `restart`, `kill`, `rm`: the ways in which a session ends, from a nap to for ever."""

import os
import sys
import time

import click

from rookery import paths
from rookery.cli import exits
from rookery.cli.look.safe import clean_line
from rookery.cli.look.screen import Screen, standard
from rookery.cli.naming import session_argument, sessions_argument
from rookery.cli.own_environment import hand_over
from rookery.cli.sending import left_running, send
from rookery.cli.waiting import header_of
from rookery.client.asleep import lock_path
from rookery.client.bell import resume_later
from rookery.client.farewell import went_wrong
from rookery.client.fleet import head_of_session
from rookery.client.fleet import kill as kill_session
from rookery.client.fleet import remove as remove_session
from rookery.log.lock import is_held

ENDS = 10.0
"""Seconds for a worker that was told to stop."""


@click.command()
@session_argument
def stop(session: str) -> int:
    """Put a session to sleep: its agent and its worker end, and the next prompt wakes it.

    \b
    rookery stop 3f2a
    """
    screen = standard()
    head = head_of_session(paths.home(), session)
    outcome = send(session, {"do": "stop"})
    if head is None or not head["awake"]:
        screen.note("It was asleep.")
        _tell_resumption(screen, session)
        return exits.DONE
    ended = _has_ended(session)
    screen.note("Stopped. The next prompt wakes it." if ended else _still_ending(session))
    for words in left_running(session, outcome.seq):
        screen.note(words)
    _tell_resumption(screen, session)
    return exits.DONE


def _has_ended(session: str) -> bool:
    """Whether its worker is gone; it is given some time for its agent."""
    lock = lock_path(paths.session_dir(paths.home(), session))
    until = time.monotonic() + ENDS
    while is_held(lock) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_held(lock)


def _still_ending(session: str) -> str:
    return f"Told to stop; it is still ending its agent. At once: rookery kill {session}"


@click.command()
@session_argument
def restart(session: str) -> int:
    """End a session's agent and start it anew. A turn that runs is interrupted.

    The agent gets the environment of this terminal; the variables that differ are named.

    \b
    rookery restart 3f2a
    """
    screen = standard()
    hand_over(screen, header_of(session))
    send(session, {"do": "restart"})
    screen.note("Restarted.")
    return exits.DONE


@click.command()
@session_argument
def kill(session: str) -> int:
    """End a session's processes at once, also hung ones. What it did is kept.

    \b
    rookery kill 3f2a
    """
    screen = standard()
    refused = kill_session(paths.home(), session)
    screen.note("Ended. What it did is kept; the next prompt wakes it.")
    if refused:
        screen.note(f"Still running, as another user: {clean_line(', '.join(refused))}")
    _tell_resumption(screen, session)
    return exits.DONE


def _tell_resumption(screen: Screen, session: str) -> None:
    """A session that met a rate limit goes on by itself, asleep or not (row T11)."""
    at = resume_later(paths.home(), session)
    if at is not None:
        when = time.strftime("%H:%M", time.localtime(max(at / 1000, time.time())))
        screen.note(
            f"At {when} its prompt is sent again, when the rate limit is lifted "
            f"(rate_limit_auto_resume). rookery archive {session} prevents it."
        )


@click.command()
@sessions_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def rm(sessions: tuple[str, ...], yes: bool) -> int:
    """Delete sessions and all that is kept of them. The files that their agents changed stay, and
    so does the composer's list of what you wrote (prompts.jsonl).

    Each agent that the session had and that can forget it is told to; ROOKERY_DEBUG=1 says what
    came of that with the last one. Conversations of Rookery's own agent are removed.

    \b
    rookery rm 3f2a
    rookery rm --yes 3f2a 91bc
    """
    screen = standard()
    titles = {}
    for session in sessions:
        head = head_of_session(paths.home(), session)
        titles[session] = clean_line(head["title"]) if head else ""
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise click.UsageError("Nobody can be asked here: say --yes.")
        for session, title in titles.items():
            screen.note(f"  {session}  {title}")
        count = "this session" if len(titles) == 1 else f"these {len(titles)} sessions"
        if not click.confirm(f"Delete {count} for ever?", err=True):
            return exits.CANCELLED
    for session in titles:
        said = remove_session(
            paths.home(), session, lambda words: screen.note(f"  {clean_line(words)}")
        )
        if said and os.environ.get("ROOKERY_DEBUG") and not went_wrong(said):
            screen.note(f"  {clean_line(said)}")
        screen.note(f"Deleted {session}.")
    return exits.DONE
