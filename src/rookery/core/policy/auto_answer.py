"""Judging an action before it runs: allow, deny or ask. The rules come first, then the check for
what cannot be undone, then the session's mode; the same for every agent."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.asks.asks import Judgement
from rookery.core.json import Draft, Json, lenient
from rookery.core.policy import modes, planning, rules
from rookery.core.vendors.profiles import Profile

METHOD = "_rookery/judge"
MAX_CALLS = 100
"""The largest number of calls in one request."""

OUTCOMES = ("allow", "deny", "ask")
LOOKS = frozenset({"read", "search", "think"})
"""Kinds of what changes nothing: files that are looked at, an agent's own plan."""
DENIED = "Denied by rule"
"""So begins what a model is told of a denial."""


UNREACHED = Judgement("")


def judge(
    known: Sequence[rules.Rule],
    call: rules.Call,
    confirm: str,
    *,
    guard: bool,
    risk: str = "",
    looks: bool = False,
    profile: Profile = Profile(),  # noqa: B008 (immutable)
) -> Judgement:
    """Return the judgement on an action: allow, deny or ask. `confirm`: the session's mode. `risk`:
    the model's own assessment, which can only raise the risk. `looks`: the agent vouches that its
    tool is of the kind it claims to be."""
    verdict = rules.decide(known, call)
    seen = _as_it_is(call, profile)  # for the mode; rules go by its word
    ruling = modes.rule_on(seen, verdict, confirm, guard=guard, risk=risk)
    if confirm == planning.MODE and (ruling is None or ruling.allow):
        allowed = ruling is not None
        if refused := in_plan_mode(call, profile, looks=looks, allowed=allowed):
            return refused
    if ruling is not None:
        return ruling
    if names := ", ".join(rule.name for rule in verdict.rules if rule.do == "ask"):
        return Judgement("ask", f"rule:{names}", f"rule {names} asks you")
    if looks and profile.judged and only_looks(call):
        return Judgement("allow", f"confirm:{confirm}", "allowed, it changes nothing")
    if confirm == planning.MODE and looks and profile.judged and planning.only_looks(seen):
        return Judgement("allow", f"confirm:{confirm}", "allowed, it changes nothing")
    if guard and call.danger:
        return Judgement("ask", "guard", f"it {call.danger}", call.danger)
    why = f": it {call.risk}" if call.risk else ""
    if call.programs:
        why = f": git may run what the repository names ({call.programs})"
    return Judgement("ask", f"confirm:{confirm}", f"the mode asks you{why}")


def _as_it_is(call: rules.Call, profile: Profile) -> rules.Call:
    plain = call.kind == "other" and bool(call.tools) and call.tools[0] in profile.plain
    return call._replace(kind="think") if plain else call


def in_plan_mode(
    call: rules.Call, profile: Profile, *, looks: bool, allowed: bool
) -> Judgement | None:
    """Return a denial if plan mode forbids the call; None if it looks or a rule allows it."""
    own = looks and profile.judged
    why = planning.refusal(_as_it_is(call, profile), own=own, allowed=allowed)
    return Judgement("deny", f"confirm:{planning.MODE}", planning.FORBIDDEN, why) if why else None


def only_looks(call: rules.Call) -> bool:
    """Return whether the call changes nothing and touches neither keys nor anything outside the
    session's directories: no mode asks about such calls."""
    return call.kind in LOOKS and not (call.danger or call.outside or call.cut)


def strictest(judgements: Iterable[Judgement]) -> Judgement:
    """Combine several readings of one action: denied if any denies, allowed only if all allow."""
    judged = list(judgements)
    for outcome in ("deny", "ask", "allow"):
        for each in judged:
            if each.outcome == outcome:
                return each
    return UNREACHED


# --- on the wire -------------------------------------------------------------------------------


class PendingAction(NamedTuple):
    """One action that an agent submits for judgement."""

    call: Json
    risk: str = ""
    looks: bool = False
    """Its tool is the agent's own and of that kind: a server's may call itself anything."""


def wanted_in(params: object) -> list[PendingAction] | None:
    """Parse the calls of a request; return None if it is malformed or has too many."""
    given = lenient.sequence(params, "calls")
    if not given or len(given) > MAX_CALLS:
        return None
    actions = [
        PendingAction(
            lenient.mapping(each, "toolCall"),
            lenient.text(each, "risk").upper(),
            lenient.flag(each, "looks"),
        )
        for each in given
    ]
    return actions if all(each.call for each in actions) else None


def judgements_in(answer: object, count: int) -> list[Judgement] | None:
    """Parse one judgement for each call asked about; None unless all of them are clear."""
    given = lenient.sequence(answer, "judgements")
    if len(given) != count or any(lenient.text(each, "outcome") not in OUTCOMES for each in given):
        return None
    return [Judgement(*(lenient.text(each, name) for name in Judgement._fields)) for each in given]


# --- in the log --------------------------------------------------------------------------------


def noted(call: Json, judgement: Judgement) -> Draft:
    """Return the record that a rule judged a call. What only the mode allowed is not recorded."""
    shown = {key: call[key] for key in ("toolCallId", "title", "kind") if key in call}
    update: Json = {"sessionUpdate": "_judged", "toolCall": shown, "verdict": judgement.outcome}
    update |= {"ruled": judgement.words}
    if judgement.reason:
        update["reason"] = judgement.reason
    return Draft(update, None, judgement.by)
