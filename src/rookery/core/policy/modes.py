"""How much the user is asked: about every action, what is risky, or nothing.

Where an agent has such modes of its own, its mode is set. Where it has none, the worker answers its
asks: by the rules, then by the mode. Agents that want their actions judged (`auto_answer`; ours
does) are judged by the mode that is shown. All words about a mode are here, once for every
interface.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rookery.core.asks import asks
from rookery.core.asks.asks import Answer, Judgement, options_of, pick
from rookery.core.json import Draft, Json, lenient, notice, safe_text
from rookery.core.policy import approvals, go_asks, planning, unattended
from rookery.core.vendors import detection, options
from rookery.core.vendors.profiles import Profile, profile_for

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core.policy import rules

EVERY, RISKY, ALL = approvals.EVERY, approvals.RISKY, approvals.ALL
VALUES = (EVERY, RISKY, ALL)
OPTION = "confirm"

CHOICES = tuple((each.id, each.title, each.more) for each in approvals.TABLE if each.id in VALUES)
"""Of agents whose asks are answered here; `choices_of` says what holds for one."""

_PLAN = approvals.BY_ID[approvals.PLAN]
PLAN_CHOICE = (_PLAN.id, _PLAN.title, _PLAN.more)
"""Where the agent has a mode for it."""

CAGED = "safe in this sandbox"
"""Of the choice that approves all."""
SANDBOX = "An agent that decides on its own belongs in a sandbox (docs/sandbox.md)."

OF_THE_AGENT = "mode"
"""Shown where the agent is in a mode of its own that is none of ours, such as planning."""

PLAIN_KINDS = frozenset({"read", "search", "think", "fetch", "edit", "execute", "move"})


def option_of(header: Json) -> Json:
    """As one of the options that the user chooses from."""
    known = choices_of(header["agent"], header["vendor"], lenient.text(header, "sandbox"))
    known += [PLAN_CHOICE] if plan_of(header) else []
    listed = [{"value": v, "name": name, "description": more} for v, name, more in known]
    base: Json = {"id": OPTION, "name": approvals.TITLE, "category": OPTION, "via": "rookery"}
    return base | {"value": current(header), "choices": listed}


def current(header: Json) -> str:
    """Which of the choices holds; where nobody is asked, none of them."""
    if is_planning(header):
        return approvals.PLAN
    return unattended.OPTION if header["unattended"] else str(header["confirm"])


def value_of(wanted: str) -> str | None:
    """The value that the user means, also by another's name for it; planning is none of them."""
    value = approvals.id_of(wanted)
    return value if value in VALUES else None


def plan_of(header: Json) -> str:
    """The mode in which a session's agent plans; "": it has none, or has not said so yet."""
    mode = options.find(header["options"], "mode")
    found = options.choice_of(mode, approvals.PLAN) if mode and mode["choices"] else None
    return found or profile_for(header).plans


def is_planning(head: Json) -> bool:
    """Of a header or a head: whether the agent is in its plan mode, whoever enforces that."""
    mode = lenient.text(head, "mode") or lenient.text(lenient.mapping(head, "wanted"), "mode")
    return head.get("confirm") == approvals.PLAN or approvals.id_of(mode) == approvals.PLAN


# --- whose it is -------------------------------------------------------------------------------


def agent_value(profile: Profile, mode: Json | None, wanted: str) -> str | None:
    """The agent's own mode that is this; None where it has none, or does not offer it."""
    offered = [choice["value"] for choice in mode["choices"]] if mode else []
    own = (value for ours, value in profile.confirms if ours == wanted)
    return next((value for value in own if value in offered), None)


def is_agents(profile: Profile, wanted: str) -> bool:
    """Whether the agent is known to have a mode for this, offered or not."""
    return any(ours == wanted for ours, _ in profile.confirms)


