"""The ways to answer an ask, each by a key with the same meaning for every agent. The agent's own
list has digits."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rookery.core.asks.asks import REJECTS
from rookery.core.blocks.document import Block
from rookery.tui.look.plain import clean_line

SIGHT = 5
"""Choices on a card; the rest is behind a key."""
ALWAYS = ("rule", "allow_always")
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
    words: str
    place: int | None = None
    """The action that it chooses."""


def choices(block: Block) -> tuple[list[Choice], list[Choice]]:
    """Those in sight, and all others."""
    if any(each.get("type") == "form" for each in block["parts"]):
        fill, decline = Choice("ask.fill", "fill in"), Choice("ask.decline", "decline")
        return [fill, decline, Choice("ask.defer", "decide later")], []
    actions = block["actions"]
    meant = [each for each in (_allow(actions), _always(actions), _deny(actions)) if each]
    own = [_own(place, action) for place, action in enumerate(actions[:DIGITS])]
    known = {each.place for each in meant}
    others = [each for each in own if each.place not in known and _is_other(actions, each)]
    also = [Choice("ask.reject", "reject and say why")] if _deny(actions) else []
    also.append(Choice("ask.defer", "decide later"))
    found = [*meant, *others, *also]
    seen = found[:SIGHT]
    return seen, [*own, *(each for each in found[SIGHT:] if each not in own), *_wider(block)]


def always_words(action: Mapping[str, Any]) -> str:
    """What is allowed from now on, in full."""
    label = clean_line(str(action.get("label") or ""))
    return label.partition(": ")[2] or label if action.get("kind") == "rule" else label


def _wider(block: Block) -> list[Choice]:
    if block.get("danger") or not any(_is_kind(each, "allow") for each in block["actions"]):
        return []
    risky = Choice("ask.risky", "allow, ask only if risky from now on")
    return [risky, Choice("ask.all", "allow, approve all from now on")]


def _own(place: int, action: Mapping[str, Any]) -> Choice:
    return Choice(f"ask.option{place + 1}", clean_line(str(action.get("label") or "")), place)


def _is_other(actions: list[dict[str, Any]], choice: Choice) -> bool:
    """Whether no key of a meaning stands for it or for something narrower."""
    kind = actions[choice.place or 0].get("kind")
    return kind not in (*ALWAYS, "reject_always")


def _is_kind(action: Mapping[str, Any], kind: str) -> bool:
    return str(action.get("kind") or "").startswith(kind)


def _first(actions: list[dict[str, Any]], *kinds: str) -> int | None:
    """The first action of the kind that is wanted most and can be chosen."""
    for kind in kinds:
        for place, action in enumerate(actions):
            if action.get("kind") == kind and not action.get("disabled"):
                return place
    return None


def _allow(actions: list[dict[str, Any]]) -> Choice | None:
    return _meant("ask.allow", actions, _first(actions, "allow_once"))


def _deny(actions: list[dict[str, Any]]) -> Choice | None:
    return _meant("ask.deny", actions, _first(actions, *REJECTS))


def _meant(name: str, actions: list[dict[str, Any]], place: int | None) -> Choice | None:
    """In our words, unless the agent's say more."""
    if place is None:
        return None
    ours, usual = _USUAL[name]
    label = clean_line(str(actions[place].get("label") or ""))
    words = set(label.lower().replace(",", " ").split())
    return Choice(name, ours if words <= usual | _FILLING else label, place)


def _always(actions: list[dict[str, Any]]) -> Choice | None:
    place = _first(actions, *ALWAYS)
    if place is None:
        return None
    if actions[place].get("kind") == "rule":
        return Choice("ask.always", "always allow …", place)
    label = always_words(actions[place])
    return Choice("ask.always", label if len(label.split()) > _LONGEST else "always allow …", place)
