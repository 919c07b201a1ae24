"""Inputs (past tense) and effects (imperative) of the machine that supervises an agent."""

from typing import NamedTuple

from rookery.core.json import Draft, Json
from rookery.core.turn.clearing import Clearing
from rookery.core.turn.messages import AgentLost, AgentReady, Append, WantAgent
from rookery.core.vendors.profiles import Profile


class Past(NamedTuple):
    """State that outlives a process: it is passed from one start to the next."""

    transient: int = 0
    """How often in a row the stored session could not be restored, for reasons that may pass."""
    stored: str = ""
    """The stored session that this was about."""
    why: str = ""
    """What was said the last time."""
    starts: tuple[float, ...] = ()
    """When those that failed lately were started."""
    parked: bool = False


class Agent(NamedTuple):
    phase: str = "absent"
    until: float | None = None
    """When the step under way is given up."""
    method: str = ""
    """Of the opening that is under way, or of the last one."""
    capabilities: Json | None = None
    info: Json | None = None
    session: str = ""
    settings: tuple["Setting", ...] = ()
    """Choices of the user's that the agent has still to be given."""
    steers: bool = False
    """It takes prompts in mid-turn."""
    continues: bool = False
    """It can continue where it was stopped."""
    pauses: bool = False
    """It stops between two of its steps when it is told to for a budget."""
    forks_at: bool = False
    """It can fork a session as it was before its last turns."""
    forgot: bool = False
    """Its conversation did not come back: it started over."""
    wanted_again: bool = False
    """Wanted while ending: it is started once the old process is gone."""
    reset: str = ""
    """Why the conversation starts over: logged once the fresh session is there."""
    born: float = 0.0
    """When the process was started."""
    fault: Json | None = None
    """Why it is being ended, where its start failed."""
    past: Past = Past()
    heir: Draft | None = None
    """What the log says once this one is gone and another takes over."""
    clearing: Clearing | None = None
    """A new session is opened on the process that runs."""
    settled_by: float = 0.0
    """When a replay that still comes is waited for no longer."""
    logins: tuple[str, ...] = ()
    """How to log in to it, in its own words."""


class Setting(NamedTuple):
    name: str
    value: str
    method: str
    params: Json


class Wish(NamedTuple):
    """The parameters of a start, passed in anew each time."""

    name: str
    argv: list[str]
    cwd: str
    roots: list[str]
    mcp_servers: list[Json]
    stored: str | None
    """The agent's own session id, if the log knows one of this agent's."""
    cold: bool
    """The command may have to install first."""
    offers: Json
    """The capabilities that we offer as a client."""
    version: str
    chosen: Json | None = None
    """Mode, model and effort as the user last chose them, and how much is asked."""
    profile: Profile = Profile()
    known_modes: Json | None = None
    """Modes of the agent's that it does not report itself."""
    install: str = ""
    """The command that installs it, or where to read about that."""
    has_history: bool = False
    """The log has earlier turns: a load has something to replay."""
    unloaded: bool = False
    """The agent alone has the history of its stored session: it is opened by a load."""
    guard: str = ""
    """How its processes are kept from answering for the user: `landlock` or `lineage`."""
    fork: int | None = None
    """The stored session is forked as it was then, in milliseconds of the epoch; 0: as it is; None:
    it is taken up itself."""


# --- inputs ------------------------------------------------------------------------------------


class StartWanted(NamedTuple):
    pass


class Spawned(NamedTuple):
    pid: int


class SpawnFailed(NamedTuple):
    message: str
    remote: bool = False
    """It is at an address."""


class Initialized(NamedTuple):
    result: object
    error: Json | None


class Opened(NamedTuple):
    result: object
    error: Json | None
    replayed: int
    """How many updates a load replayed: whether context came back."""
    cut: bool = False
    """The replay had not come to the last turn yet."""


class Replayed(NamedTuple):
    """History that arrived after the answer to `session/load`."""


class Applied(NamedTuple):
    result: object
    error: Json | None


class Exited(NamedTuple):
    status: int
    stderr: list[str]
    link: str = ""
    """Of an agent at an address: why there is no connection any more."""


class EndWanted(NamedTuple):
    pass


class Replaced(NamedTuple):
    """Another agent takes over: `heir` is logged once this one is gone."""

    heir: Draft
    start: bool
    """It is to be started at once."""


class ClearWanted(NamedTuple):
    """A new session is to be opened on the process that is ready."""

    clearing: Clearing


class Tick(NamedTuple):
    pass


type OfProcess = Spawned | SpawnFailed | Initialized | Opened | Replayed | Applied | Exited
type Input = OfProcess | StartWanted | EndWanted | Replaced | ClearWanted | Tick


# --- effects -----------------------------------------------------------------------------------


class Spawn(NamedTuple):
    pass


class Call(NamedTuple):
    """Send this request; its answer comes back as Initialized, Opened or Applied."""

    method: str
    params: Json


class End(NamedTuple):
    """Send SIGTERM to the whole process group, and SIGKILL after a grace period."""

    grace: float | None = None
    """None: the usual."""


class Leave(NamedTuple):
    """Send `session/close` for a session that is not used again; the response is ignored."""

    session: str


class Tell(NamedTuple):
    """Pass an input to the turn machine."""

    given: AgentReady | AgentLost


type Effect = Spawn | Call | End | Leave | Tell | Append | WantAgent
type Step = tuple[Agent, list[Effect]]
