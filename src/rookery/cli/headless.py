"""`rookery --headless`: a task without the interface."""

import click

from rookery.cli import flags, tui_launch
from rookery.cli.commands.start.run import run
from rookery.cli.no_command import Given
from rookery.cli.output import standard
from rookery.cli.session.approval_flags import chosen, hand_over
from rookery.cli.session.prompt_input import Message
from rookery.cli.session.send import send
from rookery.cli.session.turn import Wish, continue_turn
from rookery.core.policy import approvals, modes


def begin(context: click.Context, given: Given, task: str) -> int:
    if given.resume == "":
        raise click.UsageError("--headless --resume needs a session.")
    session = tui_launch.session_of(given.resume, given.last)
    if not session:
        names = ("agent", *flags.APPROVALS, "as_json", "verbose", "remote", "cloud")
        same = {name: getattr(given, name) for name in names}
        return int(context.invoke(run, text=(task,), **same))
    if given.agent or given.cloud or given.remote is not None:
        option = "--agent" if given.agent else "--cloud" if given.cloud else "--remote"
        message = "is for new sessions only; rookery switch-agent changes the agent of this one."
        raise click.UsageError(f"{option} {message}")
    screen = standard()
    policy = chosen(None, given._asdict(), "--headless")
    hand_over(screen, session, policy)
    if given.plan:
        send(session, {"do": "set", "option": modes.OPTION, "value": approvals.PLAN})
    wish = Wish(Message(task, []), policy, given.as_json, given.verbose)
    return continue_turn(screen, session, wish)
