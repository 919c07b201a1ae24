"""What is answered without a person: the rules as they stand in the file now, then how much this
session is to ask (rows P5, P6)."""

import os
from collections.abc import Callable
from contextlib import suppress

from rookery.client import rulebook
from rookery.config import Config, ConfigError
from rookery.core import confirming, loose, rules
from rookery.core.asks import Answer, Refusal
from rookery.core.events import Draft, Json
from rookery.core.profiles import Profile
from rookery.worker.engine import Engine

BY_CONFIG = "approve_all"
BY_NOBODY = ("default", "last", BY_CONFIG)
"""Who chose how much is asked, where it was no person for this session."""

LONGEST = 300

MOST_LINKS = 50
"""Paths of a call in which links are followed: what has more is allowed by no relative path."""
UNKNOWN = "/\0"


class Judge:
    def __init__(
        self,
        engine: Engine,
        config: Callable[[], Config],
        home: str,
        profile: Callable[[], Profile],
    ) -> None:
        """`config`: as the file stands at that moment, or stood when it was sound."""
        self._engine = engine
        self._config = config
        self._home = home
        self._profile = profile
        self._calls: dict[str, rules.Call] = {}
        """Of the open asks: what a rule would be made of."""

    def look_at(self, known: Json) -> rules.Call:
        """A tool call as rules see it, with the links in its paths followed."""
        header = self._engine.header
        given = [header["cwd"], *header["roots"]]
        roots = [*(os.path.realpath(root) for root in given), *given]
        call = rules.call_of(header["agent"], known, roots, os.path.expanduser("~"))
        paths = dict.fromkeys(call.paths)
        for path in call.paths[:MOST_LINKS]:
            with suppress(ValueError):  # of a path that no file can have
                paths[os.path.realpath(path)] = None
        if len(call.paths) > MOST_LINKS:
            paths[UNKNOWN] = None
        return call._replace(paths=tuple(paths))

    def note(self, ask: Json, call: rules.Call) -> Json:
        """The ask, with what "always allow this" would allow."""
        name = loose.text(ask, "id")
        self._calls = {
            key: self._calls[key] for key in self._engine.header["asks"] if key in self._calls
        }
        self._calls[name] = call
        from rookery.core import rule_choices

        found = rule_choices.choices(call, "new")
        if isinstance(found, rule_choices.Unruly) or not confirming.allowing(ask):
            return ask
        always = rules.described(found[0].rule)[:LONGEST]
        return ask | {"always": always, "alwaysChoices": [each.words for each in found]}

    def answer(self, ask: Json, call: rules.Call) -> Answer | None:
        """None: it waits for a person."""
        verdict = rules.decide(self._config().rules, call)
        level = confirming.level(self._engine.header, self._profile())
        guard = self._engine.policy.confirm_destructive
        ruling = confirming.rule_on(call, verdict, level, guard=guard)
        return None if ruling is None else confirming.ruled(ask, ruling)

    def allow_always(self, ask: Json, choice: int = 1) -> rules.Rule | Refusal:
        """A rule in the file that allows what this ask is about (rows P5, P12). `choice`: which of
        those that the ask lists."""
        call = self._calls.get(loose.text(ask, "id"))
        if call is None:
            return Refusal("no_rule", "Nothing in this ask says what exactly would be allowed.")
        from rookery.core import rule_choices

        found = rule_choices.choices(call, "new")
        if isinstance(found, rule_choices.Unruly):
            return Refusal("always_disabled" if call.danger else "no_rule", found.why)
        if not 1 <= choice <= len(found):
            return Refusal("no_rule", f"There are {len(found)} rules to choose from.")
        chosen = found[choice - 1].rule
        wanted = f"{call.agent}-{call.kind}"[: rules.LONGEST_NAME - 6]
        try:
            return rulebook.add(
                self._home,
                lambda known: chosen._replace(name=rulebook.free_name(known, wanted)),
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
