"""The worker's counter for commands: each leaves exactly one event that has its id as its cause."""

import os
from collections.abc import Callable

from rookery.client import attach
from rookery.client.config import in_force
from rookery.core import commands
from rookery.core.agent import messages
from rookery.core.asks import asks as ask_rules
from rookery.core.asks import kept_asks
from rookery.core.critic.state import CHOICES
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json
from rookery.core.policy import modes, unattended
from rookery.core.settings.held import CONFIRM
from rookery.core.turn import idle
from rookery.core.turn import messages as turns
from rookery.core.turn.messages import Deferred
from rookery.core.vendors import options
from rookery.core.vendors.errors import error_words
from rookery.home import confirmed
from rookery.home.config import ConfigError
from rookery.log.errors import LogError
from rookery.worker import asks
from rookery.worker import sender as sent_by
from rookery.worker.agent.handover import Memory
from rookery.worker.agent.side import AgentSide
from rookery.worker.confirm_option import ConfirmOption
from rookery.worker.engine import Engine
from rookery.worker.sender import Sender

PINS = ("mode", "model", "effort")


class Desk:
    def __init__(
        self,
        engine: Engine,
        side: AgentSide,
        directory: str,
        settle: Callable[[], None],
        stop: Callable[[str, str | None, str | None], None],
    ) -> None:
        self._engine = engine
        self._side = side
        self._directory = directory
        self._settle = settle
        self._stop = stop
        self._home = os.path.dirname(os.path.dirname(directory))
        self._confirm = ConfirmOption(engine, side, self._reject, settle)
        self._starting: list[tuple[str, str]] = []
        self._asked: set[str] = set()
        """Ids of commands whose outcome waits for the agent's answer."""
        self.memory = Memory(engine, side, settle, stop, self._asked)
        side.kept.answer = self._give

    def execute(self, command: Json, sender: Sender) -> None:
        """A command whose id is in the log was carried out already: the client reads it there
        (law 5)."""
        known = self._engine.journal.writer.knows(command["id"]) is not None
        if known or command["id"] in self._asked:
            return
        refusal = commands.check(command, self._engine.policy.queue_bytes)
        refusal = refusal or sent_by.refusal(command, sender, confined=self._side.confined)
        if refusal is not None:
            self._reject(command, refusal, sender.name)
        elif command["do"] == "settings":
            self._take_settings(command, sender.name)
        else:
            self._carry_out(command, sender.name)

    def _carry_out(self, command: Json, by: str) -> None:
        name = command["id"]
        match command["do"]:
            case "prompt":
                self._prompt(command, by)
            case "queue":
                self._queue(command, by)
            case "cancel":
                self._side.kept.give_up("cancelled", by)
                self._engine.feed_turn(turns.CancelWanted(name, by))
            case "force_end":
                self._engine.feed_turn(turns.ForceWanted(name, by))
            case "answer":
                self._answer(command, by)
            case "set":
                self._set(command, by)
            case "rename":
                update = {"sessionUpdate": "_session", "title": command["title"][:200]}
                self._engine.append(Draft(update, name, by))
            case "start":
                self._starting.append((name, by))
                self._asked.add(name)
                self._side.kept.want()
                self._engine.feed_agent(messages.Wanted())
            case "restart":
                self._restart(name, by)
            case "archive" | "unarchive" | "snooze":
                self._put_away(command, by)
            case "switch" | "clear" | "delete":
                refusal = self.memory.carry_out(command, by)
                if refusal is not None:
                    self._reject(command, refusal, by)
            case "stop" if command.get("idle") is True:
                self._stop_idle(name, by, room=command.get("room") is True)
            case "stop":
                self._stop("stop", name, by)

    def _reject(self, command: Json, refusal: ask_rules.Refusal, by: str) -> None:
        name = str(command["do"])[:40]
        draft = turns.rejected(name, refusal.reason, refusal.message, command["id"], by)
        self._engine.append(draft)

    def _done(self, name: str, command: str, by: str, **fields: str) -> None:
        update: Json = {"sessionUpdate": "_done", "command": command, **fields}
        self._engine.append(Draft(update, name, by))

    # --- prompts ---------------------------------------------------------------------------------

    def _prompt(self, command: Json, by: str) -> None:
        name, prompt = command["id"], self._kept(command, by)
        if prompt is None:
            return
        behind = self._side.kept.stands_first()
        if command.get("steer") is True and not behind:
            able = self._engine.agent.steers
            self._engine.feed_turn(turns.SteerWanted(name, prompt, by, able))
        else:
            self._engine.feed_turn(turns.Prompted(name, prompt, by, behind=behind))

    def _kept(self, command: Json, by: str) -> list[Json] | None:
        """The prompt, with the attachments that a client laid beside the log as blobs of it; None:
        one of them is no good, and the command was rejected."""
        blocks = [each for each in lenient.sequence(command, "prompt") if isinstance(each, dict)]
        try:
            return attach.taken_up(self._directory, self._engine.journal.writer, blocks)
        except (ValueError, LogError) as error:  # the latter: a full disk
            self._reject(command, ask_rules.Refusal("bad_attachment", str(error)), by)
            return None

    def _queue(self, command: Json, by: str) -> None:
        place = lenient.integer(command, "to") or 0
        item, prompt = lenient.text(command, "item"), self._kept(command, by)
        if prompt is None:
            return
        if command["op"] == "send" and self._side.kept.stands_first():
            session = self._engine.header["id"]
            words = f"Answer the open question first: rookery answer {session}"
            self._reject(command, ask_rules.Refusal("asked_first", words), by)
            return
        given = turns.QueueChanged(command["id"], by, command["op"], item, prompt, place)
        self._engine.feed_turn(given)

    # --- asks ------------------------------------------------------------------------------------

    def _answer(self, command: Json, by: str) -> None:
        ask = self._engine.header["asks"].get(command["ask"])
        if ask is None:  # a second answer is quietly told that the first one counted
            self._done(command["id"], "answer", by, detail="answered already")
            return
        if command.get("defer") is True:  # it stays open, and the turn waits
            self._done(command["id"], "answer", by, detail="deferred")
            if not ask.get("away"):
                self._engine.feed_turn(Deferred())
            return
        if ask.get("away") or not self._side.link.is_there():  # nobody hears it now
            refusal = self._side.kept.take_answer(ask, command, by)
        else:
            refusal = self._give(ask, command, by)
        if refusal is not None:
            self._reject(command, refusal, by)

    def _give(self, ask: Json, command: Json, by: str | None) -> ask_rules.Refusal | None:
        """An answer for the agent that asks; why not."""
        always = _always(command)
        if always:
            command = {**command, "option": ask_rules.allowing(ask)}
        answer = ask_rules.answered(ask, command, by)
        if isinstance(answer, ask_rules.Refusal):
            return answer
        notice = None
        if always:
            rule = self._side.judge.allow_always(ask, always)
            if isinstance(rule, ask_rules.Refusal):
                return rule
            answer, notice = modes.with_rule(answer, rule)
        self._engine.append(answer.draft, full=True)
        if notice is not None:
            self._engine.append(notice)
        self._engine.do(asks.Reply(command["ask"], answer.reply))
        said = lenient.text(command, "reason").strip()
        if said and not self._side.profile().takes_reasons:
            prompt: list[Json] = [{"type": "text", "text": said}]
            cause = f"{command['id'] or ask['nonce']}.reason"
            self._engine.feed_turn(turns.Prompted(cause, prompt, by, reason=True))
        return None

    # --- options ---------------------------------------------------------------------------------

    def _set(self, command: Json, by: str) -> None:
        name, value = command["option"], command["value"]
        if name in (modes.OPTION, unattended.OPTION):
            if not self._confirm.choose(command, by):
                self._asked.add(command["id"])
            return
        if name in CHOICES:  # the worker's own, whatever the agent has
            self._engine.append(Draft(commands.offline(command) or {}, command["id"], by))
            return
        agent, header = self._engine.agent, self._engine.header
        option = options.find(header["options"], name)
        if agent.phase != "ready":
            self._pin(command, by)
            return
        if option is None:
            known = ", ".join(each["id"] for each in header["options"]) or "none"
            words = f"This agent has no option {name!r}. Its options: {known}."
            self._reject(command, ask_rules.Refusal("unknown_option", words), by)
            return
        chosen = options.choice_of(option, value) if isinstance(value, str) else value
        if chosen is None:
            values = ", ".join(choice["value"] for choice in option["choices"])
            words = f"{name} can be: {values}."
            self._reject(command, ask_rules.Refusal("unknown_value", words), by)
            return
        self._asked.add(command["id"])
        method, params = options.setting(agent.session, option, chosen)

        def answered(result: object, error: Json | None) -> None:
            self._option_answered(command, by, chosen, result, error)

        self._side.link.call(method, params, answered)

    def _pin(self, command: Json, by: str) -> None:
        """No agent is there to confirm it: it is told at its next start."""
        name, value = command["option"], command["value"]
        if name not in PINS:
            words = "The agent is not running; only mode, model and effort can be set in advance."
            self._reject(command, ask_rules.Refusal("agent_absent", words), by)
            return
        update: Json = {"sessionUpdate": "_session", name: commands.pinned(name, value)}
        self._engine.append(Draft(update, command["id"], by))

    def _option_answered(
        self, command: Json, by: str, value: str | bool, result: object, error: Json | None
    ) -> None:
        self._asked.discard(command["id"])
        name = command["option"]
        if error is not None:
            words = f"The agent rejected {name} {value}: {error_words(error)}"
            self._reject(command, ask_rules.Refusal("refused_by_agent", words), by)
        else:
            update = options.confirmation(name, value, result)
            self._engine.append(Draft(update, command["id"], by))
            if name in PINS:
                pin: Json = {"sessionUpdate": "_session", name: commands.pinned(name, value)}
                self._engine.append(Draft(pin))
        self._settle()

    def _take_settings(self, command: Json, by: str) -> None:
        """Let hold what was loosened in the files while an agent was running."""
        try:
            in_force.confirm(self._home, command["take"])
        except in_force.Changed as error:
            words = f"{error} Review them again: {CONFIRM}"
            self._reject(command, ask_rules.Refusal("changed", words), by)
        except (confirmed.Busy, ConfigError, OSError) as error:
            words = f"Nothing was confirmed. {error}"
            self._reject(command, ask_rules.Refusal("not_confirmed", words), by)
        else:
            self._done(command["id"], "settings", by, detail="confirmed")
            self._side.look()

    # --- the agent's process ----------------------------------------------------------------------

    def _restart(self, cause: str, by: str) -> None:
        end = kept_asks.stopped(self._engine.header)
        self._engine.feed_turn(turns.AgentLost("restarted", reason=end))
        self._side.kept.want()
        update: Json = {"sessionUpdate": "_agent", "state": "stopped", "reason": "restart"}
        update["name"] = self._engine.header["agent"]
        self._engine.append(Draft(update, cause, by))
        self._engine.feed_agent(messages.EndWanted())
        self._engine.feed_agent(messages.Wanted())

    def _put_away(self, command: Json, by: str) -> None:
        """A reversible stop, once no turn runs: the host's upkeep sees to the rest."""
        self._engine.append(Draft(commands.put_away(command), command["id"], by), full=True)
        reason = idle.REASONS.get(command["do"])
        away = reason is not None and command.get("until") != 0
        if reason is not None and away and self._engine.turn.phase == "idle":
            self._stop(reason, None, by)

    def _stop_idle(self, cause: str, by: str, *, room: bool) -> None:
        """For a worker of another build, or where another session needs its place: a turn is never
        ended by it, nor one that is to be resumed put off."""
        waits = self._engine.resumes_at() is not None
        if self._engine.turn.phase == "idle" and idle.is_idle(self._engine.header) and not waits:
            self._stop("idle" if room else "stale", cause, by)
        else:
            self._done(cause, "stop", by, detail="busy")

    def agent_told(self, given: turns.AgentReady | turns.AgentLost) -> None:
        """Whoever wanted the agent to be there learns how that went."""
        starting, self._starting = self._starting, []
        for name, by in starting:
            self._asked.discard(name)
            if isinstance(given, turns.AgentReady):
                self._done(name, "start", by)
                continue
            draft = turns.rejected("start", "start_failed", given.detail, name, by)
            update = draft.update | ({"error": given.error} if given.error is not None else {})
            self._engine.append(draft._replace(update=update))


def _always(command: Json) -> int:
    """Which of the rules that an ask offers is wanted, from 1; 0: none."""
    chosen = command.get("always")
    if isinstance(chosen, bool):
        return int(chosen)
    return chosen if isinstance(chosen, int) and chosen > 0 else 0
