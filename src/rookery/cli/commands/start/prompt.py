"""`prompt`: sends a prompt to an existing session."""

import click

from rookery.cli import exits, flags
from rookery.cli.output import standard
from rookery.cli.output.queue import placeless
from rookery.cli.session.approval_flags import Policy, check_destructive, hand_over, without_hooks
from rookery.cli.session.prompt_input import message_of
from rookery.cli.session.send import awaited, renew_environment, send, tell_queued
from rookery.cli.session.turn import Wish, continue_turn
from rookery.core.json import Event, Json, dumps, kind_of, lenient

STEERED_WITHIN = 2.0
"""Seconds for an agent to say that it took a prompt into its turn."""


@click.command()
@flags.session_argument
@click.argument("text", nargs=-1)
@flags.flag("--steer", help="Send it into the running turn, if the agent supports that.")
@flags.attach
@click.option("--wait", is_flag=True, help="Stream the answer and exit when the turn ends.")
@flags.verbose("With --wait, in a pipe: print the whole transcript.")
@flags.approve("How to answer the agent's questions from now on (default: unchanged).")
@flags.destructive
@flags.without_hooks
@flags.critic
@flags.as_json("Print the outcome as JSON; with --wait: one JSON event per line.")
def prompt(
    session: str,
    text: tuple[str, ...],
    steer: bool,
    files: tuple[str, ...],
    wait: bool,
    approve: str | None,
    **more: bool,
) -> int:
    """Send a prompt to a session and wake it. During a turn, the prompt is queued.

    \b
    rookery prompt 3f2a "Now write the tests"
    rookery prompt 3f2a --wait --approve all "Now write the tests"
    rookery prompt 3f2a --steer "Leave the old API alone"
    rookery prompt 3f2a --attach mockup.png "Make it look like this"
    cat error.log | rookery prompt 3f2a "What is this?" -
    """
    screen = standard()
    flags.check_output(as_json=more["as_json"], verbose=more["verbose"])
    message = message_of(text, files)

    check_destructive(approve, more["destructive"])
    renew_environment(screen.note, session, {"do": "prompt"})
    if more["no_critic"]:
        send(session, {"do": "set", "option": "critic", "value": "off"})
    if more["refine"]:
        send(session, {"do": "set", "option": "refine", "value": "on"})
    source = f"prompt --approve {approve}"
    policy = Policy(approve or "ask", destructive=more["destructive"], origin=source)
    if more["without_hooks"]:
        policy = without_hooks(session, policy)
    if approve or more["without_hooks"]:
        hand_over(screen, session, policy)
    if wait:
        wish = Wish(message, policy, more["as_json"], more["verbose"], steer)
        return continue_turn(screen, session, wish)
    command: Json = {"do": "prompt", "prompt": message.blocks()}
    outcome = send(session, command | ({"steer": True} if steer else {}), message.attachments)
    if more["as_json"]:
        screen.line(dumps(outcome._asdict()))
    if outcome.update.get("placeless") is True:
        screen.note(placeless())
    elif kind_of(outcome.update) != "_queue":
        screen.note(f"Sent. rookery tail {session}")
    elif steer and _is_taken(session, outcome):
        screen.note(f"Sent into the running turn. rookery tail {session}")
    else:
        return tell_queued(screen.note, session)
    return exits.DONE


def _is_taken(session: str, queued: Event) -> bool:
    """Tell whether the agent took a prompt into its turn; one that says nothing soon does not."""

    def taken(event: Event) -> bool | None:
        if queued.cause in lenient.texts(event.update, "queued"):
            return event.update.get("steered") is True
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return False if idle else None

    return awaited(session, queued.seq, taken, STEERED_WITHIN) or False
