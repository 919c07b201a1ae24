"""`notify`: tries out the notifications."""

import click

from rookery.cli import exits, flags
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.daemon.notify.notifier import trial
from rookery.home import paths


@click.group()
def notify() -> None:
    """Try out the notifications that the daemon sends.

    \b
    rookery config set notify.desktop true
    rookery notify test
    """


@notify.command()
@flags.results("Print one JSON object per way.")
def test() -> int:
    """Send a notification every way that is set up. Needs no daemon.

    \b
    rookery config set notify.webhook https://ntfy.sh/my-topic
    rookery config set notify.webhook_shape ntfy
    rookery notify test
    """
    screen = standard()
    outcomes = trial(paths.home())
    if not outcomes:
        screen.note(
            "No notifications are set up. For example: rookery config set notify.desktop true"
        )
        return exits.FAILED
    for way, problem in outcomes.items():
        sign = screen.paint.mark("failed" if problem else "done")
        screen.result({"name": way, "ok": not problem, "error": problem})
        screen.line(f"{sign} {way}: {clean_line(problem) if problem else 'sent'}")
    return exits.FAILED if any(outcomes.values()) else exits.DONE
