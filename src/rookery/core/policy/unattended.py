"""Unattended sessions, in which the user is not asked: an order given at their start answers
instead.

The order is in the session's log. Rules come first, then the mode; the order answers the rest. `set
confirm` revokes it: from then on asks wait."""

from typing import TYPE_CHECKING, NamedTuple

from rookery.core.ask import Ask
from rookery.core.asks.asks import Answer, Judgement, closed
from rookery.core.json import Draft, Json, lenient
from rookery.core.policy import go_asks

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core.policy import rules

OPTION = "unattended"
ALL, RISKY, REJECT = "all", "risky", "reject"
CONFIRMS = {ALL: "all", RISKY: "risky", REJECT: "every"}
"""How the order answers asks, and how much the agent is made to ask: everything, for `reject`."""

BY = "unattended:"
"""Begins the `by` of each answer that is given so."""

MAX_ORIGIN_LENGTH = 80


class Order(NamedTuple):
    """The order given at the start of an unattended session."""

    approve: str
    destructive: bool = False
    """With `all`: also what cannot be undone."""
    origin: str = ""
    """The words of the command line, for the log and for people: run --yolo."""
    without_hooks: bool = False
    """Go on without a project's hooks that are not trusted, even if one may be a safeguard."""

    def update(self) -> Json:
        """Return the fields of a `_session` update."""
        return {"confirm": CONFIRMS[self.approve], OPTION: self.json()}

    def json(self) -> Json:
        """Return the order as logs and headers keep it."""
        fields: Json = {"approve": self.approve, "destructive": self.destructive}
        return fields | {"told": self.origin, "without_hooks": self.without_hooks}


def order_of(given: object) -> Order | None:
    """Parse the order in a header or a `_session` update; None if the user is asked."""
    approve = lenient.text(given, "approve")
    if not isinstance(given, dict) or approve not in CONFIRMS:
        return None
    origin = lenient.text(given, "told")[:MAX_ORIGIN_LENGTH] or f"unattended {approve}"
    without = given.get("without_hooks") is True
    return Order(approve, given.get("destructive") is True, origin, without)


def chosen(command: Json) -> Order | None:
    """Parse the order of a `set unattended` command."""
    return order_of({**command, "approve": command.get("value")})


def allows_destructive(order: Order | None) -> bool:
    return order is not None and order.approve == ALL and order.destructive


def settled(
    order: Order | None,
    ruling: Judgement | None,
    call: "rules.Call",
    verdict: "rules.Verdict",
    *,
    plans: bool = False,
) -> Judgement | None:
    """Return the ruling, or what replaces it where it would leave the call to the user. `plans`:
    the user chose plan mode, to read the plan; an agent may also plan by itself."""
    if order is None or (ruling is not None and not ruling.by.startswith("confirm:")):
        return ruling
    goes = go_asks.is_one(call.kind, call.tools)
    if goes and (plans or go_asks.is_own(call.tools)):
        return Judgement("deny", BY + REJECT, go_asks.READY)
    allowed = Judgement("allow", BY + order.approve, f"allowed ({order.origin})")
    asking = ", ".join(rule.name for rule in verdict.rules if rule.do == "ask")
    goes_on = goes and order.approve == ALL
    if ruling is not None or (not asking and (goes_on or allows_destructive(order))):
        return allowed
    why = ""
    if asking:
        why = f"rule {asking} asks"
    elif call.danger and order.approve != REJECT:
        why = f"this {call.danger}"
    elif order.approve == RISKY:
        why = f"this {call.risk}" if call.risk else "it may be risky"
    label = f"rejected: {f'{why}, and ' if why else ''}this session never asks you"
    reason = f"No user is available to approve this{f', and {why}' if why else ''}."
    return Judgement("deny", BY + REJECT, f"{label} ({order.origin})", reason)


def answered(order: Order, ask: Ask) -> Answer:
    """Answer a question that only the user could: decline it, unless it needs no answer."""
    required = lenient.texts(ask.schema, "required")
    accepts = order.approve == ALL and not required and not ask.is_link
    action = "accept" if accepts else "decline"
    label = "accepted as it is" if accepts else "declined: this session never asks you"
    reply: Json = {"action": action} | ({"content": {}} if accepts else {})
    fields = {"name": action, "ruled": f"{label} ({order.origin})"}
    if order.approve != ALL:
        fields["verdict"] = "deny"
    update = closed(ask.id, reply, **fields)
    return Answer(Draft(update, None, BY + (ALL if accepts else REJECT)), reply)


def summary(order: Order) -> str:
    """Describe the order, for people."""
    but = "even destructive commands" if order.destructive else "destructive commands are refused"
    policy = {
        ALL: f"auto-approving ({but})",
        RISKY: "auto-approving safe, reversible actions (the rest is rejected)",
        REJECT: "auto-rejecting (except what a rule allows)",
    }[order.approve]
    return f"{policy}; set by {order.origin}"
