"""The header of a session in which nothing has happened yet. It is apart from the fold because the
first paint needs no more than this."""

from typing import Any

from rookery.core import spending
from rookery.core.critic import state
from rookery.core.json import Json
from rookery.core.settings import held

VERSION = 11
"""Version of the header's shape. A stored header of another version is ignored and folded again."""


def _each(names: str, value: Any) -> Json:
    return dict.fromkeys(names.split(), value)


EMPTY: Json = {
    "v": VERSION,
    **_each("id cwd agent vendor sandbox title reason last mode model effort retrying race", ""),
    "stopping": "",
    **_each("created snoozed turn since news recap recapDue", 0),
    **_each("archived pinned continues steers forksAt neverAsks decides _ran _dropped", False),
    "resumes": False,
    **_each("error agentSession unattended rateLimit fold worktree _open _plan _thinking", None),
    **_each("_compaction _planned", None),
    **_each("forkedFrom rewound rewinding", None),
    **_each("roots mcpServers argv commands options plan queue hidden _said _started _here", []),
    **_each("wanted titles capabilities info usage asks retry budget granted snapshot limits", {}),
    **_each("_spent _offers _tools _terminals _plans _links _children _messages", {}),
    "state": "idle",
    "process": {"state": "absent"},
    "confirm": "every",
    "_confirm": ["", ""],
    "spent": spending.EMPTY,
    "settings": held.EMPTY,
    "critic": state.EMPTY,
}
