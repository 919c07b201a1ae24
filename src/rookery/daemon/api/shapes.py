"""Models of the larger responses, for the OpenAPI document. The responses are sent as read from
logs and heads, so fields that a later build adds are included."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rookery.core.view.states import STATES

WHEN = "In milliseconds since the epoch."


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Process(Open):
    pid: int = 0
    build: str = Field("", description="Another than the daemon's: it is replaced when idle.")


class Usage(Open):
    """Context, tokens and cost, as far as the agent reports them."""


class Worktree(Open):
    """A session's own git worktree."""

    path: str
    branch: str
    base: str = Field(description="The commit it was made from.")
    origin: str = Field(description="The directory it was made for.")
    state: Literal["open", "merged", "dropped"]


class Session(Open):
    """One session as lists show it."""

    id: str = Field(examples=["3f2a91bc"])
    title: str
    agent: str
    cwd: str
    roots: list[str] = Field(description="Further directories.")
    status: Literal[
        "needs-you", "failed", "limited", "running", "waiting", "idle", "asleep", "damaged"
    ] = Field(description="The state, as one word.")
    condition: str = Field(
        description="The state as lists show it, finer than `status`.",
        json_schema_extra={"enum": [*STATES]},
    )
    label: str = Field(
        description="The condition in words, with times in the daemon's zone.",
        examples=["limited until 09:00"],
    )
    group: str = Field(description="The heading that lists show it under.", examples=["Needs you"])
    began: int = Field(description=f"When the condition began. {WHEN}")
    limited_until: int = Field(
        0,
        alias="limitedUntil",
        description=f"When a rate limit is lifted; 0: there is none, or it is unknown. {WHEN}",
    )
    resumes: bool = Field(False, description="Whether it continues when the limit is lifted.")
    limits: dict[str, Any] = Field({}, description="Its agent's quotas by window, see /api/limits.")
    agent_name: str = Field(
        "", alias="agentName", description="What an agent that `--cmd` started calls itself."
    )
    state: str = Field(description="The state of the turn.")
    reason: str | None = Field(description="Why the last turn ended.")
    last: str = Field(description="The last line of the agent's last answer.")
    doing: str = Field("", description="What it is doing or needs from you, or why it ended.")
    turn: int
    created: int = Field(description=WHEN)
    since: int = Field(description=f"When its state began. {WHEN}")
    at: int = Field(description=f"When its last event was. {WHEN}")
    events: int = Field(description="The number of events.")
    asks: int = Field(description="Open questions that wait for you.")
    queue: int = Field(description="Prompts that wait.")
    paused: str = Field(
        "", description="The budget that is reached and asks you: turn, session or day."
    )
    plan: list[int] = Field(description="Steps done, and steps in all.")
    archived: bool
    pinned: bool
    snoozed: int = Field(description=f"Until when it is hidden; 0: it is not. {WHEN}")
    unread: bool
    awake: bool = Field(description="Whether it has a worker.")
    parked: bool = Field(
        description="The agent or worker crashed too often; only `restart` starts it again."
    )
    sandbox: str = Field("none", description="What it runs in: none, bwrap or container.")
    worktree: Worktree | None = Field(None, description="Its own git worktree, if it has one.")
    race: str = Field("", description="The race it takes part in.")
    model: str | None = None
    mode: str | None = None
    usage: Usage | None = None
    process: Process | None = Field(description="Its worker, while it is awake.")
    stale: bool = Field(description="Whether its worker is of an older build than the daemon.")
    hung: bool = Field(description="Whether its worker does not respond; only if asked for.")


class Sessions(BaseModel):
    sessions: list[Session]
    total: int
    next: int | None = Field(description="The next page; null: this is the last.")


class SessionPage(BaseModel):
    sessions: list[Session]
    total: int
    next: str | None = Field(description="The cursor of the next page; null: this is the last.")
