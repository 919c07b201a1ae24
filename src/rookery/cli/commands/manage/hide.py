"""`archive`, `unarchive` and `snooze`: hide sessions from the lists, and bring them back."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import click

from rookery.cli import target
from rookery.cli.flags import sessions_argument
from rookery.cli.output import standard
from rookery.cli.output.units import AGE
from rookery.cli.session.send import send
from rookery.core.clock_slip import is_snoozed
from rookery.core.json import Json


@click.command()
@sessions_argument
def archive(sessions: tuple[str, ...]) -> None:
    """Hide sessions from lists. They go to sleep once no turn is running.

    A prompt, or rookery unarchive, brings one back. rookery ps --all still shows them.

    \b
    rookery archive 3f2a
    rookery archive 3f2a 91bc
    """

    def needless(head: Json) -> str:
        return "is already archived" if head["archived"] else ""

    _change(sessions, {"do": "archive"}, needless, "Archived {}.")


@click.command()
@sessions_argument
def unarchive(sessions: tuple[str, ...]) -> None:
    """Bring archived sessions back into the lists. They stay asleep until the next prompt.

    \b
    rookery unarchive 3f2a
    """

    def needless(head: Json) -> str:
        return "" if head["archived"] else "is not archived"

    _change(sessions, {"do": "unarchive"}, needless)


@click.command()
@sessions_argument
@click.option("--for", "span", type=AGE, metavar="TIME", help="For this long: 30m, 2h, 3d.")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%H:%M"]),
    metavar="WHEN",
    help="Until this local time: 09:00 (the next one), 2030-01-31, 2030-01-31T09:00.",
)
@click.option("--off", is_flag=True, help="Bring them back now.")
def snooze(
    sessions: tuple[str, ...], span: float | None, until: datetime | None, off: bool
) -> None:
    """Hide sessions from lists until a given time. They go to sleep once no turn is running.

    Nothing starts at that time; a prompt brings a session back earlier. rookery ps --all still
    shows them.

    \b
    rookery snooze 3f2a --for 2h
    rookery snooze 3f2a --until 09:00
    rookery snooze 3f2a --off
    """
    if [span is not None, until is not None, off].count(True) != 1:
        raise click.UsageError("Pass --for 2h, --until 09:00 or --off.")

    def needless(head: Json) -> str:
        return "is not snoozed" if off and not is_snoozed(head, time.time() * 1000) else ""

    if off:
        _change(sessions, {"do": "snooze", "until": 0}, needless)
        return
    now = datetime.now().astimezone()
    end = _moment(until, now) if until is not None else now + timedelta(seconds=span or 0)
    if end <= now:
        raise click.BadParameter("that time has passed.", param_hint="--until")
    command = {"do": "snooze", "until": int(end.timestamp() * 1000)}
    _change(sessions, command, needless, f"Snoozed {{}} until {end:%Y-%m-%d %H:%M}.")


def _moment(given: datetime, now: datetime) -> datetime:
    """A time without a day is the next one."""
    if given.year != 1900:  # what a time of day alone is read as
        return given.astimezone()
    due = now.replace(hour=given.hour, minute=given.minute, second=0, microsecond=0)
    return due if due > now else due + timedelta(days=1)


def _change(
    sessions: tuple[str, ...],
    command: Json,
    needless: Callable[[Json], str],
    done: str = "{} is back in the lists.",
) -> None:
    """Send a command to each session. `needless`: why it is not needed, from the session's head;
    `done`: what is said afterwards, with {} for the id."""
    screen = standard()
    for session in sessions:
        head = target.rookery().head(session)
        if head is not None and (why := needless(head)):
            screen.note(f"{session} {why}.")
            continue
        send(session, command)
        screen.note(done.format(session))
        hides = command["do"] == "archive" or command.get("until")
        if hides and head is not None and head["awake"] and head["state"] != "idle":
            screen.note("The session goes to sleep when its turn ends.")
