"""The commands as one table, each loaded when it is called: a quick `ps` pays for nothing else."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, override

import click

from rookery import paths
from rookery.cli import alone, exits, faults
from rookery.cli.look.screen import PipeClosed
from rookery.core.environment import OVERRIDE

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
        "run": Entry("running", "Give an agent a task and stream its answer."),
        "new": Entry("running", "Make a session without a prompt; prints its id."),
        "prompt": Entry("talking", "Send a prompt to a session."),
        "answer": Entry("asking", "Answer what a session's agent asks."),
        "queue": Entry("queueing", "List, change or send the prompts that wait."),
        "set": Entry("setting", "Choose mode, model, effort and other options.", "set_"),
        "resume": Entry("talking", "Send again what met a rate limit."),
        "switch-agent": Entry("switching", "Let another agent take over.", "switch_agent"),
        "clear": Entry("switching", "Let the agent begin anew; earlier turns are folded away."),
        "cancel": Entry("talking", "Cancel the turn that runs."),
        "force-end": Entry("talking", "End a turn that has gone quiet.", "force_end"),
    },
    "Look": {
        "ps": Entry("fleet", "List the sessions."),
        "asks": Entry("asking", "List what the agents ask."),
        "tail": Entry("tailing", "Follow a session as it happens."),
        "show": Entry("showing", "Print a session."),
        "recap": Entry("switching", "Print what was said, in short, for an agent."),
        "logs": Entry("logs", "Print what an agent or its worker wrote to stderr."),
    },
    "Keep house": {
        "rename": Entry("talking", "Give a session a title."),
        "stop": Entry("ending", "Put a session to sleep; the next prompt wakes it."),
        "restart": Entry("ending", "End a session's agent and start it anew."),
        "kill": Entry("ending", "End a session's processes at once, also hung ones."),
        "archive": Entry("archiving", "Put sessions away: hidden from lists, nothing is lost."),
        "unarchive": Entry("archiving", "Bring archived sessions back into the lists."),
        "snooze": Entry("archiving", "Put sessions away until a time."),
        "prune": Entry("pruning", "Show what old or large sessions take, and delete them."),
        "rm": Entry("ending", "Delete sessions and all that is kept of them."),
    },
    "Set up": {
        "setup": Entry("setup.command", "Choose the model of Rookery's own agent."),
        "agents": Entry("agents", "List the agents: installed or not, and how to install them."),
        "doctor": Entry("doctoring", "Check this home, or what an agent can do."),
        "mcp": Entry("servers", "List, add and try the MCP servers that agents are given."),
        "config": Entry("configuring", "Show, explain and edit the settings."),
        "policy": Entry("policy", "List, add and try the rules that answer for you."),
    },
    "Other": {
        "acp": Entry("bridging", "Be an agent on stdio for an editor."),
        "agent": Entry("own_agent", "Be Rookery's own agent on stdio."),
        "play": Entry("playing", "Be an agent on stdio that plays a script."),
        "model": Entry("modelling", "Be a model on loopback that plays a script."),
        "uninstall": Entry("uninstalling", "Say what lies where, and remove it when told."),
        "completions": Entry("completing", "Print the completion script of a shell."),
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
@alone.options
@click.option("-V", "--version", is_flag=True, help="Print the version.")
@click.pass_context
def rookery(context: click.Context, /, version: bool, **given: Any) -> int | None:
    """Run coding agents in the background, keep every turn, watch and steer them.

    Alone, in a terminal, it opens the terminal interface.

    \b
    rookery                                        all sessions, and a place to write
    rookery --resume 3f2a                          one of them
    rookery --headless -t "Fix the failing test"   without it: as rookery run
    rookery run "Fix the failing test"             the agent of your choice, in this directory
    rookery run --agent claude "Review my diff"    another one
    rookery ps                                     what runs now

    A session is named by its id, the beginning of its id, or its title.

    Exit codes: 0 done, 1 failed, 2 usage, 3 refused by policy, 4 rate limited, 5 waits for
    room on the disk, 130 cancelled.
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
        return alone.begin(context, alone.Given(**given))
    return None


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line; the exit code. The one place where every error ends."""
    try:
        code = rookery.main(list(arguments), prog_name="rookery", standalone_mode=False)
        sys.stdout.flush()
    except (PipeClosed, BrokenPipeError):
        faults.give_up_stdout()
        return exits.PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return exits.CANCELLED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, never a trace
        return faults.report(error)
    return code if isinstance(code, int) else exits.DONE
