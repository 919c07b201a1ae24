"""A session whose conversation runs elsewhere. The updates for its client, its turns and its asks
are those of any session; only the conversation differs."""

import asyncio
import os
import uuid
from functools import partial
from typing import Any, cast, override

from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices
from openhands.sdk import LLM, Agent, AgentContext, Tool
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import ActionEvent, Event, MessageEvent
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool

from rookery.agent.conversation import hooks, skills
from rookery.agent.conversation.assembly import llm_of
from rookery.agent.conversation.choices import PLAN, ChoiceValues
from rookery.agent.conversation.repairs import NOT_RUN, STOPPED
from rookery.agent.elsewhere import refusals
from rookery.agent.elsewhere.conversation import AwayConversation
from rookery.agent.elsewhere.kept_events import KeptEvents
from rookery.agent.elsewhere.link import SHOWN, Linker
from rookery.agent.elsewhere.state import Hearing
from rookery.agent.process import sdk_import
from rookery.agent.process.place import Place, as_here, place_in
from rookery.agent.provider.failures import failure_of
from rookery.agent.provider.told import ActionableError
from rookery.agent.sdk_patches.gate import UNJUDGED, is_spoken
from rookery.agent.session import asks
from rookery.agent.session.models import Profile
from rookery.agent.session.session import Session
from rookery.agent.storage import store
from rookery.agent.tools import families
from rookery.agent.tools.families import GLOB, GREP
from rookery.core.asks.asks import Judgement
from rookery.core.json import Json
from rookery.core.policy.danger import PATH_KEYS

TOOLS = (*(TerminalTool.name, FileEditorTool.name, GREP, GLOB), TaskTrackerTool.name)
"""No sub-agents: nobody could judge what they do over there before it is done."""
LEFT_OPEN = "The agent server does not respond: a call stays open until your next prompt.\n"
PLACES = ("locations", "content")
KEPT = 10
"""Answers whose names while they streamed are remembered."""
HERE_ONLY = "Not used, since they are programs of this machine: {names}.\n"


def signs_thoughts(model: str) -> bool:
    """Tell whether the model's answers must come whole over there. The servers' client library
    (litellm, up to 1.109 at least) keeps a streamed thought twice if it is signed, and the provider
    refuses what it did not sign with the first result of a tool. Here, `sdk_patches/answers.py`
    corrects it."""
    return "claude" in model.lower() or model.startswith("anthropic/")


