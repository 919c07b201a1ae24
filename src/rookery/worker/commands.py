"""Carries out commands: each leaves exactly one event that has its id as its cause. The commands
are listed in the catalogue of operations and in the table of `core/commands.py`, which name the
method for each."""

from operator import attrgetter

from rookery.client import attach
from rookery.client.config import in_force
from rookery.core import budgets, commands
from rookery.core.agent import imported, messages
from rookery.core.ask import ask_of, asks_of
from rookery.core.asks.asks import Refusal
from rookery.core.asks.kept_asks import LATE, REPLACED
from rookery.core.critic.state import CHOICES
from rookery.core.json import Draft, Json, lenient
from rookery.core.policy import go_asks, modes, unattended
from rookery.core.settings.held import CONFIRM
from rookery.core.turn import messages as turns
from rookery.core.turn import worker_idle
from rookery.core.turn.remedies import why_busy
from rookery.core.vendors import options
from rookery.core.vendors.errors import error_words
from rookery.home import confirmed
from rookery.home.config import ConfigError
from rookery.log.errors import LogError
from rookery.operations.catalogue.execution import execution_of
from rookery.worker import sender as sent_by
from rookery.worker.agent.handover import Handover
from rookery.worker.agent.side import AgentSide
from rookery.worker.agent.snapshots import Snapshots
from rookery.worker.budget import BudgetWatch
from rookery.worker.rewind import Rewind
from rookery.worker.session import Session

NO_SUBAGENT = Refusal("no_subagent", "That sub-agent is not running, or cannot be cancelled alone.")
STOPPING = Refusal("stopping", "A budget is reached, and the turn stops: nothing new begins in it.")


