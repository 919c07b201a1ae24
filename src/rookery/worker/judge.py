"""What is answered without a person: the rules as they stand in the file now, then how much this
session is to ask (rows P5, P6, P11)."""

from collections.abc import Callable, Mapping

from rookery import places
from rookery.client import rulebook
from rookery.config import Config, ConfigError
from rookery.core import confirming, judgement, loose, rules
from rookery.core.asks import Answer, Refusal
from rookery.core.calls import key_of
from rookery.core.events import Draft, Json
from rookery.core.profiles import Profile
from rookery.worker.engine import Engine

BY_CONFIG = "approve_all"
BY_NOBODY = ("default", "last", BY_CONFIG)
"""Who chose how much is asked, where it was no person for this session."""

LONGEST = 300

LEFT_KEPT = 500
"""Calls of which is known that a person is to be asked."""


class Judge:
    def __init__(
        self,
        engine: Engine,
        config: Callable[[], Config],
        home: str,
        profile: Callable[[], Profile],
        environment: Mapping[str, str],
    ) -> None:
        """`config`: as the file stands at that moment, or stood when it was sound. `environment`:
        the session's."""
        self._engine = engine
        self._config = config
        self._home = home
        self._profile = profile
        self._calls: dict[str, rules.Call] = {}
        """Of the open asks: what a rule would be made of."""
        self._left: dict[str, None] = {}
        self._lay = places.lay(home, environment)

    def look_at(self, known: Json) -> rules.Call:
        """A tool call as rules see it, with the links in its paths followed."""
        header = self._engine.header
        return places.look_at(header["agent"], known, [header["cwd"], *header["roots"]], self._lay)

    def note(self, ask: Json, call: rules.Call) -> Json:
        """The ask, with what "always allow this" would allow."""
        name = loose.text(ask, "id")
        self._calls = {
            key: self._calls[key] for key in self._engine.header["asks"] if key in self._calls
        }
        self._calls[name] = call
        rule = rules.narrow(call, "new")
        if isinstance(rule, rules.Rule) and confirming.allowing(ask):
            return ask | {"always": rules.described(rule)[:LONGEST]}
        return ask

    def judge(self, key: str, call: rules.Call, risk: str) -> judgement.Judgement:
        """What is done with a call that its agent wants judged before it runs."""
        found = judgement.judge(
            self._config().rules,
            call,
            confirming.judged_by(self._engine.header),
            guard=self._engine.policy.confirm_destructive,
            risk=risk,
            profile=self._profile(),
        )
        self._left.pop(key, None)
        if found.outcome == "ask":
            self._left[key] = None
            if len(self._left) > LEFT_KEPT:
                del self._left[next(iter(self._left))]
        return found

    def answer(self, ask: Json, call: rules.Call) -> Answer | None:
        """None: it waits for a person."""
        verdict = rules.decide(self._config().rules, call)
        left = key_of(loose.mapping(ask, "toolCall")) in self._left  # the mode had its say
        level = confirming.level(self._engine.header, self._profile())
        level = confirming.EVERY if left else level
        guard = self._engine.policy.confirm_destructive
        ruling = confirming.rule_on(call, verdict, level, guard=guard)
        return None if ruling is None else confirming.ruled(ask, ruling)

    def allow_always(self, ask: Json) -> rules.Rule | Refusal:
        """A rule in the file that allows what this ask is about (row P5)."""
        call = self._calls.get(loose.text(ask, "id"))
        if call is None:
            return Refusal("no_rule", "Nothing in this ask says what exactly would be allowed.")
        narrow = rules.narrow(call, "new")
        if isinstance(narrow, rules.Unruly):
            return Refusal("always_disabled" if call.danger else "no_rule", narrow.why)
        wanted = f"{call.agent}-{call.kind}"[: rules.LONGEST_NAME - 6]
        try:
            return rulebook.add(
                self._home,
                lambda known: narrow._replace(name=rulebook.free_name(known, wanted)),
            )
        except (ConfigError, rulebook.NotEdited, OSError) as error:
            return Refusal(
                "not_written", f"The rule was not written, nothing was answered: {error}"
            )

    def settle_default(self) -> None:
        """`[session] approve_all`, before the agent is started; a choice made for this session
        stays."""
        approves = self._config().approve_all
        wanted, by = self._engine.header["_confirm"]
        nobody = not wanted or by in BY_NOBODY
        update: Json = {"sessionUpdate": "_session"}
        if approves and nobody and wanted != confirming.ALL:
            update |= {"confirm": confirming.ALL, "confirmBy": BY_CONFIG}
        elif not approves and by == BY_CONFIG:
            update |= {"confirm": confirming.EVERY, "confirmBy": "default"}
        else:
            return
        self._engine.append(Draft(update, None, "config:approve_all"))
