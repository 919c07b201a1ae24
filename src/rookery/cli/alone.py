"""`rookery` alone: its flags, and the way into the terminal interface, or past it with
--headless."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import click

from rookery.cli import flags
from rookery.core.environment import OVERRIDE


class Given(NamedTuple):
    """The flags, as they were given."""

    agent: str | None = None
    resume: str | None = None
    last: bool = False
    task: str = ""
    file: str | None = None
    always: bool = False
    risky: bool = False
    headless: bool = False
    as_json: bool = False
    verbose: bool = False
    override: bool = False
    leave_at_once: bool = False


OPTIONS = (
    click.option("--agent", metavar="NAME", help="Open the terminal interface with this agent."),
    click.option(
        "--resume",
        is_flag=False,
        flag_value="",
        metavar="[SESSION]",
        help="Open it on a session; without a name, in the list of sessions.",
    ),
    click.option("--last", is_flag=True, help="Open it on the session that had news last."),
    click.option("-t", "--task", default="", metavar="TEXT", help="Open it with a first prompt."),
    click.option(
        "-f",
        "--file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="The first prompt is in this file.",
    ),
    click.option(
        "--always-approve",
        "--yolo",
        "always",
        is_flag=True,
        help="Approve all in this session, as `rookery set SESSION confirm all` does.",
    ),
    click.option("--llm-approve", "risky", is_flag=True, help="Ask only about what is risky."),
    click.option("--headless", is_flag=True, help="No interface: as `rookery run`; needs a task."),
    click.option("--json", "as_json", is_flag=True, help="With --headless: one event a line."),
    click.option(
        "--verbose", is_flag=True, help="With --headless, in a pipe: the whole transcript."
    ),
    flags.override,
    click.option(
        "--exit-without-confirmation",
        "leave_at_once",
        is_flag=True,
        help="Leave at once, also while turns run; they go on.",
    ),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def begin(context: click.Context, given: Given) -> int:
    """The exit code."""
    if given.always and given.risky:
        raise click.UsageError("--always-approve and --llm-approve exclude each other.")
    if given.task and given.file:
        raise click.UsageError("--task and --file exclude each other.")
    if given.as_json and not given.headless:
        raise click.UsageError("--json goes with --headless. Else: rookery run --json.")
    if given.verbose and not given.headless:
        raise click.UsageError("--verbose goes with --headless. Else: rookery run --verbose.")
    flags.check_output(as_json=given.as_json, verbose=given.verbose)
    if given.override:
        os.environ[OVERRIDE] = "1"  # the sessions are made in this environment
    task = _read(given.file) if given.file else given.task
    if given.headless and not (given.file or task):
        from rookery.cli.prompting import text_of

        task = text_of((), optional=True)  # of a pipe
    if (given.file or given.headless) and not task.strip():
        raise click.UsageError("--headless needs a task: -t TEXT, -f FILE, or a pipe.")
    return _headless(context, given, task) if given.headless else _open(given, task)


def _read(path: str) -> str:
    try:
        with click.open_file(path, encoding="utf-8", errors="replace") as file:
            return str(file.read()).rstrip("\n")
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}.", param_hint="--file") from None


def _headless(context: click.Context, given: Given, task: str) -> int:
    from rookery.cli import screening

    if given.resume == "":
        raise click.UsageError("--headless --resume needs the name of a session.")
    session = screening.session_of(given.resume, given.last)
    if not session:
        from rookery.cli.running import run

        more = {"agent": given.agent, "always": given.always, "risky": given.risky}
        shown = {"as_json": given.as_json, "verbose": given.verbose}
        code = context.invoke(run, text=(task,), **shown, **more)
        return int(code)
    if given.agent:
        raise click.UsageError("A session keeps its agent: --agent is for a new one.")
    from rookery.cli.look.screen import standard
    from rookery.cli.prompting import Message
    from rookery.cli.ruling import Policy, hand_over
    from rookery.cli.turns import continue_turn

    flag = " --yolo" if given.always else " --llm-approve" if given.risky else ""
    approve = "risky" if given.risky else "all"
    policy = Policy(approve, stated=bool(flag), told=f"--headless{flag}")
    hand_over(standard(), session, policy)
    return continue_turn(
        standard(),
        session,
        Message(task, []),
        policy,
        as_json=given.as_json,
        verbose=given.verbose,
    )


def _open(given: Given, task: str) -> int:
    from rookery.cli import screening

    if screening.can_open():
        session = screening.session_of(given.resume, given.last)
        return screening.open_screen(
            given.agent or "",
            session,
            task,
            choose=given.resume == "" and not session,
            confirm="all" if given.always else "risky" if given.risky else "",
            leave_at_once=given.leave_at_once,
        )
    if given != Given():
        raise click.UsageError(
            "The terminal interface needs a terminal. In a script: rookery run, or --headless."
            if screening.is_installed()
            else "The terminal interface is not installed: install rookery[tui]."
        )
    from rookery.cli.overview import overview

    return overview()
