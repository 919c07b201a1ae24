"""The actions on an ask's block, each with the complete command that its button sends; the ask's
outcome; and asks that outlive their agent."""

from collections.abc import Iterable, Mapping, Sequence

from rookery.core.agent.names import agent_name
from rookery.core.ask import Ask, Option, ask_of, asks_of, from_agent
from rookery.core.asks import forms, kept_asks, links, together
from rookery.core.asks.asks import reason_of
from rookery.core.blocks import captions, parts
from rookery.core.blocks.document import Op, change, make_block, put
from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.json.senders import by_of
from rookery.core.tools.calls import block_id

MAX_TEXT_LENGTH = 500
REASON = 2000
"""Characters of what the user said with an answer."""


def answers(ask: Ask) -> list[Json]:
    """Return one action for each option, in the agent's order, with its complete command."""
    if ask.is_link:
        return _ways_to_open(ask)
    actions = [action_of(ask, option) for option in ask.options[:20]]
    return parts.whole([*actions, *_always(ask)])


def first_action(actions: Sequence[Json], kinds: Iterable[str]) -> Json | None:
    """Return the first action of the best kind, or None. `kinds`: best first."""
    return next((each for kind in kinds for each in actions if each.get("kind") == kind), None)


def _ways_to_open(ask: Ask) -> list[Json]:
    """Return the actions for a link. `open` is the address, which a face opens only when the user
    chooses that action."""
    accept, decline = ({**ask.answer, "action": each} for each in ("accept", "decline"))
    return [
        {"label": links.OPEN, "kind": "allow_once", "command": accept, "open": ask.url},
        {"label": links.ELSEWHERE, "kind": "elsewhere", "command": accept},
        {"label": links.DECLINE, "kind": "reject_once", "command": decline},
    ]


def _always(ask: Ask) -> list[Json]:
    """Return the actions that add a rule of ours, beside the agent's own: one that allows just this
    from now on, then the wider ones, each with its own text."""
    rule, reach = ask.always, ask.always_reach
    if not rule:
        return []
    command, actions = ask.answer, list[Json]()
    if not reach:  # of a build whose rules are for all projects
        shown = f"{rule[:200]}{'…' if len(rule) > 200 else ''}"
        label = f"Always allow this (adds a rule): {shown}"
        actions.append({"label": label, "kind": "rule", "command": command | {"always": True}})
    for number, rule in enumerate(ask.always_choices[len(actions) : 4], 1 + len(actions)):
        label = (
            f"Always allow {rule[:200]}" if reach else f"Always allow more (adds a rule): {rule}"
        )
        action: Json = {"label": label, "kind": "rule"}
        action["command"] = command | {"always": number if number > 1 else True}
        actions.append(
            action | ({"reach": reach[number - 1][:1500]} if number <= len(reach) else {})
        )
    return actions


def action_of(ask: Ask, option: Option) -> Json:
    """Return the action for an option. For a call that cannot be undone, what allows it is marked
    as dangerous and what would always allow it is disabled. Its button asks a second time, so its
    command says that the user confirmed."""
    command = ask.answer | {"option": option.id[:500]}
    label = option.name[:200] or option.id[:200]
    action: Json = {"label": label, "kind": option.kind[:40], "command": command}
    if ask.danger and option.kind == "allow_always":
        action["disabled"] = "Can't be always-allowed: destructive"
    elif ask.danger and option.allows:
        action["danger"], command["confirm"] = True, True
    return action


ANSWERED = {"accept": "answered", "decline": "declined", "cancel": "cancelled"}
"""The user's answer to a form, as a verb."""
ALLOW, REJECT = "allow", "reject"
VERBS = {ALLOW: "allowed", REJECT: "rejected"}


def is_rejected(update: Json, ask: Ask) -> bool:
    """Whether the answer was no."""
    return _verdict(_kind_chosen(update, ask)) == REJECT


def _kind_chosen(update: Json, ask: Ask) -> str:
    name = lenient.text(lenient.mapping(update, "outcome"), "optionId")
    return next((each.kind for each in ask.options if each.id == name), "")


def _verdict(kind: str) -> str:
    return next((each for each in VERBS if kind.startswith(each)), "")


