"""The worker as an ACP client: what goes to the agent, what comes from it, what it asks of us."""

import os
from base64 import b64encode
from collections.abc import Callable

import rookery
from rookery.agents import registry
from rookery.client.config.in_force import InForce
from rookery.core.agent import ingest, messages
from rookery.core.agent import prompt as agent_prompt
from rookery.core.asks import asks as ask_rules
from rookery.core.asks import kept_asks
from rookery.core.critic import loop
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json
from rookery.core.policy import auto_answer, modes
from rookery.core.turn import messages as turns
from rookery.core.turn import retries
from rookery.core.turn.calls import TurnCalls
from rookery.core.turn.messages import LetDecide
from rookery.core.vendors import logins, profiles
from rookery.home.config import Config
from rookery.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Incoming
from rookery.worker import asks
from rookery.worker.agent import extras, file_requests
from rookery.worker.agent.environment import Surroundings, news, renew
from rookery.worker.agent.files import Files
from rookery.worker.agent.link import AgentLink, Ears, spawn_words
from rookery.worker.agent.mcp_servers import Servers
from rookery.worker.agent.privileges import Privileges
from rookery.worker.agent.prompt_meta import prompt_meta
from rookery.worker.agent.replays import Replays
from rookery.worker.agent.surviving_commands import Outliving
from rookery.worker.agent.terminals import Terminals
from rookery.worker.clients import Clients
from rookery.worker.engine import Effect, Engine, now
from rookery.worker.policy import judge_requests
from rookery.worker.policy.auto_answer import Judge, worst
from rookery.worker.policy.kept_asks import KeptAsks
from rookery.worker.process.records import Records

STEERING = "_session/steering"
WORKS = ("terminal/create", "fs/write_text_file")
"""What changes something, in the eyes of the critic."""


