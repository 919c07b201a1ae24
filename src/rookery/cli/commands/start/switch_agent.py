"""`switch-agent`: switches a session to another agent."""

import os

import click

from rookery.agents import registry
from rookery.cli import exits, flags, settings
from rookery.cli import target as place
from rookery.cli.errors import install_here
from rookery.cli.operation import dry_run, show_only
from rookery.cli.output import Screen, clean, clean_line, standard
from rookery.cli.session import new_session
from rookery.cli.session.send import header_of, perform, renew_environment, send
from rookery.client.session import Rejected
from rookery.core.agent import switching
from rookery.core.json import Json, lenient
from rookery.core.refusals import NotAgreed
from rookery.core.vendors import options
from rookery.home import paths
from rookery.operations.options import NEW_MODEL
from rookery.operations.options import switch as row


@click.command("switch-agent")
@flags.session_argument
@click.argument("target", required=False, shell_complete=flags.complete_agents)
@flags.line
@click.option("--model", metavar="NAME", help=NEW_MODEL)
@dry_run
@flags.results()
def switch_agent(
    session: str, target: str | None, line: str | None, model: str | None, dry_run: bool
) -> int:
    """Switch a session to another agent. The transcript stays, but the new agent does not know it.

    A running turn is cancelled. The old agent's modes, options and limits are dropped; queued
    prompts are kept. `rookery agents` lists the agents. The new agent gets this terminal's
    environment, and its program is looked up on this terminal's PATH.

    With --model, the new agent starts at once. If it does not have that model, it uses another one
    and the exit code is 1. Only for Rookery's own agent, whose models are known beforehand (rookery
    setup list), is nothing switched then.

    \b
    rookery switch-agent 3f2a codex
    rookery switch-agent 3f2a codex --dry-run
    rookery switch-agent 3f2a claude --model opus
    rookery recap 3f2a | rookery prompt 3f2a - "Go on from there."
    """
    screen = standard()
    if line is not None:
        place.only_here("--cmd")
    command = _command(target, line, model)
    before = header_of(session)
    refusal = switching.refusal(before, command, [each["name"] for each in place.agents()])
    if refusal is not None:  # nothing of a slip is left in the log
        raise click.BadParameter(refusal.message, param_hint="TARGET")
    if dry_run:
        names = map(registry.title_of, (before.agent, command["agent"]))
        lines = switching.foreseen(before, *names) or ["Nothing is lost."]
        show_only(NotAgreed("\n".join(lines), ""))
        return exits.DONE
    if target == registry.OWN and not place.rookery().address:
        _check_own(before.cwd)
        if model is not None:
            _check_saved(session, model)
    renew_environment(screen.note, session, command)
    asleep = not (place.rookery().head(session) or {}).get("awake")
    outcome = _switched(session, command)
    screen.note(f"{clean_line(outcome['from'])} → {clean_line(outcome['to'])}.")
    if before.turn:
        screen.note(
            f"The agent has no memory of earlier turns. For a recap: rookery recap {session}"
        )
    waiting = len(header_of(session).queue)
    if waiting:
        screen.note(f"To send what is queued ({waiting}): rookery queue {session} send")
    if model is None:
        return exits.DONE
    try:
        return _check_model(screen, session, model)
    finally:
        if asleep:
            send(session, {"do": "stop"})


def _switched(session: str, command: Json) -> Json:
    try:
        return perform(session, command).update
    except Rejected as error:
        lacks = error.reason == "not_installed" and not place.rookery().address
        here = install_here(command["agent"]) if lacks else ""
        if not here:
            raise
        raise click.ClickException(f"{clean(error.message)}\n{here}") from error


def _command(target: str | None, line: str | None, model: str | None) -> Json:
    if (target is None) == (line is None) or (target is not None and not target.strip()):
        known = ", ".join(each["name"] for each in place.agents())
        raise click.UsageError(f"Name the new agent: one of {known}, or --cmd.")
    if model is not None and not model.strip():
        raise click.BadParameter("the model name is empty.", param_hint="--model")
    if line is None:
        return row.command({"agent": target, "model": model})
    agent = flags.agent_of_command(line)
    return row.command({"agent": agent.name, "model": model}) | {"argv": agent.argv}


def _check_own(cwd: str) -> None:
    """Check that the library of Rookery's own agent is installed: a worker cannot see that. Raises
    NotInstalled."""
    agent = registry.resolve(registry.OWN, settings.load().agents)
    if registry.lacks_module(agent):
        registry.check_installed(agent, os.environ, cwd)


def _check_saved(session: str, model: str) -> None:
    """Check the model against the session's saved environment before anything is done."""
    saved = paths.read_json(
        os.path.join(paths.session_dir(paths.home(), session), paths.ENVIRONMENT)
    )
    new_session.checked_model(model, lenient.mapping(saved, "environment"))


def _check_model(screen: Screen, session: str, model: str) -> int:
    """Start the agent and report whether it accepted the model: only then are its models known."""
    try:
        send(session, {"do": "start"})
    except Rejected as error:
        screen.note(f"The agent did not start: {clean(error.message)}")
        return exits.FAILED
    header = header_of(session)
    option = options.find(header.options, "model")
    value = options.choice_of(option, model) if option else None
    if value is not None and header.model == value:
        screen.note(f"The model is {clean_line(value)}.")
        return exits.DONE
    if value is None:
        screen.note(clean_line(options.lacking(header.agent, "model", model, option)))
    else:  # it has it, and refused it: why is in the session
        screen.note(f"{clean_line(header.agent)} rejected the model {clean_line(model)}.")
    screen.note(f"To choose another: rookery set {session} model NAME")
    return exits.FAILED