def outcome(update: Json, by: str | None, ask: Ask) -> Json:
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
        "verdict": _verdict(_kind_chosen(update, ask)),
        "by": face if is_user else "",
        "where": ", ".join(filter(None, (person, who.where))),
        "reason": (reason_of(given) or (lenient.text(update, "reason") if ruled else ""))[:REASON],
        "actions": [],
    }


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _answer(update: Json, ask: Ask, who: str) -> str:
    """Return `You allowed it`, or which one, if there are several ways to allow or reject."""
    given, kind = lenient.mapping(update, "outcome"), _kind_chosen(update, ask)
    if answered := forms.answer(ask.schema or {}, lenient.mapping(given, "content")):
        return answered
    if ask.is_link and update.get("completed") is True:
        return sentence(links.DONE)
    if ask.is_link and (done := links.ANSWERED.get(lenient.text(given, "action"))):
        return sentence(who + done)
    if done := ANSWERED.get(lenient.text(given, "action")):
        return sentence(who + done)
    verdict, kinds = _verdict(kind), [each.kind for each in ask.options]
    is_plain = kind.endswith("_once") and kinds.count(kind) == 1
    if verdict and is_plain and ask.call:
        return sentence(f"{who}{VERBS[verdict]}") + (" it" if who else "")
    if name := lenient.text(update, "name"):
        # Without a call, its options are sentences.
        return sentence(f"{who}chose “{name}”") if who and ask.call else name
    return sentence(lenient.text(update, "reason") or lenient.text(given, "outcome"))


# --- asks that outlive their agent ---------------------------------------------------------------

SENT = "The prompt was sent again · waiting for the agent"
AWAY = "The agent is not running. Your answer is saved and wakes the session."
KEPT = "Your answer “{}” is saved and sent if it does."
GONE = "The agent ended"
FURTHER_DOWN = "Asked again below"


def left(before: Header, after: Header) -> list[Op]:
    """Return the ops for asks that went away or moved to another block: only one is shown."""
    if before.asks is after.asks:
        return []
    asks, now = asks_of(before), asks_of(after)
    ops = _together(asks, now)
    for name in asks.keys() - now.keys() if after.process is not before.process else ():
        if asks[name].is_link:
            ops += change(asks[name].block, status="cancelled", text=GONE, note="", actions=[])
    for known, ask in ((asks[name], ask) for name, ask in now.items() if name in asks):
        if known.block != ask.block:
            ops += change(known.block, status="moved", text=FURTHER_DOWN, note="", actions=[])
        elif ask.sent and not known.sent:
            ops += change(ask.block, status="kept", text=SENT, note="", actions=[])
        elif ask.away and not known.away:
            ops += change(ask.block, note=AWAY)
    return ops


def opened(before: Header, after: Header, *, completed: bool) -> list[Op]:
    """Return the ops for links that the user opened, and for their completion."""
    known, now = before.links, after.links
    if known is now:
        return []
    waits = [link["block"] for key, link in now.items() if key not in known]
    gone = [link["block"] for key, link in known.items() if key not in now]
    outcomes = dict.fromkeys(waits, links.WAITING) | dict.fromkeys(gone, links.DONE * completed)
    return [op for block, then in outcomes.items() for op in change(block, then=then)]


def _together(before: Mapping[str, Ask], after: Mapping[str, Ask]) -> list[Op]:
    """Return the ops for asks whose number changed, or which are alike now."""
    ops: list[Op] = []
    groups, known = together.alike(after), together.alike(before)
    for name, ask in after.items():
        fields: Json = {}
        if ask.step != (before[name].step if name in before else []):
            fields["step"] = ask.step or None
        if groups.get(name) != known.get(name):
            fields["same"] = groups.get(name, [])
        ops += change(ask.block, **fields) if fields else []
    return ops


def kept(before: Header, after: Header, event: Event) -> list[Op] | None:
    """Return the ops for an `_ask` about a kept ask; None if it is a plain one."""
    update = event.update
    ask = ask_of(before, update.get("id"))
    if update.get("state") == "answered":
        return _answered(ask, event) if ask else []
    if update.get("state") == "asked" and update.get("decide") is True and ask:
        return _undecided(ask, after, event)
    return None


def _answered(ask: Ask, event: Event) -> list[Op]:
    """Show an answer that waits for the agent."""
    answer, who = (
        lenient.text(event.update, "name")[:MAX_TEXT_LENGTH],
        by_of(event.by).person or "You",
    )
    if ask.decide:  # which is still to be done
        return change(ask.block, note=f"{ask.why} {KEPT.format(answer)}"[:MAX_TEXT_LENGTH])
    text = f"{who} answered “{answer}” · waiting for the agent"
    reason = lenient.text(lenient.mapping(event.update, "given"), "reason")[:REASON]
    return change(ask.block, status="kept", text=text, note="", reason=reason, actions=[])


def _undecided(ask: Ask, after: Header, event: Event) -> list[Op]:
    """Show an ask that cannot be asked again without consent: why, and two ways on."""
    now = from_agent(event.update).with_(options=kept_asks.OPTIONS)
    why = now.why + (f" {KEPT.format(ask.given.name)}" if ask.given else "")
    block = make_block(
        block_id(after, event) + "?",
        "ask",
        status="asked",
        title=now.message,
        kind="other",
        note=why,
        actions=[action_of(now, way) for way in now.options],
        agent=ask.agent or agent_name(after),
        parts=parts.from_tool_content(lenient.sequence(ask.call, "content"), ask.call),
    )
    return put(block)
