"""The actions on an ask's block, each with the complete command that its button sends; the ask's
outcome; and asks that outlive their agent."""

from rookery.core.agent.names import agent_name
from rookery.core.asks import forms, kept_asks, links, together
from rookery.core.asks.asks import answer_to, reason_of
from rookery.core.blocks import captions, parts
from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.json import Event, Json, lenient
from rookery.core.json.senders import by_of
from rookery.core.tools.calls import block_id

MAX_TEXT_LENGTH = 500
REASON = 2000
"""Characters of what the user said with an answer."""


def answers(ask: Json) -> list[Json]:
    """Return one action for each option, with the agent's order and labels and the complete
    command."""
    if links.is_one(ask):
        return _ways_to_open(ask)
    actions = [action_of(ask, option) for option in list(lenient.mappings(ask, "options"))[:20]]
    return parts.whole([*actions, *_always(ask)])


def _ways_to_open(ask: Json) -> list[Json]:
    """Return the actions for a link. `open` is the address, which a face opens only when the user
    chooses that action."""
    accept, decline = ({**answer_to(ask), "action": each} for each in ("accept", "decline"))
    return [
        {"label": links.OPEN, "kind": "allow_once", "command": accept, "open": ask["url"]},
        {"label": links.ELSEWHERE, "kind": "elsewhere", "command": accept},
        {"label": links.DECLINE, "kind": "reject_once", "command": decline},
    ]


def _always(ask: Json) -> list[Json]:
    """Return the actions that add a rule of ours, beside the agent's own: one that allows just this
    from now on, then the wider ones, each with its own text."""
    rule = lenient.text(ask, "always")
    if not rule:
        return []
    command, actions = answer_to(ask), list[Json]()
    reach = lenient.texts(ask, "alwaysReach")
    if not reach:  # of a build whose rules are for all projects
        shown = f"{rule[:200]}{'…' if len(rule) > 200 else ''}"
        label = f"Always allow this (adds a rule): {shown}"
        actions.append({"label": label, "kind": "rule", "command": command | {"always": True}})
    for number, rule in enumerate(
        lenient.texts(ask, "alwaysChoices")[len(actions) : 4], 1 + len(actions)
    ):
        label = (
            f"Always allow {rule[:200]}" if reach else f"Always allow more (adds a rule): {rule}"
        )
        action: Json = {"label": label, "kind": "rule"}
        action["command"] = command | {"always": number if number > 1 else True}
        actions.append(
            action | ({"reach": reach[number - 1][:1500]} if number <= len(reach) else {})
        )
    return actions


def action_of(ask: Json, option: Json) -> Json:
    """Return the action for an option. For a call that cannot be undone, what allows it is marked
    as dangerous and what would always allow it is disabled. Its button asks a second time, so its
    command says that the user confirmed."""
    command = answer_to(ask) | {"option": lenient.text(option, "optionId")[:500]}
    label = lenient.text(option, "name")[:200] or lenient.text(option, "optionId")[:200]
    action: Json = {"label": label, "kind": lenient.text(option, "kind")[:40], "command": command}
    danger = lenient.text(ask, "danger")
    if danger and action["kind"] == "allow_always":
        action["disabled"] = "Can't be always-allowed: destructive"
    elif danger and action["kind"].startswith("allow"):
        action["danger"], command["confirm"] = True, True
    return action


ANSWERED = {"accept": "answered", "decline": "declined", "cancel": "cancelled"}
"""The user's answer to a form, as a verb."""
ALLOW, REJECT = "allow", "reject"
VERBS = {ALLOW: "allowed", REJECT: "rejected"}


def is_rejected(update: Json, ask: Json) -> bool:
    """Whether the answer was no."""
    return _verdict(_chosen(update, ask)) == REJECT


def _chosen(update: Json, ask: Json) -> Json:
    name = lenient.text(lenient.mapping(update, "outcome"), "optionId")
    options = lenient.mappings(ask, "options")
    return next((each for each in options if each.get("optionId") == name), {})


def _verdict(option: Json) -> str:
    kind = lenient.text(option, "kind")
    return next((each for each in VERBS if kind.startswith(each)), "")


def outcome(update: Json, by: str | None, ask: Json) -> Json:
    """Return how an ask ended, as a sentence; `verdict` gives it a sign, `by` names the face where
    the user answered, `where` the device. `ask`: as the header had it."""
    given, ruled = lenient.mapping(update, "outcome"), lenient.text(update, "ruled")
    who = by_of(by)
    face = who.face[:100]
    rule, is_user = lenient.text(update, "rule")[:100], face in captions.PLACES
    if ruled and not rule:
        text = sentence(ruled[:MAX_TEXT_LENGTH])
    else:
        text = _answer(update, ask, f"{who.person or 'you'} " if is_user or rule else "")[
            :MAX_TEXT_LENGTH
        ]
        text += f"; rule {rule} allows it from now on" if rule else ""
        text += f" · {face}" if face and not is_user else ""
    person = who.person if who.person not in text else ""
    return {
        "status": "cancelled" if given.get("outcome") == "cancelled" else "answered",
        "text": text,
        "verdict": _verdict(_chosen(update, ask)),
        "by": face if is_user else "",
        "where": ", ".join(filter(None, (person, who.where))),
        "reason": (reason_of(given) or (lenient.text(update, "reason") if ruled else ""))[:REASON],
        "actions": [],
    }


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _answer(update: Json, ask: Json, who: str) -> str:
    """Return `You allowed it`, or, if the agent offers several ways to allow or reject,
    which one."""
    given, option = lenient.mapping(update, "outcome"), _chosen(update, ask)
    schema, content = lenient.mapping(ask, "schema"), lenient.mapping(given, "content")
    if answered := forms.answer(schema, content):
        return answered
    if links.is_one(ask) and update.get("completed") is True:
        return sentence(links.DONE)
    if links.is_one(ask) and (done := links.ANSWERED.get(lenient.text(given, "action"))):
        return sentence(who + done)
    if done := ANSWERED.get(lenient.text(given, "action")):
        return sentence(who + done)
    verdict, kind = _verdict(option), lenient.text(option, "kind")
    kinds = [lenient.text(each, "kind") for each in lenient.mappings(ask, "options")]
    is_plain = kind.endswith("_once") and kinds.count(kind) == 1
    if verdict and is_plain and lenient.mapping(ask, "toolCall"):
        return sentence(f"{who}{VERBS[verdict]}") + (" it" if who else "")
    if name := lenient.text(update, "name"):
        is_call = bool(lenient.mapping(ask, "toolCall"))  # else its options are sentences
        return sentence(f"{who}chose “{name}”") if who and is_call else name
    return sentence(lenient.text(update, "reason") or lenient.text(given, "outcome"))


