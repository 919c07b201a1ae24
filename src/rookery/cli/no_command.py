"""`rookery` without a command: its flags, the terminal interface, and --headless."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import standard
from rookery.cli.output.wrap import wrapped
from rookery.core.policy import approvals, modes
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


class Given(NamedTuple):
    """The flags given to `rookery` itself."""

    agent: str | None = None
    resume: str | None = None
    last: bool = False
    task: str = ""
    file: TextIO | None = None
    ask_always: bool = False
    ask_when_risky: bool = False
    approve_all: bool = False
    plan: bool = False
    always_approve: bool = False
    yolo: bool = False
    llm_approve: bool = False
    headless: bool = False
    as_json: bool = False
    verbose: bool = False
    override: bool = False
    leave_at_once: bool = False
    remote: str | None = None
    cloud: bool = False


AT_ONCE = "Quit without confirmation. Running turns continue."
OPTIONS = (
    click.option(
        "--agent", metavar="NAME", help="Agent for new sessions in the terminal interface."
    ),
    click.option(
        "--resume",
        is_flag=False,
        flag_value="",
        metavar="[SESSION]",
        help="Open this session; without a name, the list of sessions.",
    ),
    click.option("--last", is_flag=True, help="Open the most recently active session."),
    click.option("-t", "--task", default="", metavar="TEXT", help="Send this as the first prompt."),
    click.option(
        "-f",
        "--file",
        type=click.File(encoding="utf-8", errors="replace"),
        metavar="FILE",
        help="Read the first prompt from this file.",
    ),
    flags.approving,
    flags.flag("--headless", help="No interface, like `rookery run`. Needs a task."),
    flags.as_json("With --headless: print one JSON event per line."),
    flags.verbose("With --headless, in a pipe: print the whole transcript."),
    flags.elsewhere,
    flags.override,
    flags.flag("--exit-without-confirmation", "leave_at_once", help=AT_ONCE),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def check_unused(context: click.Context) -> None:
    """Raise UsageError for an option before a command, which would be ignored."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if (
            name in Given._fields
            and name != "override"
            and context.params[name] != Given._field_defaults[name]
        ):
            word = context.invoked_subcommand
            option = flags.usual(parameter.opts[0])
            raise click.UsageError(
                f"{option} is for rookery without a command. The options of {word} come "
                f"after it: rookery {word} -h"
            )


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
        from rookery.cli.session.prompt_input import text_of

        task = text_of((), optional=True)  # of a pipe
    if (given.file or given.headless) and not task.strip():
        raise click.UsageError("--headless needs a task: -t TEXT, -f FILE, or a pipe.")
    return _headless(context, given, task) if given.headless else _open(given, task)


def _headless(context: click.Context, given: Given, task: str) -> int:
    from rookery.cli import tui_launch

    if given.resume == "":
        raise click.UsageError("--headless --resume needs a session.")
    session = tui_launch.session_of(given.resume, given.last)
    if not session:
        from rookery.cli.commands.start.run import run

        names = ("agent", *flags.APPROVALS, "as_json", "verbose", "remote", "cloud")
        same = {name: getattr(given, name) for name in names}
        return int(context.invoke(run, text=(task,), **same))
    if given.agent or given.cloud or given.remote is not None:
        option = "--agent" if given.agent else "--cloud" if given.cloud else "--remote"
        message = "is for new sessions only; rookery switch-agent changes the agent of this one."
        raise click.UsageError(f"{option} {message}")
    from rookery.cli.session.approval_flags import chosen, hand_over
    from rookery.cli.session.prompt_input import Message
    from rookery.cli.session.send import send
    from rookery.cli.session.turn import Wish, continue_turn

    screen = standard()
    policy = chosen(None, given._asdict(), "--headless")
    hand_over(screen, session, policy)
    if given.plan:
        send(session, {"do": "set", "option": modes.OPTION, "value": approvals.PLAN})
    wish = Wish(Message(task, []), policy, given.as_json, given.verbose)
    return continue_turn(screen, session, wish)


def _open(given: Given, task: str) -> int:
    from rookery.cli import elsewhere, tui_launch

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
    from rookery.cli import settings as cli_settings
    from rookery.models.choice import chosen_agent

    if agent == "help":
        from rookery.cli.checkup.agent_list import write_table

        write_table(standard(), target.agents())
        return False
    if not target.rookery().address:  # else that machine says what it lacks
        chosen_agent(paths.home(), cli_settings.load(), paths.work_directory(), agent)
    return True


def _overview() -> int:
    """Print what runs now, and the commands to try next."""
    from rookery.cli import tui_launch
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
