"""Remedies for failures: a table of all failures that a face can show, each with its actions, the
most helpful first. Notices of the transcript take their buttons from it, and so do the errors that
the daemon answers requests with.

An action has a label and one of these: a `command` to the session, a `window` of the face, or
something for the composer (`compose`). With `choose`, the face asks for a value first."""

from typing import NamedTuple

from rookery.core.json import Json

CONTINUE_WORDS = "Continue."

ACTIONS: dict[str, Json] = {
    "again": {"label": "Send again", "command": {"do": "retry"}},
    "now": {"label": "Retry now", "command": {"do": "retry"}},
    "edit": {"label": "Edit the prompt", "compose": {"prompt": 0}},
    "continue": {
        "label": "Continue",
        "command": {"do": "prompt", "prompt": [{"type": "text", "text": CONTINUE_WORDS}]},
    },
    "resume": {"label": "Continue at the reset", "command": {"do": "resume"}},
    "stay": {"label": "Don't continue at the reset", "command": {"do": "resume", "off": True}},
    "restart": {"label": "Restart the agent", "command": {"do": "restart"}},
    "retry": {"label": "Retry", "command": {"do": "restart"}},
    "another": {
        "label": "Continue with another agent",
        "choose": "agent",
        "command": {"do": "switch"},
    },
    "clear": {"label": "Start over", "command": {"do": "clear"}, "danger": True},
    "end": {"label": "End the turn", "command": {"do": "force_end"}},
    "cancel": {"label": "Stop the turn", "command": {"do": "cancel"}},
    "log": {"label": "Show the log", "window": "log"},
    "worker_log": {"label": "Show the log", "window": "log", "of": "worker"},
    "login": {"label": "Log in", "window": "login"},
    "model": {"label": "Set up a model", "window": "model"},
    "other_model": {"label": "Change the model", "window": "model"},
    "agents": {"label": "Install or choose an agent", "window": "agents"},
    "servers": {"label": "MCP servers", "window": "servers"},
    "settings": {"label": "Settings", "window": "settings"},
    "sessions": {"label": "Sessions", "window": "sessions"},
    "trash": {"label": "Empty the trash", "window": "trash"},
    "kill": {"label": "End its processes", "window": "kill", "danger": True},
}
"""The actions by name. The agent completes `login`; the turn `again`, `now` and `edit`."""

ENDS: dict[str, tuple[str, ...]] = {
    "agent_exited": ("again", "restart", "log", "another"),
    "failed": ("again", "log", "another"),
    "login": ("login", "again", "another"),
    "network": ("again", "other_model", "log", "another"),
    "context": ("clear", "another"),
    "no_plan": ("again", "another"),
    "interrupted": ("again", "restart", "worker_log"),
    "orphaned": ("again", "log", "another"),
    "unresponsive": ("again", "log", "another"),
    "max_tokens": ("continue",),
    "max_turn_requests": ("continue",),
    "refusal": ("edit", "another"),
    "rate_limited": ("now", "resume", "stay", "another"),
}
"""Actions by the reason that a turn ended with; if that is `failed`, also by what failed."""

STARTS: dict[str, tuple[str, ...]] = {
    "parked": ("retry", "log", "another"),
    "login_needed": ("login", "retry", "log", "another"),
    "missing": ("agents", "retry", "another"),
    "worker_died": ("retry", "worker_log"),
    "exited": ("restart", "log"),
}
"""Actions for an agent or a worker that does not start, or that exited between two turns."""

MEANWHILE: dict[str, tuple[str, ...]] = {
    "quiet": ("end", "log"),
    "unreachable_model": ("other_model", "cancel"),
    "servers": ("servers",),
    "hung": ("kill", "worker_log"),
    "compaction": ("clear",),
}
"""While a session goes on."""

ERRORS: dict[str, tuple[str, ...]] = {
    "parked": ("retry", "worker_log"),
    "start_failed": ("retry", "log"),
    "not_ready": ("log",),
    "agent_absent": ("restart",),
    "refused_by_agent": ("log",),
    "not_installed": ("agents",),
    "unknown_agent": ("agents",),
    "busy": ("cancel",),
    "running": ("cancel",),
    "no_answer": ("kill", "worker_log"),
    "worker_refused": ("restart", "worker_log"),
    **dict.fromkeys(("spawn", "died", "timeout", "garbled"), ("worker_log",)),
    "disk_full": ("trash",),
    "disk": ("trash",),
    "too_many": ("sessions",),
    "starting": ("sessions",),
    "bad_settings": ("settings",),
    "unreadable_log": ("worker_log",),
    "unknown_session": ("sessions",),
}
"""Actions for a failed request, by the error's code."""


class About(NamedTuple):
    """The session that something failed in."""

    agent: str = ""
    own: bool = False
    """Rookery's own agent, which has models in the place of a login."""
    turn: int = 0


def helping(names: tuple[str, ...], about: About = About()) -> list[Json]:  # noqa: B008 - immutable
    """Return the actions with these names, without those that do not apply to such a session."""
    actions = (_completed(name, about) for name in names)
    return [action for action in actions if action]


def _completed(name: str, about: About) -> Json:
    action = ACTIONS[name]
    match name:
        case "login" if about.own:
            return ACTIONS["model"]
        case "login":
            return {**action, "agent": about.agent} if about.agent else {}
        case "other_model":
            return action if about.own else {}
        case "again" | "now" | "edit" if not about.turn:
            return {}
        case "again" | "now":
            return {**action, "command": {"do": "retry", "turn": about.turn}}
        case "edit":
            return {**action, "compose": {"prompt": about.turn}}
    return action


def after_error(word: str) -> list[Json]:
    """Return the actions for a failed request, by its error code."""
    return helping(ERRORS.get(word, ()))
