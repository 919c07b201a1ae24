"""The worker as an ACP client: what it sends, what it receives, the agent's requests."""

import os
from base64 import b64encode
from datetime import datetime
from functools import partial

from rookery.agents import registry
from rookery.core.agent import ingest, messages
from rookery.core.agent import prompt as agent_prompt
from rookery.core.agent.addresses import address_of
from rookery.core.asks import asks as ask_rules
from rookery.core.asks import kept_asks, links
from rookery.core.critic import loop
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.policy import auto_answer, hook_asks
from rookery.core.settings.sandbox import CONTAINER, MOVED, NONE
from rookery.core.tools import edit_lines
from rookery.core.turn import messages as turns
from rookery.core.turn import rate_limit, retries
from rookery.core.turn.calls import TurnCalls
from rookery.core.vendors import logins
from rookery.wire import mcp
from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Incoming
from rookery.worker import asks, budget
from rookery.worker.agent import files
from rookery.worker.agent.children import Children
from rookery.worker.agent.editor_servers import EditorServers
from rookery.worker.agent.link import AgentLink, spawn_words
from rookery.worker.agent.log_in import LogIn
from rookery.worker.agent.replays import Replays
from rookery.worker.agent.saved_model import SavedModel
from rookery.worker.agent.session import recap
from rookery.worker.agent.session.shelf import Shelf
from rookery.worker.agent.snapshots import Snapshots
from rookery.worker.agent.surviving_commands import SurvivingCommands
from rookery.worker.agent.terminals import Privileges, Terminals
from rookery.worker.clients import Clients
from rookery.worker.environment import AgentExtras, news, renew
from rookery.worker.policy.auto_answer import AutoAnswer, dangers
from rookery.worker.policy.kept_asks import WORKS, KeptAsks
from rookery.worker.process.records import Records
from rookery.worker.session import Effect, Session

STEERING = "_session/steering"
COMPLETE = "elicitation/complete"
CHANGES = (
    *("fs/write_text_file", "terminal/create", "session/request_permission"),
    auto_answer.METHOD,
)
"""Requests after which files may change."""


