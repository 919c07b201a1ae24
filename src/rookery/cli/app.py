"""The commands as one table, each loaded when it is called: a quick `ps` pays for nothing else."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, override

import click

from rookery.cli import errors, exits, no_command
from rookery.cli.output.screen import PipeClosed
from rookery.core.vendors.environment import OVERRIDE
from rookery.home import paths

UNTRUSTING = ("doctor", "uninstall")
"""Commands that run even if other users can write to the home."""


GROUPS = {
    "Start and talk": {
        "run": "Give an agent a task and stream its answer.",
        "new": "Create a session without a prompt and print its id.",
        "prompt": "Send a prompt to a session.",
        "answer": "Answer an agent's question.",
        "queue": "List, change or send queued prompts.",
        "set": "Set mode, model, effort and other options.",
        "resume": "Retry a prompt that hit a rate limit.",
        "switch-agent": "Switch a session to another agent.",
        "clear": "Start the conversation over; earlier turns are hidden.",
        "cancel": "Cancel the running turn.",
        "force-end": "End a turn that hangs.",
    },
    "Look": {
        "ps": "List sessions.",
        "asks": "List open questions from all agents.",
        "tail": "Follow a session live.",
        "show": "Print a session.",
        "recap": "Print a recap of a session for another agent.",
        "logs": "Print what a session's agent and worker logged.",
    },
    "Manage sessions": {
        "rename": "Rename a session.",
        "stop": "Put a session to sleep; the next prompt wakes it.",
        "restart": "Restart a session's agent.",
        "kill": "Kill a session's processes, even if they hang.",
        "archive": "Hide sessions from lists; nothing is lost.",
        "unarchive": "Bring archived sessions back into the lists.",
        "snooze": "Hide sessions until a given time.",
        "prune": "Find old or large sessions and delete them.",
        "rm": "Delete sessions and all their data.",
    },
    "Setup": {
        "setup": "Choose the model for Rookery's own agent.",
        "agents": "List agents and how to install them.",
        "doctor": "Check the installation, or test an agent.",
        "mcp": "List, add and test MCP servers.",
        "config": "Show, explain and edit the settings.",
        "policy": "List, add and test the rules that answer for you.",
    },
    "Other": {
        "acp": "Run as an ACP agent on stdio, for editors.",
        "agent": "Run Rookery's own agent on stdio.",
        "play": "Run a scripted agent on stdio.",
        "model": "Run a scripted model on localhost.",
        "uninstall": "Show what Rookery stores, and remove it.",
        "completions": "Print a shell completion script.",
    },
}
"""By heading in the help. A command is in the file that has its name, in the folder that has the
heading's first word."""

MODULES = {
    word: f"rookery.cli.commands.{title.split()[0].lower()}.{word.replace('-', '_')}"
    for title, words in GROUPS.items()
    for word in words
} | {"setup": "rookery.cli.setup.command"}


class Table(click.Group):
    """A group whose commands are loaded when they are called."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        found = vars(importlib.import_module(MODULES[cmd_name])).values()
        commands = [each for each in found if isinstance(each, click.Command)]
        return next(each for each in commands if each.name == cmd_name)

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in MODULES and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.NoSuchCommand(name, possibilities=list(MODULES), ctx=ctx)
        return super().resolve_command(ctx, args)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, words in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(words.items()))


@click.group(
    cls=Table,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@no_command.options
@click.option("-V", "--version", is_flag=True, help="Print the version.")
@click.pass_context
def rookery(context: click.Context, /, version: bool, **given: Any) -> int | None:
    """Run coding agents in the background, keep every turn, watch and steer them.

    Without a command, it opens the terminal interface.

    \b
    rookery                                        open all sessions
    rookery --resume 3f2a                          open one session
    rookery --headless -t "Fix the failing test"   no interface, like rookery run
    rookery run "Fix the failing test"             default agent, in this directory
    rookery run --agent claude "Review my diff"    another agent
    rookery ps                                     list sessions

    Name a session by its id, the start of its id, or its title.

    Exit codes: 0 done, 1 failed, 2 usage, 3 refused by policy, 4 rate limited, 5 waiting for
    disk space, 130 cancelled.
    """
    if version:
        from rookery import __version__

        click.echo(f"rookery {__version__}")
        return exits.DONE
    if given["override"]:
        os.environ[OVERRIDE] = "1"  # of this command and of the sessions that it makes
    if context.invoked_subcommand not in UNTRUSTING:
        paths.check_trust(paths.home())
    if context.invoked_subcommand is None:
        return no_command.begin(context, no_command.Given(**given))
    return None


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code. The one place where every error ends."""
    try:
        code = rookery.main(list(arguments), prog_name="rookery", standalone_mode=False)
        sys.stdout.flush()
    except (PipeClosed, BrokenPipeError):
        errors.give_up_stdout()
        return exits.PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return exits.CANCELLED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the user gets a sentence, never a traceback
        return errors.report(error)
    return code if isinstance(code, int) else exits.DONE
