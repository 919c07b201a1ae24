"""Reads across all sessions: a search through everything said in them, and what they used."""

import os
from typing import Annotated, Any, Literal, TypedDict

from rookery.core.header import Shown
from rookery.core.json import lenient
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read

GROUP = "Look"
LARGEST = 2**53
LIMIT, MAX_HITS = 20, 1000
"""Hits, where nothing else is said, and at most."""

type By = Literal["day", "agent", "model", "session"]
type Role = Literal["", "prompt", "answer", "thought", "tool", "other"]

Agent = Annotated[
    str, Arg("Only sessions of this agent.", max_length=200, how="agent", metavar="NAME")
]
Directory = Annotated[
    str,
    Arg(
        "Only sessions that work in this directory or below it.",
        max_length=4096,
        how="path",
        metavar="DIR",
    ),
]
Since = Annotated[
    int, Arg("Not older than:", minimum=0, maximum=LARGEST, how="past", metavar="TIME")
]
Only = Annotated[str, Arg("The session that it is about.", max_length=64, typed=False)]
Grouped = Annotated[By, Arg("What is added up.")]
Words = Annotated[
    str,
    Arg(
        'All of them; `"in quotes"` those that belong together; `begin*`.',
        pattern=".",
        max_length=1000,
        how="words",
        positional=True,
        metavar="WORDS...",
        wrong="Give 1 to 1,000 characters to search for.",
    ),
]
Kind = Annotated[Role, Arg("Only this kind of text.")]
AtMost = Annotated[
    int, Arg("Print at most this many hits.", minimum=1, maximum=MAX_HITS, metavar="N")
]
Seconds = Annotated[
    float,
    Arg("Seconds for the index to be brought up to date.", minimum=0, maximum=60, typed=False),
]

WHEN = "In milliseconds since the epoch."


class Tokens(TypedDict):
    input: int
    output: int
    cached: int
    thought: int


class UsageGroup(TypedDict):
    name: Annotated[str, "A day, or what the turns have in common."]
    turns: int
    tokens: Tokens
    cost: Annotated[dict[str, float], "By currency."]
    title: Annotated[str, "Of a session; else empty."]


class Usages(TypedDict):
    by: By
    groups: list[UsageGroup]
    total: UsageGroup
    skipped: Annotated[list[str], "Sessions that cannot be read."]


class Limit(TypedDict):
    """The state of one of an agent's quotas, as the agent last reported it."""

    agent: str
    account: Annotated[str, "Of Rookery's own agent, the model; else empty."]
    window: Annotated[str, "Such as `5 h` or `weekly`."]
    used: Annotated[float | None, "From 0 to 1; null: it did not say."]
    resets: Annotated[int | None, f"Null: it did not say. {WHEN}"]
    limited: Annotated[bool, "Whether it is used up: requests are refused."]
    at: Annotated[int, f"When it was reported. {WHEN}"]
    session: str


class Limits(TypedDict):
    limits: list[Limit]


class Hit(TypedDict):
    session: str
    seq: Annotated[int, "The event that has the first of the words."]
    at: Annotated[int, WHEN]
    role: str
    title: str
    agent: str
    cwd: str
    text: str
    marks: Annotated[list[list[int]], "Ranges of the matches in `text`."]


class Hits(TypedDict):
    hits: Annotated[list[Hit], "The newest first."]
    more: Annotated[bool, "Whether there are older ones."]
    whole: Annotated[bool, "Whether everything is indexed; if not, ask again."]
    left: Annotated[int, "Sessions that are not indexed yet."]
    busy: Annotated[bool, "Whether another process is updating the index."]
    skipped: Annotated[list[str], "Sessions that cannot be read."]
    problem: Annotated[str, "Why the index cannot be used; empty: it can."]


@read(
    "Usage",
    on="rookery",
    group=GROUP,
    examples=(
        "",
        "--by model --since 7d",
        "--by session --in ~/shop --all",
        "--limits",
    ),
)
def usage(
    at: At,
    *,
    by: Grouped = "day",
    since: Since = 0,
    agent: Agent = "",
    in_: Directory = "",
    session_: Only = "",
) -> Usages:
    """Show tokens, cost and turns by day, agent, model or session. Agents report them.

    The last 30 days, unless --since or --all says otherwise. Days are yours, not UTC. Agents report
    different things: some no cost, some no tokens. What a deleted session used is no longer
    counted.

    --limits prints what each agent said last of its quotas: the window, the share used, when it
    resets, and how old the report is. Agents that report none are not listed.
    """
    from rookery import usage as room
    from rookery.home import paths

    skipped = list[str]()
    rows = room.collect(at.home, room.Filters(since, agent, in_, session_), skipped)

    def shown(group: room.Group) -> Any:
        place = os.path.join(paths.session_dir(at.home, group.name), paths.HEAD)
        head = paths.read_json(place) or {} if by == "session" else {}
        return group.to_json() | {"title": lenient.text(head, "title")}

    groups = [shown(group) for group in room.grouped(rows, by)]
    total: Any = room.total(rows).to_json() | {"title": ""}
    return {"by": by, "groups": groups, "total": total, "skipped": skipped}


@read("Limits", on="rookery", group=GROUP, typed=False)
def limits(at: At, agent: Agent = "") -> Limits:
    """List the quotas that agents report: the newest report on each window, by agent."""
    from rookery.client.fleet import heads
    from rookery.core.turn import quota
    from rookery.core.vendors.detection import OWN

    reports: list[Any] = [
        report.as_json() for report in quota.newest(map(Shown, heads(at.home)), OWN)
    ]
    return {"limits": [each for each in reports if agent in ("", each["agent"])]}


@read(
    "Search",
    on="rookery",
    group=GROUP,
    examples=(
        "disk full",
        '"no space left" --since 7d',
        "'migrat*' --role answer --in ~/src/shop",
        "src/main.py --json | jq -r .session",
    ),
)
def search(  # noqa: PLR0913 - each is a filter
    at: At,
    *,
    q: Words,
    agent: Agent = "",
    in_: Directory = "",
    since: Since = 0,
    role: Kind = "",
    session_: Only = "",
    limit: AtMost = LIMIT,
    patience: Seconds = 2.0,
) -> Hits:
    """Search everything said in all sessions. That is prompts, answers, thoughts, commands, their
    output and paths.

    Finds what has all the words, newest first. Case and accents do not matter. Put words that
    belong together in quotes; end a word with * to find all that begin with it. The exit code is 1
    if nothing is found.
    """
    from rookery.search.query import Filters
    from rookery.search.up_to_date import update_and_query

    filters = Filters(agent, in_, since, role, session_)
    answer, progress = update_and_query(at.home, q, filters, limit, patience)
    hits: list[Any] = [hit.to_json() for hit in answer.hits]
    return {
        "hits": hits,
        "more": answer.more,
        "whole": progress.done,
        "left": progress.left,
        "busy": progress.busy,
        "skipped": list(progress.skipped),
        "problem": answer.problem,
    }
