"""The answers that a policy gives: always one of the agent's own options, and never a yes to what
cannot be undone, unless that was wanted in so many words (rows P4, U13)."""

from typing import NamedTuple

from rookery.core import loose
from rookery.core.events import Json

ALLOWS = ("allow_once", "allow_always")
REJECTS = ("reject_once", "reject_always")


class Policy(NamedTuple):
    """What to say when an agent asks: all, reject, or ask (a person). With `risky` the worker has
    approved what is not, and nobody is there for the rest."""

    approve: str
    stated: bool = True
    """False: nobody chose it, so it is said."""
    destructive: bool = False
    """With `all`: also what cannot be undone."""


class Answer(NamedTuple):
    command: Json
    """Without `do`, `ask` and an id."""
    rejects: bool = False
    note: str = ""


def rule_answer(ask: Json, policy: Policy) -> Answer:
    """What a policy says to an ask. It never leaves one open: nobody is there to answer."""
    approve = policy.approve == "all"
    nonce: Json = {"nonce": loose.text(ask, "nonce")}
    if ask.get("kind") == "question":
        return _rule_question(ask, nonce, approve)
    danger = loose.text(ask, "danger")
    note = ""
    if danger and approve:
        if policy.destructive:
            nonce["confirm"] = True
        else:
            approve = False
            note = f"Rejected, it cannot be undone: this {danger}. --confirm-destructive allows it."
    elif policy.approve == "risky":
        why = f"this {danger}" if danger else "its risk cannot be judged"
        note = f"Rejected: {why}. --always-approve allows what can be undone."
    kinds = (ALLOWS[:1] if danger else ALLOWS) if approve else REJECTS
    for kind in kinds:
        for option in loose.mappings(ask, "options"):
            if option.get("kind") == kind and loose.text(option, "optionId"):
                return Answer(nonce | {"option": option["optionId"]}, not approve, note)
    way = "allow" if approve else "reject"
    note = (note + f" The agent offers no way to {way} this: it is cancelled.").strip()
    return Answer(nonce | {"cancel": True}, rejects=True, note=note)


def _rule_question(ask: Json, nonce: Json, approve: bool) -> Answer:
    if approve and not loose.texts(loose.mapping(ask, "schema"), "required"):
        return Answer(nonce | {"action": "accept", "content": {}})
    note = "The agent asks a question that only a person can answer: it is declined."
    return Answer(nonce | {"action": "decline"}, rejects=not approve, note=note)
