"""Changing what the agent remembers of the session: another agent takes over and knows nothing of
it, the conversation is cleared, or the agent is asked to delete it."""

import asyncio
import sys

from rookery.core.agent import messages, switching
from rookery.core.asks.asks import Refusal
from rookery.core.json import Draft, Json, lenient
from rookery.core.turn import clearing
from rookery.core.turn import messages as turns
from rookery.core.turn.remedies import why_busy
from rookery.wire.jsonrpc import METHOD_NOT_FOUND
from rookery.worker.agent.side import AgentSide
from rookery.worker.session import Session


class Handover:
    def __init__(self, session: Session, side: AgentSide) -> None:
        self._session = session
        self._side = side
        self._own: tuple[clearing.Clearing, int] | None = None
        """A clear by the agent's own command, and the turn that it is."""

    def switch(self, command: Json, by: str) -> Refusal | None:
        """Hand the session to another agent. A turn that runs is cancelled first."""
        session = self._session
        refusal = self._side.check_successor(command)
        if refusal is None and session.agent.heir is not None:
            refusal = Refusal("switching", "A switch to another agent is already under way.")
        if refusal is not None:
            return refusal
        session.asked.add(command["id"])
        self._cancel()
        self._side.kept.give_up("another agent took over", None)
        heir = Draft(switching.switched(session.header, command), command["id"], by)
        lost = turns.AgentLost(f"{command['agent']} takes over", reason="cancelled")
        session.feed_turn(lost)
        session.feed_agent(messages.Replaced(heir, start=True))
        return None

    def _cancel(self) -> None:
        if self._session.turn.phase in ("running", "cancelling"):
            session = self._session.agent.session
            self._side.link.notify("session/cancel", {"sessionId": session})

    def clear(self, command: Json, by: str) -> Refusal | None:
        session, header, name = self._session, self._session.header, command["id"]
        if session.turn.phase != "idle":
            return Refusal("busy", why_busy(header, "clear"))
        if session.agent.phase in ("absent", "ready"):
            self._side.kept.give_up("the conversation was cleared", None)
        if session.agent.phase == "absent":
            session.append(clearing.cleared("later", name, by), full=True)
            return None
        if session.agent.phase != "ready":
            return Refusal("not_ready", "The agent is starting or ending: try again in a moment.")
        session.asked.add(name)
        own = clearing.own_command(session.profile(), header.commands)
        if own:
            prompt: list[Json] = [{"type": "text", "text": own}]
            session.feed_turn(turns.Prompted(name, prompt, by, clearing.ORIGIN))
            self._own = clearing.Clearing(name, by), session.turn.n
        else:
            current = {"mode": header.mode, "model": header.model, "effort": header.effort}
            current = {key: value for key, value in current.items() if value}
            wanted = clearing.Clearing(name, by, current=current)
            session.feed_agent(messages.ClearWanted(wanted))
        return None

    def conclude(self) -> bool:
        """Log the outcome of a clear by the agent's own command, once the turn of that command has
        ended. Return whether there is something to commit."""
        own, header = self._own, self._session.header
        if own is None or header.turn < own[1] or header.state != "idle":
            return False
        wanted, self._own = own[0], None
        if header.reason == "end_turn":
            draft = clearing.cleared("command", wanted.cause, wanted.by)
        else:
            why = f"the agent's own command ended as {header.reason}"
            draft = clearing.refused(wanted, why)
        self._session.append(draft, full=True)
        return True

    def delete(self, command: Json, by: str) -> None:
        """Ask the agent to forget the session and give it a moment; then it and this worker end,
        whatever it answered."""
        session, agent, name = self._session, self._session.agent, self._session.header.agent
        session.asked.add(command["id"])

        def over(outcome: str) -> None:
            if session.stopped:
                return
            waiting.cancel()
            print(f"delete: {outcome}", file=sys.stderr, flush=True)
            session.done(command, by, outcome)
            self._cancel()
            session.stop("delete", None, by)

        def answered(_result: object, error: Json | None) -> None:
            over(_sentence(name, error))

        late = f"{name} did not answer session/delete in time"
        delay = session.policy.delete_grace if agent.phase == "ready" else 0.0
        waiting = asyncio.get_running_loop().call_later(delay, over, late)
        if agent.phase == "ready":
            self._side.link.call("session/delete", {"sessionId": agent.session}, answered)


def _sentence(agent: str, error: Json | None) -> str:
    if error is None:
        return f"{agent} deleted its copy of the session"
    if error.get("code") == METHOD_NOT_FOUND:
        return f"{agent} does not know session/delete ({METHOD_NOT_FOUND})"
    reason = lenient.text(error, "message") or "no reason given"
    return f"{agent} did not delete the session: {reason}"
