"""The table of commands, each loaded only when it is called: a quick `ps` stays quick."""

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, override

import click

from rookery import __version__
from rookery.cli import aliases, errors, exits, no_command, target
from rookery.cli.commands import ALL, COMPLETING, TOPIC, TOPICS
from rookery.cli.output.screen import PipeClosed
from rookery.core.vendors.environment import OVERRIDE
from rookery.home import paths
from rookery.operations.catalogue.finding import find, typed

UNTRUSTING = ("completions", "doctor", "help", "uninstall")
"""Commands that run even if the home cannot be used, or other users can write to it."""

HELPING = frozenset({"-h", "--help"})
"""Options that, as the last word, print only the help, whatever state the home is in."""

PLUMBING = frozenset({"acp", "agent", "play", "model"})
"""Commands that editors, workers and tests run: `help all` lists them."""


GROUPS = {
    "Start and talk": {
        "run": "Give an agent a task and stream its answer.",
        "race": "Give several agents the same task and compare.",
        "new": "Create a session without a prompt and print its id.",
        "open": "Open a session in the terminal interface.",
        "prompt": "Send a prompt to a session.",
        "answer": "Answer an agent's question.",
        "queue": "List, change or send queued prompts.",
        "switch-agent": "Switch a session to another agent.",
    },
    "Look": {
        "ps": "List sessions.",
        "tail": "Follow a session live.",
        "show": "Print a session.",
        "export": "Write a session to a file: Markdown, JSON lines or HTML.",
    },
    "Manage sessions": {},
    "Setup": {
        "setup": "Choose the model for Rookery's own agent.",
        "agents": "List, install and remove agents.",
        "doctor": "Check the installation, or test an agent.",
        "mcp": "List, add and test MCP servers.",
        "config": "Show, explain and edit the settings.",
        "policy": "List, add and test the rules that answer for you.",
    },
    "Remote access": {
        "serve": "Serve all sessions to browsers, phones and other machines.",
        "login": "Log in to the daemon of another machine.",
        "logout": "Log out of the daemon of another machine.",
        "api": "Send a request to the daemon.",
        "devices": "List devices that are logged in; change what each may do.",
        "notify": "Try out the notifications.",
    },
    "Other": {
        "acp": "Run as an ACP agent on stdio, for editors.",
        "agent": "Run Rookery's own agent on stdio.",
        "play": "Run a scripted agent on stdio.",
        "model": "Run a scripted model on localhost.",
        "completions": "Print a shell completion script.",
        "update": "Update Rookery the way it was installed.",
        "uninstall": "Show what Rookery stores, and remove it.",
        "help": "Print the help of a command, or lists of commands.",
    },
}
"""The commands with a presentation of their own, by their heading in the help; all others are
operations. A command is in the file that has its name, unless `TOGETHER` says another, in the
folder that has the heading's first word."""

FIRST = {
    *("run", "open", "prompt", "answer", "cancel", "rewind", "fork"),
    *("ps", "tail", "show", "diff", "search", "merge", "stop", "remove"),
    *("setup", "agents", "doctor", "serve", "help"),
}
"""The commands that people use most: the first page of the help lists these alone, the other pages
the rest."""
MORE = """\
More commands: rookery help sessions, rookery help setup, rookery help remote.
All of them: rookery help all
"""

TOGETHER = dict.fromkeys(PLUMBING, "plumbing")

MODULES = {
    word: f"rookery.cli.commands.{title.split()[0].lower()}."
    + TOGETHER.get(word, word.replace("-", "_"))
    for title, names in GROUPS.items()
    for word in names
} | {"setup": "rookery.cli.setup.command"}


def _operation(name: str) -> click.Command | None:
    row = find(name)
    if row is None or not row.traits.typed:
        return None
    from rookery.cli.operation import command_of

    return command_of(row)


def _names() -> list[str]:
    return [*MODULES, *(row.name for row in typed())]