# --- asks that outlive their agent ---------------------------------------------------------------

SENT = "The prompt was sent again · waiting for the agent"
AWAY = "The agent is not running. Your answer is saved and wakes the session."
KEPT = "Your answer “{}” is saved and sent if it does."
GONE = "The agent ended"
FURTHER_DOWN = "Asked again below"


def left(before: Json, after: Json) -> list[Op]:
    """Return the ops for asks that went away with this event or moved to another block: the user
    sees one, not two."""
    if before["asks"] is after["asks"]:
        return []
    ops = _together(before["asks"], after["asks"])
    for name in before["asks"].keys() - after["asks"].keys():
        if links.is_one(ask := before["asks"][name]) and after["process"] is not before["process"]:
            ops += change(ask["block"], status="cancelled", text=GONE, note="", actions=[])
    for name, ask in after["asks"].items():
        known = before["asks"].get(name)
        if known is not None and known["block"] != ask["block"]:
            ops += change(known["block"], status="moved", text=FURTHER_DOWN, note="", actions=[])
        elif known is not None and ask.get("sent") and not known.get("sent"):
            ops += change(ask["block"], status="kept", text=SENT, note="", actions=[])
        elif known is not None and ask.get("away") and not known.get("away"):
            ops += change(ask["block"], note=AWAY)
    return ops


def opened(before: Json, after: Json, *, completed: bool) -> list[Op]:
    """Return the ops for links that the user opened, and for their completion."""
    known, now = before.get("_links", {}), after.get("_links", {})
    if known is now:
        return []
    waits = [link["block"] for key, link in now.items() if key not in known]
    gone = [link["block"] for key, link in known.items() if key not in now]
    outcomes = dict.fromkeys(waits, links.WAITING) | dict.fromkeys(gone, links.DONE * completed)
    return [op for block, then in outcomes.items() for op in change(block, then=then)]


def _together(before: Json, after: Json) -> list[Op]:
    """Return the ops for asks whose number changed, or which are alike now."""
    ops: list[Op] = []
    groups, known = together.alike(after), together.alike(before)
    for name, ask in after.items():
        fields: Json = {}
        if (step := ask.get("step")) != before.get(name, {}).get("step"):
            fields["step"] = step
        if groups.get(name) != known.get(name):
            fields["same"] = groups.get(name, [])
        ops += change(ask["block"], **fields) if fields else []
    return ops


def kept(before: Json, after: Json, event: Event) -> list[Op] | None:
    """Return the ops for an `_ask` about a kept ask; None if it is a plain one."""
    update = event.update
    ask = before["asks"].get(lenient.text(update, "id"))
    if update.get("state") == "answered":
        return _answered(ask, event) if ask else []
    if update.get("state") == "asked" and update.get("decide") is True and ask:
        return _undecided(ask, after, event)
    return None


def _answered(ask: Json, event: Event) -> list[Op]:
    """Show an answer that waits for the agent."""
    answer, who = (
        lenient.text(event.update, "name")[:MAX_TEXT_LENGTH],
        by_of(event.by).person or "You",
    )
    if ask.get("decide"):  # which is still to be done
        note = f"{lenient.text(ask, 'why')} {KEPT.format(answer)}"
        return change(ask["block"], note=note[:MAX_TEXT_LENGTH])
    text = f"{who} answered “{answer}” · waiting for the agent"
    reason = lenient.text(lenient.mapping(event.update, "given"), "reason")[:REASON]
    return change(ask["block"], status="kept", text=text, note="", reason=reason, actions=[])


def _undecided(ask: Json, after: Json, event: Event) -> list[Op]:
    """Show an ask that cannot be asked again without consent: what it was about, why, and two ways
    on."""
    update, given = event.update, lenient.mapping(ask, "given")
    why = lenient.text(update, "why")
    why += f" {KEPT.format(lenient.text(given, 'name'))}" if given else ""
    call = lenient.mapping(ask, "toolCall")
    block = make_block(
        block_id(after, event) + "?",
        "ask",
        status="asked",
        title=lenient.text(update, "message"),
        kind="other",
        note=why,
        actions=[action_of(update, way) for way in kept_asks.OPTIONS],
        agent=lenient.text(ask, "agent") or agent_name(after),
        parts=parts.from_tool_content(lenient.sequence(call, "content"), call),
    )
    return put(block)
