"""`open`: opens a session in the terminal interface."""

import click

from rookery.cli import tui_launch
from rookery.cli.flags import complete_sessions, find_session


@click.command("open")
@click.argument("session", required=False, callback=find_session, shell_complete=complete_sessions)
@click.option(
    "--at",
    type=click.IntRange(min=1),
    metavar="SEQ",
    help="Begin at this event: rookery search finds it.",
)
def open_(session: str | None, at: int | None) -> int:
    """Open a session in the terminal interface; without SESSION, the list of sessions.

    Leaving the terminal interface stops nothing. Without a terminal, use `rookery show` or
    `rookery tail`.

    \b
    rookery open 3f2a
    rookery open 3f2a --at 1200
    rookery open
    """
    if at is not None and not session:
        raise click.UsageError("--at needs a session.")
    if not tui_launch.can_open():
        raise click.UsageError(tui_launch.why_not(session or ""))
    return tui_launch.open_screen(session=session or "", at=at or 0, choose=not session)
