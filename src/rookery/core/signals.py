"""What happens to a turn, and what is then to be done: the words that the machines speak.

Inputs are in the past tense, effects in the imperative.
"""

from typing import NamedTuple

from rookery.core.events import Draft, Json

# --- inputs: what happened ---------------------------------------------------------------------


class Prompted(NamedTuple):
    id: str
    prompt: list[Json]
    by: str | None
    origin: str = ""
    """Who sent it, where that was no person; it then has no command as its cause."""


class SteerWanted(NamedTuple):
    """A prompt for the turn that runs (row T4). Where it cannot enter, it is queued."""

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


class AgentReady(NamedTuple):
    pass


class Answered(NamedTuple):
    """The agent answered `session/prompt`; every update that it sent before is in the log by now
    (row T2)."""

    result: object
    error: Json | None
    turn: int | None = None
    """Which prompt it answers; None: the one that runs."""


class AgentLost(NamedTuple):
    """The process ended, or could not be started; `error` where the agent itself said why."""

    detail: str
    error: Json | None = None
    reason: str = "agent_exited"


class CancelWanted(NamedTuple):
    id: str
    by: str | None


class ForceWanted(NamedTuple):
    """End the turn now, whatever the agent does (row T6)."""

    id: str
    by: str | None


class Orphaned(NamedTuple):
    """A watchdog gave the turn up (row T7); `why` says which sign was the last."""

    why: str


class Tick(NamedTuple):
    pass


type Input = (
    Prompted
    | SteerWanted
    | SteerAnswered
    | QueueChanged
    | AgentReady
    | Answered
    | AgentLost
    | CancelWanted
    | ForceWanted
    | Orphaned
    | Tick
)


# --- effects: what to do -----------------------------------------------------------------------


class Append(NamedTuple):
    """Commit before any effect that follows. `full`: also survive a power loss (law 3)."""

    draft: Draft
    full: bool = False


class WantAgent(NamedTuple):
    """AgentReady or AgentLost must come back."""


class SendPrompt(NamedTuple):
    prompt: list[Json]


class SendSteer(NamedTuple):
    """SteerAnswered must come back."""

    id: str
    prompt: list[Json]


class SendCancel(NamedTuple):
    """`session/cancel`, and every open ask answered `cancelled` (acp-C1)."""


class CloseAsks(NamedTuple):
    reason: str


class EndAgent(NamedTuple):
    reason: str


type Effect = Append | WantAgent | SendPrompt | SendSteer | SendCancel | CloseAsks | EndAgent