def mode_for(profile: Profile, mode: Json | None, wanted: str) -> str | None:
    """What the agent is set to: without a mode for this it must ask, so that the worker answers."""
    return agent_value(profile, mode, wanted if is_agents(profile, wanted) else EVERY)


def unoffered(name: str, profile: Profile, mode: Json | None, wanted: str) -> str:
    """Why the agent cannot be set to what it is known to have; "" where it can."""
    if not is_agents(profile, wanted) or agent_value(profile, mode, wanted) is not None:
        return ""
    words = approvals.WORDS[wanted]
    return f"{name} does not offer a mode for {words!r}.{hint(profile, wanted)}"


def hint(profile: Profile, wanted: str) -> str:
    if wanted != ALL or not profile.approves_with:
        return ""
    return f" It needs {profile.approves_with} in its environment."


def chosen(header: Json) -> str:
    """What was wanted, by the user or else (`_confirm`: the value, and by whom where by none)."""
    value = header["_confirm"][0]
    return value if value in VALUES else EVERY


def for_agent(confirm: str, nobody: object) -> str:
    """By which of ours the agent's own mode is chosen. Where nobody is asked (`nobody`: the order
    of that) and all is approved, it must ask: only so can the worker say no."""
    return EVERY if nobody and confirm == ALL else confirm


def level(header: Json, profile: Profile) -> str:
    """By which of ours the worker answers what this agent asks of the user: of one that has modes
    of its own, or had the action judged before, nothing is allowed by mode a second time."""
    wanted = chosen(header)
    if for_agent(wanted, header["unattended"]) != wanted:
        return wanted
    return EVERY if is_agents(profile, wanted) else wanted


def judged_by(header: Json) -> str:
    """By which of ours the worker judges an action before it runs: the one that is shown."""
    return header["confirm"] if header["confirm"] in (*VALUES, planning.MODE) else EVERY


def shown(header: Json) -> Json:
    """What clients are told: how much is asked, and whether the agent never asks, or decides by
    itself what it asks in its mode."""
    profile = profile_for(header)
    mode = options.find(header["options"], "mode")
    value, decides = chosen(header), False
    current = mode["value"] if mode else header["wanted"].get("mode")
    if profile.confirms and current:
        own_mode = planning.MODE if current == profile.plans else OF_THE_AGENT
        ours = next((ours for ours, own in profile.confirms if own == current), own_mode)
        value = level(header, profile) if ours == EVERY else ours
        decides = ours != EVERY
    elif profile.confirms and "unloaded" not in (header["agentSession"] or {"unloaded": ""}):
        # it runs, and has no modes today
        value = level(header, profile)
    else:
        decides = _decides(profile, for_agent(value, header["unattended"]))
    decides = decides and not profile.judged
    return {"confirm": value, "neverAsks": profile.never_asks, "decides": decides}


def _decides(profile: Profile, wanted: str) -> bool:
    """Whether an agent has a mode of its own for this: nobody judges what it does not ask in it."""
    return wanted != EVERY and is_agents(profile, wanted) and not profile.judged


def beginning(agent: str, confirm: str) -> Json:
    """As much of a header as is told of a session that is to be made."""
    wanted = {"mode": confirm} if confirm == approvals.PLAN else {}
    header: Json = {"agent": agent, "options": [], "wanted": wanted, "mode": ""}
    header["vendor"] = detection.vendor_of(agent, ())
    header |= {"agentSession": None, "unattended": None, "_confirm": [confirm, ""]}
    return header | shown(header)


# --- in words ----------------------------------------------------------------------------------


def choices_of(
    agent: str, vendor: str | None = None, sandbox: str = ""
) -> list[tuple[str, str, str]]:
    """The choices with what each means for this agent; `vendor` and `sandbox`: a header's, if there
    is one."""
    profile = profile_for({"vendor": agent if vendor is None else vendor})
    if profile.never_asks:
        return [(value, title, _never(agent)) for value, title, _ in CHOICES]
    own = {value: _by_itself(agent) for value in VALUES if _decides(profile, value)}
    words = {value: own.get(value, more) for value, _, more in CHOICES}
    if sandbox:
        words[ALL] = f"{words[ALL]}; {CAGED}"
    return [(value, title, words[value]) for value, title, _ in CHOICES]


