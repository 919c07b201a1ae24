"""`snooze`: hides sessions until a given time."""

import time
from datetime import datetime, timedelta

import click

from rookery.cli.names import sessions_argument
from rookery.cli.output.units import AGE
from rookery.cli.session import listing
from rookery.core.view.fleet import is_snoozed


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
    if off:
        listing.change(
            sessions,
            {"do": "snooze", "until": 0},
            lambda head: "" if is_snoozed(head, time.time() * 1000) else "is not snoozed",
            "{} is back in the lists.",
        )
        return
    now = datetime.now().astimezone()
    end = _moment(until, now) if until is not None else now + timedelta(seconds=span or 0)
    if end <= now:
        raise click.BadParameter("that time has passed.", param_hint="--until")
    listing.change(
        sessions,
        {"do": "snooze", "until": int(end.timestamp() * 1000)},
        lambda _: "",
        f"Snoozed {{}} until {end:%Y-%m-%d %H:%M}.",
    )


def _moment(given: datetime, now: datetime) -> datetime:
    """A time without a day is the next one."""
    if given.year != 1900:  # what a time of day alone is read as
        return given.astimezone()
    due = now.replace(hour=given.hour, minute=given.minute, second=0, microsecond=0)
    return due if due > now else due + timedelta(days=1)
