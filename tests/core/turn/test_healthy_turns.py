"""Healthy turns live: what four vendors' agents really did, its gaps stretched to an hour.

A recorded session is played as `worker/engine.py` runs one: the watch hears each update before the
log does, and what is in flight is asked of the header afterwards. Time is an argument.
"""

from collections.abc import Callable
from typing import Any

import pytest

from rookery.core.agent import ingest
from rookery.core.asks import asks
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json.events import Event, Json
from rookery.core.limits import Policy
from rookery.core.turn import watchdogs
from rookery.core.vendors.profiles import Profile, profile_of
from rookery.worker.engine import OPEN
from tests.core.recordings import FOLDER, in_order, sessions

HOUR = 3600.0
POLICY = Policy()
VENDORS = ("claude", "codex", "gemini", "opencode")
# In a scenario agents are killed, and kept from their model.
EVERY = [
    (path.name, session)
    for path in sorted(FOLDER.glob("*.jsonl"))
    if path.name.startswith(VENDORS) and not path.stem.endswith(("-v2", "-scenario"))
    for session in sessions(path.name)
]
every_session = pytest.mark.parametrize(("name", "session"), EVERY)


def profile(name: str) -> Profile:
    return profile_of(next(each for each in VENDORS if name.startswith(each)), [])


