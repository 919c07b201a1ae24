"""`critic` of `agent_settings.json`: who of the agent's own judges a turn that ended.

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
    """The profile whose model judges; "": the API's critic, where the model has one."""
    extras: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"Critic({self.enabled}, {self.judge!r})"

    def to_json(self) -> Json:
        """Nothing where all is as usual."""
        enabled = {} if self.enabled else {"enabled": False}
        return {**enabled, **({"judge": self.judge} if self.judge else {}), **self.extras}


def critic_of(value: object, place: str) -> Critic:
    """Raises SettingsError."""
    if not isinstance(value, dict):
        raise documents.refusal(place, "critic", "must be an object")
    rest = dict(value)
    enabled = rest.pop("enabled", True)
    if not isinstance(enabled, bool):
        raise documents.refusal(place, "critic.enabled", "must be true or false")
    judge = rest.pop("judge", None)
    if judge is not None and not isinstance(judge, str):
        raise documents.refusal(place, "critic.judge", "must be the name of a saved model")
    return Critic(enabled, (judge or "").strip(), rest)