class AgentSide:
    def __init__(
        self,
        engine: Engine,
        records: Records,
        found: InForce,
        surroundings: Surroundings,
        clients: Clients,
        directory: str,
        settle: Callable[[], None],
        acted: Callable[[], None],
    ) -> None:
        self._engine = engine
        self._records = records
        self._config = config = found.config
        self._clients = clients
        self._settle, self._acted = settle, acted
        self.look: Callable[[], object] = bool
        """At config.toml, whether it changed; `configure` follows where it did."""
        self._asks = asks.Asks()
        self.kept = KeptAsks(engine, self._asks, self.profile)
        self._calls = TurnCalls()
        self._repeats = Replays(engine, directory, self._heard, settle)
        self._outliving = Outliving(engine.append, settle)
        self._profile: tuple[tuple[str, list[str], str], profiles.Profile] | None = None
        self._directory, self._environment = directory, surroundings.environment
        assert surroundings.fence is not None
        self._fence = surroundings.fence
        self._privileges = Privileges(engine, self._fence)
        header, policy = engine.header, config.policy
        self._files = Files([header["cwd"], *header["roots"]], surroundings.umask)
        self._terminals = Terminals(
            self._files,
            header["cwd"],
            surroundings,
            policy.terminal_keep,
            policy.chunk_window,
            self._terminal_said,
        )
        self._servers = Servers(directory, surroundings, config.node_path, found.guarded.servers)
        home = os.path.dirname(os.path.dirname(directory))
        self._extras = extras.AgentExtras(home)
        self.judge = Judge(engine, self._current, home, self.profile, self._environment)
        asked, ended = self._repeats.first(self._requested), self._repeats.first(self._exited)
        ears = Ears(self._notified, asked, engine.said, settle, ended)
        self.link = AgentLink(directory, surroundings, ears)

    def configure(self, found: InForce) -> None:
        """Files and programs of the next start, and the numbers of what is started from now on."""
        self._config, self._profile = found.config, None
        policy = found.config.policy
        self._servers.table = found.guarded.servers
        self._terminals.configure(policy.terminal_keep, policy.chunk_window)

    def _current(self) -> Config:
        """As the file stands now, where that is sound: rules hold from the moment they are made."""
        self.look()
        return self._config

    # --- what every start is given ---------------------------------------------------------------

    def wish(self) -> messages.Wish:
        header, argv = self._engine.header, self.argv()
        known, profile = header["agentSession"], self.profile()
        return messages.Wish(
            name=header["agent"],
            argv=argv,
            cwd=header["cwd"],
            roots=header["roots"],
            mcp_servers=self._servers.given(header["mcpServers"]),
            stored=known["id"] if known and known["name"] == header["agent"] else None,
            cold=registry.is_cold(argv),
            offers=profiles.offers_of(profile),
            chosen=header["wanted"]
            | {"confirm": modes.for_agent(header["_confirm"][0], header["unattended"])},
            profile=profile,
            known_modes=profiles.known_modes(profile),
            version=rookery.__version__,
            install=registry.install_line(header["agent"], argv),
            guard=self._guard(),
            told=header["turn"] > (header["state"] != "idle"),
        )

    @property
    def confined(self) -> bool:
        """Whether the kernel keeps the agent from the control socket."""
        return self._fence.confined

    def _guard(self) -> str:
        """Of the agent that runs, or of the one that would be started now."""
        if self._engine.agent.phase in ("absent", "ending"):
            self._fence.confine(self._engine.header["agent"] not in self._config.unconfined)
        return self._fence.guard

    def profile(self) -> profiles.Profile:
        """Asked with every update: looked up once for each agent."""
        header = self._engine.header
        info = self._engine.agent.info or header["info"]
        key = (header["agent"], header["argv"], lenient.text(info, "name"))
        if self._profile is None or self._profile[0] != key:
            self._profile = (key, profiles.profile_of(header["agent"], self.argv(), info))
        return self._profile[1]

    def check_successor(self, command: Json) -> ask_rules.Refusal | None:
        """Why an agent cannot take over here, by the configuration of this moment."""
        config = self._current()
        renew(self._directory, self._environment)
        names = config.agents, self._environment, config.node_path
        return registry.check_successor(self._engine.header, command, *names)

    def calls_open(self) -> bool:
        """Whether the agent waits for something that it asked of us."""
        return self._terminals.waited_for()

    def argv(self) -> list[str]:
        """The command of a session that was made with one, else what its agent's name stands for
        today."""
        header = self._engine.header
        if header["argv"]:
            return list(header["argv"])
        try:
            return registry.resolve(header["agent"], self._config.agents).argv
        except registry.UnknownAgent:
            return []

    # --- to the agent ----------------------------------------------------------------------------

    def perform(self, effect: Effect) -> None:
        session = self._engine.agent.session
        match effect:
            case turns.SendPrompt(prompt, continues):
                self._send_prompt(prompt, continues=continues)
            case turns.SendSteer(name, prompt):
                self._send_steer(name, prompt)
            case turns.SendCancel(kept):
                self._outliving.cancelled(commands=self._calls.runs_a_command())
                self._close_asks(kept_asks.CANCELLED, kept=kept)
                self._terminals.cancel()
                by = {} if kept else {"_meta": {"rookery": {"by": "watchdog"}}}
                self.link.notify("session/cancel", {"sessionId": session, **by})
            case turns.CloseAsks(reason, kept):
                self._close_asks(reason, kept=kept)
            case LetDecide():
                self.kept.want(person=False)
            case asks.Reply(name, result):
                self._calls.answered(name, result)
                self._asks.reply(name, result)
            case messages.Spawn():
                self._spawn()
            case messages.Call(method, params):
                self._repeats.called(method)
                self._tell_untaken(method)
                self.link.call(method, params, self._handshake_answered)
            case messages.End(grace):
                self.link.end(self._config.policy.stop_grace if grace is None else grace)
            case messages.Leave(left):
                self.link.call("session/close", {"sessionId": left}, lambda *_: None)

    def _send_prompt(self, prompt: list[Json], *, continues: bool) -> None:
        self._calls.clear()
        self._outliving.turn_begins()
        self._terminals.turn_begins()
        self.kept.forget_calls()
        try:
            blocks = [] if continues else self._for_agent(prompt)
        except agent_prompt.Untaken as untaken:
            error = {"code": INVALID_PARAMS, "message": str(untaken)}
            self._engine.feed_turn(turns.Answered(None, error))
            return
        self._repeats.sent(prompt)
        agent, n = self._engine.agent, self._engine.turn.n
        can, policy = agent.continues, self._config.critic
        meta = prompt_meta(self._engine.header, policy, continues=continues, can_continue=can)
        params: Json = {"sessionId": agent.session, "prompt": blocks, **meta}

        def answered(result: object, error: Json | None) -> None:
            if error is not None:
                error = logins.told(error, agent.logins)
            self._outliving.turn_ended(self._engine.header["id"])
            self._engine.feed_turn(turns.Answered(result, error, n))
            self._settle()

        self.link.call("session/prompt", params, self._repeats.first(answered))

    def _for_agent(self, prompt: list[Json]) -> list[Json]:
        return agent_prompt.for_agent(prompt, self._engine.agent.capabilities or {}, self._blob)

    def _blob(self, name: str) -> str | None:
        data = self._engine.journal.writer.blob(name)
        return None if data is None else b64encode(data).decode("ascii")

    def _send_steer(self, name: str, prompt: list[Json]) -> None:
        def answered(result: object, error: Json | None) -> None:
            taken = error is None and lenient.text(result, "outcome") == "injected"
            self._engine.feed_turn(turns.SteerAnswered(name, taken))
            self._settle()

        try:
            blocks = self._for_agent(prompt)
        except agent_prompt.Untaken:
            self._engine.feed_turn(turns.SteerAnswered(name, taken=False))
            return
        self._repeats.steered(prompt)
        params = {
            "sessionId": self._engine.agent.session,
            "prompt": blocks,
            "_meta": {"steering": {"idleBehavior": "promptRequired"}},
        }
        self.link.call(STEERING, params, answered)

    # --- its process -----------------------------------------------------------------------------

    def _tell_untaken(self, method: str) -> None:
        """The MCP servers that an agent about to get its session is not given."""
        if method.startswith("session/") and self._engine.agent.phase == "opening":
            header, known = self._engine.header, self._engine.agent.capabilities
            for draft in self._servers.untaken(header["agent"], known, header["mcpServers"]):
                self._engine.append(draft)

    def _spawn(self) -> None:
        self.look()
        self._privileges.begin()
        self.look()
        renew(self._directory, self._environment)
        header = self._engine.header
        about = self._config, header["agent"], self.profile()
        chosen = extras.servers(*about)
        for notice in (*news(self._directory), *self._servers.read(header, *chosen)):
            self._engine.append(notice)
        self.judge.settle_default()
        cwd, name = header["cwd"], header["agent"]
        argv = self.link.located(self.argv(), self._config.node_path)
        try:
            more = self._extras.environment(*about)
            process = self.link.spawn(argv, cwd, self._config.policy.line_bytes, more)
        except (OSError, ValueError, IndexError) as error:
            words = spawn_words(name, argv, cwd, error)
            self._engine.feed_agent(messages.SpawnFailed(words))
            return
        self._records.note(agent=name, agentPid=process.pid, agentStart=process.start, argv=argv)
        self._engine.feed_agent(messages.Spawned(process.pid))

    def _exited(self, status: int, stderr: list[str]) -> None:
        self._asks.forget()
        self._terminals.release_all()
        self._records.note(agentPid=0)
        by_itself = self._engine.agent.phase != "ending"
        self._engine.feed_agent(messages.Exited(status, stderr))
        if by_itself:
            self.kept.agent_died()
        self._settle()

    def _handshake_answered(self, result: object, error: Json | None) -> None:
        match self._engine.agent.phase:
            case "initializing":
                self._engine.feed_agent(messages.Initialized(result, error))
            case "applying":
                self._engine.feed_agent(messages.Applied(result, error))
            case _:
                known = self._repeats.replayed, self._repeats.is_cut()
                self._engine.feed_agent(messages.Opened(result, error, *known))
                self._records.note(agentSession=self._engine.agent.session)
        self._settle()

    # --- from the agent --------------------------------------------------------------------------

    def _notified(self, method: str, params: object) -> None:
        session = self._engine.agent.session
        if (retry := retries.told(method, params, session)) is not None:
            self._engine.said(retry)
            return
        for update in ingest.from_notification(method, params, session or None):
            self._repeats.take(update)

    def _heard(self, update: Json) -> None:
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            self._privileges.hear(*(update.get(key) for key in ("content", "rawOutput", "_meta")))
            known = self._calls.remember(update)
            self._terminals.background.hear(update)
            self.kept.announced(update)
            if loop.changes(known | {"status": update.get("status")}):
                self._acted()
        self._engine.said(update)

    def _requested(self, incoming: Incoming) -> None:
        if incoming.method in WORKS:
            self._acted()
        if incoming.method.startswith("terminal/") and self.profile().terminals:
            self.kept.mark_work(incoming.method)
            self._terminals.take(incoming)
        elif incoming.method.startswith("fs/") and self.profile().files:
            self.kept.mark_work(incoming.method)
            file_requests.take(incoming, self._files, self._clients, deaf=self.link.is_deaf())
        elif incoming.method == auto_answer.METHOD:
            judge_requests.take(incoming, self.judge, self._engine, self._calls)
        else:
            self._ask(incoming)

    def _terminal_said(self, update: Json) -> None:
        self._engine.append(Draft(update))
        self._privileges.hear(update.get("text"))
        self._settle()

    def _ask(self, incoming: Incoming) -> None:
        if self._engine.agent.phase == "ending":  # what it had asked is kept, and nothing more
            incoming.fail(INTERNAL_ERROR, "the agent is being ended")
            return
        given, about = lenient.mapping(incoming.params, "toolCall"), list[Json]()
        if incoming.method == "session/request_permission":
            about = self._calls.stands_for(given)
        calls = self.judge.look_at_all(about)
        guarded = self._config.policy.confirm_destructive
        asked = self._asks.take(incoming, worst(calls) if guarded else "")
        if asked is None:
            return
        update, old = self.kept.stands_again(asked[1])
        name = update["id"]
        incoming.cancelled = lambda: self._withdrawn(name)
        if calls:
            update |= self._calls.asked(update, about)
            update |= {"does": self.judge.told(about, given)}
            answer = self.judge.answer(update, calls)
        else:
            answer = self.judge.answer_for_nobody(update)
        if answer is None or self.kept.overrides(old, answer):
            self.kept.announce(self.judge.note(update, calls) if calls else update, old)
        else:  # clients need not ask anybody: the answer comes in the same breath
            self._engine.append(Draft(update | {"ruled": answer.draft.update["ruled"]}))
            self._engine.append(answer.draft, full=True)
            self._engine.do(asks.Reply(name, answer.reply))

    def _withdrawn(self, name: str) -> None:
        self._engine.perform_due()  # it may have come in the same breath as the ask
        if self._engine.agent.phase == "ending" or name not in self._asks.names():
            return  # it takes nothing back that is kept
        if name in self._engine.header["asks"]:
            outcome = {"outcome": "cancelled"}
            update = ask_rules.closed(name, outcome, reason="withdrawn by the agent")
            self._engine.append(Draft(update))
        self._calls.answered(name, None)
        self._asks.withdraw(name)

    def _close_asks(self, reason: str, *, kept: bool) -> None:
        """Before anything else that is due: an ask ends before its turn does."""
        journal = self._engine.journal
        journal.commit()
        closing = asks.closings(self._engine.header, reason, kept=kept)
        for _, draft, _ in closing:
            journal.add(draft, now(), full=True)
        self._engine.do_next(asks.Reply(name, reply) for name, _, reply in closing)
