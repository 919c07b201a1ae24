"""The commands as one table, each loaded when it is called: a quick `ps` pays for nothing else."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, override

import click

from rookery.cli import errors, exits, no_command
from rookery.cli.output.screen import PipeClosed
from rookery.core.vendors.environment import OVERRIDE
from rookery.home import paths

UNTRUSTING = ("doctor", "uninstall")
"""Commands that help where other users may write to the home; the others refuse."""


class Entry(NamedTuple):
    module: str
    """Under rookery.cli; the command has the name that it is called by."""
    help: str
    attribute: str = ""
    """Where it cannot have that name in Python."""


GROUPS: dict[str, dict[str, Entry]] = {
    "Start and talk": {
        "run": Entry("commands.start.run", "Give an agent a task and stream its answer."),
        "new": Entry("commands.start.new", "Create a session without a prompt and print its id."),
        "prompt": Entry("commands.start.prompt", "Send a prompt to a session."),
        "answer": Entry("commands.start.answer", "Answer an agent's question."),
        "queue": Entry("commands.start.queue", "List, change or send queued prompts."),
        "set": Entry("commands.start.set", "Set mode, model, effort and other options.", "set_"),
        "resume": Entry("commands.start.resume", "Retry a prompt that hit a rate limit."),
        "switch-agent": Entry(
            "commands.start.switch_agent", "Switch a session to another agent.", "switch_agent"
        ),
        "clear": Entry(
            "commands.start.clear", "Start the conversation over; earlier turns are hidden."
        ),
        "cancel": Entry("commands.start.cancel", "Cancel the running turn."),
        "force-end": Entry("commands.start.force_end", "End a turn that hangs.", "force_end"),
    },
    "Look": {
        "ps": Entry("commands.look.ps", "List sessions."),
        "asks": Entry("commands.look.asks", "List open questions from all agents."),
        "tail": Entry("commands.look.tail", "Follow a session live."),
        "show": Entry("commands.look.show", "Print a session."),
        "recap": Entry("commands.look.recap", "Print a recap of a session for another agent."),
        "logs": Entry("commands.look.logs", "Print what a session's agent and worker logged."),
    },
    "Manage sessions": {
        "rename": Entry("commands.manage.rename", "Rename a session."),
        "stop": Entry("commands.manage.stop", "Put a session to sleep; the next prompt wakes it."),
        "restart": Entry("commands.manage.restart", "Restart a session's agent."),
        "kill": Entry("commands.manage.kill", "Kill a session's processes, even if they hang."),
        "archive": Entry("commands.manage.archive", "Hide sessions from lists; nothing is lost."),
        "unarchive": Entry(
            "commands.manage.unarchive", "Bring archived sessions back into the lists."
        ),
        "snooze": Entry("commands.manage.snooze", "Hide sessions until a given time."),
        "prune": Entry("commands.manage.prune", "Find old or large sessions and delete them."),
        "rm": Entry("commands.manage.rm", "Delete sessions and all their data."),
    },
    "Set up": {
        "setup": Entry("setup.command", "Choose the model for Rookery's own agent."),
        "agents": Entry("commands.setup.agents", "List agents and how to install them."),
        "doctor": Entry("commands.setup.doctor", "Check the installation, or test an agent."),
        "mcp": Entry("commands.setup.mcp", "List, add and test MCP servers."),
        "config": Entry("commands.setup.config", "Show, explain and edit the settings."),
        "policy": Entry(
            "commands.setup.policy", "List, add and test the rules that answer for you."
        ),
    },
    "Other": {
        "acp": Entry("commands.other.acp", "Run as an ACP agent on stdio, for editors."),
        "agent": Entry("commands.other.agent", "Run Rookery's own agent on stdio."),
        "play": Entry("commands.other.play", "Run a scripted agent on stdio."),
        "model": Entry("commands.other.model", "Run a scripted model on localhost."),
        "uninstall": Entry("commands.other.uninstall", "Show what Rookery stores, and remove it."),
        "completions": Entry("commands.other.completions", "Print a shell completion script."),
    },
}

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class Table(click.Group):
    """A group whose commands are looked up in COMMANDS."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"rookery.cli.{entry.module}")
        command = getattr(module, entry.attribute or cmd_name)
        assert isinstance(command, click.Command)
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.NoSuchCommand(name, possibilities=list(COMMANDS), ctx=ctx)
        return super().resolve_command(ctx, args)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.help) for name, entry in group.items()])


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
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, never a trace
        return errors.report(error)
    return code if isinstance(code, int) else exits.DONE
