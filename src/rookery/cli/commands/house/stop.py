"""`stop`, `restart`, `kill`, `rm`: the ways to end a session, from sleep to deletion."""

import os
import sys
import time

import click

from rookery.cli import exits
from rookery.cli.names import session_argument, sessions_argument
from rookery.cli.output.queue import header_of
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.session.environment import renew_environment
from rookery.cli.session.send import left_running, send
from rookery.client.deletion.agent_side import went_wrong
from rookery.client.fleet import head_of_session
from rookery.client.fleet import kill as kill_session
from rookery.client.fleet import remove as remove_session
from rookery.client.offline import lock_path
from rookery.client.waking.bell import resume_later
from rookery.home import paths
from rookery.log.lock import is_held

ENDS = 10.0
"""Seconds for a worker that was told to stop."""


@click.command()
@session_argument
def stop(session: str) -> int:
    """Put a session to sleep: its agent and worker stop. The next prompt wakes it.

    \b
    rookery stop 3f2a
    """
    screen = standard()
    head = head_of_session(paths.home(), session)
    outcome = send(session, {"do": "stop"})
    if head is None or not head["awake"]:
        screen.note("It was already asleep.")
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
    return f"Stopping: the agent has not ended yet. To kill it: rookery kill {session}"


@click.command()
@session_argument
def restart(session: str) -> int:
    """Restart a session's agent. A running turn is interrupted.

    The agent gets this terminal's environment; variables that changed are listed.

    \b
    rookery restart 3f2a
    """
    screen = standard()
    command = {"do": "restart"}
    renew_environment(screen, header_of(session), command)
    send(session, command)
    screen.note("Restarted.")
    return exits.DONE


@click.command()
@session_argument
def kill(session: str) -> int:
    """Kill a session's processes, even if they hang. Its history is kept.

    \b
    rookery kill 3f2a
    """
    screen = standard()
    refused = kill_session(paths.home(), session)
    screen.note("Killed. Its history is kept; the next prompt wakes it.")
    if refused:
        screen.note(f"Still running as another user: {clean_line(', '.join(refused))}")
    _tell_resumption(screen, session)
    return exits.DONE


def _tell_resumption(screen: Screen, session: str) -> None:
    """A session that met a rate limit goes on by itself, asleep or not."""
    at = resume_later(paths.home(), session)
    if at is not None:
        when = time.strftime("%H:%M", time.localtime(max(at / 1000, time.time())))
        screen.note(
            f"Its prompt will be sent again at {when}, when the rate limit resets "
            f"(rate_limit_auto_resume). To prevent that: rookery archive {session}"
        )


@click.command()
@sessions_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(sessions: tuple[str, ...], yes: bool) -> int:
    """Delete sessions and all their data. Files changed by their agents stay, and so does your
    prompt history (prompts.jsonl).

    Agents that support it are asked to delete their copy; ROOKERY_DEBUG=1 shows the result for the
    last one. Conversations of Rookery's own agent are removed.

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
            raise click.UsageError("Not a terminal: pass --yes.")
        for session, title in titles.items():
            screen.note(f"  {session}  {title}")
        count = "this session" if len(titles) == 1 else f"these {len(titles)} sessions"
        if not click.confirm(f"Permanently delete {count}?", err=True):
            return exits.CANCELLED
    for session in titles:
        said = remove_session(
            paths.home(), session, lambda words: screen.note(f"  {clean_line(words)}")
        )
        if said and os.environ.get("ROOKERY_DEBUG") and not went_wrong(said):
            screen.note(f"  {clean_line(said)}")
        screen.note(f"Deleted {session}.")
    return exits.DONE
