"""The turns of a session: the running one, and the conversation that they form."""

from typing import TYPE_CHECKING, Annotated, TypedDict

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, command, read

if TYPE_CHECKING:
    from rookery.core.json import Json

GROUP = "Start and talk"

Force = Annotated[bool, Arg("End it now, without waiting for the agent.")]
Again = Annotated[
    int, Arg("The turn whose prompt it is; 0: the last one.", minimum=0, reason="no_turn")
]
Off = Annotated[bool, Arg("No longer send it automatically.")]


class Resumption(TypedDict):
    at: Annotated[int | None, "In milliseconds of the epoch; null: it does not."]


@command(
    "Stop the turn",
    group=GROUP,
    when={"running": True},
    examples=("3f2a", "3f2a 91bc", "3f2a --force"),
)
def cancel(force: Force = False) -> "Json":
    """Cancel the running turn. A second cancel ends an agent that does not react.

    Queued prompts are held: nothing is sent until you say so (rookery queue).

    --force is for a turn that hangs: it ends without waiting for the agent. An agent that does not
    respond is restarted before the next prompt.
    """
    return {"do": "force_end" if force else "cancel"}


@command(
    "Start over",
    group=GROUP,
    examples=("3f2a",),
    more="the agent forgets the conversation",
    warns="The agent forgets this conversation. Earlier turns stay readable, folded.",
)
def clear() -> "Json":
    """Start the conversation over; earlier turns are folded. Nothing is deleted.

    This uses the agent's own /clear if it has one, otherwise a fresh session of the agent. Modes,
    options and queued prompts stay. `rookery show --all` still prints everything.
    """
    return {"do": "clear"}


@command("Send again", group=GROUP, listed=False, examples=("3f2a", "3f2a --at-reset"))
def retry(turn: Again = 0) -> "Json":
    """Send a prompt again that failed or hit a rate limit. After a rate limit: now, or when the
    limit is lifted; if it still applies, the agent says so.

    The setting rate_limit_auto_resume sends such prompts at the reset in every session.
    """
    return {"do": "retry", "turn": turn} if turn else {"do": "retry"}


@command("Continue at the reset", group=GROUP, on="session", listed=False, typed=False)
def resume(off: Off = False) -> "Json":
    """Send the prompt that hit a rate limit again once the limit is lifted."""
    return {"do": "resume", "off": True} if off else {"do": "resume"}


@read("When it continues", group=GROUP, on="session", listed=False, typed=False)
def resumption(at: At) -> Resumption:
    """Say when a session that hit a rate limit, or a budget, continues by itself."""
    from rookery.client.waking import resume_later

    due = resume_later(at.home, at.session)
    return {"at": None if due is None else round(due)}
