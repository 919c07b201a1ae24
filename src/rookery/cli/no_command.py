"""The flags of `rookery` without a command."""

from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

import click

from rookery.cli import flags


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
