"""Sessions in which the user is not asked: what was chosen at their start answers for them.

The choice is in the session's log. Rules come first, then the mode; this answers the rest.
`set confirm` undoes it: from then on asks wait.
"""

from typing import TYPE_CHECKING, NamedTuple

from rookery.core.asks import links
from rookery.core.asks.asks import Answer, Judgement, closed
from rookery.core.json import Draft, Json, lenient
from rookery.core.policy import go_asks

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core.policy import rules

OPTION = "unattended"
ALL, RISKY, REJECT = "all", "risky", "reject"
CONFIRMS = {ALL: "all", RISKY: "risky", REJECT: "every"}
"""What is said to asks, and how much the agent asks: of `reject` it is everything."""

BY = "unattended:"
"""Begins the `by` of each answer that is given so."""

LONGEST = 80


class Order(NamedTuple):
    """What was said at the start."""

    approve: str
    destructive: bool = False
    """With `all`: also what cannot be undone."""
    told: str = ""
    """The words of the command line, for the log and for people: run --yolo."""
    without_hooks: bool = False
    """Go on without a project's hooks that are not trusted, even if one may be a safeguard."""

    def update(self) -> Json:
        """Fields of a `_session`."""
        return {"confirm": CONFIRMS[self.approve], OPTION: self._asdict()}


def order_of(given: object) -> Order | None:
    """As a header or a `_session` has it; None: the user is asked."""
    approve = lenient.text(given, "approve")
    if not isinstance(given, dict) or approve not in CONFIRMS:
        return None
    told = lenient.text(given, "told")[:LONGEST] or f"unattended {approve}"
    without = given.get("without_hooks") is True
    return Order(approve, given.get("destructive") is True, told, without)


def chosen(command: Json) -> Order | None:
    """Of a `set unattended`."""
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
    """The ruling, and where that leaves it to the user, what stands for one. `plans`: the user
    chose plan mode, to read the plan; an agent may also plan by itself."""
    if order is None or (ruling is not None and not ruling.by.startswith("confirm:")):
        return ruling
    goes = go_asks.is_one(call.kind, call.tools)
    if goes and (plans or go_asks.is_own(call.tools)):
        return Judgement("deny", BY + REJECT, go_asks.READY)
    allowed = Judgement("allow", BY + order.approve, f"allowed ({order.told})")
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
    words = f"rejected: {f'{why}, and ' if why else ''}this session never asks you"
    reason = f"No user is available to approve this{f', and {why}' if why else ''}."
    return Judgement("deny", BY + REJECT, f"{words} ({order.told})", reason)


def answered(order: Order, ask: Json) -> Answer:
    """A question, which only the user could answer: declined, but for one that needs no answer."""
    required = lenient.texts(lenient.mapping(ask, "schema"), "required")
    accepts = order.approve == ALL and not required and not links.is_one(ask)
    action = "accept" if accepts else "decline"
    words = "accepted as it is" if accepts else "declined: this session never asks you"
    reply: Json = {"action": action} | ({"content": {}} if accepts else {})
    said = {"name": action, "ruled": f"{words} ({order.told})"}
    if order.approve != ALL:
        said["verdict"] = "deny"
    update = closed(lenient.text(ask, "id"), reply, **said)
    return Answer(Draft(update, None, BY + (ALL if accepts else REJECT)), reply)


def words(order: Order) -> str:
    """What holds, for people."""
    but = "even destructive commands" if order.destructive else "destructive commands are refused"
    said = {
        ALL: f"auto-approving ({but})",
        RISKY: "auto-approving safe, reversible actions (the rest is rejected)",
        REJECT: "auto-rejecting (except what a rule allows)",
    }[order.approve]
    return f"{said}; set by {order.told}"
