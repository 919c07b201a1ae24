"""The environment of what a worker starts: the one in which the session was made, less what is ours
(row A1)."""

from collections.abc import Iterable, Mapping

OURS = frozenset(
    {"ROOKERY_TOKEN", "ROOKERY_PASSPHRASE", "ROOKERY_NONCE", "ROOKERY_SOCKET", "ROOKERY_MARK"}
)

LOADER = ("LD_", "DYLD_")
"""Prefixes of what changes the code that a process loads: none of it is passed on."""


def cleaned(environment: Mapping[str, str], denied: Iterable[str] = ()) -> dict[str, str]:
    without = OURS.union(denied)
    return {
        key: value
        for key, value in environment.items()
        if key not in without and not key.startswith(LOADER)
    }


OVERRIDE = "ROOKERY_OVERRIDE_WITH_ENVS"
"""Says that LLM_MODEL, LLM_API_KEY and LLM_BASE_URL go over the model that is saved: what the flag
--override-with-envs sets for all that is started."""


def overriding(environment: Mapping[str, str]) -> bool:
    return environment.get(OVERRIDE, "").strip().lower() in ("1", "true", "yes")
