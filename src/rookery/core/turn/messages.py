"""Inputs (past tense) and effects (imperative) of the turn machine."""

from typing import NamedTuple

from rookery.core.json import Draft, Json
from rookery.core.turn.queue import Queue


class Turn(NamedTuple):
    phase: str = "idle"
    n: int = 0
    prompt: tuple[Json, ...] = ()
    cancel_by: float | None = None
    """When a cancel that the agent ignores is escalated, or a turn that stops for a budget is
    cancelled."""
    because: str = ""
    """Why a watchdog cancelled: the turn then ends as `orphaned`, however the agent answers."""
    owes: float | None = None
    """A turn was ended by force: until then the agent may still answer its prompt. The next one
    waits for that, since an agent gets one prompt at a time."""
    queue: Queue = ()
    held: bool = False
    """The last turn did not end well: the queue waits for the user."""
    resumed: int = 0
    """How often in a row a prompt that met a rate limit was sent again by itself."""
    clears: bool = False
    """It only clears the conversation: what waits goes on waiting."""
    again: str = ""
    """It brings back what an earlier turn had asked: how."""
    barred: bool = False
    """A budget is reached: no turn begins."""
    ask: Draft | None = None
    """A budget is reached: what the user is asked once the turn is over. While its phase is
    `running`, the calls that ran at that time are finished, and no other begins."""


# --- inputs: what happened ---------------------------------------------------------------------


class Prompted(NamedTuple):
    id: str
    prompt: list[Json]
    by: str | None
    origin: str = ""
    """Who sent it, if not the user; it then has no command as its cause."""
    behind: bool = False
    """Something that is asked comes first: it is queued, also where no turn runs."""
    reason: bool = False
    """It says why the user rejected what the running turn asked."""


class SteerWanted(NamedTuple):
    """A prompt for the running turn; if the turn cannot take it, it is queued."""

    id: str
    prompt: list[Json]
    by: str | None
    able: bool
    """The agent takes prompts in mid-turn."""


class SteerAnswered(NamedTuple):
    id: str
    taken: bool


class QueueChanged(NamedTuple):
    """`op` is edit, move, remove or send; `item` is the id of a queued prompt ("": the queue)."""

    id: str
    by: str | None
    op: str
    item: str
    prompt: list[Json]
    place: int
    able: bool = False
    """The agent takes prompts in mid-turn."""


class AgentReady(NamedTuple):
    continues: bool = False
    """It can continue what it was doing without a new prompt."""
    forgot: bool = False
    """The conversation did not come back."""


class Answered(NamedTuple):
    """The agent answered `session/prompt`; every update that it sent before is in the log."""

    result: object
    error: Json | None
    turn: int | None = None
    """Which prompt it answers; None: the one that runs."""


class AgentLost(NamedTuple):
    """The agent's process ended, or did not start; `error` is set if the agent itself said why."""

    detail: str
    error: Json | None = None
    reason: str = "agent_exited"


class AskedAgain(NamedTuple):
    """The asks that a turn left open when its agent was lost are to be asked again."""

    how: str
    """continue, resend, anew or forced (core/asks/kept_asks)."""
    of: int
    """The turn, and its prompt."""
    prompt: list[Json]


class Deferred(NamedTuple):
    """The user answers later: the turn waits, and its agent need not stay."""


class Freed(NamedTuple):
    """Nothing blocks the queue any more; `place`: whoever waited for a worker slot has one."""

    place: bool = False
    paid: bool = False
    """The user just said that a budget does not hold it."""


class CancelWanted(NamedTuple):
    id: str | None
    by: str | None


class ForceWanted(NamedTuple):
    """End the turn now, whatever the agent does."""

    id: str
    by: str | None


class Orphaned(NamedTuple):
    """A watchdog gave up the turn; `why` names the last sign of life."""

    why: str


class Paused(NamedTuple):
    """A budget was reached in mid-turn, or more was spent since; the ask follows the end of the
    turn."""

    why: str
    ask: Draft
    busy: bool = False
    """Calls that ran when it was reached still run."""
    able: bool = False
    """The agent stops between its steps by itself."""


class Tick(NamedTuple):
    pass


type FromAgent = AgentReady | Answered | AgentLost | SteerAnswered
type FromUser = Prompted | SteerWanted | QueueChanged | CancelWanted | ForceWanted
type Input = FromAgent | FromUser | AskedAgain | Deferred | Freed | Orphaned | Paused | Tick


# --- effects: what to do -----------------------------------------------------------------------


class Append(NamedTuple):
    """Commit to the log before any effect that follows. `full`: also survive a power loss."""

    draft: Draft
    full: bool = False


class WantAgent(NamedTuple):
    """Get the agent ready; the answer is AgentReady or AgentLost."""


class SendPrompt(NamedTuple):
    prompt: list[Json]
    continues: bool = False
    """The agent continues where it was, without a new prompt."""


class SendSteer(NamedTuple):
    """Offer a prompt to the running turn; the answer is SteerAnswered."""

    id: str
    prompt: list[Json]


class SendCancel(NamedTuple):
    """Send `session/cancel`, and answer every open ask with `cancelled`."""

    kept: bool = True
    """Also what is kept from before: the user wants it."""


class SendPause(NamedTuple):
    """Send `session/cancel` for a budget: the agent finishes its step, and begins no other."""


class CloseAsks(NamedTuple):
    reason: str
    kept: bool = True
    """Also what is kept from before, and was not asked again."""


class LetDecide(NamedTuple):
    """Let the user decide about the asks that are kept."""


class AskBudget(NamedTuple):
    """Ask the user about a budget that something waits behind."""


class EndAgent(NamedTuple):
    reason: str


type ToAgent = WantAgent | SendPrompt | SendSteer | SendCancel | SendPause | EndAgent
type Effect = Append | ToAgent | CloseAsks | LetDecide | AskBudget


type Step = tuple[Turn, list[Effect]]


def rejected(command: str, reason: str, message: str, cause: str | None, by: str | None) -> Draft:
    update = {"sessionUpdate": "_rejected", "command": command, "reason": reason}
    return Draft(update | {"message": message}, cause, by)
