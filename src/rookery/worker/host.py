"""The session host: it *is* the session while that is awake. Holds the lock, speaks ACP to one
agent,
runs the machines of `core` and performs their effects in order.

Everything here happens on one thread, one input at a time: messages of the agent in wire order,
commands
in the order of their arrival, time-outs. An effect that others can see waits for the commit before
it.
"""

import asyncio
import sys
import time
from collections import deque

import rookery
from rookery import paths, registry
from rookery.build import build
from rookery.config import Config
from rookery.core import asks as ask_rules
from rookery.core import commands, ingest, supervision
from rookery.core import turn as turns
from rookery.core.chunks import Chunks
from rookery.core.events import Draft, Event, Json
from rookery.log.store import Writer
from rookery.processes import tree as processes
from rookery.wire import frames
from rookery.wire.jsonrpc import Incoming
from rookery.worker import asks
from rookery.worker.agent_link import AgentLink, Ears, spawn_words
from rookery.worker.clients import Clients
from rookery.worker.journal import Journal
from rookery.worker.records import Records, about_worker, wall_clock

UPKEEP = 2.0
"""Seconds between two looks at the slow things."""

RETRY = 1.0
"""Seconds until a commit that the disk refused is tried again."""

OFFERS: Json = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "elicitation": {"form": {}},
}
"""What we can do for an agent; told in `initialize`."""

type Effect = turns.Effect | supervision.Effect


def _now() -> float:
    return time.monotonic()


