"""`set confirm` and `set unattended`: how much is asked, in the agent's own mode where it has one.
Either holds in this session alone."""

from collections.abc import Callable

from rookery.core import commands
from rookery.core.asks.asks import Refusal
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json
from rookery.core.policy import modes
from rookery.core.vendors import options
from rookery.worker.agent.side import AgentSide
from rookery.worker.engine import Engine

type Reject = Callable[[Json, Refusal, str], None]


class ConfirmOption:
    """The agent's word is the truth: what it refuses is not chosen."""

    def __init__(
        self,
        engine: Engine,
        side: AgentSide,
        reject: Reject,
        settle: Callable[[], None],
    ) -> None:
        self._engine = engine
        self._side = side
        self._reject = reject
        self._settle = settle

    def choose(self, command: Json, by: str) -> bool:
        """False: its outcome waits for the agent's answer."""
        update = commands.offline(command)
        assert update is not None
        wanted = modes.for_agent(update["confirm"], update["unattended"])
        agent, header, profile = self._engine.agent, self._engine.header, self._side.profile()
        mode = options.find(header["options"], "mode")
        if agent.phase == "ready":
            lacking = modes.unoffered(header["agent"], profile, mode, wanted)
            if lacking:
                self._reject(command, Refusal("refused_by_agent", lacking), by)
                return True
            value = modes.mode_for(profile, mode, wanted)
            if mode is not None and value is not None and value != mode["value"]:
                chosen = Draft(update, command["id"], by)
                self._set_mode(command, chosen, wanted, mode, value)
                return False
        self._engine.append(Draft(update, command["id"], by))
        return True

    def _set_mode(self, command: Json, chosen: Draft, wanted: str, mode: Json, value: str) -> None:
        by = chosen.by or ""
        header, profile = self._engine.header, self._side.profile()
        method, params = options.setting(self._engine.agent.session, mode, value)

        def answered(result: object, error: Json | None) -> None:
            if error is not None:
                said = lenient.text(error, "message") or "no reason given"
                hint = modes.hint(profile, wanted)
                words = f"{header['agent']} rejected the mode {value}: {said}.{hint}"
                self._reject(command, Refusal("refused_by_agent", words), by)
            else:
                update = options.confirmation("mode", value, result)
                self._engine.append(Draft(update, None, by))
                self._engine.append(chosen)
            self._settle()

        self._side.link.call(method, params, answered)