class AgentSide:
    def __init__(
        self, session: Session, records: Records, clients: Clients, snapshots: Snapshots
    ) -> None:
        self._session = session
        self._snapshots = snapshots
        self._records = records
        self._clients = clients
        self.children = Children()
        self.asks = asks.Asks()
        self._halted = budget.Halted()
        self.replays = Replays(session)
        self._surviving = SurvivingCommands(session)
        self._privileges = Privileges(session)
        self._extras = AgentExtras(session.home)
        roots = session.sandbox.roots([session.header.cwd, *session.header.roots])
        sealed = () if session.sandbox.kind == NONE else (files.GIT,)
        self._files = files.Files(roots, session.surroundings.umask, sealed)
        self._edits = edit_lines.EditLines(self._text_of)
        self.terminals = Terminals(session, self._files, self._privileges)
        self.auto_answer = AutoAnswer(session)
        self.kept = KeptAsks(session, self.asks, self.auto_answer)
        heard = self.requested, self.notified, self.exited
        self.link = AgentLink(session, *heard, lambda: self.replays.repeats.are_over)
        self._editor_servers = EditorServers(clients, self.link.notify)
        self.shelf = Shelf(session, self.link.call)
        self._log_in = LogIn(session, self.link.call)
        self._saved_model = SavedModel(session, self.link.call)

    def check_successor(self, command: Json) -> ask_rules.Refusal | None:
        """Return why an agent cannot take over here, by the current configuration; None if
        it can."""
        session = self._session
        session.look_at_settings()
        environment = session.surroundings.environment
        renew(session.directory, environment)
        names = session.config.agents, environment, session.config.node_path
        return registry.check_successor(session.header, command, *names)

    def tick(self) -> None:
        if self.replays.is_due():
            self._release()

    # --- to the agent ----------------------------------------------------------------------------

    def perform(self, effect: Effect) -> None:
        session = self._session.agent.session
        match effect:
            case turns.SendPrompt(prompt, continues):
                self._send_prompt(prompt, continues=continues)
            case turns.SendSteer(name, prompt):
                self._send_steer(name, prompt)
            case turns.SendPause():
                by = {"_meta": {"rookery": {"by": "budget"}}}
                self.link.notify("session/cancel", {"sessionId": session, **by})
            case turns.SendCancel(kept):
                self._halted.refuse()
                self._snapshots.release()
                self._surviving.cancelled(commands=self.children.calls.runs_a_command())
                self._close_asks(kept_asks.CANCELLED, kept=kept)
                self.terminals.cancel()
                by = {} if kept else {"_meta": {"rookery": {"by": "watchdog"}}}
                self.link.notify("session/cancel", {"sessionId": session, **by})
            case turns.CloseAsks(reason, kept):
                self._close_asks(reason, kept=kept)
            case turns.LetDecide():
                self.kept.want(by_user=False)
            case messages.Spawn():
                self._spawn()
            case messages.Call(method, params):
                self.replays.called(method)
                self._tell_untaken(method)
                self.shelf.take_up(method, params)
                self._again = partial(self.link.call, method, params, self._handshake_answered)
                self._again()
            case messages.End(grace):
                self.link.end(self._session.policy.stop_grace if grace is None else grace)
            case messages.Leave(left):
                self.link.call("session/close", {"sessionId": left}, lambda *_: None)

    def _send_prompt(self, prompt: list[Json], *, continues: bool) -> None:
        self.children.turn_begins()
        self._edits.clear()
        self._surviving.turn_begins()
        self.terminals.turn_begins()
        self.kept.calls.clear()
        try:
            given = prompt if continues else [*recap.due(self._session, prompt), *prompt]
            blocks = [] if continues else self._for_agent(given)
        except agent_prompt.Untaken as untaken:
            error = {"code": INVALID_PARAMS, "message": str(untaken)}
            self._session.feed_turn(turns.Answered(None, error))
            return
        self.replays.repeats.sent(given)
        agent, n = self._session.agent, self._session.turn.n
        meta = recap.meta(self._session, continues=continues)
        params: Json = {"sessionId": agent.session, "prompt": blocks, **meta}

        def answered(result: object, error: Json | None) -> None:
            self._release()
            self._halted.refuse()
            self._log_in.turn_ended(error)
            if error is not None:
                now = datetime.now().astimezone()
                error = rate_limit.dated(logins.with_logins(error, agent.logins), now)
            self._surviving.turn_ended()
            self._session.feed_turn(turns.Answered(result, error, n))

        self.link.call("session/prompt", params, answered)
        self._log_in.prompted()

    def _for_agent(self, prompt: list[Json]) -> list[Json]:
        return agent_prompt.for_agent(prompt, self._session.agent.capabilities or {}, self._blob)

    def _blob(self, name: str) -> str | None:
        data = self._session.journal.writer.blob(name)
        return None if data is None else b64encode(data).decode("ascii")

    def _send_steer(self, name: str, prompt: list[Json]) -> None:
        def answered(result: object, error: Json | None) -> None:
            taken = error is None and lenient.text(result, "outcome") == "injected"
            self._session.feed_turn(turns.SteerAnswered(name, taken))

        try:
            blocks = self._for_agent(prompt)
        except agent_prompt.Untaken:
            self._session.feed_turn(turns.SteerAnswered(name, taken=False))
            return
        self.replays.repeats.steered(prompt)
        params = {
            "sessionId": self._session.agent.session,
            "prompt": blocks,
            "_meta": {"steering": {"idleBehavior": "promptRequired"}},
        }
        self.link.call(STEERING, params, answered)

    # --- its process -----------------------------------------------------------------------------

    def _tell_untaken(self, method: str) -> None:
        """Report the MCP servers withheld from an agent that is about to get its session."""
        session = self._session
        if method.startswith("session/") and session.agent.phase == "opening":
            for draft in session.servers.untaken(session.header, session.agent.capabilities):
                session.append(draft)

    def _spawn(self) -> None:
        self.children.agent_begins()
        session, header = self._session, self._session.header
        self._privileges.begin()
        session.look_at_settings()
        renew(session.directory, session.surroundings.environment)
        profile = session.profile()
        read = session.servers.read(header, session.in_force, profile)
        for draft in (*news(session.directory), *read):
            session.append(draft)
        self.auto_answer.settle_default()
        cwd, name = header.cwd, header.agent
        argv = self.link.located(session.argv())
        if address := address_of(argv):
            if (kind := session.sandbox.kind) != NONE:
                refusal = f"{name} runs on another machine, so no sandbox ({kind}) can hold it."
                session.feed_agent(messages.SpawnFailed(refusal, remote=True))
            else:
                self._dial(name, address)
            return
        try:
            if session.sandbox.moves():
                session.append(Draft({"sessionUpdate": "_session", "sandbox": CONTAINER}))
                session.append(Draft(notice(MOVED, "info")))
            for text in session.sandbox.begin():
                session.append(Draft(notice(text)))
            more = self._extras.environment(session.config, name, profile)
            child = self.link.spawn(argv, cwd, more)
        except (OSError, ValueError, IndexError) as error:
            session.sandbox.close()
            text = spawn_words(name, argv, cwd, error, header.worktree)
            session.feed_agent(messages.SpawnFailed(text))
            return
        self._records.note(agent=name, agentPid=child.pid, agentStart=child.start, argv=argv)
        session.feed_agent(messages.Spawned(child.pid))

    def _dial(self, name: str, address: str) -> None:
        session = self._session

        def connected(fault: str) -> None:
            if fault:
                session.feed_agent(messages.SpawnFailed(fault, remote=True))
            else:
                self._records.note(agent=name, agentPid=0, agentAddress=address, argv=[address])
                session.feed_agent(messages.Spawned(0))
            session.wake()

        self.link.dial(address, connected)

    def exited(self, status: int, stderr: list[str], link: str) -> None:
        self._release()
        self._halted.clear()
        self.asks.forget()
        self._editor_servers.forget()
        self.terminals.release_all()
        self._records.note(agentPid=0, agentAddress="")
        by_itself = self._session.agent.phase != "ending"
        stderr = [*self._session.sandbox.fault(status, stderr), *stderr]
        self._session.feed_agent(messages.Exited(status, stderr, link))
        if by_itself:
            self.kept.agent_died()
        self._session.wake()

    def _handshake_answered(self, result: object, error: Json | None) -> None:
        match self._session.agent.phase:
            case "initializing":
                for text in self._session.sandbox.other_build(result):
                    self._session.append(Draft(notice(text)))
                self._log_in.initialized(result)
                self._saved_model.initialized(result, error)
            case "applying":
                self._session.feed_agent(messages.Applied(result, error))
            case _ if not self._log_in.repeat(error, self._again, self._handshake_answered):
                self._log_in.refused(error)
                known = self.replays.replayed, self.replays.is_cut()
                self._session.feed_agent(messages.Opened(result, error, *known))
                self._records.note(agentSession=self._session.agent.session)
                self.shelf.tell_title()

    # --- from the agent --------------------------------------------------------------------------

    def notified(self, method: str, params: object) -> None:
        session = self._session.agent.session
        if (retry := retries.parse_notification(method, params, session)) is not None:
            self._session.record(retry)
            return
        if method == COMPLETE:  # of an unknown id, it is no news
            self.kept.completed(lenient.text(params, "elicitationId"))
            return
        if self._log_in.heard(method, params):
            return
        for update in ingest.from_notification(method, params, session or None, self.children):
            self.children.hear(update)
            for fresh in self.replays.take(update):
                self._heard(fresh)

    def _text_of(self, path: str) -> str | None:
        place = os.path.join(self._session.header.cwd, path)
        return self._files.peek(self._session.sandbox.to_host(place), edit_lines.LARGEST)

    def _release(self) -> None:
        """Log updates held back as possible history, before anything that follows them."""
        for fresh in self.replays.release():
            self._heard(fresh)

    def _heard(self, update: Json) -> None:
        self._session.record(self.children.heard(update, self._noted))

    def _noted(self, update: Json, calls: TurnCalls) -> Json:
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            update = self._edits.note(update)
            self._privileges.hear(*(update.get(key) for key in ("content", "rawOutput", "_meta")))
            known = calls.remember(update)
            self.terminals.background.hear(update)
            self.kept.announced(update)
            if loop.changes(known | {"status": update.get("status")}):
                self._session.feed_critic(loop.Acted())
        return update

    def requested(self, incoming: Incoming) -> None:
        self._session.goes_on = False
        if incoming.method in CHANGES and self._session.halts(incoming.method):
            self._halted.append(incoming)
            if self._session.turn.phase != "running":  # the cancel is on its way
                self._halted.refuse()
            return
        if incoming.method in CHANGES and self._snapshots.holds(partial(self.requested, incoming)):
            return
        self._release()
        method, profile = incoming.method, self._session.profile()
        if method in WORKS:
            self._session.feed_critic(loop.Acted())
        if (method.startswith("terminal/") and profile.terminals) or (
            method.startswith("fs/") and profile.files
        ):
            self.kept.mark_work(method)
            if self._session.effects:  # the mark is in the log before anything changes
                self._session.then(self._serve, incoming)
            else:
                self._serve(incoming)
        elif method == mcp.METHOD:
            self._editor_servers.take(incoming)
        elif method == auto_answer.METHOD:
            self.auto_answer.take_request(incoming, self.children.calls)
        else:
            self._ask(incoming)

    def _serve(self, incoming: Incoming) -> None:
        if incoming.method.startswith("terminal/"):
            self.terminals.take(incoming)
        else:
            to_host, deaf = self._session.sandbox.to_host, self.link.is_deaf()
            files.take(incoming, self._files, self._clients, to_host, deaf=deaf)

    def _ask(self, incoming: Incoming) -> None:
        if self._session.agent.phase == "ending":  # what it had asked is kept, and nothing more
            incoming.fail(INTERNAL_ERROR, "the agent is being ended")
            return
        given, about = self._edits.note(lenient.mapping(incoming.params, "toolCall")), list[Json]()
        if given:
            incoming.params = {**incoming.params, "toolCall": given}
        child = lenient.text(incoming.params, "sessionId")
        judged = self.children.calls_of(child)
        if incoming.method == "session/request_permission":
            about = judged.stands_for(given)
        calls = self.auto_answer.look_at_all(about)
        guarded = self._session.policy.confirm_destructive
        try:
            asked = self.asks.take(incoming, dangers(calls) if guarded else "", judged)
        except links.BadLink as fault:
            self.kept.refuse_link(incoming, str(fault))
            return
        if asked is None:
            return
        asked = asked.with_(session=child) if child in self.children else asked
        ask, old = self.kept.stands_again(asked)
        incoming.cancelled = lambda: self._session.then(self.kept.withdraw, ask.id)
        is_hooks = self._session.profile().judged and hook_asks.is_one(given)
        if calls:
            does = self.auto_answer.details(about, given)
            ask = ask.with_(**judged.asked(ask, about), does=does)
            answer = None if is_hooks else self.auto_answer.answer(ask, calls)
        else:
            answer = None if is_hooks else self.auto_answer.answer_for_nobody(ask)
        if is_hooks:
            calls, answer = [], self.auto_answer.answer_about_hooks(ask)
        if answer is None or self.kept.overrides(old, answer):
            self.kept.announce(self.auto_answer.note(ask, calls) if calls else ask, old)
        else:  # clients need not ask anybody: the answer comes in the same breath
            self._session.append(Draft(ask.with_(ruled=answer.draft.update["ruled"]).update))
            self._session.append(answer.draft, full=True)
            self._session.then(self.asks.reply, ask.id, answer.reply)

    def _close_asks(self, reason: str, *, kept: bool) -> None:
        """Close the open asks before anything else that is due: an ask ends before its turn
        does."""
        closing = asks.closings(self._session.header, reason, kept=kept)
        drafts = [turns.Append(draft, full=True) for _, draft, _ in closing]
        replies = [partial(self.asks.reply, name, reply) for name, _, reply in closing]
        self._session.do_next([*drafts, *replies])
