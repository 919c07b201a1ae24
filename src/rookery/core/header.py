"""The type of a header: the state of a session that outlives its turns.

`raw` is the stored object. The fold alone writes its fields (`core/fold.py`), all others read
them here."""

from typing import Any

from rookery.core.json import Json
from rookery.core.json.lenient import Stored, field


class Shown(Stored):
    """The fields that a header and the head of its session have in common."""

    __slots__ = ()

    id = field("id", "")
    cwd = field("cwd", "")
    roots: list[str] = field("roots", [])
    race = field("race", "")
    worktree: Json | None = field("worktree", None, dict)
    title = field("title", "")
    archived = field("archived", False)
    pinned = field("pinned", False)
    snoozed = field("snoozed", 0)
    snoozed_at = field("snoozedAt", 0)
    sandbox = field("sandbox", "")
    agent = field("agent", "")
    vendor = field("vendor", "")
    options: list[Json] = field("options", [])
    wanted: Json = field("wanted", {})
    mode = field("mode", "")
    model = field("model", "")
    state = field("state", "idle")
    turn = field("turn", 0)
    since = field("since", 0)
    news = field("news", 0)
    reason = field("reason", "")
    last = field("last", "")
    critic: Json = field("critic", {})
    confirm = field("confirm", "every")
    never_asks = field("neverAsks", False)
    decides = field("decides", False)
    unattended: Json | None = field("unattended", None, dict)
    usage: Json = field("usage", {})
    limits: Json = field("limits", {})
    resumes = field("resumes", False)
    """Whether it is to go on when a limit is lifted, whatever the setting."""
    hidden: list[list[int]] = field("hidden", [])


class Header(Shown):
    __slots__ = ()

    forked_from: Json | None = field("forkedFrom", None, dict)
    titles: dict[str, str] = field("titles", {})
    settings: Json = field("settings", {})
    mcp_servers: list[Json] = field("mcpServers", [])

    argv: list[str] = field("argv", [])
    info: Json = field("info", {})
    capabilities: Json = field("capabilities", {})
    process: Json = field("process", {})
    agent_session: Json | None = field("agentSession", None, dict)
    continues = field("continues", False)
    steers = field("steers", False)
    forks_at = field("forksAt", False)
    commands: list[Json] = field("commands", [])
    effort = field("effort", "")

    stopping = field("stopping", "")
    error: Json | None = field("error", None, dict)
    plan: list[Json] = field("plan", [])
    queue: list[Json] = field("queue", [])
    asks: dict[str, Json] = field("asks", {})
    retry: Json = field("retry", {})
    retrying = field("retrying", "")

    spent: Json = field("spent", {})
    budget: Json = field("budget", {})
    granted: Json = field("granted", {})
    rate_limit: Json | None = field("rateLimit", None, dict)

    fold: Json | None = field("fold", None, dict)
    rewinding: Json | None = field("rewinding", None, dict)
    rewound: Json | None = field("rewound", None, dict)
    snapshot: Json = field("snapshot", {})
    recap = field("recap", 0)
    recap_due = field("recapDue", 0)

    # --- state of the fold: no client is sent it, no face reads it

    ran = field("_ran", False)
    dropped = field("_dropped", False)
    cancelling = field("_cancelling", False)
    confirm_chosen: list[str] = field("_confirm", ["", ""])
    open_message: list[str] = field("_open", [])
    message_blocks: list[list[str]] = field("_said", [])
    thinking: tuple[str, int, int] = field("_thinking", ("", 0, 0), list)
    compaction: list[str] = field("_compaction", [])
    plan_block = field("_plan", "")
    planned_by: str | None = field("_planned", None, str)
    plans: dict[str, str] = field("_plans", {})
    tools: dict[str, tuple[str, str, int]] = field("_tools", {})
    """The block of each call, its status, and since when it counts; lists, as JSON has them."""
    terminals: dict[str, tuple[str, str, str | None]] = field("_terminals", {})
    """The block of each (null: none yet), its state, and the block of its call."""
    children: dict[str, Json] = field("_children", {})
    child_messages: dict[str, list[object]] = field("_messages", {})
    """The block of each, by transcript and id; "": shown elsewhere, or not at all."""
    neighbours: list[str] = field("_here", [])
    started_argv: list[str] = field("_started", [])
    offers: Json = field("_offers", {})
    links: Json = field("_links", {})
    spending: Json = field("_spent", {})

    def with_(self, **changed: object) -> "Header":
        """Return the header with some stored fields changed."""
        return Header({**self.raw, **changed})


VERSION = 11
"""Version of the header's shape. A stored header of another version is ignored and folded again."""


def _each(names: str, value: Any) -> Json:
    return dict.fromkeys(names.split(), value)


_NOTHING: Json = {"tokens": 0, "cost": {}}

EMPTY = Header(
    {
        "v": VERSION,
        **_each("id cwd agent vendor sandbox title reason last mode model effort", ""),
        **_each("retrying race stopping", ""),
        **_each("created snoozed turn since news recap recapDue", 0),
        **_each("archived pinned continues steers forksAt neverAsks decides _ran _dropped", False),
        "resumes": False,
        **_each("error agentSession unattended rateLimit fold worktree", None),
        **_each("_open _plan _thinking _compaction _planned", None),
        **_each("forkedFrom rewound rewinding", None),
        **_each("roots mcpServers argv commands options plan queue hidden", []),
        **_each("_said _started _here", []),
        **_each("wanted titles capabilities info usage asks retry budget granted", {}),
        **_each("snapshot limits _spent _offers _tools _terminals _plans _links", {}),
        **_each("_children _messages", {}),
        "state": "idle",
        "process": {"state": "absent"},
        "confirm": "every",
        "_confirm": ["", ""],
        "spent": {**_NOTHING, "turn": _NOTHING},
        "settings": {"held": "", "block": "", "warnings": []},
        "critic": _each("state", "")
        | _each("iteration of", 0)
        | _each("score accepted enabled refine", None),
    }
)
"""The header of a session in which nothing has happened yet."""
