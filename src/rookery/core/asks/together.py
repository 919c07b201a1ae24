"""Asks that are open at the same time: each shows its number among them ("1 of 3"), and one answer
may be given to all that are alike.

Asks of one tool that one rule would cover are alike (`core/policy/rule_choices.py`); actions that
cannot be undone never are. A user who answers them together sees what each of them is."""

from collections.abc import Mapping

from rookery.core.ask import Ask
from rookery.core.asks.asks import ALLOWS, REJECTS, pick_id
from rookery.core.json import Json, lenient

MAX_TEXT_LENGTH = 1000
"""Longest description, in characters, of an ask that may be answered together with others."""


def numbered(known: Mapping[str, Ask], ask: Ask) -> dict[str, Ask]:
    """Return the header's asks with one more. `step`: its position among the asks that came while
    others were open, and their total; an ask that stands alone has none."""
    if ask.id in known:  # asked again
        step = known[ask.id].step
        return {**known, ask.id: ask.with_(step=step) if step else ask}
    others = [each for each in known.values() if _is_live(each)]
    if not others or not _is_live(ask) or ask.ruled:
        return {**known, ask.id: ask}
    total = 1 + max([len(others), *(each.step[1] for each in others if each.step)])
    steps = {each.id: each.step[0] if each.step else at for at, each in enumerate(others, 1)}
    stepped = {each.id: each.with_(step=[steps[each.id], total]) for each in others}
    return {**known, **stepped, ask.id: ask.with_(step=[total, total])}


def _is_live(ask: Ask) -> bool:
    return ask.kind == "permission" and bool(ask.call) and not ask.away


def alike(asks: Mapping[str, Ask]) -> dict[str, list[Json]]:
    """Return, by the id of an ask, all asks that are like it, itself included: for each the ids and
    the options that answer it, and what it is about."""
    groups: dict[str, list[Json]] = {}
    for name, ask in asks.items():
        text = _text(ask)
        if ask.alike and 0 < len(text) <= MAX_TEXT_LENGTH and not (ask.given or ask.decide):
            entry: Json = {"ask": name, "nonce": ask.nonce, "text": text}
            for verdict, kinds in (("allow", ALLOWS[:1]), ("reject", REJECTS)):
                entry[verdict] = pick_id(ask.options, kinds)
            groups.setdefault(ask.alike, []).append(entry)
    return {each["ask"]: group for group in groups.values() if len(group) > 1 for each in group}


def _text(ask: Ask) -> str:
    """Return the whole text of an ask: a command, paths, a tool with its input."""
    items = [item for item in ask.does or () if item.get("what") != "diff"]
    return "\n".join(lenient.text(item, "text") for item in items)
