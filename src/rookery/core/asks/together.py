"""Asks that are open at the same time: each shows its number among them ("1 of 3"), and one answer
may be given to all that are alike.

Asks of one tool that one rule would cover are alike (`core/policy/rule_choices.py`); actions that
cannot be undone never are. A user who answers them together sees what each of them is."""

from collections.abc import Mapping

from rookery.core.asks.asks import ALLOWS, REJECTS, options_of, pick
from rookery.core.json import Json, lenient

MAX_TEXT_LENGTH = 1000
"""Longest description, in characters, of an ask that may be answered together with others."""


def numbered(known: Mapping[str, Json], name: str, ask: Json) -> dict[str, Json]:
    """Return the header's asks with one more. `step`: its position among the asks that came while
    others were open, and their total; an ask that stands alone has none."""
    asks = {**known, name: ask}
    if name in known:  # asked again
        return {**asks, name: ask | ({"step": step} if (step := known[name].get("step")) else {})}
    others = {key: each for key, each in known.items() if _is_live(each)}
    if not others or not _is_live(ask) or ask.get("ruled"):
        return asks
    places = [lenient.sequence(each, "step") for each in others.values()]
    total = 1 + max(max((place[1] for place in places if place), default=0), len(others))
    for at, (key, each) in enumerate(others.items(), 1):
        place = lenient.sequence(each, "step")
        asks[key] = {**each, "step": [place[0] if place else at, total]}
    asks[name] = {**ask, "step": [total, total]}
    return asks


def _is_live(ask: Json) -> bool:
    return ask.get("kind") == "permission" and bool(ask.get("toolCall")) and not ask.get("away")


def alike(asks: Mapping[str, Json]) -> dict[str, list[Json]]:
    """Return, by the id of an ask, all asks that are like it, itself included: for each the ids and
    the options that answer it, and what it is about."""
    groups: dict[str, list[Json]] = {}
    for name, ask in asks.items():
        key, text = lenient.text(ask, "alike"), _text(ask)
        if key and 0 < len(text) <= MAX_TEXT_LENGTH and not (ask.get("given") or ask.get("decide")):
            options = options_of(ask)
            entry: Json = {"ask": name, "nonce": lenient.text(ask, "nonce"), "text": text}
            for verdict, kinds in (("allow", ALLOWS[:1]), ("reject", REJECTS)):
                entry[verdict] = lenient.text(pick(options, kinds), "optionId")
            groups.setdefault(key, []).append(entry)
    return {each["ask"]: group for group in groups.values() if len(group) > 1 for each in group}


def _text(ask: Json) -> str:
    """Return the whole text of an ask: a command, paths, a tool with its input."""
    items = [item for item in lenient.mappings(ask, "does") if item.get("what") != "diff"]
    return "\n".join(lenient.text(item, "text") for item in items)
