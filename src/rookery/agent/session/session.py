"""One session: an SDK conversation and its choices. A choice is confirmed at once, and applied
before the next step."""

import asyncio
import os
import uuid
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, override

from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, Event
from openhands.tools.terminal import TerminalTool

from rookery.agent import private, stopping, terminal
from rookery.agent.conversation import hooks, repairs, steps, subagents
from rookery.agent.conversation.assembly import Wishes, hide_key, llm_of, make, policy_of
from rookery.agent.conversation.choices import PLAN, Choices, ChoiceValues
from rookery.agent.conversation.steps import Judged, Seams, pending
from rookery.agent.mcp import names
from rookery.agent.mcp.connections import OfClient
from rookery.agent.process import sdk_import
from rookery.agent.process.client import Client
from rookery.agent.sdk_patches import install
from rookery.agent.sdk_patches.gate import UNJUDGED, is_spoken
from rookery.agent.session import auto_answer
from rookery.agent.session.client_updates import ClientUpdates
from rookery.agent.session.fallbacks import SessionFallbacks
from rookery.agent.session.models import Missing, Models, Profile
from rookery.agent.storage import delegations, store
from rookery.agent.tools import browser
from rookery.agent.translate.children import Refusal
from rookery.core.asks.asks import Judgement
from rookery.core.json import Json
from rookery.wire.choices import UnknownChoice

if TYPE_CHECKING:
    from rookery.log.lock import Lock

BEGUN = "Not in plan mode, which has just begun. Look again at what you need."
MOVED = "A link in its path was changed after this was judged. Look at the path, then try again."
START_TIMEOUT = 2.0
"""Seconds that closing waits for the session's own start."""


