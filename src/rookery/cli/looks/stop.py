"""`stop`: reports whether all processes ended; `--now` ends them without asking."""

from typing import Any

from rookery.cli import target
from rookery.cli.flags import flag
from rookery.cli.output import clean_line
from rookery.cli.session.send import Say, send, tell_left_running, tell_resumption
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row

OPTIONS = (flag("--now", help="Kill the processes at once, even if they hang."),)
WITHIN = 10.0
"""Seconds for the worker to end."""


def carry_out(row: Row, session: str, say: Say, given: Any) -> Json:
    outcome = (_kill if given["now"] else _ask)(row, session, say)
    tell_resumption(say, session)
    return outcome


def _kill(_row: Row, session: str, say: Say) -> Json:
    rookery = target.rookery()
    head = rookery.head(session)
    refused = rookery.call("kill", session)["left"]
    killed = head is None or head["awake"]
    ended = "Killed. The history is kept; the next prompt wakes the session."
    say(ended if killed else "Already asleep.")
    if refused:
        say(f"Still running as another user: {clean_line(', '.join(refused))}")
    return {"session": session, "killed": killed, "left": list(refused)}


def _ask(row: Row, session: str, say: Say) -> Json:
    rookery = target.rookery()
    head = rookery.head(session)
    outcome = send(session, row.command({}))
    if head is None or not head["awake"]:
        say("Already asleep.")
    else:
        ending = "Stopping: the agent has not ended yet. To kill it: rookery stop --now"
        gone = rookery.falls_asleep(session, WITHIN)
        say("Stopped. The next prompt wakes the session." if gone else f"{ending} {session}")
        tell_left_running(say, session, outcome.seq)
    return outcome._asdict()
