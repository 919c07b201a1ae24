"""How much the user is asked: about every action, what is risky, or nothing.

If an agent has such modes of its own, its mode is set. If it has none, the worker answers its asks:
by the rules, then by the mode. Agents that submit their actions for judgement (`auto_answer`; ours
does) are judged by the mode that is shown. All wording about modes is here, once for every
interface."""

from collections.abc import Sequence

from rookery.core.ask import Ask
from rookery.core.asks import asks
from rookery.core.asks.asks import Answer, Judgement, pick
from rookery.core.header import Header, Shown
from rookery.core.json import Draft, Json, lenient, notice, safe_text
from rookery.core.policy import approvals, go_asks, planning, rules, unattended
from rookery.core.policy.rules import described
from rookery.core.vendors import detection, options
from rookery.core.vendors.profiles import Profile, profile_for, vendor_profile

EVERY, RISKY, ALL = approvals.EVERY, approvals.RISKY, approvals.ALL
VALUES = (EVERY, RISKY, ALL)
OPTION = "confirm"

CHOICES = tuple((each.id, each.title, each.more) for each in approvals.TABLE if each.id in VALUES)
"""The choices for agents whose asks are answered here; `choices_of` gives those of one agent."""

_PLAN = approvals.BY_ID[approvals.PLAN]
PLAN_CHOICE = (_PLAN.id, _PLAN.title, _PLAN.more)
"""Where the agent has a mode for it."""

CAGED = "safe in this sandbox"
"""Added to the choice that approves everything, in a sandbox."""
SANDBOX = "An agent that decides on its own belongs in a sandbox (docs/sandbox.md)."

OF_THE_AGENT = "mode"
"""Shown where the agent is in a mode of its own that is none of ours, such as planning."""

PLAIN_KINDS = frozenset({"read", "search", "think", "fetch", "edit", "execute", "move"})


def option_of(header: Header) -> Json:
    """Return the mode as one of the options that the user chooses from."""
    known = choices_of(header.agent, header.vendor, header.sandbox)
    known += [PLAN_CHOICE] if plan_of(header) else []
    listed = [{"value": v, "name": name, "description": more} for v, name, more in known]
    base: Json = {"id": OPTION, "name": approvals.TITLE, "category": OPTION, "via": "rookery"}
    return base | {"value": current(header), "choices": listed}


def current(header: Header) -> str:
    """Return which of the choices is in force; none of them in an unattended session."""
    if is_planning(header):
        return approvals.PLAN
    return unattended.OPTION if header.unattended else header.confirm


def value_of(wanted: str) -> str | None:
    """Return the value that the user means, which may go by another name; None if it is not one
    (planning is not)."""
    value = approvals.id_of(wanted)
    return value if value in VALUES else None


def plan_of(header: Header) -> str:
    """Return the mode in which a session's agent plans; "" if it has, or reported, none."""
    mode = options.find(header.options, "mode")
    mode_id = options.choice_of(mode, approvals.PLAN) if mode and mode["choices"] else None
    return mode_id or profile_for(header).plans


def is_planning(head: Shown) -> bool:
    """Return whether the agent of a header or a head is in plan mode, whoever enforces it."""
    mode = head.mode or lenient.text(head.wanted, "mode")
    return head.confirm == approvals.PLAN or approvals.id_of(mode) == approvals.PLAN


# --- whose it is -------------------------------------------------------------------------------


def agent_value(profile: Profile, mode: Json | None, wanted: str) -> str | None:
    """Return the agent's own mode for this choice; None if it has none, or does not offer it."""
    offered = [choice["value"] for choice in mode["choices"]] if mode else []
    own = (value for ours, value in profile.confirms if ours == wanted)
    return next((value for value in own if value in offered), None)


def is_agents(profile: Profile, wanted: str) -> bool:
    """Return whether the agent is known to have a mode for this choice, offered or not."""
    return any(ours == wanted for ours, _ in profile.confirms)


