"""What the SDK writes to disk: conversations without secrets, read again without a walk through all
of it; the API critic's templates below Rookery's home.

Made for openhands-sdk 1.58, which caches templates in the user's ~/.cache.
Unnecessary once a conversation takes a file store and remembers its last branch, and the critic
takes a folder.
"""

from pathlib import Path
from typing import override

from openhands.sdk.conversation import state
from openhands.sdk.conversation.event_store import EventLog
from openhands.sdk.critic.impl.api import chat_template
from openhands.sdk.event import Event
from openhands.sdk.io import LocalFileStore

from rookery.agent.process import shutdown
from rookery.home import paths
from rookery.models.secrets import KNOWN


class DiscreetStore(LocalFileStore):
    @override
    def write(self, path: str, contents: str | bytes) -> None:
        if shutdown.is_under_way():
            return
        super().write(path, KNOWN.text(contents) if isinstance(contents, str) else contents)


STEP = 200
"""Events to walk back to a known branch; after that it counts as another one."""


class Branches(EventLog):
    """The SDK walks from the newest event to the first at every step. This one remembers the last
    branch, and walks only what came since."""

    _walked: tuple[Event, ...] = ()

    @override
    def path_to_root(self, leaf_id: str | None, limit: int | None = None) -> list[Event]:
        if limit is not None:
            return super().path_to_root(leaf_id, limit)
        end = self._walked[-1].id if self._walked else None
        fresh: list[Event] = []
        at = leaf_id
        while at not in (None, end) and len(fresh) < STEP:
            place = self.get_index(at)
            fresh.append(self[place])
            at = self._effective_parent_id(place, fresh[-1])
        if at is None:
            self._walked = tuple(reversed(fresh))
        elif at == end:
            self._walked = (*self._walked, *reversed(fresh))
        else:
            self._walked = tuple(super().path_to_root(leaf_id))
        return list(self._walked)


def install() -> None:
    state.LocalFileStore = DiscreetStore  # type: ignore[attr-defined]
    state.EventLog = Branches  # type: ignore[attr-defined]
    chat_template.CACHE_DIR = Path(paths.home(), "sdk", "chat_templates")
