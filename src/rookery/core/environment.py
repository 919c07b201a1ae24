"""The environment of what a worker starts: the one in which the session was made, less what is ours
(row A1)."""

from collections.abc import Iterable, Mapping

LACKING = "ROOKERY_ENVS_LACKING"
"""Tells our own agent which variables a session was made with and has not now."""

TERMINAL = "ROOKERY_TERMINAL"
"""Names the terminal that a process was started in: by it, what left its process group is found."""

OURS = frozenset(
    {
        *("ROOKERY_TOKEN", "ROOKERY_PASSPHRASE", "ROOKERY_NONCE", "ROOKERY_SOCKET"),
        *("ROOKERY_MARK", "ROOKERY_CONFINED", TERMINAL, LACKING),
    }
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


OVERRIDES = ("LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL")
"""Go over the model that is saved, and are themselves never saved."""

OVERRIDE = "ROOKERY_OVERRIDE_WITH_ENVS"
"""Says that LLM_MODEL, LLM_API_KEY and LLM_BASE_URL go over the model that is saved: what the flag
--override-with-envs sets for all that is started."""


def overriding(environment: Mapping[str, str]) -> bool:
    return environment.get(OVERRIDE, "").strip().lower() in ("1", "true", "yes")


def withheld(environment: Mapping[str, str], *, own: bool) -> list[str]:
    """What is not kept of the environment that a session is made in: overrides of our own agent's
    model (`own`: it is the session's agent). To another agent they are keys like any other."""
    if not own and not overriding(environment):
        return []
    return [name for name in OVERRIDES if environment.get(name, "").strip()]


def completed(
    kept: Mapping[str, str], names: Iterable[str], present: Mapping[str, str]
) -> dict[str, str]:
    """What was kept, with what was withheld as it is now; and what our agent should miss of it."""
    found = {name: present[name] for name in names if present.get(name, "").strip()}
    lacking = [name for name in names if name not in found]
    told = {LACKING: " ".join(lacking)} if lacking and overriding(kept) else {}
    return {**kept, **found, **told}