def decides_alone(agent: str, vendor: str | None = None) -> bool:
    """Whether there is a choice with which the agent does not ask."""
    profile = profile_for({"vendor": agent if vendor is None else vendor})
    return any(_decides(profile, value) for value in VALUES)


def words_of(agent: str, vendor: str | None, value: str) -> str:
    """A choice in a sentence."""
    known = [*choices_of(agent, vendor), PLAN_CHOICE]
    return next((f"{title}: {more}" for each, title, more in known if each == value), value)


def said(header: Json) -> str:
    """What holds in a session, in words that may stand behind others."""
    agent, order = header["agent"], unattended.order_of(header["unattended"])
    if header["neverAsks"]:
        return _never(agent)
    if header["decides"]:
        ours = approvals.BY_ID.get(current(header) if not order else header["confirm"])
        rest = f"; {unattended.words(order)}" if order else ""
        words = _by_itself(agent, lenient.text(header, "mode")) + rest
        return f"{ours.title}: {words}" if ours else words
    if is_planning(header):
        return words_of(agent, header["vendor"], approvals.PLAN)
    if order:
        return unattended.words(order)
    if header["confirm"] == OF_THE_AGENT:
        return f"{agent} decides what to ask, in its mode {header['mode']}"
    return words_of(agent, header["vendor"], header["confirm"])


def sentence(header: Json) -> str:
    words = said(header)
    return words[:1].upper() + words[1:] + "."


def label(head: Json) -> str:
    """The same in the words of the table, once; from a header or a head. The head of an earlier
    build says less. In a mode of its own that means none of ours, the vendor's name for it."""
    order, confirm = unattended.order_of(head.get("unattended")), lenient.text(head, "confirm")
    if head.get("neverAsks"):
        return approvals.NEVER
    if is_planning(head):
        return approvals.WORDS[approvals.PLAN]
    if confirm == OF_THE_AGENT:
        return _own_label(head)
    if order and not head.get("decides"):
        return approvals.NOBODY_ASKED[order.approve]
    return approvals.WORDS.get(confirm) or approvals.WORDS[EVERY]


def brief(head: Json) -> str:
    """The same, but "" where you are asked whatever is asked."""
    found = label(head)
    return "" if found == approvals.WORDS[EVERY] else found


def _own_label(head: Json) -> str:
    mode, value = options.find(head.get("options") or [], "mode"), lenient.text(head, "mode")
    names = {each["value"]: each["name"] for each in mode["choices"]} if mode else {}
    own = names.get(value, value)
    return own if own != value else approvals.spaced(value)


def title_of(header: Json, mode: str) -> str:
    """An agent's mode in our words where it means the same; "": the vendor's name for it stays."""
    ours = next((ours for ours, own in profile_for(header).confirms if own == mode), "")
    if not ours and approvals.id_of(mode) == approvals.PLAN:
        ours = approvals.PLAN
    return approvals.BY_ID[ours].title if ours else ""


def is_telling(header: Json, option: Json) -> bool:
    """Whether an option's value is worth a place beside the label: not a default, nor a mode that
    the label names."""
    value = str(option["value"])
    if value.lower() == "default":
        return False
    is_mode = option["category"] == "mode"
    return not (is_mode and (profile_for(header).confirms or title_of(header, value)))


def retitled(header: Json) -> list[Json]:
    """The header's options, with our words for the agent's modes."""
    return [
        each | {"choices": [_retitled(header, choice) for choice in each["choices"]]}
        if each["category"] == "mode"
        else each
        for each in header["options"]
    ]