class Watched:
    """One session under the watchdogs; `stretch(busy, gap)` says how long a gap is made."""

    def __init__(
        self,
        name: str,
        session: str,
        stretch: Callable[[bool, float], float],
        policy: Policy = POLICY,
    ) -> None:
        self._session = session
        self._stretch = stretch
        self._policy = policy
        self._profile = profile(name)
        self._watch = watchdogs.Watch()
        self._header: Header = EMPTY
        self._seq = 0
        self._prompts: set[Any] = set()
        self._asks: dict[Any, asks.Ask] = {}
        self.now = 0.0
        self.barks: list[tuple[bool, watchdogs.Effect]] = []
        """With whether something was in flight."""
        self.hours = {"ask": 0, "tool": 0, "nothing": 0}
        """Where an hour was waited in a turn, and how often."""
        self.turns = 0

    @property
    def busy(self) -> bool:
        tools = self._header.tools.values()
        return bool(self._header.asks) or any(tool[1] in OPEN for tool in tools)

    def play(self, name: str) -> "Watched":
        before = 0.0
        for line, direction in in_order(name):
            self.wait(line.at - before)
            before = line.at
            (self._heard if direction == "recv" else self._said)(line.message)
            self._settle()
        return self

    def wait(self, gap: float) -> None:
        """Let time pass, with every tick that a worker's clock would make."""
        gap = self._stretch(self.busy, gap)
        if self._watch.running and gap >= HOUR:
            where = "ask" if self._header.asks else "tool" if self.busy else "nothing"
            self.hours[where] += 1
        until = self.now + gap
        while (due := watchdogs.deadline(self._watch, self._policy, self._profile)) is not None:
            if due > until:
                break
            self.now = max(self.now, due)
            self._watch, barks = watchdogs.ticked(
                self._watch, self.now, self._policy, self._profile
            )
            self.barks += [(self.busy, bark) for bark in barks]
        self.now = until

    def news(self, update: Json) -> None:
        self._watch, barks = watchdogs.heard(self._watch, update, self.now, self._profile)
        self.barks += [(self.busy, bark) for bark in barks]
        self._log(update)

    def _log(self, update: Json) -> None:
        self._seq += 1
        event = Event(self._seq, self._seq, None, None, update)
        self._header = self._header.with_(**advance(self._header, event))

    def _settle(self) -> None:
        self._watch = watchdogs.in_flight(self._watch, busy=self.busy, now=self.now)

    def _said(self, message: Json) -> None:
        """What the client of the recording sent."""
        method, params = message.get("method"), message.get("params") or {}
        mine = params.get("sessionId") == self._session
        if method == "session/prompt" and mine:
            self.turns += 1
            self._prompts.add(message["id"])
            self._log({"sessionUpdate": "_prompt", "prompt": params["prompt"], "turn": self.turns})
            self._log({"sessionUpdate": "_turn", "state": "running", "turn": self.turns})
            self._watch = watchdogs.began(self.now)
        elif method == "session/cancel" and mine:
            self._watch = watchdogs.ended(self._watch)
        elif method is None and message.get("id") in self._asks:
            ask = self._asks.pop(message["id"])
            self._log(asks.closed(ask.id, {"outcome": "selected"}, reason="recorded"))

    def _heard(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            if message.get("id") in self._prompts:
                self._prompts.remove(message["id"])
                self._log({"sessionUpdate": "_turn", "state": "idle", "reason": "end_turn"})
                self._watch = watchdogs.ended(self._watch)
        elif "id" in message:
            ask = asks.asked(f"a{message['id']}", "nonce", method, params)
            if ask is not None and params["sessionId"] == self._session:
                self._asks[message["id"]] = ask
                self._log(ask.update)
        elif method == "session/update" and params["sessionId"] == self._session:
            for update in ingest.from_notification(method, params, self._session):
                self.news(update)


def hour_in_flight(busy: bool, gap: float) -> float:
    return HOUR if busy else gap


def hour_always(_busy: bool, _gap: float) -> float:
    return HOUR


@every_session
def test_an_hour_in_every_tool_and_at_every_ask_is_no_silence(name: str, session: str) -> None:
    watched = Watched(name, session, hour_in_flight).play(name)
    assert watched.barks == []


@every_session
def test_an_hour_in_every_gap_is_quiet_only_where_nothing_is_in_flight(
    name: str, session: str
) -> None:
    patient = POLICY._replace(silent_after=0)
    watched = Watched(name, session, hour_always, patient).play(name)
    quiet = [busy for busy, bark in watched.barks if isinstance(bark, watchdogs.Quiet)]
    assert not any(quiet)
    assert len(quiet) <= watched.hours["nothing"]
    assert not any(isinstance(bark, watchdogs.Silent) for _, bark in watched.barks)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_had_an_hour_in_a_tool_and_at_an_ask(vendor: str) -> None:
    """Else the tests above would say nothing of it."""
    played = [
        Watched(name, session, hour_in_flight).play(name)
        for name, session in EVERY
        if name.startswith(vendor)
    ]
    assert sum(each.turns for each in played) >= 8
    assert sum(each.hours["ask"] for each in played) >= 2
    assert sum(each.hours["tool"] for each in played) >= 2


# --- off the protocol: only claude's agent is known to work on without a word ---------------------

NAME, SESSION = next((name, session) for name, session in EVERY if name.startswith("claude-agent"))


def bash(**given: Any) -> list[Json]:
    """A call as the recording has them, over as soon as it was made."""
    call = {"toolCallId": "off", "title": "Bash", "kind": "execute", "rawInput": given}
    return [
        {"sessionUpdate": "tool_call", "status": "pending", **call},
        {"sessionUpdate": "tool_call_update", "toolCallId": "off", "status": "completed"},
    ]


def told(words: str) -> list[Json]:
    content = [{"type": "content", "content": {"type": "text", "text": words}}]
    done = {"toolCallId": "off", "status": "completed", "content": content}
    return [{"sessionUpdate": "tool_call_update", **done}]


WAKE_UP = {"toolCallId": "w", "title": "ScheduleWakeup", "rawInput": {"delaySeconds": HOUR}}
NEARLY = POLICY.off_protocol_grace - 1.0
OFF_PROTOCOL = {
    "background": (bash(command="make", run_in_background=True), NEARLY),
    "background told": (told("Command running in background with ID: b1"), NEARLY),
    "async": (told("Async agent launched successfully."), NEARLY),
    "wake-up": ([{"sessionUpdate": "tool_call", "status": "completed", **WAKE_UP}], HOUR),
}


class OffProtocol(Watched):
    """The same, but each prompt's first word is followed by work off the protocol and a gap."""

    def __init__(self, news: list[Json], gap: float) -> None:
        super().__init__(NAME, SESSION, hour_in_flight)
        self._off = news
        self._gap = gap
        self._began = -1
        self.waited = 0

    def wait(self, gap: float) -> None:
        if self._watch.sign == "agent_message_chunk" and self._began != self.turns:
            self._began = self.turns
            for update in self._off:
                self.news(update)
            self._settle()
            assert not self.busy
            super().wait(self._gap)
            self.waited += self._watch.running
        super().wait(gap)


@pytest.mark.parametrize("what", OFF_PROTOCOL)
def test_unseen_background_work_is_waited_for(what: str) -> None:
    """Half an hour without a word; a wake-up's own hour. The person may end it meanwhile."""
    watched = OffProtocol(*OFF_PROTOCOL[what])
    watched.play(NAME)
    assert watched.waited >= 4
    said = [bark for _, bark in watched.barks if not isinstance(bark, watchdogs.Moving)]
    assert all(isinstance(bark, watchdogs.Quiet) for bark in said)
    assert not any(busy for busy, bark in watched.barks if isinstance(bark, watchdogs.Quiet))


@pytest.mark.parametrize("what", OFF_PROTOCOL)
def test_unseen_background_work_is_not_waited_for_for_ever(what: str) -> None:
    """The same turns with half an hour more are given up, and it is said why."""
    news, gap = OFF_PROTOCOL[what]
    watched = OffProtocol(news, gap + POLICY.off_protocol_grace + 2.0)
    watched.play(NAME)
    silent = [bark for _, bark in watched.barks if isinstance(bark, watchdogs.Silent)]
    assert silent
    assert all("since the last sign of progress (tool_call" in bark.why for bark in silent)
