"""The ask whether a project's hooks may run. Only the user can answer it: no rule does, no mode,
and no unattended order; in an unattended session the hooks are left out."""

from rookery.core.ask import Ask
from rookery.core.asks.asks import CANCELLED, Answer, closed, pick, selected
from rookery.core.json import Draft, Json, lenient
from rookery.core.policy.unattended import BY, REJECT, Order

TOOL = "trust_project_hooks"
"""The call by which our own agent asks it."""
GUARD = "pre_tool_use"
"""A hook that may refuse what an agent wants to do."""
TRUST, NOT_NOW, NEVER = "allow-once", "reject", "reject-always"
OPTIONS: list[Json] = [
    {"optionId": TRUST, "name": "Trust: run these hooks", "kind": "allow_once"},
    {"optionId": NOT_NOW, "name": "Not now: continue without them", "kind": "reject_once"},
    {"optionId": NEVER, "name": "Never run these hooks", "kind": "reject_always"},
]
HOW = "To see and trust them: rookery policy hooks"
LEFT_OUT = "this project's hooks are not trusted, so they were left out"
STOPPED = "this project has hooks that may guard it, and they are not trusted"
"""Where nobody is asked, and one of them may be a safeguard: nothing is done."""


def is_one(call: object) -> bool:
    return lenient.text(call, "name") == TOOL


def fingerprint_in(call: object) -> str:
    return lenient.text(lenient.mapping(lenient.mapping(call, "_meta"), "rookery"), "hooks")


def guards_in(call: object) -> bool:
    """Return whether one of the hooks may be a safeguard."""
    return lenient.mapping(lenient.mapping(call, "_meta"), "rookery").get("guards") is True


def settled(order: Order | None, ask: Ask) -> Answer | None:
    """Return the answer for an unattended session; None if the ask waits for the user."""
    if order is None:
        return None
    stops = guards_in(ask.call) and not order.without_hooks
    option = None if stops else pick(ask.options, ("reject_once",))
    reply: Json = CANCELLED if stops else {"outcome": selected(option)}
    update = closed(
        ask.id,
        reply["outcome"],
        name=(option and option.name) or "cancelled",
        ruled=STOPPED if stops else LEFT_OUT,
    )
    return Answer(Draft(update, None, BY + REJECT), reply)