def mode_for(profile: Profile, mode: Json | None, wanted: str) -> str | None:
    """Return the mode to set on the agent. If it has none for this choice it must ask about
    everything, so that the worker can answer."""
    return agent_value(profile, mode, wanted if is_agents(profile, wanted) else EVERY)


def unoffered(name: str, profile: Profile, mode: Json | None, wanted: str) -> str:
    """Return why the agent cannot be set to a mode it is known to have; "" if it can."""
    if not is_agents(profile, wanted) or agent_value(profile, mode, wanted) is not None:
        return ""
    label = approvals.WORDS[wanted]
    return f"{name} does not offer a mode for {label!r}.{hint(profile, wanted)}"


def hint(profile: Profile, wanted: str) -> str:
    if wanted != ALL or not profile.approves_with:
        return ""
    return f" It needs {profile.approves_with} in its environment."


def chosen(header: Header) -> str:
    """Return the requested choice, made by the user or by default (`_confirm`: the value, and what
    set it if the user did not)."""
    value = header.confirm_chosen[0]
    return value if value in VALUES else EVERY


def for_agent(confirm: str, nobody: object) -> str:
    """Return the choice of ours that selects the agent's own mode. In an unattended session
    (`nobody`: its order) that approves everything, the agent must ask: only so can the worker
    refuse."""
    return EVERY if nobody and confirm == ALL else confirm


def level(header: Header, profile: Profile) -> str:
    """Return the choice of ours by which the worker answers this agent's asks. If the agent has
    modes of its own, or had the action judged already, the mode allows nothing a second time."""
    mode = chosen(header)
    if for_agent(mode, header.unattended) != mode:
        return mode
    return EVERY if is_agents(profile, mode) else mode


def judged_by(header: Header) -> str:
    """Return the choice by which the worker judges an action: the one that is shown."""
    return header.confirm if header.confirm in (*VALUES, planning.MODE) else EVERY


def shown(header: Header) -> Json:
    """Return what clients are shown: how much is asked, and whether the agent never asks, or
    decides by itself what it asks in its mode."""
    profile = profile_for(header)
    mode = options.find(header.options, "mode")
    value, decides = chosen(header), False
    current = mode["value"] if mode else header.wanted.get("mode")
    if profile.confirms and current:
        own_mode = planning.MODE if current == profile.plans else OF_THE_AGENT
        ours = next((ours for ours, own in profile.confirms if own == current), own_mode)
        value = level(header, profile) if ours == EVERY else ours
        decides = ours != EVERY
    elif profile.confirms and "unloaded" not in (header.agent_session or {"unloaded": ""}):
        # it runs, and has no modes today
        value = level(header, profile)
    else:
        decides = _decides(profile, for_agent(value, header.unattended))
    decides = decides and not profile.judged
    return {"confirm": value, "neverAsks": profile.never_asks, "decides": decides}


def _decides(profile: Profile, wanted: str) -> bool:
    """Whether an agent has a mode of its own for this: nobody judges what it does not ask in it."""
    return wanted != EVERY and is_agents(profile, wanted) and not profile.judged


def beginning(agent: str, confirm: str) -> Header:
    """Return as much of a header as can be shown for a session that is yet to be created."""
    wanted = {"mode": confirm} if confirm == approvals.PLAN else {}
    vendor = detection.vendor_of(agent, ())
    header = Header({"agent": agent, "vendor": vendor, "wanted": wanted, "_confirm": [confirm, ""]})
    return header.with_(**shown(header))


# --- in words ----------------------------------------------------------------------------------


def choices_of(
    agent: str, vendor: str | None = None, sandbox: str = ""
) -> list[tuple[str, str, str]]:
    """Return the choices with what each means for this agent; `vendor` and `sandbox` are a
    header's, if there is one."""
    profile = vendor_profile(agent if vendor is None else vendor)
    if profile.never_asks:
        return [(value, title, _never(agent)) for value, title, _ in CHOICES]
    own = {value: _by_itself(agent) for value in VALUES if _decides(profile, value)}
    details = {value: own.get(value, more) for value, _, more in CHOICES}
    if sandbox:
        details[ALL] = f"{details[ALL]}; {CAGED}"
    return [(value, title, details[value]) for value, title, _ in CHOICES]


