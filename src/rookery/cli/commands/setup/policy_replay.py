"""Replaying a log against the rules: how they would have answered its asks, and the calls that a
rule judged without an ask, next to the answers that were given."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.ask import Ask, from_agent
from rookery.core.fold import advance
from rookery.core.header import EMPTY
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.policy import call_input, danger, reach, rules
from rookery.core.turn.calls import TurnCalls
from rookery.home import call_paths, paths
from rookery.log.reader import Reader


class Replayed(NamedTuple):
    session: str
    seq: int
    turn: int
    what: str
    said: str
    """allow, deny, cancelled, or "" while it is open."""
    by: str
    verdict: rules.Verdict

    @property
    def by_person(self) -> bool:
        return bool(self.by) and not self.by.startswith(
            ("rule:", "confirm:", "unattended:", "watchdog:", "headless:")
        )

    @property
    def differs(self) -> bool:
        """Whether the user gave an answer and the rules would have given another."""
        if self.verdict.do not in ("allow", "deny") or not self.by_person:
            return False
        return self.verdict.do != self.said

    def as_json(self) -> Json:
        fields, verdict = self._asdict(), self.verdict
        del fields["verdict"]
        fields |= {"rules": verdict.do, "rule": verdict.names, "why": verdict.why}
        return fields | {"differs": self.differs}


def replay(session: str, known: tuple[rules.Rule, ...]) -> list[Replayed]:
    """Return every permission that a session's agents asked for, in order."""
    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        return _Play(session, known).play(log.events())


class _Play:
    """A walk over a log as the worker saw it: what is known of a call at its ask."""

    def __init__(self, session: str, known: tuple[rules.Rule, ...]) -> None:
        self._session = session
        self._rules = known
        self._calls = TurnCalls()
        self._open: dict[str, tuple[int, Ask]] = {}
        self._asks: list[Replayed] = []
        self._header = EMPTY
        self._lay = call_paths.lay(paths.home(), os.environ)

    def play(self, events: Iterator[Event]) -> list[Replayed]:
        for event in events:
            self._take(event)
        return self._asks

    def _take(self, event: Event) -> None:
        update, self._header = event.update, self._header.with_(**advance(self._header, event))
        match kind_of(update):
            case "_prompt" if update.get("steered") is not True:
                self._calls.clear()
            case "tool_call" | "tool_call_update":
                self._calls.remember(update)
            case "_ask":
                self._ask(event)
            case "_judged":
                verdict = lenient.text(update, "verdict")
                about = [self._calls.record(lenient.mapping(update, "toolCall"))]
                self._asks.append(self._replayed(event, about, verdict, event.by or ""))

    def _ask(self, event: Event) -> None:
        update, name = event.update, lenient.text(event.update, "id")
        if update.get("state") == "answered" or "decide" in update or "again" in update:
            return  # the same that stood before
        if update.get("state") != "asked":
            self._calls.answered(name, update)
            if name in self._open:
                place, ask = self._open.pop(name)
                answer = _reply(ask, lenient.mapping(update, "outcome"))
                self._asks[place] = self._asks[place]._replace(said=answer, by=event.by or "")
            return
        given = lenient.mapping(update, "toolCall")
        if given:
            about = self._calls.stands_for(given)
            ask = from_agent(update)
            self._calls.asked(ask, about)
            self._open[name] = (len(self._asks), ask)
            self._asks.append(self._replayed(event, about, "", ""))

    def _replayed(self, event: Event, about: list[Json], answer: str, by: str) -> Replayed:
        """Apply the rules to the calls that an event is about."""
        home, header = os.path.expanduser("~"), self._header
        agent, roots = header.agent, [header.cwd, *header.roots]
        calls = [
            rules.call_of(agent, danger.gist(each), roots, home, self._lay.free)
            for call in about
            for each in call_input.judged(call)
        ]
        calls = [reach.reached(call, self._lay) for call in calls]
        lines = [each.whole for call in calls for each in call.commands if each.whole]
        shown = dict.fromkeys(lines or [path for call in calls for path in call.paths[:3]])
        title = lenient.text(lenient.mapping(event.update, "toolCall"), "title")
        verdict = rules.strictest([rules.decide(self._rules, call) for call in calls])
        what = ", ".join(shown) or title
        return Replayed(self._session, event.seq, header.turn, what, answer, by, verdict)


def _reply(ask: Ask, outcome: Json) -> str:
    if outcome.get("outcome") == "cancelled":
        return "cancelled"
    for option in ask.options:
        if option.id == outcome.get("optionId"):
            return "allow" if option.allows else "deny"
    return "cancelled"
