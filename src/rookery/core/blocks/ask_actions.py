"""What can be answered to an ask, each answer with the finished command that its button sends; and
what became of it, in words."""

from rookery.core.asks import form_words
from rookery.core.asks.asks import answer_to
from rookery.core.blocks import parts
from rookery.core.json import lenient
from rookery.core.json.events import Json

LONGEST = 500


def answers(ask: Json) -> list[Json]:
    """One action for each option, in the agent's order and words, with the finished command."""
    found = [action_of(ask, option) for option in list(lenient.mappings(ask, "options"))[:20]]
    return parts.whole([*found, *_always(ask)])


def _always(ask: Json) -> list[Json]:
    """Beside the agent's own: a rule of ours that allows just this from now on, then the wider
    ones, each in its own words."""
    words = lenient.text(ask, "always")
    if not words:
        return []
    command = answer_to(ask)
    label = f"Always allow this (adds a rule): {words[:200]}{'…' if len(words) > 200 else ''}"
    found: list[Json] = [{"label": label, "kind": "rule", "command": command | {"always": True}}]
    for number, wider in enumerate(lenient.texts(ask, "alwaysChoices")[1:4], 2):
        label = f"Always allow more (adds a rule): {wider[:200]}"
        found.append({"label": label, "kind": "rule", "command": command | {"always": number}})
    return found


def action_of(ask: Json, option: Json) -> Json:
    """Of a call that cannot be undone, what allows it is marked, and what would allow it for good
    is disabled. Its button asks a second time, so its command says that it did."""
    command = answer_to(ask) | {"option": lenient.text(option, "optionId")[:500]}
    label = lenient.text(option, "name")[:200] or lenient.text(option, "optionId")[:200]
    action: Json = {"label": label, "kind": lenient.text(option, "kind")[:40], "command": command}
    danger = lenient.text(ask, "danger")
    if danger and action["kind"] == "allow_always":
        action["disabled"] = "Destructive actions can only be allowed once, not always."
    elif danger and action["kind"].startswith("allow"):
        action["danger"], command["confirm"] = True, True
    return action


ANSWERED = {"accept": "Answered", "decline": "Declined", "cancel": "Cancelled"}
"""What became of a question, in words."""


def outcome(update: Json, by: str | None, ask: Json) -> Json:
    """`ask`: as the header had it."""
    given = lenient.mapping(update, "outcome")
    cancelled = given.get("outcome") == "cancelled"
    words = (
        form_words.answer(lenient.mapping(ask, "schema"), lenient.mapping(given, "content"))
        or ANSWERED.get(lenient.text(given, "action"), "")
        or lenient.text(update, "name")
        or lenient.text(update, "reason")
        or lenient.text(given, "outcome")
    )
    ruled = lenient.text(update, "ruled")[:LONGEST]  # which says by what, too
    more = ruled or (by or "")[:100]
    return {
        "status": "cancelled" if cancelled else "answered",
        "text": words[:LONGEST] + (f" · {more}" if more else ""),
        "actions": [],
    }
