"""A turn: from a prompt to its answer, with everything that can come between (rows G5, G6, G9).

finished → `end_turn`; waiting → ask → go on, or stop waiting; cancelled → `cancelled`, at once and
whatever is under way, since nobody waits for a thread that is not needed any more.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, UserRejectObservation
from openhands.sdk.event.conversation_error import ConversationErrorEvent
from openhands.sdk.tool.builtins import FinishAction, ThinkAction

from rookery.agent import permission
from rookery.agent.content import message_of, words_of
from rookery.agent.failures import failure_of
from rookery.agent.making import policy_of
from rookery.wire.jsonrpc import RpcFailure

if TYPE_CHECKING:
    from rookery.agent.session import Session

type Json = dict[str, Any]
type Parts = list[tuple[str, str]]

GRACE = 0.3
"""Seconds that a cancelled run has to end; it is not waited for any longer."""
WAITS = (
    "\n\nThis action waits for your permission, which did not come. "
    "Send another prompt to be asked again.\n"
)
STUCK = "\n\nI stopped: I was repeating myself without getting on. Tell me how to go on.\n"
CANCELLED = "The person cancelled the turn."


class Stopped(Exception):
    """The turn was cancelled."""


class Waits(Exception):
    """An action waits for a permission that nobody gives now."""


class Turn:
    def __init__(self, session: "Session") -> None:
        self.session = session
        self.over = asyncio.Event()
        self.stop_reason = "end_turn"
        """How it ended, once it is over."""
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._steering: list[Parts] = []
        self._ending = False

    @property
    def cancelled(self) -> bool:
        return self._stopped.done()

    def cancel(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)

    def steer(self, parts: Parts) -> bool:
        """Take a prompt into this turn, at its next step. False: the turn is about to end."""
        if self._ending or self.cancelled:
            return False
        self._steering.append(parts)
        return True

    # --- the course of it ------------------------------------------------------------------------

    async def play(self, parts: Parts) -> Json:
        """The answer to the prompt. Raises RpcError where the model failed."""
        session = self.session
        try:
            self.stop_reason = await self._play(parts)
        except Stopped:
            self.stop_reason = "cancelled"
            await self._clean_up()
        except Waits:
            session.say(WAITS)
        except ConversationRunError as error:
            raise failure_of(error) from error
        finally:
            self._ending = True
            self.over.set()
        if self.cancelled:
            session.end_calls(CANCELLED)
        return {"stopReason": self.stop_reason}

    async def _play(self, parts: Parts) -> str:
        session = self.session
        await self._first(asyncio.ensure_future(session.settled()))
        session.begin_prompt(words_of(parts))
        await self._first(asyncio.ensure_future(session.conform()))
        if session.pending():
            await self._ask_all()
        await self._send(parts)
        while True:
            status = await self._run()
            match status:
                case Status.WAITING_FOR_CONFIRMATION:
                    await self._ask_all()
                case Status.FINISHED if not self._steering:
                    return "end_turn"
                case Status.STUCK if not self._steering:
                    session.say(STUCK)
                    return "end_turn"
                case Status.ERROR:
                    return self._limit()
                case _ if self._steering:
                    await self.take_steering()
                case Status.PAUSED:
                    raise Stopped

    async def _run(self) -> Status:
        """Until it is finished, or waits, or was cancelled."""
        run = asyncio.ensure_future(self.session.running.arun())
        await asyncio.wait({run, self._stopped}, return_when=asyncio.FIRST_COMPLETED)
        if self.cancelled:
            if not run.done():
                self.session.interrupt()
                await asyncio.wait({run}, timeout=GRACE)
            self.session.settle(run)
            raise Stopped
        run.result()
        return self.session.running.state.execution_status

    async def _first[T](self, work: "asyncio.Future[T]") -> T:
        """Its result, unless the turn is cancelled before."""
        await asyncio.wait({work, self._stopped}, return_when=asyncio.FIRST_COMPLETED)
        if self.cancelled:
            self.session.settle(work)
            raise Stopped
        return work.result()

    async def _thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Whatever of the SDK's may block."""
        loop = asyncio.get_running_loop()
        return await self._first(loop.run_in_executor(None, function, *arguments))

    async def _send(self, parts: Parts) -> None:
        await self._thread(self.session.running.send_message, message_of(parts))

    async def take_steering(self) -> None:
        while self._steering:
            parts = self._steering.pop(0)
            await asyncio.to_thread(self.session.running.send_message, message_of(parts))

    def _limit(self) -> str:
        """The run met a limit of ours: the last error says which."""
        for event in reversed(self.session.running.state.active_branch(limit=5)):
            if isinstance(event, ConversationErrorEvent):
                self.session.say(f"\n\nI stopped: {event.detail}\n")
                break
        return "max_turn_requests"

    async def _clean_up(self) -> None:
        """A history in which every call has its result: the next prompt goes on from it."""
        session = self.session
        if session._settling:
            return  # its thread still holds the conversation; the next turn cleans up
        if session.pending():
            reject = session.running.reject_pending_actions
            await asyncio.to_thread(reject, CANCELLED)

    # --- permissions -----------------------------------------------------------------------------

    async def _ask_all(self) -> None:
        """One request per action that waits. Raises Stopped, Waits."""
        for action in self.session.pending():
            if self._needs_permission(action):
                await self._ask(action)

    def _needs_permission(self, action: ActionEvent) -> bool:
        state = self.session.running.state
        if isinstance(action.action, FinishAction | ThinkAction):
            return False
        if action.id in state.blocked_actions:  # by a hook: it is not carried out anyway
            return False
        return policy_of(self.session.choices.wanted.mode).should_confirm(action.security_risk)

    async def _ask(self, action: ActionEvent) -> None:
        session = self.session
        call = session.translator.permission(action)
        params = {"sessionId": session.record.id, "toolCall": call, "options": permission.OPTIONS}
        request = session.client.peer.request("session/request_permission", params)
        asking = asyncio.ensure_future(request)
        try:
            answer = await self._first(asking)
        except RpcFailure:
            answer = None
        except Stopped:
            asking.cancel()
            raise
        match permission.verdict_of(answer):
            case permission.Allowed(mode) if mode:
                session.choose("mode", mode)
            case permission.Rejected(reason):
                await self._thread(self._reject, action, reason)
            case permission.Cancelled():
                self.cancel()
                raise Stopped
            case permission.Unanswered():
                raise Waits

    def _reject(self, action: ActionEvent, reason: str) -> None:
        conversation = self.session.running
        with conversation.state:
            conversation._on_event(
                UserRejectObservation(
                    action_id=action.id,
                    tool_name=action.tool_name,
                    tool_call_id=action.tool_call_id,
                    rejection_reason=reason,
                )
            )