def decides_alone(agent: str, vendor: str | None = None) -> bool:
    """Return whether there is a choice with which the agent does not ask."""
    profile = vendor_profile(agent if vendor is None else vendor)
    return any(_decides(profile, value) for value in VALUES)


def words_of(agent: str, vendor: str | None, value: str) -> str:
    """Describe a choice in a sentence."""
    known = [*choices_of(agent, vendor), PLAN_CHOICE]
    return next((f"{title}: {more}" for each, title, more in known if each == value), value)


def summary(header: Header) -> str:
    """Describe a session's mode, as a clause that may follow other text."""
    agent, order = header.agent, unattended.order_of(header.unattended)
    if header.never_asks:
        return _never(agent)
    if header.decides:
        ours = approvals.BY_ID.get(current(header) if not order else header.confirm)
        rest = f"; {unattended.summary(order)}" if order else ""
        text = _by_itself(agent, header.mode) + rest
        return f"{ours.title}: {text}" if ours else text
    if is_planning(header):
        return words_of(agent, header.vendor, approvals.PLAN)
    if order:
        return unattended.summary(order)
    if header.confirm == OF_THE_AGENT:
        return f"{agent} decides what to ask, in its mode {header.mode}"
    return words_of(agent, header.vendor, header.confirm)


def sentence(header: Header) -> str:
    text = summary(header)
    return text[:1].upper() + text[1:] + "."


def label(head: Shown) -> str:
    """Return the mode's label from the table, given a header or a head; the head of an older build
    may lack fields. If the agent's own mode matches none of ours, return the vendor's name for it.
    """
    order, confirm = unattended.order_of(head.unattended), head.confirm
    if head.never_asks:
        return approvals.NEVER
    if is_planning(head):
        return approvals.WORDS[approvals.PLAN]
    if confirm == OF_THE_AGENT:
        return _own_label(head)
    if order and not head.decides:
        return approvals.NOBODY_ASKED[order.approve]
    return approvals.WORDS.get(confirm) or approvals.WORDS[EVERY]


def brief(head: Shown) -> str:
    """Return the same label, but "" if the user is asked about everything."""
    title = label(head)
    return "" if title == approvals.WORDS[EVERY] else title


def _own_label(head: Shown) -> str:
    mode, value = options.find(head.options, "mode"), head.mode
    names = {each["value"]: each["name"] for each in mode["choices"]} if mode else {}
    own = names.get(value, value)
    return own if own != value else approvals.spaced(value)


def title_of(header: Header, mode: str) -> str:
    """Return our title for an agent's mode that means the same; "" to keep the vendor's."""
    ours = next((ours for ours, own in profile_for(header).confirms if own == mode), "")
    if not ours and approvals.id_of(mode) == approvals.PLAN:
        ours = approvals.PLAN
    return approvals.BY_ID[ours].title if ours else ""


def is_telling(header: Header, option: Json) -> bool:
    """Return whether an option's value is worth showing beside the label: it is neither a default
    nor a mode that the label already names."""
    value = str(option["value"])
    if value.lower() == "default":
        return False
    is_mode = option["category"] == "mode"
    return not (is_mode and (profile_for(header).confirms or title_of(header, value)))


def retitled(header: Header) -> list[Json]:
    """Return the header's options, with our titles for the agent's modes."""
    return [
        each | {"choices": [_retitled(header, choice) for choice in each["choices"]]}
        if each["category"] == "mode"
        else each
        for each in header.options
    ]


def _retitled(header: Header, choice: Json) -> Json:
    return choice | {"name": title_of(header, choice["value"]) or choice["name"]}


def _by_itself(agent: str, mode: str = "") -> str:
    where = f" in its mode {mode}" if mode else ""
    return f"{agent} decides on its own{where}; your rules apply only to what it asks"


def _never(agent: str) -> str:
    return f"{agent} never asks, so your rules do not apply"


