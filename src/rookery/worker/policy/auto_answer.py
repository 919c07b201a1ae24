"""Answers asks without the user: first by the rules as they are in the file now, then by how much
this session is to ask."""

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rookery.client.config import rules as config_rules
from rookery.client.config import toml_file
from rookery.client.config.in_force import Waiting
from rookery.core import blocks, policy
from rookery.core.agent.addresses import address_of
from rookery.core.ask import Ask
from rookery.core.asks import kept_asks
from rookery.core.asks.asks import ALLOWS, Answer, Judgement, Refusal, once_only, pick
from rookery.core.asks.identity import digest_of
from rookery.core.blocks.parts import diffs
from rookery.core.dangers.places import named
from rookery.core.json import Draft, Json, lenient
from rookery.core.json.files import Unusable
from rookery.core.policy import (
    auto_answer,
    call_input,
    danger,
    hook_asks,
    modes,
    planning,
    unattended,
)
from rookery.core.policy import rules as policy_rules
from rookery.core.tools.calls import key_of
from rookery.core.turn.calls import TurnCalls
from rookery.home import call_paths
from rookery.home.config import Config, ConfigError
from rookery.home.overwritten import Snapshots
from rookery.home.paths import with_tilde
from rookery.snapshots import job as snapshot_job
from rookery.wire.jsonrpc import INVALID_PARAMS, Incoming
from rookery.worker.session import Session

if TYPE_CHECKING:
    from rookery.core.policy.rule_choices import Choice

_LEADS = re.compile(r"\b(git|cd)\b")
BY_CONFIG = "approve_all"
BY_NOBODY = ("default", "last", "config", BY_CONFIG)
"""Who chose how much is asked, where it was no person for this session."""

MAX_RULE_LENGTH = 300

ASKS_KEPT = 100
LEFT_KEPT = 500
"""Calls of which is known that the user is to be asked."""


CHANGED = (
    "The project's hooks have changed since that was asked. Choose not now; you are asked again "
    "with the next prompt."
)
LOST = "covers more calls than can be judged"


def dangers(calls: Iterable[policy_rules.Call]) -> str:
    """Return all irreversible actions among these calls; "" if there are none."""
    return named(call.danger for call in calls)


def _choices(calls: Sequence[policy_rules.Call], project: str) -> "tuple[Choice, ...] | str":
    """Return the rules for a project that an ask about these calls could become, or why there are
    none."""
    if why := dangers(calls):
        return once_only(why)
    if len(calls) != 1:
        return f"This is about {len(calls)} calls: a rule can cover only one."
    return policy.rule_choices.choices(calls[0], "new", project)