class Host:
    def __init__(
        self, directory: str, writer: Writer, config: Config, environment: dict[str, str]
    ) -> None:
        self._config = config
        self._policy = config.policy
        self._stopped = asyncio.Event()
        self._turn = _turn_of(writer.header)
        self._agent = supervision.Agent()
        self._asks = asks.Asks()
        self._effects: deque[Effect] = deque()
        self._commands: deque[tuple[Json, str]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._replayed = 0
        self._adopted = processes.Adopted()
        self._journal = Journal(writer, Chunks(config.policy.chunk_window), self._committed)
        ears = Ears(self._notified, self._requested, self._log, self._settle, self._exited)
        self._link = AgentLink(directory, environment, ears)
        socket = paths.socket_path(directory)
        self._records = Records(directory, about_worker(socket))
        self._clients = Clients(
            socket, self._command, self._welcome, lambda: writer.last_seq, self._clients_changed
        )

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> str:
        """Ready for commands; returns the socket's path."""
        header = self._journal.header
        self._records.note(agent=header["agent"], argv=self._argv(), agentPid=0)
        self._records.show(header, self._journal.writer.last_seq, 0, force=True)
        await self._clients.listen()
        return self._clients.path

    async def run(self) -> None:
        """Until someone stops it. Whatever way it ends, nothing that it started lives on."""
        upkeep = asyncio.create_task(self._upkeep(), name="upkeep")
        try:
            await self._stopped.wait()
        finally:
            upkeep.cancel()
            if self._timer is not None:
                self._timer.cancel()
            await self._link.close(self._policy.stop_grace)
            self._journal.commit()
            self._clients.close()
            self._records.note(ended=wall_clock())

    def stop(self, reason: str) -> None:
        """End the turn, the agent and then this worker (row W4)."""
        if not self._stopped.is_set():
            self._begin_stop(reason)
            self._settle()

    def _begin_stop(self, reason: str, cause: str | None = None, by: str | None = None) -> None:
        self._feed_turn(turns.AgentLost(f"stopped ({reason})", reason="interrupted"))
        update: Json = {"sessionUpdate": "_agent", "state": "stopped", "reason": reason}
        update["name"] = self._journal.header["agent"]
        self._effects.append(turns.Append(Draft(update, cause, by), full=True))
        self._feed_agent(supervision.EndWanted())
        self._stopped.set()

    async def _upkeep(self) -> None:
        """Slow checks: the socket's name, the session's directory, orphans that fell to us."""
        while True:
            await asyncio.sleep(UPKEEP)
            self._adopted.reap()
            if not self._journal.writer.stands():
                print("the session's directory is gone", file=sys.stderr, flush=True)
                self._stopped.set()
            elif not self._clients.bound():
                await self._clients.listen()

    # --- the shell around the machines ----------------------------------------------------------

    def _feed_turn(self, given: turns.Input) -> None:
        self._turn, effects = turns.step(self._turn, given, _now(), self._policy)
        self._effects.extend(effects)

    def _feed_agent(self, given: supervision.Input) -> None:
        self._agent, effects = supervision.step(
            self._agent, given, _now(), self._wish(), self._policy
        )
        self._effects.extend(effects)

    def _settle(self) -> None:
        """Perform what is due and commit it, command after command; then set the clock."""
        while self._perform_due() and self._commands:
            self._execute(*self._commands.popleft())
        self._link.hold(held=self._journal.trouble is not None)
        self._set_clock()

    def _perform_due(self) -> bool:
        """False: the disk took nothing, and what is due still waits, in its order."""
        while self._effects:
            effect = self._effects[0]
            if not isinstance(effect, turns.Append) and not self._journal.commit():
                return False
            self._effects.popleft()
            self._perform(effect)
        return self._journal.commit()

    def _log(self, update: Json) -> None:
        """News of the agent's; behind whatever still waits for the disk."""
        if self._effects:
            self._effects.append(turns.Append(Draft(update)))
        else:
            self._journal.said(update, _now())

    def _set_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stopped.is_set():
            return
        times = [
            self._journal.deadline(),
            turns.deadline(self._turn),
            supervision.deadline(self._agent),
            _now() + RETRY if self._journal.trouble is not None else None,
        ]
        due = [at for at in times if at is not None]
        if due:
            delay = max(0.0, min(due) - _now())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = _now()
        held = self._journal.deadline()
        if held is not None and now >= held:
            self._journal.flush(now)
        self._feed_turn(turns.Tick())
        self._feed_agent(supervision.Tick())
        self._settle()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case turns.Append(draft, full):
                self._journal.add(draft, _now(), full=full)
            case turns.WantAgent():
                self._feed_agent(supervision.Wanted())
            case supervision.Tell(given):
                self._feed_turn(given)
            case turns.SendPrompt(prompt):
                params = {"sessionId": self._agent.session, "prompt": prompt}
                self._link.call("session/prompt", params, self._prompt_answered)
            case turns.SendCancel():
                self._close_asks("the turn was cancelled")
                self._journal.commit()
                self._link.notify("session/cancel", {"sessionId": self._agent.session})
            case turns.CloseAsks(reason):
                self._close_asks(reason)
            case turns.EndAgent():
                self._feed_agent(supervision.EndWanted())
            case supervision.Spawn():
                self._spawn()
            case supervision.Call(method, params):
                self._replayed = 0
                self._link.call(method, params, self._handshake_answered)
            case supervision.End():
                self._link.end(self._policy.stop_grace)

    def _committed(self, events: list[Event]) -> None:
        self._clients.publish(events)
        self._records.show(self._journal.header, events[-1].seq, events[-1].at)

    # --- the agent ------------------------------------------------------------------------------

    def _wish(self) -> supervision.Wish:
        header = self._journal.header
        known = header["agentSession"]
        return supervision.Wish(
            name=header["agent"],
            argv=self._argv(),
            cwd=header["cwd"],
            roots=header["roots"],
            mcp_servers=header["mcpServers"],
            stored=known["id"] if known and known["name"] == header["agent"] else None,
            cold=registry.is_cold(self._argv()),
            offers=OFFERS,
            version=rookery.__version__,
        )

    def _argv(self) -> list[str]:
        """The command of a session that was made with one, else what its agent's name stands for
        today."""
        header = self._journal.header
        if header["argv"]:
            return list(header["argv"])
        try:
            return registry.resolve(header["agent"], self._config.agents).argv
        except registry.UnknownAgent:
            return []

    def _spawn(self) -> None:
        argv, cwd = self._argv(), self._journal.header["cwd"]
        try:
            process = self._link.spawn(argv, cwd)
        except (OSError, ValueError, IndexError) as error:
            words = spawn_words(self._journal.header["agent"], argv, cwd, error)
            self._feed_agent(supervision.SpawnFailed(words))
            return
        self._records.note(agentPid=process.pid, agentStart=process.start, argv=argv)
        self._feed_agent(supervision.Spawned(process.pid))

    def _exited(self, status: int, stderr: list[str]) -> None:
        self._close_asks("the agent ended")
        self._asks.forget()
        self._records.note(agentPid=0)
        self._feed_agent(supervision.Exited(status, stderr))
        self._settle()

    def _prompt_answered(self, result: object, error: Json | None) -> None:
        self._feed_turn(turns.Answered(result, error))
        self._settle()

    def _handshake_answered(self, result: object, error: Json | None) -> None:
        if self._agent.phase == "initializing":
            self._feed_agent(supervision.Initialized(result, error))
        else:
            self._feed_agent(supervision.Opened(result, error, self._replayed))
        self._settle()

    def _notified(self, method: str, params: object) -> None:
        session = self._agent.session or None
        for update in ingest.from_notification(method, params, session):
            loading = self._agent.phase == "opening" and self._agent.method == "session/load"
            if loading and ingest.is_replay(update):
                self._replayed += 1
            else:
                self._log(update)

    def _requested(self, incoming: Incoming) -> None:
        asked = self._asks.take(incoming)
        if asked is not None:
            name, update = asked
            incoming.cancelled = lambda: self._withdrawn(name)
            self._journal.add(Draft(update), _now())

    def _withdrawn(self, name: str) -> None:
        if name in self._journal.header["asks"]:
            outcome = {"outcome": "cancelled"}
            update = ask_rules.closed(name, outcome, reason="withdrawn by the agent")
            self._journal.add(Draft(update), _now())
        self._asks.withdraw(name)

    def _close_asks(self, reason: str) -> None:
        self._journal.commit()
        closing = asks.closings(self._journal.header, reason)
        for _, draft, _ in closing:
            self._journal.add(draft, _now(), full=True)
        self._journal.commit()
        for name, _, reply in closing:
            self._asks.reply(name, reply)

    # --- clients --------------------------------------------------------------------------------

    def _welcome(self) -> Json:
        header = self._journal.header
        return {
            "protocol": frames.PROTOCOL,
            "build": build(),
            "session": header["id"],
            "seq": self._journal.writer.last_seq,
        }

    def _clients_changed(self, count: int) -> None:
        self._records.note(**{"attached" if count else "detached": wall_clock()})

    def _command(self, command: Json, by: str) -> None:
        self._commands.append((command, by))
        if not self._stopped.is_set():
            self._settle()

    def _execute(self, command: Json, by: str) -> None:
        """A command whose id is in the log was carried out already: the client reads it there (law
        5)."""
        if self._journal.writer.knows(command["id"]) is None:
            refusal = commands.check(command, self._policy.queue_bytes)
            if refusal is not None:
                self._reject(command, refusal, by)
            else:
                self._carry_out(command, by)

    def _reject(self, command: Json, refusal: ask_rules.Refusal, by: str) -> None:
        name = str(command["do"])[:40]
        draft = turns.rejected(name, refusal.reason, refusal.message, command["id"], by)
        self._journal.add(draft, _now())

    def _carry_out(self, command: Json, by: str) -> None:
        match command["do"]:
            case "prompt":
                self._feed_turn(turns.Prompted(command["id"], command["prompt"], by))
            case "cancel":
                self._feed_turn(turns.CancelWanted(command["id"], by))
            case "answer":
                self._answer(command, by)
            case "rename":
                update = {"sessionUpdate": "_session", "title": command["title"][:200]}
                self._journal.add(Draft(update, command["id"], by), _now())
            case "restart":
                self._restart(command["id"], by)
            case "stop":
                self._begin_stop("stop", command["id"], by)

    def _answer(self, command: Json, by: str) -> None:
        ask = self._journal.header["asks"].get(command["ask"])
        if ask is None:  # a second answer is quietly told that the first one counted (row P2)
            done = {"sessionUpdate": "_done", "command": "answer", "detail": "answered already"}
            self._journal.add(Draft(done, command["id"], by), _now())
            return
        answer = ask_rules.answered(ask, command, by)
        if isinstance(answer, ask_rules.Refusal):
            self._reject(command, answer, by)
            return
        self._journal.add(answer.draft, _now(), full=True)
        self._journal.commit()
        self._asks.reply(command["ask"], answer.reply)

    def _restart(self, cause: str, by: str) -> None:
        self._feed_turn(turns.AgentLost("restarted", reason="interrupted"))
        update = {"sessionUpdate": "_agent", "state": "stopped", "reason": "restart"}
        update["name"] = self._journal.header["agent"]
        self._effects.append(turns.Append(Draft(update, cause, by)))
        self._feed_agent(supervision.EndWanted())
        self._feed_agent(supervision.Wanted())


def _turn_of(header: Json) -> turns.Turn:
    queue = tuple(turns.Queued(item["id"], item["prompt"]) for item in header["queue"])
    return turns.Turn(n=header["turn"], queue=queue)
