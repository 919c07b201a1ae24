"""`archive`, `unarchive`, `snooze`: hide sessions and bring them back; nothing is lost."""

import time
from datetime import datetime

import click

from rookery.cli import exits
from rookery.cli.names import sessions_argument
from rookery.cli.output.screen import standard
from rookery.cli.output.units import Age
from rookery.cli.session.send import send
from rookery.client.fleet import head_of_session
from rookery.core.json.events import Json
from rookery.core.view.fleet import is_snoozed
from rookery.home import paths


@click.command()
@sessions_argument
def archive(sessions: tuple[str, ...]) -> int:
    """Hide sessions from lists. They go to sleep once no turn is running.

    A prompt, or rookery unarchive, brings one back. rookery ps --all still shows them.

    \b
    rookery archive 3f2a
    rookery archive 3f2a 91bc
    """
    screen = standard()
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if head is not None and head["archived"]:
            screen.note(f"{session} is already archived.")
            continue
        send(session, {"do": "archive"})
        screen.note(f"Archived {session}.{_later(head)}")
    return exits.DONE


def _later(head: Json | None) -> str:
    running = head is not None and head["awake"] and head["state"] != "idle"
    return " It goes to sleep when its turn ends." if running else ""


@click.command()
@sessions_argument
def unarchive(sessions: tuple[str, ...]) -> int:
    """Bring archived sessions back into the lists. They stay asleep until the next prompt.

    \b
    rookery unarchive 3f2a
    """
    screen = standard()
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if head is not None and not head["archived"]:
            screen.note(f"{session} is not archived.")
            continue
        send(session, {"do": "unarchive"})
        screen.note(f"{session} is back in the lists.")
    return exits.DONE


@click.command()
@sessions_argument
@click.option("--for", "span", type=Age(), metavar="TIME", help="For this long: 30m, 2h, 3d.")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%H:%M"]),
    metavar="WHEN",
    help="Until this local time: 09:00 (the next one), 2030-01-31, 2030-01-31T09:00.",
)
@click.option("--off", is_flag=True, help="Bring them back now.")
def snooze(sessions: tuple[str, ...], span: float | None, until: datetime | None, off: bool) -> int:
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
    screen, now = standard(), time.time()
    end = 0.0 if off else now + span if span is not None else _moment(until, now)
    if not off and end <= now:
        raise click.BadParameter("that time has passed.", param_hint="--until")
    for session in sessions:
        head = head_of_session(paths.home(), session)
        if off and (head is None or not is_snoozed(head, now * 1000)):
            screen.note(f"{session} is not snoozed.")
            continue
        send(session, {"do": "snooze", "until": int(end * 1000)})
        words = datetime.fromtimestamp(end).astimezone().strftime("%Y-%m-%d %H:%M")
        said = f"Snoozed {session} until {words}.{_later(head)}"
        screen.note(f"{session} is back in the lists." if off else said)
    return exits.DONE


def _moment(given: datetime | None, now: float) -> float:
    """A time without a day is the next one."""
    assert given is not None
    if given.year != 1900:  # what a clock's time alone is read as
        return given.astimezone().timestamp()
    today = datetime.fromtimestamp(now).astimezone()
    due = today.replace(hour=given.hour, minute=given.minute, second=0, microsecond=0)
    return due.timestamp() + (0 if due.timestamp() > now else 86_400)
