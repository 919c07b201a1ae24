"""`stop`: puts sessions to sleep, or ends their processes without asking them."""

import click

from rookery.cli import target
from rookery.cli.output import clean_line
from rookery.cli.session.send import Say, for_each, send, tell_left_running, tell_resumption

WITHIN = 10.0
"""Seconds for the worker to end."""


@click.command()
@for_each
@click.option("--now", is_flag=True, help="Kill the processes at once, even if they hang.")
def stop(session: str, say: Say, *, now: bool) -> None:
    """Put sessions to sleep: agent and worker stop. The next prompt wakes them.

    \b
    rookery stop 3f2a
    rookery stop 3f2a 91bc
    rookery stop 3f2a --now
    """
    rookery = target.rookery()
    head = rookery.head(session)
    if now:
        refused = rookery.kill(session)
        asleep = head is not None and not head["awake"]
        ended = "Killed. The history is kept; the next prompt wakes the session."
        say("Already asleep." if asleep else ended)
        if refused:
            say(f"Still running as another user: {clean_line(', '.join(refused))}")
    else:
        outcome = send(session, {"do": "stop"})
        if head is None or not head["awake"]:
            say("Already asleep.")
        else:
            ending = "Stopping: the agent has not ended yet. To kill it: rookery stop --now"
            gone = rookery.falls_asleep(session, WITHIN)
            say("Stopped. The next prompt wakes the session." if gone else f"{ending} {session}")
            tell_left_running(say, session, outcome.seq)
    tell_resumption(say, session)
