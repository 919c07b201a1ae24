"""How much a person is asked: every action, what is risky, or nothing (row P6).

One owner. Where an agent has such modes of its own, its mode is set, and its word is the truth.
Where it has none, the worker answers its asks: first by the rules (row P5), then by this. An agent
that wants its actions judged (`core.judgement`; our own does) is judged by the mode that is shown.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rookery.core import loose, options
from rookery.core.asks import CANCELLED, Answer, closed
from rookery.core.events import Draft, Json
from rookery.core.profiles import Profile, profile_of

if TYPE_CHECKING:  # whoever only shows a session does not wait for the rules
    from rookery.core import rules

EVERY, RISKY, ALL = "every", "risky", "all"
VALUES = (EVERY, RISKY, ALL)
OPTION = "confirm"

CHOICES = (
    (EVERY, "Confirm every action", "you are asked whenever the agent asks"),
    (RISKY, "High risk only", "what is plain and can be undone is allowed; you are asked the rest"),
    (ALL, "Approve all", "everything is allowed except what cannot be undone"),
)

_ALIKE = {
    EVERY: ("always", "ask", "alwaysask", "default", "manual"),
    RISKY: ("risk", "highrisk", "riskbased", "llmapprove", "auto"),
    ALL: ("approveall", "alwaysapprove", "yolo", "bypass", "bypasspermissions"),
}

OF_THE_AGENT = "mode"
"""Shown where the agent is in a mode of its own that is none of ours, such as planning."""

PLAIN_KINDS = frozenset({"read", "search", "think", "fetch", "edit", "execute", "move"})


def option_of(header: Json) -> Json:
    """As one of the options that a person chooses from."""
    listed = [{"value": v, "name": name, "description": more} for v, name, more in CHOICES]
    base: Json = {"id": OPTION, "name": "Confirm", "category": OPTION, "via": "rookery"}
    return base | {"value": header["confirm"], "choices": listed}


def value_of(wanted: str) -> str | None:
    """The value that a person means, also by another's name for it."""
    plain = "".join(sign for sign in wanted.lower() if sign.isalnum())
    return next((each for each in VALUES if plain == each or plain in _ALIKE[each]), None)


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
    """What the agent is set to. Where it has no mode for this it must ask, so that the worker can
    answer."""
    if is_agents(profile, wanted):
        return agent_value(profile, mode, wanted)
    return agent_value(profile, mode, EVERY)


def unoffered(name: str, profile: Profile, mode: Json | None, wanted: str) -> str:
    """Why the agent cannot be set to what it is known to have; "" where it can."""
    if not is_agents(profile, wanted) or agent_value(profile, mode, wanted) is not None:
        return ""
    words = {value: title for value, title, _ in CHOICES}[wanted]
    return f"{name} does not offer its mode for {words!r}.{hint(profile, wanted)}"


def hint(profile: Profile, wanted: str) -> str:
    if wanted != ALL or not profile.approves_with:
        return ""
    return f" It takes it only with {profile.approves_with} in its environment."


def chosen(header: Json) -> str:
    """What was wanted, by a person or else (`_confirm`: the value, and by whom where by none)."""
    value = header["_confirm"][0]
    return value if value in VALUES else EVERY


def level(header: Json, profile: Profile) -> str:
    """By which of ours the worker answers what this agent asks of a person: of one that has modes
    of its own, or had the action judged before, nothing is allowed by mode a second time."""
    wanted = chosen(header)
    return EVERY if is_agents(profile, wanted) else wanted


def judged_by(header: Json) -> str:
    """By which of ours the worker judges an action before it runs: the one that is shown."""
    return header["confirm"] if header["confirm"] in VALUES else EVERY


def shown(header: Json) -> Json:
    """What clients are told: how much is asked, and of an agent that never asks, that."""
    profile = profile_of(header["agent"], header["argv"])
    mode = options.find(header["options"], "mode")
    value = chosen(header)
    current = mode["value"] if mode else None
    if profile.confirms and current:
        ours = next((ours for ours, own in profile.confirms if own == current), OF_THE_AGENT)
        value = level(header, profile) if ours == EVERY else ours
    return {"confirm": value, "neverAsks": profile.never_asks}


# --- what is answered --------------------------------------------------------------------------


class Ruling(NamedTuple):
    """What is said for a person."""

    allow: bool
    by: str
    """For the log: rule:NAME or confirm:VALUE."""
    words: str
    """For people: allowed by rule NAME."""
    reason: str = ""


