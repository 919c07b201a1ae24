"""A turn, from a prompt to its reply. A cancelled turn is answered at once; the next one waits for
what still runs."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, Any

from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent

from rookery.agent.conversation import images
from rookery.agent.conversation.choices import PLAN
from rookery.agent.provider.failures import failure_of
from rookery.agent.sdk_patches import llm as llms
from rookery.agent.sdk_patches.answers import REFUSAL
from rookery.agent.session import asks, critic, hooks, planning, slash_commands
from rookery.agent.session.goal import Goal
from rookery.agent.session.prompt import message_of, words_of
from rookery.agent.storage import behind
from rookery.core.json import Json

if TYPE_CHECKING:
    from rookery.agent.session.session import Session

type Parts = list[tuple[str, str]]

GRACE = 0.3
"""Seconds that a cancelled run has to end."""
JUDGING = 60.0
"""Seconds for a critic."""
STOPS_REFUSED = 10
"""Times that a hook may keep the agent from stopping in one turn."""
WAITS = "\n\nAn action waits for your permission. Send another prompt to be asked again.\n"
KEPT_BACK = "\n\nYour prompt was not sent to the model, which waits for that permission.\n"
STUCK = "\n\nI stopped because I was repeating myself. Tell me how to continue.\n"
CANCELLED = "The user cancelled the turn."
GIVEN_UP = "The turn was given up: there was no news for a long time."
BUDGET = "This was not carried out: a budget was reached."
DROPPED = "The user cancelled this action, which waited for permission."
CLOSED = "The session was closed."
BUSY = "Wait until the turn has ended, or cancel it first."
FEEDBACK = "[Stop hook feedback]"


class Stopped(Exception):
    """The turn was cancelled."""


class Waits(Exception):
    """An action waits for a permission that is not given now."""


class Turn:
    def __init__(self, session: "Session", *, judged: bool = True, drops: bool = False) -> None:
        """`drops`: the user has given up the actions that still wait for permission."""
        self.session = session
        self._judged = judged
        self._drops = drops
        self._left = False
        self._why = CANCELLED
        self.over = asyncio.Event()
        """Over, except for the answer."""
        self.answered = asyncio.Event()
        self.stop_reason = "end_turn"
        """How it ended, once it is over."""
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._paused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hurried: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """A prompt waits behind this turn: do not wait for a verdict."""
        self._steering: list[Parts] = []
        self._of_children = asks.OfChildren()
        self._overtaken = asyncio.Event()
        """The user wrote something, or left plan mode."""
        session.forget_judgements()
        self._ending = False
        self._sent = False
        self._goal = Goal(session)

    @property
    def cancelled(self) -> bool:
        return self._stopped.done()

    def cancel(self, *, person: bool = True) -> None:
        """Cancel the turn. `person`: by the user; else for lack of news for a long time."""
        self._why = CANCELLED if person else GIVEN_UP
        if not self._stopped.done():
            self._stopped.set_result(None)

    @property
    def paused(self) -> bool:
        return self._paused.done()

    def pause(self) -> None:
        """Begin no further step, here or in a sub-agent: a budget is reached."""
        if not self.ends:
            self._why = BUDGET
            self._paused.set_result(None)
            self.session.watcher.stop_children()

    def leave(self) -> None:
        """End the turn because the session is closed: open permissions stay open."""
        self._left = True
        self.cancel()

    @property
    def ends(self) -> bool:
        return self._ending or self.cancelled or self.paused

    def steer(self, parts: Parts) -> bool:
        """Take a prompt in at the next step. Returns False if the turn is about to end."""
        if self.ends:
            if not self._hurried.done():
                self._hurried.set_result(None)
            return False
        self._steering.append(parts)
        self._overtaken.set()
        return True

    def withdraw(self, children: Collection[str]) -> None:
        self._of_children.withdraw(children)

    def mode_chosen(self) -> None:
        """Stop waiting for the user's go for a plan, if plan mode was left."""
        if self.session.choices.wanted.mode != PLAN:
            self._overtaken.set()

    def command(self, command: slash_commands.SlashCommand) -> None:
        """Run a slash command sent during the turn."""
        known = slash_commands.BY_NAME.get(command.name)
        busy = known is not None and known.changes
        answer = None if busy else slash_commands.answer(self.session, command)
        self.session.say(f"\n\n{answer or BUSY}\n\n")
        self.mode_chosen()

    # --- the course of it ------------------------------------------------------------------------

    async def play(self, parts: Parts | None) -> Json:
        """Play the turn and return the reply to its prompt. None: continue where the run was left.
        Raises RpcError if the model failed."""
        session, waits = self.session, False
        try:
            self.stop_reason = await (self._continue() if parts is None else self._play(parts))
        except Stopped:
            self.stop_reason = "cancelled"
            await self._clean_up()
        except Waits:
            waits = True
            session.say(WAITS if self._sent else WAITS + KEPT_BACK)
        except ConversationRunError as error:
            session.end_calls("The model failed.")
            await asyncio.to_thread(session.drop_request)
            if (refusal := llms.refused_in(error)) is None:
                refused = await asyncio.to_thread(
                    images.give_up, session.running, session.renew_model, error
                )
                raise images.explained(failure_of(error), refused) from error
            self.stop_reason = REFUSAL
            session.say(f"\n\n{refusal}\n")
        finally:
            self._ending = True
            if not self._left and not waits:
                self._goal.end(stopped=self._why != CANCELLED)
            self.over.set()
        if self.stop_reason == "cancelled":
            session.end_calls(CLOSED if self._left else self._why)
        session.tell_usage()
        meta = await self._verdict()
        if used := session.fallbacks.take_used():
            meta["usageByModel"] = used
        answer: Json = {"stopReason": self.stop_reason} | session.tokens()
        return answer | ({"_meta": {"rookery": meta}} if meta else {})

    async def _play(self, parts: Parts) -> str:
        session = self.session
        await self._first(session.settled())
        command = slash_commands.said_in(parts)
        self._goal.begin(command, words_of(parts))
        if command is not None and command.name == "goal" and command.rest:
            parts = [("text", command.rest), *parts[1:]]
        elif command is not None:
            skill = slash_commands.skill_called(session, command)
            planned = planning.prompt_in(session, command, parts)
            if skill is None and planned is None:
                await self._command(command)
                return "end_turn"
            parts = slash_commands.with_skill(skill, command) if skill else planned or parts
        session.begin_prompt(words_of(parts))
        await hooks.ask(session, self._unless_stopped, self.cancel)
        await self._thread(session.make_ready)
        session.fallbacks.begin_turn()
        await self._resume()
        if session.pending():  # granted actions run first: a call is followed by its result
            self._steering.insert(0, parts)
        else:
            await self._first(session.conform())
            if said_before := images.warning(session.running.agent.llm, parts):
                session.notice(said_before)
            if about_mode := planning.brief(session):
                await self._thread(planning.tell, session, about_mode)
            await self._thread(session.running.send_message, message_of(parts))
        self._sent = True
        return await self._go_on()

    async def _continue(self) -> str:
        session, self._sent = self.session, True
        await self._first(session.settled())
        await hooks.ask(session, self._unless_stopped, self.cancel)
        await self._thread(session.make_ready)
        session.fallbacks.begin_turn()
        await self._resume()
        self._goal.resume()
        over = session.running.state.execution_status in (Status.FINISHED, Status.IDLE)
        if over and not await self._goes_on():
            return "end_turn"  # nothing was left open
        return await self._go_on()

    async def _go_on(self) -> str:
        """Run step by step to an end. Returns the stop reason."""
        refused = 0
        while True:
            status = await self._run()
            if self.paused and (status != Status.FINISHED or self._steering or self._goal.is_open):
                raise Stopped
            if status == Status.WAITING_FOR_CONFIRMATION:
                await self._ask_all()
            elif self._steering:
                await self.take_steering()
            elif status == Status.FINISHED:
                if ended := self.session.say_cut_short() or (self.paused and "end_turn"):
                    return ended
                if refused < STOPS_REFUSED and not await self._may_stop():
                    refused += 1
                elif not await self._goes_on():
                    return "end_turn"
            elif status == Status.STUCK:
                self.session.say(STUCK)
                return "end_turn"
            elif status == Status.ERROR:
                return self.session.say_limit()
            elif status == Status.PAUSED:
                raise Stopped

    async def _run(self) -> Status:
        """Run until the conversation is finished, waits, or was cancelled."""
        run = asyncio.ensure_future(self.session.running.arun())
        await asyncio.wait({run, self._stopped}, return_when=asyncio.FIRST_COMPLETED)
        if self.cancelled:
            if not run.done():
                self.session.interrupt()
                await asyncio.wait({run}, timeout=GRACE)
            self.session.settle(run)
            raise Stopped
        run.result()
        await asyncio.to_thread(behind.settle)
        return self.session.running.state.execution_status

    async def _first[T](self, work: Awaitable[T]) -> T:
        """Await a result. If the turn is cancelled first, the next turn waits for the work."""
        begun = asyncio.ensure_future(work)
        try:
            return await self._unless_stopped(begun)
        except Stopped:
            self.session.settle(begun)
            raise

    async def _unless_stopped[T](self, work: "asyncio.Future[T]") -> T:
        any_: set[asyncio.Future[Any]] = {work, self._stopped, self._paused}
        await asyncio.wait(any_, return_when=asyncio.FIRST_COMPLETED)
        if self.cancelled or self.paused:
            raise Stopped
        return work.result()

    async def _thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a call of the SDK that may block in a thread."""
        loop = asyncio.get_running_loop()
        return await self._first(loop.run_in_executor(None, function, *arguments))

    async def take_steering(self) -> bool:
        """Give the model the prompts that came meanwhile. Returns whether there were any."""
        taken = bool(self._steering)
        if taken and (about_mode := planning.brief(self.session)):
            await asyncio.to_thread(planning.add, self.session, about_mode)
        while self._steering:
            parts = self._steering.pop(0)
            await asyncio.to_thread(self.session.running.send_message, message_of(parts))
        return taken

    # --- what stands before and behind -----------------------------------------------------------

    async def _resume(self) -> None:
        """Ask again for what was left open and waits; give the rest a result."""
        session = self.session
        if not session.pending():
            return
        waits = session.running.state.execution_status == Status.WAITING_FOR_CONFIRMATION
        if waits and self._drops:
            await self._thread(session.repair, DROPPED)
        elif waits:
            await self._ask_all()
        else:
            await self._thread(session.repair)

    async def _clean_up(self) -> None:
        """Give every call a result, so that the next prompt finds a valid history."""
        # Where its thread still holds the state, the next turn does this.
        if not self._left and not self.session.unsettled:
            await asyncio.to_thread(self.session.repair, self._why)

    async def _may_stop(self) -> bool:
        """Tell whether no hook objects. A hook that does tells the model why."""
        processor = self.session.running.tool_hooks
        if processor is None:
            return True
        stops, why = await self._thread(processor.run_stop, "agent_finished")
        if stops:
            return True
        await self._thread(planning.tell, self.session, f"{FEEDBACK} {why or 'Go on.'}")
        return False

    async def _goes_on(self) -> bool:
        """Tell whether something is left to do, including prompts that the user wrote meanwhile."""
        return await self.take_steering() or await self._says_go() or await self.take_steering()

    async def _says_go(self) -> bool:
        """Tell whether the user wants a plan carried out, or another plan, or a goal is not
        reached. Raises Stopped."""
        followup = await planning.decided(self.session, self._unless_stopped, self._overtaken)
        if followup is None:
            self.cancel()
            raise Stopped
        if followup := followup or await self._goal.decided(self._unless_stopped):
            await self._first(self.session.conform())
            await self._thread(planning.tell, self.session, followup)
        return bool(followup)

    async def _command(self, command: slash_commands.SlashCommand) -> None:
        session = self.session
        if (answer := slash_commands.answer(session, command)) is None:
            await hooks.ask(session, self._unless_stopped, self.cancel)
            await self._thread(session.make_ready)
            answer = await self._work(command)
        session.say(answer)

    async def _work(self, command: slash_commands.SlashCommand) -> str:
        session = self.session
        if command.name not in ("title", "fork") and session.pending():
            await self._thread(session.repair)
        try:
            answer: str = await self._thread(slash_commands.work, session, command)
        except ValueError as error:
            return str(error).split("\n")[0]
        if command.name == "title":
            session.entitle(answer)
            return f"The title is now: {answer}"
        return answer

    async def _verdict(self) -> Json:
        """Return a critic's verdict on a turn that ended well, as our addition to the reply."""
        session = self.session
        ended_well = self.stop_reason == "end_turn" and self._sent
        if not self._judged or not ended_well or session.pending():
            return {}
        if (judged := self._goal.judged) is not None:
            return {"critic": judged} if judged else {}
        work = asyncio.get_running_loop().run_in_executor(None, critic.verdict, self.session)
        waiting: set[asyncio.Future[Any]] = {work, self._stopped, self._hurried}
        await asyncio.wait(waiting, timeout=JUDGING, return_when=asyncio.FIRST_COMPLETED)
        if self.cancelled:
            self.stop_reason = "cancelled"
        verdict = work.result() if work.done() and not self.cancelled else None
        return {"critic": verdict} if verdict else {}

    # --- permissions -----------------------------------------------------------------------------

    async def _ask_all(self) -> None:
        """Ask about each action that waits. Raises Stopped, Waits."""
        answers = await asks.ask_all(self.session, self._unless_stopped, self._thread)
        self._steering += [[("text", each.remark)] for each in answers if each.remark]
        match answers[-1].outcome if answers else "":
            case "cancelled":
                self.cancel()
                raise Stopped
            case "unanswered":
                raise Waits
        await self._thread(self.session.note_granted)

    async def ask_for_child(self, child: str, action: ActionEvent) -> str:
        """Return why a sub-agent may not do this; "" if it may. `child`: its conversation."""
        try:
            verdict = await self._of_children.ask(self.session, action, self._unless_stopped, child)
        except Stopped:
            return CANCELLED
        if verdict.outcome == "cancelled":
            self.cancel()
        self._steering += [[("text", verdict.remark)]] if verdict.remark else []
        unsaid = {"cancelled": CANCELLED, "unanswered": asks.UNANSWERED}
        return unsaid.get(verdict.outcome, verdict.reason)