class Session(ClientUpdates, Seams):
    def __init__(
        self,
        client: Client,
        home: store.Store,
        record: store.Record,
        choices: Choices,
        models: Models,
        lock: "Lock",
    ) -> None:
        super().__init__(client, record, home.folder(record.id))
        self.choices = choices
        self.models = models
        self.fallbacks = SessionFallbacks(self, models)
        self.warming: asyncio.Future[None] | None = None
        self._home = home
        self._lock = lock
        self._applied = choices.wanted
        self._opened_waiting = False
        """A call had no result when the session was opened: the SDK hides it from the model, and
        would show the result alone."""
        self._settling: set[asyncio.Future[Any]] = set()
        self._cleared: dict[str, str] = {}
        """Actions of this turn that may run, each with the mode in which it was judged."""
        self._left: dict[str, Judgement] = {}
        self._led: dict[str, list[str]] = {}  # where its paths led when an action was judged
        self._foresight = auto_answer.Foresight(self)
        self._no_browser = ""
        """Why there is none, until that is said."""

    # --- making and ending -----------------------------------------------------------------------

    async def open(self, servers: dict[str, Json]) -> None:
        """Create the SDK's conversation. Raises SettingsError, and what the SDK raises."""
        model = self.models.chosen(self.choices.wanted.model)
        assert isinstance(model, Profile)
        condenser = self.models.settings().condenser
        other = self.models.chosen(condenser.profile) if condenser.profile else None
        wishes = Wishes(
            record=self.record,
            directory=self._home.directory,
            model=model,
            summarizer=other if isinstance(other, Profile) else None,
            condenser=condenser,
            wanted=self.choices.wanted,
            servers=servers,
            hooks=hooks.load(self.models.home, self.record.cwd, self.choices),
            browser=await self._has_browser(),
            on_event=self.on_event,
            on_token=self.on_token,
            on_retry=self.on_retry,
            watcher=self.watcher,
            names=self.tool_names,
            seams=self,
            fallbacks=self.fallbacks,
        )
        self._applied = self.choices.wanted
        await asyncio.to_thread(install.install)
        self.conversation = await asyncio.to_thread(make, wishes)
        self.count_from_here()
        self._opened_waiting = bool(self.pending())
        terminal.on_output(self.conversation, self._pace.feed)

    async def _has_browser(self) -> bool:
        settings = auto_answer.home_settings()
        if settings is None or not settings.browser or self.record.prompted:
            return False
        self._no_browser = await asyncio.to_thread(browser.problem)
        return not self._no_browser

    def warm_up(self) -> None:
        """Connect and start the shell while the user is still typing."""
        self.warming = self._loop.run_in_executor(None, self.make_ready)
        self.warming.add_done_callback(_forget)

    def make_ready(self) -> None:
        """Prepare for the first prompt, in a thread. Blocks."""
        sdk_import.load_rest()
        install.install_rest()
        if why := self._no_browser:
            self._no_browser = ""
            self.on_loop(self.notice, f"{browser.LEFT_OUT}.\n{why}\n")
        private.make_ready(self.running)
        if self.running.connections is not None:
            self.running.connections.try_again()
        subagents.remember(self.running, delegations.tasks(self.folder))

    async def end(self) -> None:
        """End the turn, the shells and the connections. A session without a prompt is not kept."""
        if self.turn is not None:
            self.turn.leave()
            await self.turn.over.wait()
        if self.warming is not None:
            await asyncio.wait({self.warming}, timeout=START_TIMEOUT)
            if not self.warming.done():
                self.warming.add_done_callback(
                    lambda _: self.settle(self._loop.run_in_executor(None, self._close))
                )
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        """Close the conversation. Blocks; safe to call twice."""
        if self.conversation is not None:
            terminal.close(self.conversation)
            self.conversation.close()
        if not self.record.prompted:
            self._home.delete(self.record.id)
        self._lock.release()

    def settle(self, work: "asyncio.Future[Any]") -> None:
        """Make the next turn wait for this work of a cancelled one."""
        self._settling.add(work)
        work.add_done_callback(self._settling.discard)
        work.add_done_callback(_forget)

    @property
    def unsettled(self) -> bool:
        return any(not work.done() for work in self._settling)

    async def settled(self) -> None:
        waiting = set(self._settling) | ({self.warming} if self.warming else set())
        if waiting:
            await asyncio.wait(waiting)

    # --- during a run ----------------------------------------------------------------------------

    @override
    async def between_steps(self) -> bool:
        await self.client.keep_up()
        await self.conform()
        if self.turn is not None and self.turn.paused:
            return await asyncio.to_thread(repairs.pause, self.running)
        return self.turn is not None and await self.turn.take_steering()

    @override
    def foresee(self, actions: list[ActionEvent]) -> None:
        if any(map(is_spoken, actions)):  # what comes behind `finish` is not asked about
            actions = []
        for action in actions:
            self.look_where(action)
        self._foresight.begin(actions)

    @override
    async def judge(self, actions: list[ActionEvent]) -> Judged:
        wanted = [action for action in actions if not is_spoken(action)]
        denied: dict[str, str] = {}
        for action in wanted:
            self.look_where(action)
        mode, judgements = await self._foresight.judged(wanted)
        for action, judged in zip(wanted, judgements, strict=True):
            if judged.outcome == "allow":
                self._cleared[action.id] = mode
            elif judged.outcome == "deny":
                denied[action.id] = judged.denial
            else:
                self._left[action.id] = judged
        return Judged(denied, waits=any(action.id in self._left for action in wanted))

    def forget_judgements(self) -> None:
        """Forget all judgements, since a turn begins: rules and mode may have changed."""
        self._cleared.clear()
        self._left.clear()
        self._led.clear()

    def left_over(self, action: ActionEvent) -> Judgement | None:
        """Return the judgement of an action that does not run at once, only once."""
        return self._left.pop(action.id, None)

    def look_where(self, action: ActionEvent) -> None:
        """Note where its paths lead now: an earlier action of its step may create a link."""
        self._led.setdefault(action.id, self._leads(action))

    def _leads(self, action: ActionEvent, child: str = "") -> list[str]:
        places = self.translator_of(child).places(action)
        return [os.path.realpath(place.replace("\0", "")) for place in places]

    def clear_for_run(self, action: ActionEvent) -> None:
        self._cleared[action.id] = self.choices.wanted.mode

    def may_run(self, action: ActionEvent) -> bool:
        return action.id in self._cleared

    @override
    def refusal(self, action: ActionEvent) -> str:
        judged_in = self._cleared.pop(action.id, None)
        if judged_in is None:
            return UNJUDGED
        moved = self._led.pop(action.id, None) != self._leads(action)
        return MOVED if moved else self._begun_to_plan(action, judged_in)

    def _begun_to_plan(self, action: ActionEvent, judged_in: str = PLAN) -> str:
        """Return why an action is refused if plan mode began after it was judged, or its shell
        still has what earlier commands set: an alias may hide anything. "" if it is not."""
        if self.choices.wanted.mode != PLAN:
            return ""
        is_new = self._applied.mode == PLAN or action.tool_name != TerminalTool.name
        return "" if judged_in == PLAN and is_new else BEGUN

    @override
    def mcp_client(self) -> OfClient:
        return OfClient(self.client, self.record.id, self._loop)

    @override
    def mcp_notice(self, text: str, *, failed: bool = False) -> None:
        meta = {"failed": "servers"} if failed else {}
        self.on_loop(lambda: self.notice(text, **meta))

    # --- choices ---------------------------------------------------------------------------------

    def choose(self, option: str, value: Any) -> None:
        """Confirm a choice at once; it is applied before the next step. Raises UnknownChoice."""
        if option == "model" and isinstance(model := self.models.chosen(str(value)), Missing):
            raise UnknownChoice(model.sentence)
        before = self.choices.wanted.mode
        self.tell(*self.choices.set_option(option, value))
        self.keep(choices=self.choices.wanted._asdict())
        if self.choices.wanted.mode == PLAN != before:
            self.keep(before_plan=before)

    async def conform(self) -> None:
        """Apply the choices. Nothing of the conversation may run or wait meanwhile."""
        wanted, applied = self.choices.wanted, self._applied
        if self._opened_waiting:
            await asyncio.to_thread(self.running.state.rebuild_view)
            self._opened_waiting = False
        if wanted == applied:
            return
        await asyncio.to_thread(self._conform, wanted, applied)
        self._applied = wanted

    def _conform(self, wanted: ChoiceValues, applied: ChoiceValues) -> None:
        conversation = self.running
        if wanted.mode != applied.mode:
            conversation.set_confirmation_policy(policy_of(wanted.mode))
            terminal.set_apart(conversation, wanted.mode == PLAN)
        if wanted[1:] != applied[1:]:
            model = self.models.chosen(wanted.model)
            if isinstance(model, Profile):
                conversation.switch_llm(self._llm(model, wanted))
                hide_key(conversation, model)

    def renew_model(self) -> None:
        """Recreate the model from its settings. Nothing may run meanwhile. Blocks."""
        model = self.models.chosen(self._applied.model)
        if isinstance(model, Profile):
            self.running.switch_llm(self._llm(model, self._applied))

    def _llm(self, model: Profile, wanted: ChoiceValues) -> Any:
        return llm_of(model, wanted, self.on_retry, fallbacks=self.fallbacks)

    @override
    def stand_in(self) -> str:
        return self.fallbacks.last

    # --- what is kept ----------------------------------------------------------------------------

    def keep(self, **changes: Any) -> None:
        self.record = self.record._replace(**changes)
        self._home.write(self.record)

    def begin_prompt(self, text: str) -> None:
        """Note that the session is used, and take its title from the first message."""
        changes: Json = {"updated": store.now(), "prompted": True}
        if not self.record.title and (title := store.title_of(text)):
            changes["title"] = title
        self.keep(**changes)
        if "title" in changes:
            self._tell_title()

    def entitle(self, title: str) -> None:
        self.keep(title=store.title_of(title), updated=store.now())
        self._tell_title()

    def _tell_title(self) -> None:
        fields = {"title": self.record.title, "updatedAt": self.record.updated}
        self.tell({"sessionUpdate": "session_info_update", **fields})

    def fork(self, cwd: str, roots: tuple[str, ...], before: int = 0) -> store.Record:
        """Create another session with this one's past, up to a time in milliseconds of the epoch;
        0: all of it. Blocks: in a thread."""
        id, conversation = store.new_id(), self.running
        last = steps.last_before(conversation.state.events, before / 1000) if before else None
        with private.unwatched(conversation):
            conversation.fork(conversation_id=uuid.UUID(id), from_event_id=last).close()
        delegations.copy(self.folder, self._home.folder(id))
        names.copy(self.folder, self._home.folder(id))
        title = f"{self.record.title} (fork)" if self.record.title else ""
        made = self.record._replace(
            id=id, cwd=cwd, roots=roots, title=title, updated=store.now(), prompted=True
        )
        self._home.write(made)
        return made

    # --- the run ---------------------------------------------------------------------------------

    def pending(self) -> list[ActionEvent]:
        return pending(self.running)

    def note_granted(self) -> None:
        """Note that nothing waits: after a crash, actions that began need no new permission."""
        with self.running.state as state:
            state.execution_status = Status.RUNNING
        if self.record.granted:
            self.keep(granted=())

    def repair(self, reason: str = "") -> None:
        """Give every open call a result, so that the history stays valid. Blocks."""
        repairs.end_calls(self.running, reason)

    def drop_request(self) -> None:
        """Drop a failed request to condense. Blocks."""
        repairs.drop_request(self.running)

    def interrupt(self) -> None:
        """End what runs: the model's stream, the terminal's command, searches, sub-agents."""
        terminal.interrupt(self.running, partial(self.on_loop, self.notice))
        stopping.interrupt(self.running)
        self.running.interrupt()
        self.watcher.stop_children()
        subagents.interrupt(self.running)

    @override
    def permit_child(self, child: str, action: ActionEvent) -> Refusal | None:
        turn = self.turn
        if turn is None:
            return Refusal(UNJUDGED)
        if veto := subagents.blocked(self.running.tool_hooks, action):
            return Refusal(veto, by_hook=True)
        led = self._leads(action, child)
        asked = turn.ask_for_child(child, action)
        reason = asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        reason = reason or (MOVED if led != self._leads(action, child) else "")
        if reason := reason or self._begun_to_plan(action):
            return Refusal(reason)
        self.started(action, child)
        return None

    @override
    def child_used(
        self, call: str, child: str, action: ActionEvent, results: Sequence[Event]
    ) -> None:
        for event in subagents.used(self.running.tool_hooks, action, results):
            self.child_event(call, child, event)


def _forget(work: "asyncio.Future[Any]") -> None:
    """Ignore an error of this work: the next prompt reports it."""
    if not work.cancelled():
        work.exception()