class Table(click.Group):
    """A click group that loads each command when it is called."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands that a shell completes."""
        return [word for word in _names() if word not in PLUMBING]

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = aliases.spelled_out([cmd_name], aliases.WORDS)[0]
        if cmd_name not in MODULES:
            return _operation(cmd_name)
        members = vars(importlib.import_module(MODULES[cmd_name])).values()
        commands = [each for each in members if isinstance(each, click.Command)]
        command = next(each for each in commands if each.name == cmd_name)
        command.short_help = next(group[cmd_name] for group in GROUPS.values() if cmd_name in group)
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = aliases.spelled_out(args, aliases.WORDS)
        name = args[0]
        if name in aliases.ELSEWHERE:
            raise click.UsageError(aliases.ELSEWHERE[name], ctx)
        if name not in MODULES and not name.startswith("-") and not ctx.resilient_parsing:
            known = _names()
            if name not in known:
                raise click.NoSuchCommand(name, possibilities=known, ctx=ctx)
        return super().resolve_command(ctx, args)

    @override
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands before the options: they are what the list is read for."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        everything = ctx.meta.get(TOPIC) == ALL
        for title in GROUPS:
            _write_group(formatter, title, lambda name: everything or name in FIRST)
        if not everything:
            formatter.write_paragraph()
            formatter.write(MORE)

    @override
    def get_help(self, ctx: click.Context) -> str:
        topic = ctx.meta.get(TOPIC, "")
        if topic not in TOPICS:
            return super().get_help(ctx)
        formatter = ctx.make_formatter()
        for title in TOPICS[topic]:
            _write_group(formatter, title, lambda _name: True)
        name = topic if topic in MODULES else "COMMAND"
        return f"{formatter.getvalue().strip()}\n\nMore about one: rookery {name} --help"


def _write_group(
    formatter: click.HelpFormatter, title: str, is_listed: Callable[[str], bool]
) -> None:
    """Write the commands under one heading of the help."""
    rows = [*GROUPS[title].items()]
    rows += [(row.name, row.sentence) for row in typed() if row.traits.group == title]
    if shown := [row for row in rows if is_listed(row[0])]:
        with formatter.section(title):
            formatter.write_dl(shown)


@click.group(
    cls=Table,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@no_command.options
@click.option(
    "--daemon",
    default="",
    metavar="URL",
    help="Use the sessions of another machine: its daemon's address (or set ROOKERY_URL).",
)
@click.option("-V", "--version", is_flag=True, help="Print the version.")
@click.pass_context
def rookery(context: click.Context, /, version: bool, **given: Any) -> int | None:
    """Run coding agents in the background, keep every turn, watch and steer them.

    Without a command, it opens the terminal interface.

    \b
    rookery                                        open all sessions
    rookery open 3f2a                              open one session
    rookery --headless -t "Fix the failing test"   no interface, like rookery run
    rookery run "Fix the failing test"             default agent, in this directory
    rookery run --agent claude "Review my diff"    another agent
    rookery ps                                     list sessions
    rookery --daemon https://box:7433 ps           those of another machine (rookery login)

    Name a session by its id, the start of its id, or its title.

    Exit codes: 0 done, 1 failed or nothing found, 2 usage (also: --yes is missing), 3 refused by
    policy, 4 rate limited, 5 waiting for disk space, 6 waiting for your answer, 130 cancelled.
    """
    if version:
        click.echo(f"rookery {__version__}")
        return exits.DONE
    target.choose(given.pop("daemon"))
    target.check(context.invoked_subcommand or "")
    if context.invoked_subcommand is not None:
        no_command.check_unused(context)
    if given["override"]:
        os.environ[OVERRIDE] = "1"  # of this command and of the sessions that it makes
    if context.invoked_subcommand not in UNTRUSTING and not context.obj:
        paths.check_trust(paths.home())
    if context.invoked_subcommand is None:
        from rookery.cli import opening

        return opening.begin(context, no_command.Given(**given))
    return None


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line; return its exit code. Every error ends here."""
    if COMPLETING in os.environ:
        from rookery.cli.completion import register

        register()
    try:
        helps = bool(HELPING.intersection(arguments[-1:])) and "--" not in arguments
        code = rookery.main(
            list(arguments), prog_name="rookery", standalone_mode=False, obj=helps or None
        )
        sys.stdout.flush()
    except (PipeClosed, BrokenPipeError):
        errors.give_up_stdout()
        return exits.PIPE_CLOSED
    except click.Abort:  # at a question: the shell's prompt gets a line of its own
        click.echo(err=True)
        return exits.CANCELLED
    except KeyboardInterrupt:
        return exits.CANCELLED
    except click.ClickException as error:
        errors.show(error)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the user gets a sentence, never a traceback
        return errors.report(error)
    return code if isinstance(code, int) else exits.DONE
