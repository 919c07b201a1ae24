"""Recorded traffic of other vendors' agents (fixtures/recordings), played as a worker would."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from rookery.core.agent import ingest
from rookery.core.agent.chunks import Lanes
from rookery.core.agent.repeats import PastTurn, Repeats
from rookery.core.asks import asks
from rookery.core.json.events import Draft, Event, kind_of
from rookery.core.turn.calls import TurnCalls

type Json = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "fixtures" / "recordings"
WINDOW = 0.030


class Line(NamedTuple):
    at: float
    message: Json


class Played(NamedTuple):
    """What one session of a recording left in its log."""

    came: list[Json]
    """The updates in the notifications, as they came."""
    again: list[Json]
    """Those of them that the log had already."""
    updates: list[Json]
    """As they were logged."""
    events: list[Event]


def lines(name: str, direction: str) -> list[Line]:
    with open(FOLDER / name, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    return [Line(each["t"], each["msg"]) for each in found if each["dir"] == direction]


def sessions(name: str) -> list[str]:
    found = [line.message.get("params") for line in lines(name, "recv")]
    given = [params for params in found if isinstance(params, dict)]
    names = [params.get("sessionId") for params in given]
    children = {ingest.announced(params.get("update") or {}) for params in given}
    return [each for each in dict.fromkeys(names) if isinstance(each, str) and each not in children]


def play(name: str, session: str) -> Played:
    """One session of a recording: prompts, updates, asks and answers, in the order of the wire."""
    player = _Player(session)
    for line, direction in in_order(name):
        player.time_passes(line.at)
        (player.heard if direction == "recv" else player.said)(line)
    player.add(player.chunks.flush(1e9))
    events = [
        Event(seq, seq, draft.cause, draft.by, draft.update)
        for seq, draft in enumerate(player.drafts, 1)
    ]
    return Played(player.came, player.again, [draft.update for draft in player.drafts], events)


def in_order(name: str) -> list[tuple[Line, str]]:
    found = [(line, way) for way in ("send", "recv") for line in lines(name, way)]
    return sorted(found, key=lambda each: each[0].at)


class _Player:
    def __init__(self, session: str) -> None:
        self.session = session
        self.chunks = Lanes(WINDOW)
        self.came: list[Json] = []
        self.again: list[Json] = []
        self.restoring: Any = None
        self.repeats = Repeats(self.past, self.page)
        self.drafts: list[Draft] = []
        self.children: set[str] = set()
        self.prompts: set[Any] = set()
        self.open: dict[Any, asks.Ask] = {}
        self.calls = TurnCalls()
        self.processes = 0
        """Each counts its requests from the beginning."""

    def add(self, updates: list[Json]) -> None:
        self.drafts += [Draft(update) for update in updates]

    def time_passes(self, now: float) -> None:
        due = self.chunks.deadline
        if due is not None and now >= due:
            self.add(self.chunks.flush(due))

    def log(self, update: Json, now: float) -> None:
        self.add(self.chunks.push(update, now))

    def past(self) -> list[PastTurn]:
        turns = [draft.update for draft in self.drafts if kind_of(draft.update) == "_prompt"]
        ended = len(turns) - bool(self.prompts)
        return [PastTurn(n, turn["prompt"]) for n, turn in enumerate(turns[:ended], 1)]

    def page(self, n: int) -> list[Json]:
        seen, found = 0, []
        for draft in self.drafts:
            seen += kind_of(draft.update) == "_prompt"
            found += [draft.update] if seen == n else []
        return found

    def killed(self, now: float) -> None:
        """The process ended: a turn that ran has no other end."""
        for _ in self.prompts:
            idle = {"sessionUpdate": "_turn", "state": "idle", "reason": "agent_exited"}
            self.log(idle, now)
        self.prompts.clear()

    def is_repeat(self, update: Json) -> bool:
        """As worker/agent/replays.py has it."""
        if self.restoring is not None and ingest.is_replay(update):
            return True
        return self.repeats.is_repeat(update)

    def is_mine(self, session: str) -> bool:
        return session == self.session or session in self.children

    def said(self, line: Line) -> None:
        """What the client of the recording sent: prompts, and answers to asks."""
        message = line.message
        params = message.get("params")
        if message.get("method") == "initialize":
            self.killed(line.at)
            self.processes += 1
            self.open.clear()
        restores = message.get("method") in ("session/load", "session/resume")
        if restores and params["sessionId"] == self.session:
            self.restoring = message["id"]
            self.repeats.opened(stored=True)
        if message.get("method") == "session/prompt" and params["sessionId"] == self.session:
            self.repeats.sent(params["prompt"])
            self.calls.clear()
            self.prompts.add(message["id"])
            self.log({"sessionUpdate": "_prompt", "prompt": params["prompt"]}, line.at)
            self.log({"sessionUpdate": "_turn", "state": "running"}, line.at)
        elif message.get("method") == "session/cancel" and params["sessionId"] == self.session:
            self.log({"sessionUpdate": "_done", "command": "cancel"}, line.at)
        elif "method" not in message and message.get("id") in self.open:
            ask = self.open.pop(message["id"])
            outcome = message["result"].get("outcome", message["result"])
            if outcome.get("outcome") == "selected":
                option = outcome["optionId"]
                command = {"id": "c", "nonce": ask.nonce, "option": option}
                answer = asks.answered(ask, command, "recorded")
                assert isinstance(answer, asks.Answer), answer
                assert answer.reply == message["result"]
                self.log(answer.draft.update, line.at)
            else:
                self.log(asks.cancelled(ask, "recorded").draft.update, line.at)

    def heard(self, line: Line) -> None:
        message = line.message
        method, params = message.get("method"), message.get("params")
        if method is None:
            if self.restoring is not None and message.get("id") == self.restoring:
                self.restoring = None
            if message.get("id") in self.prompts:
                self.prompts.remove(message["id"])
                result = message.get("result") or {}
                reason = "failed" if "error" in message else result.get("stopReason", "end_turn")
                idle = {"sessionUpdate": "_turn", "state": "idle", "reason": reason}
                self.log(idle, line.at)
        elif "id" in message:
            ask = asks.asked(f"a{self.processes}-{message['id']}", "nonce", method, params)
            if ask is not None and self.is_mine(params["sessionId"]):
                if params["sessionId"] in self.children:
                    ask = ask.with_(session=params["sessionId"])
                self.open[message["id"]] = ask
                if ask.kind == "permission":
                    about = self.calls.stands_for(ask.call)
                    ask = ask.with_(**self.calls.asked(ask, about))
                self.log(ask.update, line.at)
        elif method != "session/update" or self.is_mine(params["sessionId"]):
            for update in ingest.from_notification(method, params, self.session, self.children):
                self.children.add(ingest.announced(update))
                if method == "session/update":
                    self.came.append(update)
                if self.is_repeat(update):
                    self.again.append(update)
                else:
                    if kind_of(update).startswith("tool_call"):
                        self.calls.remember(update)
                    self.log(update, line.at)
