"""A session's turns: the one that runs, and the conversation that they make."""

from typing import TYPE_CHECKING, Annotated

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import command

if TYPE_CHECKING:
    from rookery.core.json import Json

GROUP = "Start and talk"

Force = Annotated[bool, Arg("End it now, without waiting for the agent.")]


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
