"""`recap`: what was said so far, in short, for another agent."""

import click

from rookery.cli import flags, target
from rookery.cli.output import clean, standard
from rookery.cli.session.loading import ensure_loaded


@click.command()
@flags.session_argument
@click.option(
    "--before", type=click.IntRange(min=1), metavar="SEQ", help="Only what came before this event."
)
@flags.results("Print JSON.")
def recap(session: str, before: int | None) -> None:
    """Print a recap of a session, to send to an agent that does not know it.

    It covers what came before the last switch, clear or reset, or the whole conversation if there
    was none: the last 20 turns, at most 24,000 characters, plus the prompt that was not processed.
    Nothing is sent: read it, edit it, send it.

    \b
    rookery recap 3f2a > recap.md && $EDITOR recap.md && rookery prompt 3f2a - < recap.md
    """
    screen = standard()
    ensure_loaded(screen, session)
    text = target.rookery().recap(session, before)
    screen.result({"text": text})
    if not text:
        screen.note("Nothing to recap.")
        return
    screen.line(clean(text))
