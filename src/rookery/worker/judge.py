"""What is answered without a person: the rules as they stand in the file now, then how much this
session is to ask (rows P5, P6)."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from rookery.client import rulebook
from rookery.config import Config, ConfigError
from rookery.core import ask_details, call_input, confirming, danger, loose, rules
from rookery.core.asks import Answer, Refusal
from rookery.core.calls import key_of
from rookery.core.changes import diffs
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


LOST = "stands for more calls than can be judged"


def worst(calls: Iterable[rules.Call]) -> str:
    """Why one of them cannot be undone; "": they all can."""
    return next((call.danger for call in calls if call.danger), "")


def _narrow(calls: Sequence[rules.Call]) -> rules.Rule | rules.Unruly:
    if danger := worst(calls):
        return rules.Unruly(f"This {danger}: it can be allowed once, not for good.")
    if len(calls) != 1:
        return rules.Unruly(f"This stands for {len(calls)} calls: a rule is made of one.")
    return rules.narrow(calls[0], "new")


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
        self._calls: dict[str, Sequence[rules.Call]] = {}
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

    def look_at_all(self, about: Iterable[Json]) -> list[rules.Call]:
        """The calls that an ask stands for; one that cannot be read by rules as it is, as several
        (row P11)."""
        found = []
        for call in about:
            seen = [self.look_at(danger.gist(each)) for each in call_input.judged(call)]
            if call.get("lost") is True:
                seen = [each._replace(cut=True, danger=LOST) for each in seen]
            found += seen
        return found

    def told(self, about: Sequence[Json], given: Json) -> list[Json]:
        """What those calls do, for whoever is asked (row P12). The changes in the ask's own call
        are in the log with that."""
        header = self._engine.header
        found = ask_details.of(about, header["cwd"], header["roots"], os.path.expanduser("~"))
        own = key_of(given) if diffs(given) else None
        return [item for item in found if item["what"] != "diff" or item["call"] != own]

    def note(self, ask: Json, calls: Sequence[rules.Call]) -> Json:
        """The ask, with what "always allow this" would allow."""
        name = loose.text(ask, "id")
        self._calls = {
            key: self._calls[key] for key in self._engine.header["asks"] if key in self._calls
        }
        self._calls[name] = calls
        rule = _narrow(calls)
        if isinstance(rule, rules.Rule) and confirming.allowing(ask):
            return ask | {"always": rules.described(rule)[:LONGEST]}
        return ask

    def answer(self, ask: Json, calls: Sequence[rules.Call]) -> Answer | None:
        """None: it waits for a person."""
        known = self._config().rules
        level = confirming.level(self._engine.header, self._profile())
        guard = self._engine.policy.confirm_destructive
        rulings = [
            confirming.rule_on(call, rules.decide(known, call), level, guard=guard)
            for call in calls
        ]
        ruling = confirming.together(rulings)
        return None if ruling is None else confirming.ruled(ask, ruling)

    def allow_always(self, ask: Json) -> rules.Rule | Refusal:
        """A rule in the file that allows what this ask is about (row P5)."""
        calls = self._calls.get(loose.text(ask, "id"))
        if not calls:
            return Refusal("no_rule", "Nothing in this ask says what exactly would be allowed.")
        call, narrow = calls[0], _narrow(calls)
        if isinstance(narrow, rules.Unruly):
            return Refusal("always_disabled" if worst(calls) else "no_rule", narrow.why)
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
