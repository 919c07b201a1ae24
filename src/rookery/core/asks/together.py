"""Asks that are open at the same time: each says which of how many it is, and one answer may be
given to all that are alike.

Those of one tool that one rule would cover are alike (`core/policy/rule_choices.py`); what cannot
be undone never is. Whoever answers them together sees what each of them is.
"""

from collections.abc import Mapping

from rookery.core.asks.asks import ALLOWS, REJECTS, options_of, pick
from rookery.core.json import Json, lenient

LONGEST = 1000
"""Characters of what an ask is about, where it may be answered with others."""


def numbered(known: Mapping[str, Json], name: str, ask: Json) -> dict[str, Json]:
    """The header's asks with one more. `step`: its place among those that came while others were
    open, and how many there are; one that stands alone has none."""
    found = {**known, name: ask}
    if name in known:  # asked again
        return {**found, name: ask | ({"step": step} if (step := known[name].get("step")) else {})}
    others = {key: each for key, each in known.items() if _is_live(each)}
    if not others or not _is_live(ask) or ask.get("ruled"):
        return found
    places = [lenient.sequence(each, "step") for each in others.values()]
    total = 1 + max(max((place[1] for place in places if place), default=0), len(others))
    for at, (key, each) in enumerate(others.items(), 1):
        place = lenient.sequence(each, "step")
        found[key] = {**each, "step": [place[0] if place else at, total]}
    found[name] = {**ask, "step": [total, total]}
    return found


def _is_live(ask: Json) -> bool:
    return ask.get("kind") == "permission" and bool(ask.get("toolCall")) and not ask.get("away")


def alike(asks: Mapping[str, Json]) -> dict[str, list[Json]]:
    """By the id of an ask, all that are like it, itself included: for each the ids and the options
    that answer it, and what it is about."""
    groups: dict[str, list[Json]] = {}
    for name, ask in asks.items():
        key, text = lenient.text(ask, "alike"), _text(ask)
        if key and 0 < len(text) <= LONGEST and not (ask.get("given") or ask.get("decide")):
            options = options_of(ask)
            entry: Json = {"ask": name, "nonce": lenient.text(ask, "nonce"), "text": text}
            for verdict, kinds in (("allow", ALLOWS[:1]), ("reject", REJECTS)):
                entry[verdict] = lenient.text(pick(options, kinds), "optionId")
            groups.setdefault(key, []).append(entry)
    return {each["ask"]: group for group in groups.values() if len(group) > 1 for each in group}


def _text(ask: Json) -> str:
    """Whole: a command, paths, a tool with what it is given."""
    items = [item for item in lenient.mappings(ask, "does") if item.get("what") != "diff"]
    return "\n".join(lenient.text(item, "text") for item in items)
