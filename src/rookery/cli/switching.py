"""`switch-agent`, `recap`, `clear`: another agent for a session, or a fresh start for its own; and
what was said before, in short (rows S1, S2, S4)."""

import click

from rookery import paths, registry
from rookery.cli import exits
from rookery.cli.look.safe import clean, clean_line
from rookery.cli.look.screen import standard
from rookery.cli.naming import complete_agents, session_argument
from rookery.cli.sending import send
from rookery.cli.waiting import header_of
from rookery.core import switching
from rookery.core.events import Json


@click.command("switch-agent")
@session_argument
@click.argument("target", required=False, shell_complete=complete_agents)
@click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")
@click.option("--model", metavar="NAME", help="The model that it is to use.")
def switch_agent(session: str, target: str | None, line: str | None, model: str | None) -> int:
    """Let another agent take over a session. What was said stays; the new agent does not know it.

    A turn that runs is cancelled, the old agent is ended, and its modes, options and limits go with
    it. Prompts that wait are kept. `rookery agents` lists who can take over.

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
    outcome = send(session, command).update
    screen.note(f"{clean_line(outcome['from'])} → {clean_line(outcome['to'])}.")
    if before["turn"]:
        screen.note(f"It does not know what was said: rookery recap {session} tells it in short.")
    waiting = len(header_of(session)["queue"])
    if waiting:
        screen.note(f"What waits ({waiting}) is sent by: rookery queue {session} send")
    return exits.DONE


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