class RemoteSession(Session, Hearing):
    has_shell_in_plan_mode = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        place = place_in(self.record.remote)
        assert place is not None
        self._place = place
        keep = partial(self.on_loop, self._keep_place)
        where = self.models.home, self.record.id, self.record.cwd
        self._linker = Linker(*where, place, keep, self.tell_user)
        self._unheard: list[Event] = []
        """What it said while no turn was there to tell it: a run may outlive our process."""
        self._asked: set[str] = set()
        """Actions of this turn about which somebody was asked."""
        self._counted_for: uuid.UUID | None = None
        """The conversation of which is known what it had used before."""
        self._stream = 0
        self._streaming = False
        self._names: dict[str, str] = {}
        """Of answers, by the model's ids for them: the names that they were streamed under."""

    # --- making and ending -----------------------------------------------------------------------

    @override
    async def open(self, servers: dict[str, Json]) -> None:
        """Open the session. A new one needs its server now; any other shows its past without it."""
        families.load(TOOLS)  # without them, events about them cannot be read
        kept = await asyncio.to_thread(KeptEvents, self.folder)
        is_new = not kept.seen
        self._applied = self.choices.wanted
        agent = await asyncio.to_thread(self._agent)
        away = AwayConversation(agent, self._linker, kept, self)
        self.conversation = cast(Any, away)
        try:
            await asyncio.to_thread(self._linker.check)
            await asyncio.to_thread(away.connect)
            self._counted_for = away.id
        except ActionableError as error:
            if not self.record.prompted or error.failure.data.get("errorKind") == "auth":
                raise error.failure from error
            self.notice(f"{error}\n")
        if is_new:
            self._unheard.clear()
        self.count_from_here()
        left_out = [
            *servers,
            *(["hooks"] if hooks.has_any(self.models.home, self.record.cwd) else []),
        ]
        if left_out:
            self.notice(HERE_ONLY.format(names=", ".join(left_out)))

    def _chosen(self, wanted: ChoiceValues | None = None) -> Profile:
        chosen = self.models.chosen((wanted or self.choices.wanted).model)
        assert isinstance(chosen, Profile)
        return chosen

    @property
    def away(self) -> AwayConversation:
        return cast(AwayConversation, self.running)

    def _keep_place(self, place: Place) -> None:
        self._place = place
        self.keep(remote=place.plain())

    def _agent(self) -> Agent:
        llm = self._model(self.choices.wanted)
        own = llm.model_copy(update={"usage_id": "condenser", "stream": False})
        by_name = skills.found_in(self.record.cwd)
        about = f"Your current working directory is: {self._place.where(self.record.cwd)}"
        return Agent(
            llm=llm,
            tools=[Tool(name=name) for name in TOOLS],
            agent_context=AgentContext(
                skills=[
                    refusals.as_text(each, self._place, self.record.cwd)
                    for each in by_name.values()
                ],
                system_message_suffix=about,
            ),
            condenser=LLMSummarizingCondenser(llm=own, max_size=120, keep_first=4),
            system_prompt_kwargs={"cli_mode": True},
        )

    def _model(self, wanted: ChoiceValues) -> LLM:
        """Return the SDK's own model class: a server knows no other."""
        chosen = self._chosen(wanted)
        if signs_thoughts(chosen.model):
            wanted = wanted._replace(streaming=False)
        made = llm_of(chosen, wanted, None)
        given = made.model_dump(mode="json", context=SHOWN, exclude_none=True)
        return LLM.model_validate({key: given[key] for key in given if key in LLM.model_fields})

    @override
    def warm_up(self) -> None:
        """Do nothing: the server is warm."""

    @override
    def make_ready(self) -> None:
        """Detect a dead server or a lost sandbox, before each prompt. Blocks."""
        sdk_import.load_rest()
        self._streaming = False
        try:
            self.away.connect()
            if self._counted_for != self.away.id:  # it was away before, or is another
                self._counted_for = self.away.id
                self.count_from_here()
            self.on_loop(self._catch_up)
            self.away.wait_until_idle(lambda: self.turn is None or self.turn.cancelled)
        except ActionableError as error:
            raise error.failure from error

    def _catch_up(self) -> None:
        """Show what another process of ours left, or another client of the server said."""
        unheard, self._unheard = self._unheard, []
        for event in unheard:
            self._take_event(event)

    @override
    def _take_event(self, event: Event) -> None:
        if self.turn is None:
            self._unheard.append(event)
        elif self.away.is_foreign(event):
            self.tell(*self.translator.replay(event))
        else:
            super()._take_event(event)

    @override
    async def replay(self) -> None:
        await super().replay()
        self._unheard.clear()

    @override
    def _close(self) -> None:
        if self.conversation is not None:
            self.away.close()
        if not self.record.prompted:
            self._linker.release()
            self._home.delete(self.record.id)
        self._lock.release()

    @staticmethod
    def forget(home: str, record: store.Record) -> None:
        """Delete what is left over there of a session that is deleted here. Blocks."""
        if (place := place_in(record.remote)) is not None:
            nobody: Any = lambda *_: None  # noqa: E731
            Linker(home, record.id, record.cwd, place, nobody, nobody).release()

    # --- what it says ----------------------------------------------------------------------------

    @override
    def directory(self) -> str:
        place = place_in(self.record.remote)
        return place.where(self.record.cwd) if place else self.record.cwd

    @override
    def on_delta(self, text: str | None, thought: str | None) -> None:
        if not self._streaming:
            self._stream, self._streaming = self._stream + 1, True
        delta = Delta(content=text, reasoning_content=thought)
        choice = StreamingChoices(index=0, delta=delta)
        self.on_token(ModelResponseStream(id=self._stream_name(), choices=[choice]))

    def _stream_name(self) -> str:
        return f"{self.record.id[:8]}-{os.getpid()}-{self._stream}"

    @override
    def named(self, event: Event) -> Event:
        """Return an answer under the id that it was streamed with: the server tells its own id only
        at its end."""
        if not isinstance(event, ActionEvent | MessageEvent) or event.source != "agent":
            return event
        answer = event.llm_response_id or ""
        if self._streaming:
            self._streaming = False
            self._names[answer] = self._stream_name()
            for old in list(self._names)[:-KEPT]:
                del self._names[old]
        name = self._names.get(answer)
        return event.model_copy(update={"llm_response_id": name}) if name else event

    @override
    def tell_user(self, message: str) -> None:
        self.on_loop(self.notice, message)

    @override
    def was_cleared(self, action: str) -> bool:
        return action in self._cleared

    @override
    def is_asked(self, action: str) -> bool:
        return action in self._asked

    @override
    def give_up(self, message: str) -> None:
        self.on_loop(self._give_up, message)

    def _give_up(self, message: str) -> None:
        self.notice(f"{message}\n")
        if self.turn is not None:
            self.turn.cancel()
            self.interrupt()

    @override
    def as_judged(self, call: Json) -> Json:
        """Map the remote working directory to the session's. A command is judged as it is."""
        if call.get("kind") == "execute":
            return call
        there, here = self._place.where(self.record.cwd), (self.record.cwd, *self.record.roots)

        def mapped(given: Any) -> Any:
            if not isinstance(given, dict):
                return given
            paths = {key: given[key] for key in PATH_KEYS if isinstance(given.get(key), str)}
            return given | {key: as_here(path, there, here) for key, path in paths.items()}

        lists = {key: [mapped(each) for each in call.get(key) or []] for key in PLACES}
        return call | lists | {"rawInput": mapped(call.get("rawInput"))}

    # --- the run ---------------------------------------------------------------------------------

    @override
    def note_granted(self) -> None:
        pending = self.pending()
        for action in pending:
            if why := self._refused_late(action):
                asks.reject(self, action, why)
        for action in self.away.settle_answers(pending):
            self.started(action)
        self.away.state.execution_status = Status.RUNNING
        if self.record.granted:
            self.keep(granted=())

    @override
    def forget_judgements(self) -> None:
        super().forget_judgements()
        self._asked.clear()

    @override
    def left_over(self, action: ActionEvent) -> Judgement | None:
        self._asked.add(action.id)
        judgement = refusals.judged(action, plans=self.choices.wanted.mode == PLAN)
        return judgement or super().left_over(action)

    def _refused_late(self, action: ActionEvent) -> str:
        """Return why an action must not run that came while others were judged, or was allowed
        before plan mode began; "" if it may."""
        if is_spoken(action) or self.away.rejections.has(action.id):
            return ""
        if not self.may_run(action):
            return UNJUDGED
        if judgement := refusals.judged(action, plans=self.choices.wanted.mode == PLAN):
            return judgement.denial
        return self._begun_to_plan(action, self._cleared[action.id])

    @override
    def repair(self, reason: str = "") -> None:
        try:
            if self.pending():
                waits = self.away.state.execution_status == Status.WAITING_FOR_CONFIRMATION
                self.away.reject_pending_actions(reason or (NOT_RUN if waits else STOPPED))
        except (ConversationRunError, ActionableError):
            self.tell_user(LEFT_OPEN)  # the next prompt finds the server, or says why

    @override
    def drop_request(self) -> None:
        """Do nothing: the server drops a failed request itself."""

    @override
    def interrupt(self) -> None:
        """Interrupt the run, not on the loop: the server may be slow to respond, or away."""
        done = self._loop.run_in_executor(None, self.away.interrupt)
        self.settle(done)

    @override
    def _conform(self, wanted: ChoiceValues, applied: ChoiceValues) -> None:
        """Apply choices other than the mode: the server waits before every action anyway."""
        if wanted[1:] != applied[1:]:
            self.away.switch_llm(self._model(wanted))

    @override
    def renew_model(self) -> None:
        self.away.switch_llm(self._model(self._applied))

    @override
    def fork(self, cwd: str, roots: tuple[str, ...], before: int = 0) -> store.Record:
        id = store.new_id()
        last = self.away.last_before(before / 1000) if before else None
        try:
            self.away.fork(id, last)
        except ConversationRunError as error:
            raise failure_of(error) from error
        title = f"{self.record.title} (fork)" if self.record.title else ""
        made = self.record._replace(
            id=id,
            cwd=cwd,
            roots=roots,
            title=title,
            updated=store.now(),
            prompted=True,
            remote=self._place._replace(conversation="").plain(),
        )
        os.makedirs(self._home.folder(id), mode=0o700)
        self.away.copy_kept(self._home.folder(id), last)
        self._home.write(made)
        return made
