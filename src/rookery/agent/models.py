"""Which models a session can have: the saved profiles, and what the environment lays over them."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Model(NamedTuple):
    profile: str
    model: str
    key: str
    base_url: str = ""
    timeout: int | None = None
    extras: Mapping[str, Any] = {}


class Missing(NamedTuple):
    words: str


class Models:
    def __init__(self, environment: Mapping[str, str], *, override: bool) -> None:
        self._environment = environment
        self._override = override

    def listed(self) -> list[tuple[str, str]]:
        found = self.chosen("")
        return [(found.profile, found.model)] if isinstance(found, Model) else []

    def chosen(self, profile: str) -> Model | Missing:
        env = self._environment
        if not env.get("LLM_MODEL"):
            return Missing("No model is set up. Run: rookery setup")
        extras = {}
        if env.get("LLM_EXTRAS"):
            import json

            extras = json.loads(env["LLM_EXTRAS"])
        return Model(
            "default",
            env["LLM_MODEL"],
            env.get("LLM_API_KEY", ""),
            env.get("LLM_BASE_URL", ""),
            extras=extras,
        )
