"""What commands and hooks inherit: the environment that the agent was started in. Not what is
Rookery's own, nor what libraries set while they are loaded.

Of Rookery's variables they see ROOKERY_HOME, so that a `rookery` in a session's terminal looks at
the session's own home, and the mark by which what is left behind is found.

Made for openhands-sdk's `sanitized_env`; an environment that a conversation is given would do
without it.
"""

import importlib
import os
from collections.abc import Mapping
from contextlib import suppress

from rookery.core.vendors.environment import OVERRIDES, overriding
from rookery.processes.lineage import MARK

PREFIX = "ROOKERY_"
SEEN = frozenset({"ROOKERY_HOME", MARK})
AGENT = "AI_AGENT"
"""By it programs know that an agent runs them."""

PLACES = (
    *("openhands.tools.terminal.env", "openhands.sdk.hooks.executor"),
    *("openhands.tools.file_editor.utils.shell", "openhands.tools.grep.impl"),
    "openhands.tools.glob.impl",
)

_given: dict[str, str] | None = None


def keep(*, override: bool) -> None:
    """The agent begins: nothing is loaded yet. `override`: LLM_MODEL, LLM_API_KEY and LLM_BASE_URL
    are ours, the person said so."""
    global _given  # noqa: PLW0603 - of this process, from here on
    given = dict(os.environ)
    ours = OVERRIDES if override or overriding(given) else ()
    _given = {name: value for name, value in given.items() if name not in ours}


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """In the place of the SDK's function of the same meaning."""
    from openhands.sdk.utils import sanitized_env

    if given is None:
        given = os.environ if _given is None else _given
    seen = {
        name: value for name, value in given.items() if not name.startswith(PREFIX) or name in SEEN
    }
    named = {AGENT: "rookery"} if not seen.get(AGENT, "").strip() else {}
    return sanitized_env(seen | named)


def install() -> None:
    """From now on. Once is enough; twice does no harm."""
    for name in PLACES:
        with suppress(ImportError):
            module = importlib.import_module(name)
            if hasattr(module, "sanitized_env"):
                module.sanitized_env = environment  # type: ignore[attr-defined]
