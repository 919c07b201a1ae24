"""`prompt`, `resume`, `cancel`, `rename`: one command to a session, and its outcome."""

from collections.abc import Callable

import click

from rookery.cli import exits, flags
from rookery.cli.names import session_argument
from rookery.cli.output.queue import header_of, placeless, strip
from rookery.cli.output.screen import standard
from rookery.cli.session.environment import renew_environment
from rookery.cli.session.prompt_input import (
    attach_option,
    confirm_option,
    critic_options,
    message_of,
)
from rookery.cli.session.send import left_running, send
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json, kind_of
from rookery.core.view.fleet import is_judged, state_of
from rookery.home import paths

CANCELLED_WITHIN = 3.0
"""Seconds for an agent to react to a cancel, before it is said that it does not."""

STEERED_WITHIN = 2.0
"""Seconds for an agent to say that it took a prompt into its turn."""


@click.command()
@session_argument
@click.argument("text", nargs=-1)
@click.option(
    "--steer", is_flag=True, help="Send it into the running turn, if the agent supports that."
)
@attach_option
@click.option("--wait", is_flag=True, help="Stream the answer and exit when the turn ends.")
@click.option("--json", "as_json", is_flag=True, help="With --wait: print one JSON event per line.")
@click.option("--verbose", is_flag=True, help="With --wait, in a pipe: print the whole transcript.")
@click.option(
    "--approve",
    type=click.Choice(["all", "reject", "ask"]),
    help="How to answer this agent's questions from now on; ask: ask you. Default: unchanged.",
)
@confirm_option
@critic_options
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
    from rookery.cli.session.approval_flags import Policy, check_destructive, hand_over

    check_destructive(approve, more["destructive"])
    renew_environment(screen, header_of(session), {"do": "prompt"})
    if more["no_critic"]:
        send(session, {"do": "set", "option": "critic", "value": "off"})
    if more["refine"]:
        send(session, {"do": "set", "option": "refine", "value": "on"})
    told = f"prompt --approve {approve}"
    policy = Policy(approve or "ask", destructive=more["destructive"], told=told)
    if approve:
        hand_over(screen, session, policy)
    if wait:
        from rookery.cli.session.turn import continue_turn

        as_json, verbose = more["as_json"], more["verbose"]
        return continue_turn(
            screen, session, message, policy, as_json=as_json, steer=steer, verbose=verbose
        )
    blocks = message.blocks(paths.session_dir(paths.home(), session))
    command: Json = {"do": "prompt", "prompt": blocks} | ({"steer": True} if steer else {})
    outcome = send(session, command)
    if outcome.update.get("placeless") is True:
        screen.note(placeless())
    elif kind_of(outcome.update) != "_queue":
        screen.note(f"Sent. rookery tail {session}")
    elif steer and _is_taken(session, outcome):
        screen.note(f"Sent into the running turn. rookery tail {session}")
    else:
        screen.note("Queued: a turn is running.")
        screen.note("\n".join(strip(header_of(session))))
    return exits.DONE


def _is_taken(session: str, queued: Event) -> bool:
    """Whether the agent took a prompt into its turn; one that says nothing soon does not."""

    def taken(event: Event) -> bool | None:
        if queued.cause in lenient.texts(event.update, "queued"):
            return event.update.get("steered") is True
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return False if idle else None

    return _awaited(session, queued.seq, taken, STEERED_WITHIN) or False


def _awaited[Found](
    session: str, since: int, found: Callable[[Event], Found | None], seconds: float
) -> Found | None:
    """The first of what is found in the events after one; None where nothing comes in time."""
    import asyncio

    from rookery.client.session import SessionClient

    async def watching() -> Found | None:
        client = SessionClient(paths.home(), session)
        try:
            async for event in client.follow(since):
                if (said := found(event)) is not None:
                    return said
        finally:
            client.close()
        return None

    async def for_a_while() -> Found | None:
        try:
            return await asyncio.wait_for(watching(), seconds)
        except TimeoutError:
            return None

    return asyncio.run(for_a_while())


@click.command()
@session_argument
def resume(session: str) -> int:
    """Retry the prompt that hit a rate limit, now. You need not wait for the reset: the agent
    reports if the limit still applies.

    \b
    rookery resume 3f2a
    """
    limit = header_of(session)["rateLimit"]
    blocks = list(lenient.mappings(limit, "prompt"))
    if not blocks:
        raise click.ClickException(
            f"{session} has no prompt that hit a rate limit. To send one: rookery prompt {session}"
        )
    send(session, {"do": "prompt", "prompt": blocks})
    standard().note(f"Sent. rookery tail {session}")
    return exits.DONE


@click.command()
@session_argument
def cancel(session: str) -> int:
    """Cancel the running turn. A second cancel ends an agent that does not react.

    \b
    rookery cancel 3f2a
    """
    screen = standard()
    from rookery.client.fleet import head_of_session

    head = head_of_session(paths.home(), session)
    outcome = send(session, {"do": "cancel"})
    if head is not None and state_of(head, awake=head["awake"]) == "waiting":
        screen.note(f"Nothing was running. To take the prompt back: rookery queue {session} rm 1")
    elif head is None or (head["state"] == "idle" and not is_judged(head)):
        screen.note("Nothing was running.")
    elif is_judged(head):
        screen.note("Cancelled.")
    else:
        screen.note(_cancelled(session, outcome))
    for words in left_running(session, outcome.seq - 1):
        screen.note(words)
    return exits.DONE


def _cancelled(session: str, outcome: Event) -> str:
    """What came of it: an agent that does not react is still at work."""

    def reason(event: Event) -> str | None:
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return lenient.text(event.update, "reason") or "end_turn" if idle else None

    match _awaited(session, outcome.seq - 1, reason, CANCELLED_WITHIN):
        case None:
            return (
                "Asked the agent to cancel; it is still working. To end it, run "
                f"again: rookery cancel {session}"
            )
        case "cancelled":
            return "Cancelled."
        case "unresponsive":
            return "The agent did not react and was ended."
        case other:
            return f"The turn ended by itself: {other.replace('_', ' ')}."


@click.command()
@session_argument
@click.argument("title")
def rename(session: str, title: str) -> int:
    """Give a session a title. You can then use the title as its name.

    \b
    rookery rename 3f2a "Release notes"
    """
    if not title.strip():
        raise click.BadParameter("a title needs at least one character.", param_hint="TITLE")
    send(session, {"do": "rename", "title": title})
    return exits.DONE


@click.command("force-end")
@session_argument
def force_end(session: str) -> int:
    """End the turn now, whatever the agent does. For a turn that hangs.

    The agent is asked to cancel. If it does not respond, it is restarted before the next prompt.

    \b
    rookery force-end 3f2a
    """
    send(session, {"do": "force_end"})
    standard().note("Ended.")
    return exits.DONE
