"""`switch-agent`, `recap`, `clear`: another agent for a session, or a fresh start for its own; and
what was said before, in short (rows S1, S2, S4)."""

import os

import click

from rookery import paths, registry
from rookery.cli import exits
from rookery.cli.look.safe import clean, clean_line
from rookery.cli.look.screen import Screen, standard
from rookery.cli.naming import complete_agents, session_argument
from rookery.cli.own_environment import hand_over
from rookery.cli.sending import send
from rookery.cli.waiting import header_of
from rookery.client.fleet import head_of_session
from rookery.client.session import Rejected
from rookery.core import loose, options, switching
from rookery.core.environment import overriding
from rookery.core.events import Json


@click.command("switch-agent")
@session_argument
@click.argument("target", required=False, shell_complete=complete_agents)
@click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")
@click.option("--model", metavar="NAME", help="The model that it is to use.")
def switch_agent(session: str, target: str | None, line: str | None, model: str | None) -> int:
    """Let another agent take over a session. What was said stays; the new agent does not know it.

    A turn that runs is cancelled, the old agent is ended, and its modes, options and limits go with
    it. Prompts that wait are kept. `rookery agents` lists who can take over. The new agent gets the
    environment of this terminal, and its program is looked for on this PATH.

    With --model the new agent is started at once. Where it has no such model, it goes on with
    another one, which is said, and the exit code is 1; of Rookery's own agent, whose models are
    known (rookery setup --list), nothing is switched then.

    \b
    rookery switch-agent 3f2a codex
    rookery switch-agent 3f2a claude --model opus
    rookery recap 3f2a | rookery prompt 3f2a - "Go on from there."
    """
    screen = standard()
    command = _command(target, line, model)
    before = header_of(session)
    refusal = switching.refusal(before, command, registry.names(_own_agents()))
    if refusal is not None:  # nothing of a slip is left in the log
        raise click.BadParameter(refusal.message, param_hint="TARGET")
    if target == registry.OWN:
        _check_own(before["cwd"])
        if model is not None:
            _check_saved(session, model)
    hand_over(screen, {**before, "vendor": target or ""})
    asleep = not (head_of_session(paths.home(), session) or {}).get("awake")
    outcome = send(session, command).update
    screen.note(f"{clean_line(outcome['from'])} → {clean_line(outcome['to'])}.")
    if before["turn"]:
        screen.note(f"It does not know what was said: rookery recap {session} tells it in short.")
    waiting = len(header_of(session)["queue"])
    if waiting:
        screen.note(f"What waits ({waiting}) is sent by: rookery queue {session} send")
    if model is None:
        return exits.DONE
    try:
        return _check_model(screen, session, model)
    finally:
        if asleep:
            send(session, {"do": "stop"})


def _command(target: str | None, line: str | None, model: str | None) -> Json:
    if (target is None) == (line is None) or (target is not None and not target.strip()):
        known = ", ".join(registry.names(_own_agents()))
        raise click.UsageError(f"Say which agent takes over: one of {known}, or --cmd.")
    command: Json = {"do": "switch", "agent": target}
    if line is not None:
        try:
            found = registry.from_command(line)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--cmd") from None
        command |= {"agent": found.name, "argv": found.argv}
    if model is not None and not model.strip():
        raise click.BadParameter("a model has a name.", param_hint="--model")
    return command | ({"model": model} if model is not None else {})


def _check_own(cwd: str) -> None:
    """Whether our own agent's library is there: a worker cannot see that. Raises NotInstalled."""
    agent = registry.resolve(registry.OWN, _own_agents())
    if registry.lacks_module(agent):
        registry.check_installed(agent, os.environ, cwd)


def _check_saved(session: str, model: str) -> None:
    """Before anything is done: the saved models are all that our own agent has, unless the
    session's environment goes over them."""
    from rookery.models import profiles

    saved = paths.read_json(
        os.path.join(paths.session_dir(paths.home(), session), paths.ENVIRONMENT)
    )
    if overriding(loose.mapping(saved, "environment")) or overriding(os.environ):
        return
    names = list(profiles.load(paths.home()).profiles)
    choices = [{"value": name, "name": name} for name in names]
    if not names or options.choice_of({"choices": choices}, model) is None:
        known = f"There are: {', '.join(names)}." if names else "There is none: rookery setup"
        raise click.BadParameter(f"no model {model!r} is saved. {known}", param_hint="--model")


def _check_model(screen: Screen, session: str, model: str) -> int:
    """Once the agent has started, it has said which models it has, and taken one or not."""
    try:
        send(session, {"do": "start"})
    except Rejected as error:
        screen.note(f"It does not start: {clean(error.message)}")
        return exits.FAILED
    header = header_of(session)
    option = options.find(header["options"], "model")
    value = options.choice_of(option, model) if option else None
    if value is not None and header["model"] == value:
        screen.note(f"The model is {clean_line(value)}.")
        return exits.DONE
    if value is None:
        screen.note(clean_line(options.lacking(header["agent"], "model", model, option)))
    else:  # it has it, and refused it: why is in the session
        screen.note(f"{clean_line(header['agent'])} did not take the model {clean_line(model)}.")
    screen.note(f"rookery set {session} model NAME chooses another one.")
    return exits.FAILED


def _own_agents() -> "dict[str, list[str]]":
    from rookery.cli import configured

    return dict(configured.load().agents)


@click.command()
@session_argument
@click.option("--before", type=click.IntRange(min=1), metavar="SEQ", help="Before this event.")
def recap(session: str, before: int | None) -> int:
    """Print what was said in a session, in short: to tell an agent that does not know it.

    Up to where its agent last lost its memory (another took over, it was cleared or reset), else
    all of it: the last 20 turns, at most 24,000 characters, and the prompt that was not processed.
    Nothing is sent: read it, change it, send it.

    \b
    rookery recap 3f2a > recap.md && $EDITOR recap.md && rookery prompt 3f2a - < recap.md
    """
    from rookery.client.recap import recap as recap_of
    from rookery.log.reader import Reader

    screen = standard()
    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        text = recap_of(log, before).text()
    if not text:
        screen.note("Nothing was said before that.")
        return exits.DONE
    screen.line(clean(text))
    return exits.DONE


@click.command()
@session_argument
def clear(session: str) -> int:
    """Let a session's agent begin anew. Earlier turns are folded away, not gone.

    By the agent's own command where it has one, else by a fresh session. Modes, options and what
    waits stay. `rookery show --all` still prints everything.

    \b
    rookery clear 3f2a
    """
    screen = standard()
    send(session, {"do": "clear"})
    turns = (header_of(session)["fold"] or {"turn": 0})["turn"]
    folded = f" {turns} {'turn is' if turns == 1 else 'turns are'} folded away." if turns else ""
    screen.note(f"Cleared.{folded}")
    return exits.DONE
