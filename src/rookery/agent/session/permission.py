"""What a person is asked before an action, and what an answer means (row G9)."""

from typing import Any, NamedTuple

from rookery.agent.conversation.choices import ALWAYS_APPROVE, RISK_BASED
from rookery.core.asks.asks import reason_of

type Json = dict[str, Any]

ALLOW = "allow-once"
REJECT = "reject"
OPTIONS: list[Json] = [
    {"optionId": ALLOW, "name": "Allow", "kind": "allow_once"},
    {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
    {"optionId": ALWAYS_APPROVE, "name": "Always proceed", "kind": "allow_always"},
    {"optionId": RISK_BASED, "name": "Ask only when risky", "kind": "allow_always"},
]
REASON = "The person rejected this action."
UNANSWERED = "Nobody answered, so this action was not carried out."


class Allowed(NamedTuple):
    mode: str = ""
    """The mode that the answer chose beside; "": as it was."""


class Rejected(NamedTuple):
    reason: str


class Cancelled(NamedTuple):
    """The client ends the turn."""


class Unanswered(NamedTuple):
    """An error or nonsense: nothing is carried out, and the action goes on waiting (acp-P10)."""


type Verdict = Allowed | Rejected | Cancelled | Unanswered


def verdict_of(answer: Any) -> Verdict:
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict):
        return Unanswered()
    if outcome.get("outcome") == "cancelled":
        return Cancelled()
    match outcome.get("optionId") if outcome.get("outcome") == "selected" else None:
        case "allow-once":
            return Allowed()
        case "always-approve" | "risk-based" as mode:
            return Allowed(mode)
        case "reject":
            return Rejected(_reason(outcome))
    return Unanswered()


def _reason(outcome: Json) -> str:
    said = reason_of(outcome).strip()
    return f"{REASON} Their reason: {said}" if said else REASON