class Commands:
    """One method for each command of the table. Each returns why it was refused, or None if the
    command is done or under way."""

    def __init__(
        self, session: Session, side: AgentSide, budget: BudgetWatch, snapshots: Snapshots
    ) -> None:
        self._session = session
        self._side = side
        self._budget = budget
        self.rewind = Rewind(session, side, snapshots)
        self._starting: list[tuple[Json, str]] = []
        self.handover = Handover(session, side)
        header = session.header
        waiting = header.queue or header.asks or header.rate_limit
        self._alone = session.turn.phase == "idle" and not waiting
        """Nothing of a person's is under way: what agents began, they may end."""

    def execute(self, command: Json, sender: sent_by.Sender) -> None:
        """Carry out a command. One whose id is in the log was carried out already: the client reads
        it there (law 5)."""
        session, name = self._session, command["id"]
        if name in session.asked or session.journal.writer.knows(name) is not None:
            return
        self._alone = self._alone and sender.agents
        confined = session.fence.confined
        row = execution_of(command)
        refusal = commands.check(command, session.policy.queue_bytes, row)
        refusal = refusal or sent_by.refusal(
            command, row, sender, confined=confined, alone=self._alone
        )
        if refusal is None and row is not None:
            carry_out = attrgetter(row.handler)(self)
            refusal = carry_out(command, sender.name)
        if refusal is not None:
            session.reject(command, refusal, sender.name)

    def record(self, command: Json, by: str) -> None:
        """Log a command that needs no agent, as the same event as without a worker."""
        update = self._update(command)
        self._session.append(Draft(update, command["id"], by))
        if "title" in update:
            self._session.then(self._side.shelf.tell_title)

    def _update(self, command: Json) -> Json:
        update = commands.offline(command, self._session.header, execution_of(command))
        assert update is not None
        return update

    # --- prompts ---------------------------------------------------------------------------------

    def prompt(self, command: Json, by: str) -> Refusal | None:
        if imported.is_unloaded(self._session.header):
            self.start(command, by)  # it comes behind the history
            return None
        name, prompt = command["id"], self._with_attachments(command)
        if isinstance(prompt, Refusal):
            return prompt
        behind = self._side.kept.stands_first()
        goes = go_asks.is_answered(asks_of(self._session.header).values(), prompt)
        goes = goes and self._session.profile().judged
        if (command.get("steer") is True or goes) and not behind:
            able = self._session.agent.steers
            self._session.feed_turn(turns.SteerWanted(name, prompt, by, able))
        else:
            self._session.feed_turn(turns.Prompted(name, prompt, by, behind=behind))
        return None

    def retry(self, command: Json, by: str) -> Refusal | None:
        """Send the prompt of a turn once more, as it was sent."""
        session = self._session
        if session.turn.phase != "idle":
            return Refusal("busy", why_busy(session.header, "send it again"))
        turn = lenient.integer(command, "turn") or session.header.turn
        _, blocks = self._side.kept.prompt_of(turn)
        if not blocks:
            return Refusal("no_prompt", "The prompt of that turn is no longer in the log.")
        return self.prompt({**command, "prompt": blocks}, by)

    def _with_attachments(self, command: Json) -> list[Json] | Refusal:
        """Return the prompt with the attachments that a client stored beside the log as blobs."""
        session, blocks = self._session, list(lenient.mappings(command, "prompt"))
        try:
            return attach.taken_up(session.directory, session.journal.writer, blocks)
        except (ValueError, LogError) as error:  # the latter: a full disk
            return Refusal("bad_attachment", str(error))

    def queue(self, command: Json, by: str) -> Refusal | None:
        place = lenient.integer(command, "to") or 0
        item, prompt = lenient.text(command, "item"), self._with_attachments(command)
        if isinstance(prompt, Refusal):
            return prompt
        first = self._side.kept.stands_first() or budgets.open_ask(self._session.header)
        if command["op"] == "send" and first:
            text = f"Answer the open question first: rookery answer {self._session.header.id}"
            return Refusal("asked_first", text)
        able = self._session.agent.steers
        given = turns.QueueChanged(command["id"], by, command["op"], item, prompt, place, able)
        self._session.feed_turn(given)
        return None

    def cancel(self, command: Json, by: str) -> None:
        self._side.kept.give_up("cancelled", by)
        self._session.feed_turn(turns.CancelWanted(command["id"], by))

    def cancel_subagent(self, command: Json, by: str) -> Refusal | None:
        """Cancel one sub-agent; its agent goes on, and is told."""
        link, id = self._side.link, command["subagent"]
        if not (link.is_there() and self._side.children.can_cancel(id)):
            return NO_SUBAGENT
        link.notify("session/cancel", {"sessionId": id})
        self._session.done(command, by)
        return None

    def force_end(self, command: Json, by: str) -> None:
        self._session.feed_turn(turns.ForceWanted(command["id"], by))

    # --- asks ------------------------------------------------------------------------------------

    def answer(self, command: Json, by: str) -> Refusal | None:
        session, kept = self._session, self._side.kept
        ask = ask_of(session.header, command["ask"])
        if ask is None and command["ask"] in kept.superseded:
            return REPLACED
        if ask is None:  # the first answer counted
            session.done(command, by, LATE)
            return None
        if command.get("defer") is True:  # it stays open, and the turn waits
            session.done(command, by, "deferred")
            if not ask.away:
                session.feed_turn(turns.Deferred())
            return None
        if ask.is_about_budget:
            return self._budget.take_answer(ask, command, by)
        if session.turn.ask is not None and not session.agent.pauses:
            return STOPPING
        if ask.away or not self._side.link.is_there():  # nobody hears it now
            return kept.take_answer(ask, command, by)
        return kept.give(ask, command, by)

    # --- options ---------------------------------------------------------------------------------

    def set_option(self, command: Json, by: str) -> Refusal | None:
        command = commands.meant(command)
        name, value = command["option"], command["value"]
        if name in (modes.OPTION, unattended.OPTION):
            return self._set_confirm(command, by)
        session, header = self._session, self._session.header
        absent = session.agent.phase != "ready"
        ours = name in CHOICES or name in commands.BUDGETS
        if ours or (absent and name in commands.PINS):  # the latter for its next start
            self.record(command, by)
            return None
        if absent:
            text = "The agent is not running; only mode, model and effort can be set in advance."
            return Refusal("agent_absent", text)
        option = options.find(header.options, name)
        if option is None:
            known = ", ".join(each["id"] for each in header.options) or "none"
            text = f"This agent has no option {name!r}. Its options: {known}."
            return Refusal("unknown_option", text)
        chosen = options.chosen_of(option, value)
        if chosen is None:
            values = ", ".join(choice["value"] for choice in option["choices"]) or "true, false"
            return Refusal("unknown_value", f"{name} can be: {values}.")

        def answered(result: object, error: Json | None) -> None:
            if error is not None:
                text = f"The agent rejected {name} {chosen}: {error_words(error)}"
                session.reject(command, Refusal("refused_by_agent", text), by)
                return
            confirmation = options.confirmation(name, chosen, result)
            session.append(Draft(confirmation, command["id"], by))
            if name in commands.PINS:
                pin = {"sessionUpdate": "_session", name: commands.pinned(name, chosen)}
                session.append(Draft(pin))

        session.asked.add(command["id"])
        self._side.link.call(*options.setting(session.agent.session, option, chosen), answered)
        return None

    def _set_confirm(self, command: Json, by: str) -> Refusal | None:
        """Set how much is asked, through the agent's own mode if it has one. The agent has the last
        word: a mode that it refuses is not set."""
        update = self._update(command)
        session, header, profile = self._session, self._session.header, self._session.profile()
        wanted = modes.for_agent(update["confirm"], update["unattended"])
        mode = options.find(header.options, "mode")
        value = None
        if session.agent.phase == "ready":
            lacking = modes.unoffered(header.agent, profile, mode, wanted)
            if lacking:
                return Refusal("refused_by_agent", lacking)
            value = modes.mode_for(profile, mode, wanted)
        if mode is None or value is None or value == mode["value"]:
            session.append(Draft(update, command["id"], by))
            return None

        def answered(result: object, error: Json | None) -> None:
            if error is not None:
                reason = lenient.text(error, "message") or "no reason given"
                hint = modes.hint(profile, wanted)
                text = f"{header.agent} rejected the mode {value}: {reason}.{hint}"
                session.reject(command, Refusal("refused_by_agent", text), by)
                return
            session.append(Draft(options.confirmation("mode", value, result), None, by))
            session.append(Draft(update, command["id"], by))

        session.asked.add(command["id"])
        self._side.link.call(*options.setting(session.agent.session, mode, value), answered)
        return None

    def take_settings(self, command: Json, by: str) -> Refusal | None:
        """Put settings into force that were loosened in the files while an agent was running."""
        try:
            in_force.confirm(self._session.home, command["take"])
        except in_force.Changed as error:
            return Refusal("changed", f"{error} Review them again: {CONFIRM}")
        except (confirmed.Busy, ConfigError, OSError) as error:
            return Refusal("not_confirmed", f"Nothing was confirmed. {error}")
        self._session.done(command, by, "confirmed")
        self._session.look_at_settings()
        return None

    # --- the agent's process ----------------------------------------------------------------------

    def start(self, command: Json, by: str) -> None:
        self._starting.append((command, by))
        self._session.asked.add(command["id"])
        self._side.kept.want()
        self._session.feed_agent(messages.StartWanted())

    def agent_told(self, given: turns.AgentReady | turns.AgentLost) -> None:
        """Answer the commands that waited for the agent to start."""
        starting, self._starting = self._starting, []
        for command, by in starting:
            if isinstance(given, turns.AgentReady):
                self._session.then(self._started, command, by)
                continue
            name, do = command["id"], command["do"]
            draft = turns.rejected(do, "start_failed", given.detail, name, by)
            update = draft.update | ({"error": given.error} if given.error is not None else {})
            self._session.append(draft._replace(update=update))

    def _started(self, command: Json, by: str) -> None:
        if command["do"] != "prompt":
            self._session.done(command, by)
        elif refusal := self.prompt(command, by):
            self._session.reject(command, refusal, by)

    def restart(self, command: Json, by: str) -> None:
        self._session.end_turn("restarted")
        self._side.kept.want()
        self._session.end_agent("restart", command["id"], by)
        self._session.feed_agent(messages.StartWanted())

    def put_away(self, command: Json, by: str) -> None:
        """Record a reversible stop, and stop once no turn runs; the host's upkeep does the rest."""
        session, update = self._session, self._update(command)
        session.append(Draft(update, command["id"], by), full=True)
        reason = next((field for field in worker_idle.HIDING if update.get(field)), None)
        if reason is None or session.turn.phase != "idle":
            return
        if reason == "archived":
            self._side.shelf.archive(lambda: session.stop(reason, None, by))
        else:
            session.stop(reason, None, by)

    def stop(self, command: Json, by: str) -> None:
        """Stop the worker. `idle`: to make room for another session (`room`), or for a client of a
        newer build (`newer`): this never ends a turn, nor puts off one that is to be resumed. A
        client that names neither is of an older build, and does not replace this worker."""
        session = self._session
        if command.get("idle") is not True:
            session.stop("stop", command["id"], by)
            return
        room, newer = command.get("room") is True, command.get("newer") is True
        free = session.turn.phase == "idle" and session.is_idle()
        if free and (room or (newer and not self._side.terminals.are_running())):
            session.stop("idle" if room else "stale", command["id"], by)
        else:
            session.done(command, by, "busy")