def is_risky(call: "rules.Call") -> bool:
    """What cannot be undone, what lies outside the session's directories, and what cannot be
    judged: a kind that says little, a command or a path that is not told."""
    if call.danger or call.outside or call.kind not in PLAIN_KINDS:
        return True
    if call.kind == "execute":
        return not any(command.whole for command in call.commands)
    return call.kind in ("edit", "move") and not call.paths


PLAIN_RISKS = ("", "LOW", "MEDIUM")
"""A model's words about an action's risk that add nothing; "": it said nothing."""


def rule_on(
    call: "rules.Call", verdict: "rules.Verdict", confirm: str, *, guard: bool, risk: str = ""
) -> Ruling | None:
    """The answer that rules, else the mode, give; None: a person's. `guard`: what cannot be undone
    is confirmed by a person (`confirm_destructive`). `risk`: what the model says of it, which never
    makes it less than it is."""
    if verdict.do in ("allow", "deny"):
        allow = verdict.do == "allow"
        many = "rules" if "," in verdict.names else "rule"
        words = f"{'allowed' if allow else 'denied'} by {many} {verdict.names}"
        return Ruling(allow, f"rule:{verdict.names}", words, verdict.why)
    if verdict.do == "ask" or confirm == EVERY:
        return None
    if confirm == RISKY and risk in PLAIN_RISKS and not is_risky(call):
        return Ruling(True, "confirm:risky", "allowed, not risky (confirm risky)")
    if confirm == ALL and not (guard and call.danger):
        return Ruling(True, "confirm:all", "allowed (confirm all)")
    return None


def together(rulings: Sequence[Ruling | None]) -> Ruling | None:
    """Of an ask that stands for several calls: denied where one is, allowed only where all are."""
    given = [ruling for ruling in rulings if ruling is not None]
    denied = next((ruling for ruling in given if not ruling.allow), None)
    if denied is not None or len(given) < len(rulings) or not given:
        return denied
    names = dict.fromkeys(ruling.by for ruling in given)
    words = dict.fromkeys(ruling.words for ruling in given)
    return given[0]._replace(by=", ".join(names), words=", ".join(words))


def ruled(ask: Json, ruling: Ruling) -> Answer:
    """An ask answered by a ruling: with the agent's own option, once rather than for good."""
    kinds = ("allow_once", "allow_always") if ruling.allow else ("reject_once", "reject_always")
    option = _option(ask, kinds)
    outcome: Json = CANCELLED["outcome"]
    words = ruling.words
    if option is not None:
        outcome = {"outcome": "selected", "optionId": option["optionId"]}
        if ruling.reason and not ruling.allow:  # for agents that pass it on to their model
            outcome = outcome | {"_meta": {"rookery": {"reason": ruling.reason}}}
    else:
        words += ", and the agent offers no way to say so: cancelled"
    said = {"name": loose.text(option, "name"), "ruled": words}
    said |= {"verdict": "allow" if ruling.allow and option is not None else "deny"}
    update = closed(loose.text(ask, "id"), outcome, **said)
    if ruling.reason:
        update["reason"] = ruling.reason
    return Answer(Draft(update, None, ruling.by), {"outcome": outcome})


def _option(ask: Json, kinds: tuple[str, ...]) -> Json | None:
    found = [each for each in loose.mappings(ask, "options") if loose.text(each, "optionId")]
    for kind in kinds:
        for option in found:
            if loose.text(option, "kind") == kind:
                return option
    return None


def allowing(ask: Json) -> str:
    """The id of the option that allows it once, else for good; "" where there is none."""
    option = _option(ask, ("allow_once", "allow_always"))
    return option["optionId"] if option else ""


def with_rule(answer: Answer, rule: "rules.Rule") -> tuple[Answer, Draft]:
    """A person's answer that holds from now on, and the notice that says how to take it back."""
    from rookery.core.rules import described

    draft = answer.draft
    update = draft.update | {"rule": rule.name, "ruled": f"from now on by rule {rule.name}"}
    text = (
        f"Rule {rule.name} allows this from now on: {described(rule)}. "
        f"rookery policy remove {rule.name} takes it back."
    )
    notice = Draft({"sessionUpdate": "_notice", "level": "info", "text": text}, None, draft.by)
    return answer._replace(draft=draft._replace(update=update)), notice
