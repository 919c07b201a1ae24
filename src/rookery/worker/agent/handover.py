"""What the agent remembers of the session: another agent takes over and knows nothing of it, the
conversation is cleared (S4), or the agent is told to forget it for good (S3)."""

import asyncio
import sys
from collections.abc import Callable
from typing import NamedTuple

from rookery.core.agent import messages, switching
from rookery.core.asks.asks import Refusal
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json
from rookery.core.turn import clearing
from rookery.core.turn import messages as turns
from rookery.worker.agent.side import AgentSide
from rookery.worker.engine import Engine

METHOD_NOT_FOUND = -32601


class OwnCommand(NamedTuple):
    """A clear by the agent's own command, which is a turn."""

    cause: str
    by: str
    turn: int


class Memory:
    def __init__(
        self,
        engine: Engine,
        side: AgentSide,
        settle: Callable[[], None],
        stop: Callable[[str, str | None, str | None], None],
        asked: set[str],
    ) -> None:
        """`asked`: ids of commands whose outcome is yet to come."""
        self._engine = engine
        self._side = side
        self._settle = settle
        self._stop = stop
        self._asked = asked
        self._own: OwnCommand | None = None

    def carry_out(self, command: Json, by: str) -> Refusal | None:
        """Why not; None: it is done, or under way."""
        match command["do"]:
            case "switch":
                return self._switch(command, by)
            case "clear":
                return self._clear(command["id"], by)
        self._delete(command["id"], by)
        return None

    # --- another agent ---------------------------------------------------------------------------

    def _switch(self, command: Json, by: str) -> Refusal | None:
        """A turn that runs is cancelled first: whoever sends for another agent wants that."""
        engine = self._engine
        refusal = self._side.check_successor(command)
        if refusal is None and engine.agent.heir is not None:
            refusal = Refusal("switching", "A switch to another agent is already under way.")
        if refusal is not None:
            return refusal
        self._asked.add(command["id"])
        self._cancel()
        self._side.kept.give_up("another agent took over", None)
        heir = Draft(switching.switched(engine.header, command), command["id"], by)
        lost = turns.AgentLost(f"{command['agent']} takes over", reason="cancelled")
        engine.feed_turn(lost)
        engine.feed_agent(messages.Replaced(heir, start=True))
        return None

    def _cancel(self) -> None:
        if self._engine.turn.phase in ("running", "cancelling"):
            session = self._engine.agent.session
            self._side.link.notify("session/cancel", {"sessionId": session})

    # --- a conversation that begins anew ---------------------------------------------------------

    def _clear(self, name: str, by: str) -> Refusal | None:
        engine, header = self._engine, self._engine.header
        if engine.turn.phase != "idle":
            return Refusal("busy", "A turn is running: cancel it first, then clear.")
        if engine.agent.phase in ("absent", "ready"):
            self._side.kept.give_up("the conversation was cleared", None)
        if engine.agent.phase == "absent":
            engine.append(clearing.cleared("later", name, by), full=True)
            return None
        if engine.agent.phase != "ready":
            return Refusal("not_ready", "The agent is starting or ending: try again in a moment.")
        self._asked.add(name)
        own = clearing.own_command(self._side.profile(), header["commands"])
        if own:
            prompt: list[Json] = [{"type": "text", "text": own}]
            engine.feed_turn(turns.Prompted(name, prompt, by, clearing.ORIGIN))
            self._own = OwnCommand(name, by, engine.turn.n)
        else:
            current = {key: header[key] for key in ("mode", "model", "effort") if header[key]}
            wanted = clearing.Clearing(name, by, current=current)
            engine.feed_agent(messages.ClearWanted(wanted))
        return None

    def conclude(self) -> bool:
        """Once the turn of an agent's own command has ended: what came of it. Whether there is
        something to commit."""
        own, header = self._own, self._engine.header
        if own is None or header["turn"] < own.turn or header["state"] != "idle":
            return False
        self._own = None
        if header["reason"] == "end_turn":
            draft = clearing.cleared("command", own.cause, own.by)
        else:
            why = f"the agent's own command ended as {header['reason']}"
            draft = clearing.refused(clearing.Clearing(own.cause, own.by), why)
        self._engine.append(draft, full=True)
        return True

    # --- forgotten for good ----------------------------------------------------------------------

    def _delete(self, name: str, by: str) -> None:
        """The agent has a moment to forget the session; then it and this worker end, whatever it
        said."""
        self._asked.add(name)
        agent, open_ = self._engine.agent, [True]

        def over(said: str) -> None:
            if not open_:
                return
            open_.clear()
            waiting.cancel()
            print(f"delete: {said}", file=sys.stderr, flush=True)
            done: Json = {"sessionUpdate": "_done", "command": "delete", "detail": said}
            self._engine.append(Draft(done, name, by))
            self._cancel()
            self._stop("delete", None, by)
            self._settle()

        def answered(_result: object, error: Json | None) -> None:
            over(_told(self._engine.header["agent"], error))

        late = f"{self._engine.header['agent']} did not answer session/delete in time"
        delay = self._engine.policy.delete_grace if agent.phase == "ready" else 0.0
        waiting = asyncio.get_running_loop().call_later(delay, over, late)
        if agent.phase == "ready":
            self._side.link.call("session/delete", {"sessionId": agent.session}, answered)


def _told(agent: str, error: Json | None) -> str:
    if error is None:
        return f"{agent} has forgotten the session"
    if error.get("code") == METHOD_NOT_FOUND:
        return f"{agent} does not know session/delete ({METHOD_NOT_FOUND})"
    said = lenient.text(error, "message") or "no reason given"
    return f"{agent} did not delete the session: {said}"