class AutoAnswer:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls: dict[str, Sequence[policy_rules.Call]] = {}
        """Of the last asks: what a rule would be made of."""
        self._left: dict[str, None] = {}
        self._lay = call_paths.lay(session.home, session.surroundings.environment)

    def look_at(self, known: Json) -> policy_rules.Call:
        """Return a tool call as rules see it, with the links in its paths followed."""
        header = self._session.header
        tree = header.worktree or {}
        origins = [lenient.text(tree, "origin"), lenient.text(tree, "git")]
        guarded = call_paths.guarded(header.cwd, *filter(None, origins))
        roots = [header.cwd, *header.roots]
        lay = self._lay._replace(guarded=guarded)
        origin = lenient.text(tree, "origin")
        return call_paths.look_at(header.agent, known, roots, lay, self._snapshots(), origin)

    def _snapshots(self) -> Snapshots | None:
        """Return what snapshots cover here; None if the agent works on files of another machine."""
        session = self._session
        if address_of(session.argv()):
            return None
        refused = lenient.text(session.header.snapshot, "refused")
        most = session.policy.snapshot_file_bytes
        return Snapshots(
            most if session.policy.snapshots and not refused else 0,
            os.path.join(session.directory, snapshot_job.FOLDER),
            session.home,
            session.surroundings.environment,
        )

    def look_at_all(self, about: Iterable[Json]) -> list[policy_rules.Call]:
        """Return the calls that an ask stands for. One that rules cannot read as it is becomes
        several."""
        calls = []
        for call in about:
            seen = [self.look_at(danger.gist(each)) for each in call_input.judged(call)]
            if call.get("lost") is True:
                seen = [each._replace(cut=True, danger=LOST) for each in seen]
            calls += seen
        return calls

    def details(self, about: Sequence[Json], given: Json) -> list[Json]:
        """Return what those calls do, for the user. Changes in the ask's own call are left out:
        they are in the log with that call."""
        header = self._session.header
        details = blocks.ask_details.of(about, header.cwd, header.roots, os.path.expanduser("~"))
        own = key_of(given) if diffs(given) else None
        return [item for item in details if item["what"] != "diff" or item["call"] != own]

    def note(self, ask: Ask, calls: Sequence[policy_rules.Call]) -> Ask:
        """Return the ask with what only a snapshot would undo of it, and with what "always allow
        this" would allow."""
        risk = named(call.risk for call in calls)
        ask = ask.with_(explains=policy.explained.explained(calls, guarded=bool(ask.danger)))
        ask = ask.with_(risk=risk) if risk else ask
        self._calls[ask.id] = calls
        if len(self._calls) > ASKS_KEPT:
            del self._calls[next(iter(self._calls))]
        offers = _choices(calls, self._project)
        if isinstance(offers, str) or not pick(ask.options, ALLOWS):
            return ask
        always = policy_rules.described(offers[0].rule)[:MAX_RULE_LENGTH]
        ask = ask.with_(always=always, alwaysChoices=[each.label for each in offers])
        return ask.with_(
            alwaysReach=[*map(self._reach, offers)],
            alike=digest_of(policy.rule_choices.alike(offers)),
        )

    @property
    def _project(self) -> str:
        header = self._session.header
        origin = lenient.text(header.worktree or {}, "origin")
        return call_paths.project_of(header.cwd, origin)

    def _reach(self, choice: "Choice") -> str:
        """Return the rule that a choice adds, where it is written, and what it matches."""
        file = with_tilde(toml_file.place(self._session.home))
        rule = policy_rules.described(choice.rule._replace(project=()))[:MAX_RULE_LENGTH]
        places = " or ".join(map(with_tilde, choice.rule.project))
        return f"Adds a rule to {file}: {rule}. In sessions that work in {places}. {choice.matches}"

    def _config(self) -> Config:
        """The configuration as the file stands now, if it is valid: rules apply from the moment
        they are made."""
        self._session.look_at_settings()
        return self._session.config

    @property
    def _order(self) -> unattended.Order | None:
        """The order that stands in for the user, if nobody is asked in this session."""
        return unattended.order_of(self._session.header.unattended)

    @property
    def _guards(self) -> bool:
        """Whether only the user may allow irreversible actions."""
        guards = self._session.policy.confirm_destructive
        return guards and not unattended.allows_destructive(self._order)

    def take_request(self, incoming: Incoming, known: TurnCalls) -> None:
        """Answer `_rookery/judge`: an agent asks about actions before it runs them. `known`: the
        calls of this turn, as far as they were announced."""
        wanted = auto_answer.wanted_in(incoming.params)
        if wanted is None:
            text = f"calls must be 1 to {auto_answer.MAX_CALLS} objects with a toolCall"
            incoming.fail(INVALID_PARAMS, text)
            return
        rulings: list[Judgement] = []
        for call, risk, looks in wanted:
            calls = self.look_at_all([known.record(call)])
            judged = self._judge(key_of(call), calls, risk, looks=looks)
            rulings.append(judged)
            if judged.by_rule and judged.outcome != "ask":
                self._session.append(auto_answer.noted(call, judged))
        answer = partial(incoming.reply, {"judgements": [each.as_json() for each in rulings]})
        if any(each.by_rule for each in rulings):  # what a rule said is in the log before it holds
            self._session.then(answer, at_once=True)
        else:  # before what was said with it is written down
            answer(at_once=True)
            self._session.goes_on = all(each.allow for each in rulings)

    def _judge(
        self, key: str, calls: Sequence[policy_rules.Call], risk: str, *, looks: bool = False
    ) -> Judgement:
        """Judge a call before its agent runs it. `calls`: the ways in which it can be read; the
        strictest counts."""
        confirm = modes.judged_by(self._session.header)
        if confirm == planning.MODE:
            calls = [with_programs(call) for call in calls]
        judgement = auto_answer.strictest(
            auto_answer.judge(
                self._config().rules,
                call,
                confirm,
                guard=self._guards,
                risk=risk,
                looks=looks,
                profile=self._session.profile(),
            )
            for call in calls
        )
        self._left.pop(key, None)
        if judgement.outcome == "ask":
            self._left[key] = None
            if len(self._left) > LEFT_KEPT:
                del self._left[next(iter(self._left))]
        return judgement

    def answer(self, ask: Ask, calls: Sequence[policy_rules.Call]) -> Answer | None:
        """Return the answer to an ask; None if it waits for the user."""
        known, order = self._config().rules, self._order
        left = key_of(ask.call) in self._left  # the mode had its say
        level = modes.level(self._session.header, self._session.profile())
        level = modes.EVERY if left else level
        plans = self._session.header.wanted.get("mode") == planning.MODE
        rulings = []
        for call in calls:
            verdict = policy_rules.decide(known, call)
            ruling = modes.rule_on(call, verdict, level, guard=self._guards)
            rulings.append(unattended.settled(order, ruling, call, verdict, plans=plans))
        ruling = modes.together(rulings)
        return None if ruling is None else modes.ruled(ask, ruling)

    def covered(self) -> list[tuple[Ask, Answer]]:
        """Return the open asks that rules allow by now, as they would if asked now. A mode or a
        denial answers none of them."""
        self._config()
        matches = []
        for name, ask in kept_asks.live(self._session.header).items():
            calls = self._calls.get(name)
            answer = self.answer(ask, calls) if calls and not ask.ruled else None
            if answer and answer.draft.update.get("verdict") == "allow":
                by_rule = (answer.draft.by or "").startswith("rule:")
                matches += [(ask, answer)] if by_rule else []
        return matches

    def answer_about_hooks(self, ask: Ask) -> Answer | None:
        """Return the answer on whether a project's hooks may run, which no rule and no mode
        decides; None if it waits for the user."""
        return hook_asks.settled(self._order, ask)

    def trust_hooks(self, ask: Ask, option: str) -> Refusal | None:
        """Remember the user's answer about a project's hooks before their agent hears it: it
        applies to the hooks as they are now, if the ask was about those. Return why it was refused,
        else None."""
        if option not in (hook_asks.TRUST, hook_asks.NEVER):
            return None
        from rookery.client.project_hooks import hook_file, trust

        home, cwd = self._session.home, self._session.header.cwd
        try:
            now = hook_file.find(home, cwd)
            fingerprint = hook_asks.fingerprint_in(ask.call)
            if now is None or now.fault or now.fingerprint != fingerprint:
                return Refusal("hooks_changed", CHANGED)
            trust.remember(home, now, trusts=option == hook_asks.TRUST, asked=True)
        except (Unusable, Waiting, ConfigError, OSError) as error:
            return Refusal("not_written", f"Nothing was answered: {error}")
        return None

    def answer_for_nobody(self, ask: Ask) -> Answer | None:
        """Answer an ask that has no call to be judged; None if it waits for the user."""
        order = self._order
        if order is None:
            return None
        if ask.is_question:
            return unattended.answered(order, ask)
        return self.answer(ask, [policy_rules.Call(self._session.header.agent, "other")])

    def allow_always(self, ask: Ask, choice: int = 1) -> policy_rules.Rule | Refusal:
        """Add a rule to the file that allows what this ask is about. `choice`: the number of the
        rule among those that the ask lists."""
        calls = self._calls.get(ask.id)
        if not calls:
            return Refusal("no_rule", policy.rule_choices.VAGUE)
        call, choices = calls[0], _choices(calls, self._project)
        if isinstance(choices, str):
            return Refusal("always_disabled" if dangers(calls) else "no_rule", choices)
        if not 1 <= choice <= len(choices):
            return Refusal("no_rule", f"Choose a rule from 1 to {len(choices)}.")
        chosen = choices[choice - 1].rule
        name = f"{call.agent}-{call.kind}"[: policy_rules.LONGEST_NAME - 6]
        try:
            return config_rules.add(
                self._session.home,
                lambda known: chosen._replace(name=config_rules.free_name(known, name)),
            )
        except (ConfigError, toml_file.NotEdited, OSError) as error:
            return Refusal(
                "not_written", f"The rule was not saved and nothing was answered: {error}"
            )

    def settle_default(self) -> None:
        """Apply `[session] approve_all` before the agent is started; a choice made for this session
        stays."""
        approves = self._config().approve_all
        wanted, by = self._session.header.confirm_chosen
        nobody = not wanted or by in BY_NOBODY
        update: Json = {"sessionUpdate": "_session"}
        if approves and nobody and wanted != modes.ALL:
            update |= {"confirm": modes.ALL, "confirmBy": BY_CONFIG}
        elif not approves and by == BY_CONFIG:
            update |= {"confirm": modes.EVERY, "confirmBy": "default"}
        else:
            return
        self._session.append(Draft(update, None, "config:approve_all"))


def with_programs(call: policy_rules.Call) -> policy_rules.Call:
    """Return a call together with the programs that git may run for it: in plan mode, read-only
    calls are allowed unasked. Entering a directory counts, too: the next command runs there."""
    lines = [each.whole for each in call.commands if _LEADS.search(each.whole)]
    if call.kind != "execute" or not lines or not call.roots:
        return call
    from rookery.git import armed

    lines += map(shlex.quote, call.paths)
    programs = (armed.programs(root, lines) for root in call.roots)
    return call._replace(programs=next(filter(None, programs), ""))
