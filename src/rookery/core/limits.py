"""Every number that a worker lives by, in one frozen value that is passed in.

The configuration file is clamped where it is read; nothing in `core` clamps, so that a test can use
small numbers.
"""

from typing import NamedTuple


class Policy(NamedTuple):
    """Seconds, unless the name says otherwise."""

    chunk_window: float = 0.030
    line_bytes: int = 64 * 1024 * 1024
    """A longer line of an agent's is skipped without being kept."""
    start_timeout: float = 30.0
    cold_start_timeout: float = 120.0
    """For commands that may have to install first (npx, uvx)."""
    cancel_grace: float = 10.0
    stop_grace: float = 2.0
    crash_within: float = 10.0
    """An agent that ends before counts as a start that failed."""
    crash_most: int = 3
    """Starts that may fail within the window; after one more the agent is parked."""
    crash_window: float = 60.0
    switch_grace: float = 5.0
    """For an agent that another one takes over from."""
    delete_grace: float = 2.0
    """For an agent to forget a session that is deleted."""
    force_end_after: float = 30.0
    """Nothing streamed or in flight: so long until a turn may be ended by hand; 0: never."""
    silent_after: float = 120.0
    """The same, after which a turn that had moved is given up; 0: never."""
    silent_after_cost: float = 20.0
    """And once usage with cost has arrived, from an agent that sends it last."""
    off_protocol_grace: float = 1800.0
    """The least grace while work goes on off the protocol."""
    idle_stop_secs: float = 1800.0
    """With nothing to do for so long, the worker stops; 0: never."""
    abandoned_after: float = 48 * 3600.0
    """With nobody attached and no event for so long, it stops, also in mid-turn."""
    queue_drain: str = "combined"
    """`combined` joins queued prompts by blank lines; `serial` sends one at a time."""
    queue_most: int = 100
    queue_bytes: int = 256 * 1024
    terminal_keep: int = 4 * 1024 * 1024
    """Bytes of a terminal's output that are kept: head and tail, the middle is counted."""
    confirm_destructive: bool = True
    max_workers: int = 20
    """Awake at once, in one home."""
    max_cold_starts: int = 4
    """Workers that start at once."""
    rate_limit_auto_resume: bool = False
    """The prompt that met a rate limit is sent once more when that is lifted."""
    rate_limit_grace: float = 15.0
    """So long after the reset time that the agent gave."""
    rate_limit_least: float = 30.0
    """And at least so long after the limit was met."""
    rate_limit_most: int = 5
    """Resumes in a row that met the limit again."""
    ask_timeout: float = 0.0
    """An ask is rejected after so long with somebody attached; 0: it waits."""
    keep_events: int = 0
    """Of older ones, what the agent said and did is dropped; 0: nothing is."""


class CriticPolicy(NamedTuple):
    """When a critic judges a turn, and when its verdict is sent back to the agent."""

    enabled: bool = True
    command: str = ""
    """A line for the shell, run in the session's directory after each turn; "": none."""
    refine: bool = False
    score_below: float = 0.6
    """A lower score is sent back to the agent."""
    issue_at: float = 0.75
    """So is a behavioural issue that is at least so probable."""
    iterations: int = 3
    """Refinements at most, between two prompts of a person."""
    timeout: float = 600.0
    """Seconds for the command."""


class Interface(NamedTuple):
    """How the terminal interface shows things."""

    theme: str = "dark"
    diff: str = "unified"
    cards_expanded: bool = False
    """Tool cards are open until a person folds them."""
    plan_opens: bool = True
    """A plan is shown whole; else as one line."""
