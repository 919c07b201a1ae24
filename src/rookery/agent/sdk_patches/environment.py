"""The environment that commands and hooks inherit: the one that the agent was started in, without
Rookery's own variables and those that libraries set while they load.

ROOKERY_HOME stays, so that a `rookery` in a session's terminal finds the session's own home, and so
does the mark by which processes that are left behind are found.

Made for openhands-sdk 1.58 and openhands-tools 1.58, whose `sanitized_env` passes on nearly all of
this process's environment. Unnecessary once a conversation can be given one."""

import importlib
import os
from collections.abc import Mapping
from contextlib import suppress

from rookery.core.vendors.environment import OVERRIDES, overriding
from rookery.processes import MARK

PREFIX = "ROOKERY_"
SEEN = frozenset({"ROOKERY_HOME", MARK})
AGENT = "AI_AGENT"
"""Tells programs that an agent runs them."""

PLACES = (
    *("openhands.tools.terminal.env", "openhands.sdk.hooks.executor"),
    *("openhands.tools.file_editor.utils.shell", "openhands.tools.grep.impl"),
    "openhands.tools.glob.impl",
)

_given: dict[str, str] | None = None


def keep(*, override: bool) -> None:
    """Keep the present environment, before anything is loaded. `override`: LLM_MODEL, LLM_API_KEY
    and LLM_BASE_URL are for the agent alone."""
    global _given  # noqa: PLW0603 - of this process, from here on
    given = dict(os.environ)
    ours = OVERRIDES if override or overriding(given) else ()
    _given = {name: value for name, value in given.items() if name not in ours}


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for commands, in place of the SDK's `sanitized_env`."""
    from openhands.sdk.utils import sanitized_env

    if given is None:
        given = os.environ if _given is None else _given
    seen = {
        name: value for name, value in given.items() if not name.startswith(PREFIX) or name in SEEN
    }
    named = {AGENT: "rookery"} if not seen.get(AGENT, "").strip() else {}
    return sanitized_env(seen | named)


def install() -> None:
    for name in PLACES:
        with suppress(ImportError):
            module = importlib.import_module(name)
            if hasattr(module, "sanitized_env"):
                module.sanitized_env = environment  # type: ignore[attr-defined]
