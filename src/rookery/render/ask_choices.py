"""The choices for answering an ask. Each has a key with the same meaning for every agent; digits
choose from the agent's own list."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rookery.core import budgets
from rookery.core.asks import links
from rookery.core.asks.asks import REJECTS
from rookery.core.blocks import Block
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals, go_asks
from rookery.render.runs import clean_line

SIGHT = 8
"""Choices on a card; the rest is behind a key."""
ALWAYS = ("rule", "allow_always")
_COVERED = (*ALWAYS, "reject_always")
"""Kinds for which a key of a meaning stands, or one for something narrower."""
DIGITS = 9

_USUAL = {
    "ask.allow": ("allow once", {"allow", "yes", "approve", "accept", "ok", "proceed", "run"}),
    "ask.deny": ("reject", {"reject", "deny", "no", "decline", "cancel", "disallow", "don't"}),
}
"""Our words, and an agent's for the same."""
_FILLING = {"once", "it", "this", "the", "time", "one", "action", "command", "call", "tool", "edit"}
_LONGEST = 3
"""Words of a label that says no more than ours."""


class Choice(NamedTuple):
    name: str
    """Of its key."""
    label: str
    place: int | None = None
    """The action that it chooses."""


_LINK = (
    Choice("ask.allow", links.OPEN.lower(), 0),
    Choice("block.copy", "copy the address"),
    Choice("ask.qr", "QR code"),
    Choice("ask.option2", links.ELSEWHERE, 1),
    Choice("ask.deny", links.DECLINE.lower(), 2),
)


def choices(block: Block) -> tuple[list[Choice], list[Choice]]:
    """Return the choices that are in sight, and all others."""
    later = Choice("ask.defer", "decide later")
    if any(each.get("type") == "form" for each in block["parts"]):
        return [Choice("ask.fill", "fill in"), Choice("ask.decline", "decline"), later], []
    actions = block["actions"]
    if is_link(block):
        return [*_LINK, later], []
    deny = _meant("ask.deny", actions, *REJECTS)
    goes = is_go(block)
    always = None if goes else _always(actions)
    allow = _meant("ask.allow", actions, "allow_once")
    ways = _more_ways(block) if allow else []
    candidates = (allow, *_alike(block, "allow"), *ways, always, deny, *_alike(block, "reject"))
    meant = [each for each in candidates if each]
    own = [
        Choice(f"ask.option{place + 1}", _label(action), place)
        for place, action in enumerate(actions[:DIGITS])
    ]
    known = {each.place for each in meant}
    if not goes:
        known |= {at for at, each in enumerate(actions) if each.get("kind") in _COVERED}
    others = [each for each in own if each.place not in known]
    why = [Choice("ask.reject", say_why(block))] if deny and not is_ours(block) else []
    explain = [Choice("ask.explain", "explain")] if block.get("explains") else []
    listed = [*meant, *others, *why, *explain, later]
    if goes:  # in the agent's order
        listed.sort(key=lambda each: len(own) if each.place is None else each.place)
    rest = [each for each in listed[SIGHT:] if each not in own]
    return listed[:SIGHT], [*own, *rest, *_wider(block)]


def _more_ways(block: Block) -> list[Choice]:
    """Return the choice that allows this and adds a word to the agent."""
    plain = is_go(block) or is_ours(block) or block.get("danger")
    return [] if plain else [Choice("ask.amend", "yes, and …")]


ALIKE = {"allow": "ask.alike", "reject": "ask.alike_deny"}
"""The key that gives one answer to all similar asks, by verdict."""


def alike(block: Block, verdict: str) -> list[Json]:
    """Return the asks that can be answered together with this one, itself included, if each of them
    has that answer; never those for something that cannot be undone."""
    same = lenient.sequence(block, "same")
    plain = is_go(block) or is_ours(block)
    return [] if plain or not all(each[verdict] for each in same) else same


def _alike(block: Block, verdict: str) -> list[Choice]:
    same = alike(block, verdict)
    return [Choice(ALIKE[verdict], f"{verdict} all {len(same)} alike")] if same else []


LETTERS = {"ask.allow": "y", "ask.always": "a", "ask.deny": "n"}
"""The letter that answers on the command line and on the page, by the name of the key."""


def letters_of(block: Block) -> dict[int, str]:
    """Return the letter that stands for an action, by the action's place."""
    seen, more = choices(block)
    return {each.place: LETTERS[each.name] for each in (*seen, *more)
            if each.name in LETTERS and each.place is not None}  # fmt: skip


def is_link(block: Block) -> bool:
    """Tell whether the ask sends the user to a URL (`ask_actions` makes its three actions)."""
    return block.get("kind") == links.KIND and len(block["actions"]) == 3


def is_go(block: Block) -> bool:
    """Tell whether the ask is whether to carry out a plan. None of its options is permanent: they
    decide how much is asked from then on."""
    return block.get("kind") == go_asks.KIND


def say_why(block: Block) -> str:
    """Return the label of rejecting with a reason."""
    return "keep planning, and say how" if is_go(block) else "reject and say why"


def asks_twice(block: Block, action: Mapping[str, Any]) -> bool:
    """Tell whether an option is permanent, so that its full text is shown before it is chosen."""
    return action.get("kind") in ALWAYS and not is_go(block)


def always_words(action: Mapping[str, Any]) -> str:
    """Describe in full what is allowed from now on: where that is recorded, and what it matches."""
    label = _label(action)
    if reach := clean_line(str(action.get("reach") or "")):
        return reach
    return label.partition(": ")[2] or label if action.get("kind") == "rule" else label


def _label(action: Mapping[str, Any]) -> str:
    return clean_line(str(action.get("label") or ""))


def is_ours(block: Block) -> bool:
    """Tell whether the ask is about a budget, whose answer no agent sees."""
    return block.get("kind") == budgets.HOW


def _wider(block: Block) -> list[Choice]:
    kinds = [str(each.get("kind") or "") for each in block["actions"]]
    if (
        block.get("danger")
        or is_ours(block)
        or is_go(block)
        or not any(kind.startswith("allow") for kind in kinds)
    ):
        return []
    less = (("ask.risky", approvals.RISKY), ("ask.all", approvals.ALL))
    return [Choice(key, f"allow, {approvals.WORDS[ours]} from now on") for key, ours in less]


def _first(actions: list[dict[str, Any]], *kinds: str) -> int | None:
    """Return the place of the first action that can be chosen, trying the kinds in order; None if
    there is none."""
    for kind in kinds:
        for place, action in enumerate(actions):
            if action.get("kind") == kind and not action.get("disabled"):
                return place
    return None


def _meant(name: str, actions: list[dict[str, Any]], *kinds: str) -> Choice | None:
    """Return a choice with our label, unless the agent's says more."""
    if (place := _first(actions, *kinds)) is None:
        return None
    ours, usual = _USUAL[name]
    label = _label(actions[place])
    tokens = set(label.lower().replace(",", " ").split())
    return Choice(name, ours if tokens <= usual | _FILLING else label, place)


def _always(actions: list[dict[str, Any]]) -> Choice | None:
    if (place := _first(actions, *ALWAYS)) is None:
        return None
    if actions[place].get("reach"):
        label = _label(actions[place])
        return Choice("ask.always", label[:1].lower() + label[1:], place)
    label = always_words(actions[place])
    says_more = actions[place].get("kind") != "rule" and len(label.split()) > _LONGEST
    return Choice("ask.always", label if says_more else "always allow …", place)
