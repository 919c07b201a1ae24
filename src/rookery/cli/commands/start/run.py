"""`run` and `new`: from a task in words to a session, and to its end."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rookery.agents import registry
from rookery.cli import exits, flags
from rookery.cli import settings as cli_settings
from rookery.cli.names import complete_agents
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.session.agent_choice import chosen_agent
from rookery.cli.session.prompt_input import (
    attach_option,
    confirm_option,
    critic_options,
    message_of,
)
from rookery.core.vendors.environment import OVERRIDE
from rookery.home import paths

if TYPE_CHECKING:
    from rookery.core.policy.unattended import Order


class Wanted(NamedTuple):
    """What a new session is made of."""

    agent: registry.Agent
    argv: list[str]
    """Kept in the log only for --cmd: a name is looked up anew at each start."""
    cwd: str
    roots: tuple[str, ...]
    title: str
    critic: bool | None = None
    refine: bool | None = None


def _of_a_session(command: Callable[..., Any]) -> Callable[..., Any]:
    directory = click.Path(exists=True, file_okay=False, resolve_path=True)
    for option in (
        click.option("--title", default="", help="Title (default: the prompt's first line)."),
        click.option(
            "--root",
            "roots",
            type=directory,
            multiple=True,
            metavar="DIR",
            help="Another directory the agent may use. Repeatable.",
        ),
        flags.override,
        click.option(
            "--cwd",
            type=directory,
            default=paths.work_directory,
            show_default=False,
            metavar="DIR",
            help="Working directory (default: $ROOKERY_WORK_DIR, or the current one).",
        ),
        flags.line,
        click.option(
            "--agent",
            metavar="NAME",
            shell_complete=complete_agents,
            help="Name of the agent; `--agent help` lists them.",
        ),
    ):
        command = option(command)
    return critic_options(command)


def _wanted(  # noqa: PLR0913 - each is an option
    screen: Screen,
    agent: str | None,
    line: str | None,
    *,
    cwd: str,
    roots: tuple[str, ...],
    title: str,
    override: bool,
    no_critic: bool,
    refine: bool,
) -> Wanted:
    if agent and line:
        raise click.UsageError("--agent and --cmd cannot be combined.")
    if agent == "help":
        raise AgentsAsked
    if override:
        os.environ[OVERRIDE] = "1"  # the session is made in this environment
    settings = cli_settings.load()
    if line is None:
        found, argv = chosen_agent(screen, settings, agent), []
    else:
        try:
            found = registry.from_command(line)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--cmd") from None
        argv = found.argv
    registry.check_installed(found, os.environ, cwd, settings.node_path)
    critic = False if no_critic else None
    return Wanted(found, argv, cwd, roots, title, critic, refine=refine or None)


class AgentsAsked(Exception):
    """`--agent help`."""


def _list_agents(screen: Screen) -> int:
    from rookery.cli.commands.setup.agents import listed, write_table

    write_table(screen, listed(cli_settings.load()))
    return exits.DONE


def create(wanted: Wanted, order: "Order | None" = None) -> str:
    """`order`: what is said to asks, where nobody is asked."""
    from rookery.client.create import create_session

    return create_session(
        paths.home(),
        agent=wanted.agent.name,
        argv=wanted.argv,
        cwd=wanted.cwd,
        roots=wanted.roots,
        title=wanted.title,
        order=order,
        critic=wanted.critic,
        refine=wanted.refine,
    )


@click.command()
@_of_a_session
@click.option("--json", "as_json", is_flag=True, help="Print one JSON event per line.")
@flags.verbose
@click.option(
    "--approve",
    type=click.Choice(["all", "reject", "ask"]),
    help=(
        "How to answer the agent's questions: approve all (default), reject, or ask you and wait."
    ),
)
@click.option("--always-approve", "--yolo", "always", is_flag=True, help="Same as --approve all.")
@click.option(
    "--llm-approve",
    "risky",
    is_flag=True,
    help=(
        "Approve actions that are not risky (the agent's own judgement, if it has one); "
        "reject the rest."
    ),
)
@confirm_option
@attach_option
@click.option(
    "--stop",
    is_flag=True,
    help="Put the session to sleep when the turn ends, if you are still watching.",
)
@click.argument("text", nargs=-1)
def run(  # noqa: PLR0913, PLR0917 - each is an option
    as_json: bool,
    verbose: bool,
    stop: bool,
    approve: str | None,
    always: bool,
    risky: bool,
    destructive: bool,
    files: tuple[str, ...],
    text: tuple[str, ...],
    **of_session: Any,
) -> int:
    """Give an agent a task, stream its answer, and exit with a code that tells how it ended.

    TEXT is the task; "-", or no TEXT with stdin piped, reads it from stdin. If you leave with
    Ctrl-C, the session keeps running until it needs your answer. It stays when it is done:
    `rookery prompt` continues it.

    A terminal shows the whole transcript. In a pipe, stdout has only the agent's messages, with an
    empty line between them. Everything else goes to stderr, one line each.

    You are not asked: by default, everything the agent asks for is approved. Destructive commands
    (rm -rf, git push --force, …) are rejected, with exit code 3, unless --confirm-destructive or a
    rule (rookery policy) allows them. Rules come first; if one says ask, the action is rejected.
    All this is stored with the session and also applies after you leave and to later prompts; to
    undo it: `rookery set SESSION confirm every`.

    \b
    rookery run "Fix the failing test"
    rookery run --llm-approve "Tidy up the build scripts"
    rookery run --attach screenshot.png "Why is this page empty?"
    rookery run --agent claude --approve ask "Tidy up the build scripts"
    git diff | rookery run "Review this change:" - > review.md
    """
    screen = standard()
    flags.check_output(as_json=as_json, verbose=verbose)
    try:
        wanted = _wanted(screen, **of_session)
    except AgentsAsked:
        return _list_agents(screen)
    from rookery.cli.session.approval_flags import Policy, check_destructive
    from rookery.cli.session.turn import run_turn

    said, flag = _said(approve, always, risky)
    check_destructive(said or "all", destructive)
    told = f"run {flag}" if flag else "rookery run"
    policy = Policy(said or "all", stated=bool(said), destructive=destructive, told=told)
    message = message_of(text, files)
    return run_turn(
        screen,
        lambda: create(wanted, policy.order),
        message,
        policy,
        as_json=as_json,
        stop=stop,
        verbose=verbose,
    )


def _said(approve: str | None, always: bool, risky: bool) -> tuple[str, str]:
    """What is said to asks, and the flag that says so; empty: nobody chose."""
    given = [(approve, f"--approve {approve}")] if approve else []
    given += [("all", "--yolo")] if always else []
    given += [("risky", "--llm-approve")] if risky else []
    if len({value for value, _ in given}) > 1:
        raise click.UsageError("--approve, --always-approve and --llm-approve cannot be combined.")
    return given[0] if given else ("", "")


@click.command()
@_of_a_session
def new(**of_session: Any) -> int:
    """Create a session without a prompt and print its id. Nothing is started yet.

    \b
    id=$(rookery new --agent claude --title "Release notes")
    rookery prompt $id --wait "List what changed since v1.0"
    """
    screen = standard()
    try:
        wanted = _wanted(screen, **of_session)
    except AgentsAsked:
        return _list_agents(screen)
    session = create(wanted)
    screen.line(session)
    screen.note(f"{clean_line(wanted.agent.name)} in {wanted.cwd}; it starts with the first prompt")
    _tell_mode(screen, session)
    return exits.DONE


def _tell_mode(screen: Screen, session: str) -> None:
    """How much is asked in a session that was just made, and what its log says of that."""
    from rookery.core.json import lenient
    from rookery.core.policy import modes
    from rookery.log.reader import Reader

    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        screen.note(clean_line(modes.sentence(log.header_before(log.turns() + 1))))
        for event in log.page(0):
            if event.update.get("sessionUpdate") == "_notice":
                screen.note(clean_line(lenient.text(event.update, "text")))