# --- what is answered --------------------------------------------------------------------------


def is_risky(call: "rules.Call") -> bool:
    """Return whether a call cannot be undone, or only by a snapshot, reaches outside the session's
    directories, or cannot be judged: its kind says little, or its command or path is not given."""
    if call.danger or call.risk or call.outside or call.kind not in PLAIN_KINDS:
        return True
    if call.kind == "execute":
        return not any(command.whole for command in call.commands)
    return call.kind in ("edit", "move") and not call.paths


PLAIN_RISKS = ("", "LOW", "MEDIUM")
"""A model's words about an action's risk that add nothing; "": it said nothing."""


def rule_on(
    call: "rules.Call", verdict: "rules.Verdict", confirm: str, *, guard: bool, risk: str = ""
) -> Judgement | None:
    """Return the answer given by the rules, or else by the mode; None if it is left to the user.
    `guard`: the user confirms what cannot be undone (`confirm_destructive`). `risk`: the model's
    assessment, which never lowers the risk."""
    if verdict.do in ("allow", "deny"):
        many = "rules" if "," in verdict.names else "rule"
        reason = f"{'allowed' if verdict.do == 'allow' else 'denied'} by {many} {verdict.names}"
        return Judgement(verdict.do, f"rule:{verdict.names}", reason, verdict.why)
    if verdict.do == "ask" or confirm == EVERY:
        return None
    if confirm == RISKY and risk in PLAIN_RISKS and not is_risky(call):
        return Judgement("allow", "confirm:risky", f"allowed, not risky ({approvals.WORDS[RISKY]})")
    if confirm == ALL and not (guard and call.danger):
        return Judgement("allow", "confirm:all", f"allowed ({approvals.WORDS[ALL]})")
    return None


def together(rulings: Sequence[Judgement | None]) -> Judgement | None:
    """Combine the rulings of an ask that stands for several calls: denied if any denies, allowed
    only if all allow; None if it is left to the user."""
    given = [ruling for ruling in rulings if ruling is not None]
    denied = next((ruling for ruling in given if not ruling.allow), None)
    if denied is not None or len(given) < len(rulings) or not given:
        return denied
    names = dict.fromkeys(ruling.by for ruling in given)
    reasons = dict.fromkeys(ruling.words for ruling in given)
    return given[0]._replace(by=", ".join(names), words=", ".join(reasons))


def ruled(ask: Ask, ruling: Judgement) -> Answer:
    """Answer an ask by a ruling, with the agent's own option: once rather than always."""
    allows = asks.ALLOWS[:1] if ask.danger else asks.ALLOWS
    option = pick(ask.options, allows if ruling.allow else asks.REJECTS)
    outcome = asks.selected(option, "" if ruling.allow else ruling.reason)
    missing = "" if option else ", but the agent offers no such option, so it was cancelled"
    reason = ruling.words + missing
    fields = {"name": option.name if option else "", "ruled": reason}
    if ruling.words != go_asks.READY:  # which is no objection to anything
        fields |= {"verdict": "allow" if ruling.allow and option is not None else "deny"}
    update = asks.closed(ask.id, outcome, **fields)
    if ruling.reason:
        update["reason"] = ruling.reason
    return Answer(Draft(update, None, ruling.by), {"outcome": outcome})


def with_rule(answer: Answer, rule: "rules.Rule", others: int = 0) -> tuple[Answer, Draft]:
    """Return the user's answer that also applies from now on, and the notice of how to take it
    back. `others`: how many open asks the rule allows, too."""
    draft = answer.draft
    update = draft.update | {"rule": rule.name, "ruled": f"from now on by rule {rule.name}"}
    also = f"It also allowed {safe_text.count(others, 'open question')}. " if others else ""
    text = (
        f"Rule {rule.name} allows this from now on: {described(rule)}. {also}"
        f"To undo: rookery policy remove {rule.name}"
    )
    made = Draft(notice(text, "info"), None, draft.by)
    return answer._replace(draft=draft._replace(update=update)), made
