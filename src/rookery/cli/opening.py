"""`rookery` without a command: opens the terminal interface, or prints what runs now."""

import time

import click

from rookery import models
from rookery.cli import elsewhere, exits, flags, settings, target, tui_launch
from rookery.cli.no_command import Given
from rookery.cli.output import standard
from rookery.cli.output.wrap import wrapped
from rookery.cli.session.prompt_input import text_of
from rookery.core.view.fleet import is_hidden
from rookery.home import paths

LISTED = 10

FIRST_RUN = """\
Rookery runs coding agents in the background, keeps every turn, and lets you watch and steer.
There are no sessions yet.

  rookery run --agent demo "Show me around"   a tour, no account needed
  rookery setup                               choose a model for Rookery's own agent
  rookery agents                              list known agents
  rookery help                                what else there is
"""

NEXT = """\
  rookery run "…"          give an agent a task in this directory
  rookery tail SESSION     follow one of these as it happens
  rookery help             what else there is
"""


def begin(context: click.Context, given: Given) -> int:
    flags.approval(given._asdict())
    if given.task and given.file:
        raise click.UsageError("--task and --file cannot be combined.")
    for flag, is_given in (("--json", given.as_json), ("--verbose", given.verbose)):
        if is_given and not given.headless:
            raise click.UsageError(f"{flag} needs --headless. Or use rookery run {flag}.")
    flags.check_output(as_json=given.as_json, verbose=given.verbose)
    task = given.file.read().rstrip("\n") if given.file else given.task
    if given.headless and not (given.file or task):
        task = text_of((), optional=True)  # of a pipe
    if (given.file or given.headless) and not task.strip():
        raise click.UsageError("--headless needs a task: -t TEXT, -f FILE, or a pipe.")
    if not given.headless:
        return _open(given, task)
    from rookery.cli import headless

    return headless.begin(context, given, task)


def _open(given: Given, task: str) -> int:
    own = elsewhere.own_agent(given.remote, given.cloud, agent=given.agent)
    if given.agent and not _is_ready(given.agent):
        return exits.DONE
    if tui_launch.can_open():
        session = tui_launch.session_of(given.resume, given.last)
        return tui_launch.open_screen(
            agent=own.name if own else given.agent or "",
            argv=tuple(own.argv) if own else (),
            session=session,
            task=task,
            choose=given.resume == "" and not session,
            confirm=flags.approval(given._asdict())[0],
            leave_at_once=given.leave_at_once,
        )
    if given != Given():
        raise click.UsageError(tui_launch.why_not(given.resume or ""))
    return _overview()


def _is_ready(agent: str) -> bool:
    """Check that an agent can be used before anything opens. Return False for `help`, after listing
    the agents. Raises UnknownAgent, NotInstalled."""
    if agent == "help":
        from rookery.cli.checkup.agent_list import write_table

        write_table(standard(), target.agents())
        return False
    if not target.rookery().address:  # else that machine says what it lacks
        models.choice.chosen_agent(paths.home(), settings.load(), paths.work_directory(), agent)
    return True


def _overview() -> int:
    """Print what runs now, and the commands to try next."""
    from rookery.cli.commands.look.ps import in_order, write_table

    screen = standard()
    known = target.rookery().heads(hidden=False)
    heads = [head for head in known if not is_hidden(head, time.time() * 1000)]
    if heads:
        listed = in_order(heads)
        write_table(screen, listed[:LISTED])
        if more := len(listed[LISTED:]):
            screen.line(screen.paint.faint(f"and {more:,} more: rookery ps"))
        screen.line()
    text = NEXT if heads else FIRST_RUN
    if not tui_launch.is_installed():
        reason, _, line = tui_launch.why_not().partition(": ")
        text += f"\n{reason}:\n\n  {line}\n"  # a line of its own can be copied
    screen.write(wrapped(text, screen.width) if screen.fits else text)
    return exits.DONE
