"""Sessions in which nobody is asked: what was said at their start stands for a person (P6, U13).

It is a property of the session and stands in its log, so that it outlives whoever said it. Rules
come first, then how much is asked; this answers what would be a person's then. `set confirm` takes
it back: from then on asks wait.
"""

from typing import TYPE_CHECKING, NamedTuple

from rookery.core import loose
from rookery.core.asks import Answer, Ruling, closed
from rookery.core.events import Draft, Json

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core import rules

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

    def update(self) -> Json:
        """Fields of a `_session`."""
        return {"confirm": CONFIRMS[self.approve], OPTION: self._asdict()}


def order_of(given: object) -> Order | None:
    """As a header or a `_session` has it; None: a person is asked."""
    approve = loose.text(given, "approve")
    if not isinstance(given, dict) or approve not in CONFIRMS:
        return None
    told = loose.text(given, "told")[:LONGEST] or f"unattended {approve}"
    return Order(approve, given.get("destructive") is True, told)


def chosen(command: Json) -> Order | None:
    """Of a `set unattended`."""
    return order_of({**command, "approve": command.get("value")})


def allows_destructive(order: Order | None) -> bool:
    return order is not None and order.approve == ALL and order.destructive


def settled(
    order: Order | None, ruling: Ruling | None, call: "rules.Call", verdict: "rules.Verdict"
) -> Ruling | None:
    """The ruling, and where that leaves it to a person, what stands for one."""
    if order is None or (ruling is not None and not ruling.by.startswith("confirm:")):
        return ruling
    allowed = Ruling(True, BY + order.approve, f"allowed ({order.told})")
    if ruling is not None:
        return allowed
    asking = ", ".join(rule.name for rule in verdict.rules if rule.do == "ask")
    if allows_destructive(order) and not asking:
        return allowed
    why = ""
    if asking:
        why = f"rule {asking} asks"
    elif call.danger and order.approve != REJECT:
        why = f"this {call.danger}"
    elif order.approve == RISKY:
        why = "it may be risky"
    words = f"rejected: {f'{why}, and ' if why else ''}nobody is asked in this session"
    reason = f"Nobody can be asked here{f', and {why}' if why else ''}."
    return Ruling(False, BY + REJECT, f"{words} ({order.told})", reason)


def answered(order: Order, ask: Json) -> Answer:
    """A question, which only a person could answer: declined, but for one that needs no answer."""
    accepts = order.approve == ALL and not loose.texts(loose.mapping(ask, "schema"), "required")
    action = "accept" if accepts else "decline"
    words = "accepted as it is" if accepts else "declined: nobody is asked in this session"
    reply: Json = {"action": action} | ({"content": {}} if accepts else {})
    said = {"name": action, "ruled": f"{words} ({order.told})"}
    if order.approve != ALL:
        said["verdict"] = "deny"
    update = closed(loose.text(ask, "id"), reply, **said)
    return Answer(Draft(update, None, BY + (ALL if accepts else REJECT)), reply)


def words(order: Order) -> str:
    """What holds, for people."""
    but = "also" if order.destructive else "except"
    said = {
        ALL: f"everything that it asks is approved, {but} what cannot be undone",
        RISKY: "what is plain and can be undone is approved, the rest is rejected",
        REJECT: "everything that it asks is rejected, unless a rule allows it",
    }[order.approve]
    return f"{said}; nobody is asked ({order.told})"