def _retitled(header: Json, choice: Json) -> Json:
    return choice | {"name": title_of(header, choice["value"]) or choice["name"]}


def _by_itself(agent: str, mode: str = "") -> str:
    where = f" in its mode {mode}" if mode else ""
    return f"{agent} decides on its own{where}; your rules apply only to what it asks"


def _never(agent: str) -> str:
    return f"{agent} never asks, so your rules do not apply"


# --- what is answered --------------------------------------------------------------------------


def is_risky(call: "rules.Call") -> bool:
    """What cannot be undone, or only by a snapshot, what lies outside the session's directories,
    and what cannot be judged: a kind that says little, a command or a path that is not told."""
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
    """The answer that rules, else the mode, give; None: the user's. `guard`: what cannot be undone
    is confirmed by the user (`confirm_destructive`). `risk`: what the model says of it, which never
    makes it less than it is."""
    if verdict.do in ("allow", "deny"):
        many = "rules" if "," in verdict.names else "rule"
        words = f"{'allowed' if verdict.do == 'allow' else 'denied'} by {many} {verdict.names}"
        return Judgement(verdict.do, f"rule:{verdict.names}", words, verdict.why)
    if verdict.do == "ask" or confirm == EVERY:
        return None
    if confirm == RISKY and risk in PLAIN_RISKS and not is_risky(call):
        return Judgement("allow", "confirm:risky", f"allowed, not risky ({approvals.WORDS[RISKY]})")
    if confirm == ALL and not (guard and call.danger):
        return Judgement("allow", "confirm:all", f"allowed ({approvals.WORDS[ALL]})")
    return None


def together(rulings: Sequence[Judgement | None]) -> Judgement | None:
    """Of an ask that stands for several calls: denied where one is, allowed only where all are."""
    given = [ruling for ruling in rulings if ruling is not None]
    denied = next((ruling for ruling in given if not ruling.allow), None)
    if denied is not None or len(given) < len(rulings) or not given:
        return denied
    names = dict.fromkeys(ruling.by for ruling in given)
    words = dict.fromkeys(ruling.words for ruling in given)
    return given[0]._replace(by=", ".join(names), words=", ".join(words))


def ruled(ask: Json, ruling: Judgement) -> Answer:
    """An ask answered by a ruling: with the agent's own option, once rather than always."""
    allows = asks.ALLOWS[:1] if lenient.text(ask, "danger") else asks.ALLOWS
    option = pick(options_of(ask), allows if ruling.allow else asks.REJECTS)
    outcome = asks.selected(option, "" if ruling.allow else ruling.reason)
    missing = "" if option else ", but the agent offers no such option, so it was cancelled"
    words = ruling.words + missing
    said = {"name": lenient.text(option, "name"), "ruled": words}
    if ruling.words != go_asks.READY:  # which is no objection to anything
        said |= {"verdict": "allow" if ruling.allow and option is not None else "deny"}
    update = asks.closed(lenient.text(ask, "id"), outcome, **said)
    if ruling.reason:
        update["reason"] = ruling.reason
    return Answer(Draft(update, None, ruling.by), {"outcome": outcome})


def with_rule(answer: Answer, rule: "rules.Rule", others: int = 0) -> tuple[Answer, Draft]:
    """The user's answer that holds from now on, and the notice that says how to take it back.
    `others`: open asks that the rule allows, too."""
    from rookery.core.policy.rules import described

    draft = answer.draft
    update = draft.update | {"rule": rule.name, "ruled": f"from now on by rule {rule.name}"}
    also = f"It also allowed {safe_text.count(others, 'open question')}. " if others else ""
    text = (
        f"Rule {rule.name} allows this from now on: {described(rule)}. {also}"
        f"To undo: rookery policy remove {rule.name}"
    )
    made = Draft(notice(text, "info"), None, draft.by)
    return answer._replace(draft=draft._replace(update=update)), made
