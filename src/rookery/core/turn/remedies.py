"""The remedies shown when a turn ended badly or an agent did not start: one sentence each."""

import re

from rookery.core.asks.kept_asks import unanswered
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals
from rookery.core.vendors import detection, logins

OWN = detection.OWN
"""Our own agent, which says itself what to do where it lacks a model or a key."""

_OTHERS = "{}, {} or {}".format(
    *(approvals.WORDS[each] for each in (approvals.EVERY, approvals.RISKY, approvals.ALL))
)
"""Approvals that need no mode of the agent's."""

LOG_IN = "rookery agents login"

WORKER_DIED = "worker_died"
"""Why a session is parked whose worker keeps dying, not its agent."""


def why_busy(header: Header, then: str) -> str:
    """Return why something cannot be done during a turn; `then` names the action."""
    if unanswered(header):
        return f"The session is waiting for your answer: give it, or cancel the turn, then {then}."
    return f"A turn is running: cancel it first, then {then}."


def remedy_for(reason: str, error: Json, agent: str) -> str:
    """Return the sentence on what to do after a turn's end, or ""."""
    if reason == "failed":
        return _for_error(error, agent)
    return {
        "rate_limited": "Wait for the reset, or continue with another agent.",
        "agent_exited": "The next prompt starts it again; `rookery logs` shows its output.",
        "waiting": "Answer whenever you like: your answer wakes the session.",
        "interrupted": "The next prompt wakes the session and continues from here.",
        "unresponsive": "The next prompt starts it again.",
        "max_tokens": "Send a prompt to continue.",
        "max_turn_requests": "Send a prompt to continue.",
    }.get(reason, "")


def _for_error(error: Json, agent: str) -> str:
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    if logins.wanted(error):
        if agent == OWN:
            return ""
        return _log_in(agent, error, "send the prompt again")
    if agent == OWN and _IMPORT.search(lenient.text(error, "message").lower()):
        return _UNFIT
    if kind == "network":
        return "Check the network and the agent's base URL, then send the prompt again."
    if kind == "no_plan":
        return f"Choose {_OTHERS}, then send the prompt again."
    if kind == "context":
        return "The conversation is too long for the model: clear or compact it, then try again."
    return "The session is still usable: send the prompt again, or look at `rookery logs`."


MISSING = "Program not found."
SANDBOX = "The sandbox "
"""Begins what a sandbox says in which an agent did not start."""

_MISSING = re.compile(
    r"command not found|is not installed|no such file or directory|cannot find module"
)
_IMPORT = re.compile(r"\b(modulenotfounderror|importerror)\b")
_UNFIT = "Its libraries do not fit. `rookery doctor` says which, and how to fix it."
_LOGIN = re.compile(r"log ?in\b|logged in|api[ _-]?key|unauthori[sz]ed|credential|authenticat")
_OLD = re.compile(
    r"(unknown|unrecognized|unexpected|invalid) (option|argument|flag|command)"
    r"|(requires?|needs?|unsupported|minimum|at least)\b.{0,60}\bversion"
    r"|(requires?|needs?) (node|python|bun)\b|unsupported engine|too old"
)


def remedy_for_start(
    agent: str, install: str, status: object, stderr: list[str], error: Json
) -> str:
    """Return what to do about an agent that does not start; `stderr` holds the last lines it
    wrote."""
    lines = [*stderr, lenient.text(error, "message")]
    if stderr and stderr[0].startswith(SANDBOX):
        return stderr[0]
    output = "\n".join(lines).lower()
    if status == 127 or _MISSING.search(output):
        how = f"To install it: {install}" if install else "Install it, or correct its command."
        return f"{MISSING} {how}"
    if agent == OWN and _IMPORT.search(output):
        return _UNFIT
    if logins.wanted(error) or _LOGIN.search(output):
        if agent == OWN and logins.wanted(error):
            return ""
        return _log_in(agent, error, "try again")
    old = next((line.strip() for line in reversed(lines) if _OLD.search(line.lower())), "")
    if old:
        how = f" Update it: {install}." if install else " Update it."
        return f"It or its runtime is too old ({old[:200]}).{how}"
    return "`rookery logs` shows its output."


def _log_in(agent: str, error: Json, then: str) -> str:
    """Name the command that logs in, and the methods that the agent itself lists."""
    ways = [f"- {way}" for way in lenient.texts(error, "logins")]
    if not agent:
        return "\n".join([f"Log in to the agent in a terminal, then {then}.", *ways])
    what = f"Log in to {agent}, and the prompt is sent again: {LOG_IN} {agent}"
    return "\n".join([what, *(["Its methods:"] if ways else []), *ways])


def says_login(process: Json) -> bool:
    """Return whether the output that an agent left behind mentions a login."""
    lines = [*lenient.texts(process, "stderr"), lenient.text(process, "remedy")]
    return _LOGIN.search("\n".join(lines).lower()) is not None


def wants_login(header: Header) -> bool:
    """Return whether a session's agent last failed for lack of a login, as far as it said so."""
    if header.state != "idle":
        return False
    if header.reason == "failed" and logins.wanted(header.error or {}):
        return True
    process = header.process
    return process["state"] in ("exited", "parked") and says_login(process)
