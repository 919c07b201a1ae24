"""`critic` of `agent_settings.json`: what judges the finished turns of Rookery's own agent.

{"critic": {"enabled": true, "judge": "big"}}
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rookery.models import documents
from rookery.models.documents import Json


class Critic(NamedTuple):
    enabled: bool = True
    judge: str = ""
    """The saved model that judges; "": the API's critic, if the model has one."""
    extras: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"Critic({self.enabled}, {self.judge!r})"

    def to_json(self) -> Json:
        """Only what differs from the defaults."""
        enabled = {} if self.enabled else {"enabled": False}
        return {**enabled, **({"judge": self.judge} if self.judge else {}), **self.extras}


def critic_of(value: object, place: str) -> Critic:
    """Raises SettingsError."""
    found = documents.Fields(value, place, "critic")
    enabled = found.switch("enabled", True)
    judge = found.text("judge", "must be the name of a saved model")
    return Critic(enabled, judge, found.rest)
