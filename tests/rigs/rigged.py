"""The player's agent with knobs: it fails at its start, wants a login, forks, is steered, offers
models the old way, and ends no turn at a cancel where a script says so."""

import asyncio
import os
from typing import Any

from rookery.acp.player import verbs
from rookery.acp.player.memory import Memory, Session, _lines
from rookery.acp.player.performance import Live, Performance, text_of
from rookery.acp.player.script import Script
from rookery.acp.player.scripted import VERBS, ScriptedAgent
from rookery.wire.choices import UnknownChoice
from rookery.wire.dialect import DRAFT, UNSUPPORTED
from rookery.wire.jsonrpc import Incoming, RpcError
from rookery.wire.params import AUTH_REQUIRED, Json, invalid, known, no_session, offers, session_id
from tests.rigs import mischief

NEEDED = {  # what has to be advertised for a method to exist
    "session/load": ("loadSession",),
    "session/list": ("sessionCapabilities", "list"),
    "session/delete": ("sessionCapabilities", "delete"),
    "session/resume": ("sessionCapabilities", "resume"),
    "session/close": ("sessionCapabilities", "close"),
    "session/fork": ("sessionCapabilities", "fork"),
    "session/archive": ("sessionCapabilities", "archive"),
    "session/unarchive": ("sessionCapabilities", "archive"),
    "session/set_title": ("sessionCapabilities", "title"),
    "logout": ("auth", "logout"),
    "providers/list": ("providers",),
    "providers/set": ("providers",),
}
SHELF = ("session/archive", "session/unarchive", "session/set_title")
OPENING = ("session/new", "session/load", "session/resume", "session/fork")


class RiggedAgent(ScriptedAgent):
    verbs = {**VERBS, **mischief.VERBS}  # noqa: RUF012

    @staticmethod
    def check(script: Script) -> None:
        pass  # it has every setting

    def __init__(self, script: Script, memory: Memory, group: asyncio.TaskGroup) -> None:
        super().__init__(script, memory, group)
        agent = script.agent
        self.capabilities = _merged(self.capabilities, agent.get("capabilities", {}))
        known = self.methods | {"authenticate", "logout", "session/fork", "session/set_model"}
        known |= {"providers/list", "providers/set"}
        known |= set(SHELF)
        known |= {"_session/steering"} if agent.get("steering") else set()
        self.methods = frozenset(
            method for method in known if offers(self.capabilities, *NEEDED.get(method, ()))
        )
        self.page_size = agent.get("pageSize", self.page_size)
        self.silent = False
        self._authenticated = not agent.get("authRequired", False)
        self._models: dict[str, str] = {}
        """By session: the current one."""
        self._version: object = 1
        if script.start.get("times", 1 << 30) < _starts(memory):
            self.script = script._replace(start={})
        self._start = self.script.start
        self._misbehave()

    # --- the start ---------------------------------------------------------------------------

    def _misbehave(self) -> None:
        if "stderr" in self._start:
            mischief.stderr_pipe().write(f"{self._start['stderr']}\n".encode())
        if "raw" in self._start:
            self.peer.write_raw(f"{self._start['raw']}\n".encode())
        if "crash" in self._start and "crash_on" not in self._start:
            self._flush_and_die()

    def _flush_and_die(self) -> None:
        self.peer.flush()
        mischief.stderr_pipe().flush()
        verbs.die(self._start.get("crash", 1))

    def _on_request(self, request: Incoming) -> None:
        delay = self._start.get("wait", 0) if request.method == "initialize" else 0
        delay = self._start.get("wait_on", {}).get(request.method, delay)
        if delay:
            asyncio.get_running_loop().call_later(delay, self._on_time, request)
        else:
            self._on_time(request)

    def _on_time(self, request: Incoming) -> None:
        if self.silent or self._start.get("silence") == request.method:
            return
        if self._start.get("crash_on") == request.method:
            self._flush_and_die()
        wrong = self._start.get(f"{request.method.rpartition('/')[2]}_error")
        if wrong is not None and (request.method in self.methods or request.method == "initialize"):
            error = verbs.error_of(wrong)
            request.fail(error.code, error.message, error.data)
            return
        super()._on_request(request)

    def _on_notification(self, method: str, params: Any) -> None:
        if not self.silent:
            super()._on_notification(method, params)

    def _initialize(self, request: Incoming, params: Json) -> None:
        if self._start.get("draft") and self.peer._dialect is None:
            data = {"requested": params.get("protocolVersion"), "supported": [DRAFT]}
            raise RpcError(UNSUPPORTED, "Unsupported protocol version", data)
        wanted = self._start.get("version", 1)
        self._version = params.get("protocolVersion") if wanted == "echo" else wanted
        super()._initialize(request, params)

    def welcome(self) -> Json:
        agent = self.script.agent
        methods = agent.get("authMethods", [])
        if not offers(self.client or {}, "auth", "terminal"):
            methods = [method for method in methods if method.get("type") != "terminal"]
        steered = {"_meta": {"steering": {"supported": True}}} if agent.get("steering") else {}
        own = {"protocolVersion": self._version, "authMethods": methods}
        return super().welcome() | own | steered

    # --- requests ----------------------------------------------------------------------------

    def answer(self, request: Incoming, params: Json) -> None:
        if request.method in OPENING and not self._authenticated:
            raise RpcError(AUTH_REQUIRED, "Authentication required")
        match request.method:
            case "authenticate":
                offered = [method["id"] for method in self.script.agent.get("authMethods", [])]
                if params.get("methodId") not in offered:
                    raise invalid("unknown authentication method")
                self._authenticated = True
                request.reply({})
            case "logout":
                self._authenticated = False
                request.reply({})
            case "providers/list":
                one = {"providerId": "main", "supported": ["anthropic"], "required": False}
                request.reply({"providers": [one]})
            case "providers/set":
                request.reply({})
            case "session/archive" | "session/unarchive" | "session/set_title" as method:
                words = [method.rpartition("/")[2], params.get("title", "")]
                with open(os.path.join(self.memory._directory, "shelf"), "a") as file:
                    file.write(" ".join(words).strip() + "\n")
                request.reply({"title": words[1]} if words[1] else {})
            case "session/fork":
                self._fork(request, params)
            case "session/set_model":
                self._set_model(known(self.live, params), str(params.get("modelId")))
                request.reply({})
            case "_session/steering":
                taken = self._steer(known(self.live, params), self.blocks(params))
                request.reply({"outcome": "injected" if taken else "promptRequired"})
            case _:
                super().answer(request, params)

    def introduce(self, request: Incoming, live: Live) -> None:
        before = self._start.get("before_answer", [])
        if not before:
            super().introduce(request, live)
            return
        turn = Performance(live.stage)

        async def play() -> None:
            await turn.perform(before, "before the answer")
            super(RiggedAgent, self).introduce(request, live)

        live.queue(turn, play)

    def _fork(self, request: Incoming, params: Json) -> None:
        cwd, roots = self.place(params)
        origin = self.memory.open(session_id(params))
        if origin is None:
            raise no_session()
        origin.close()
        session = self.memory.create(cwd, roots)
        for line in _lines(origin._path):
            if "session" not in line:
                session._append(line)
        session.restore()
        session.set(cwd=cwd, additionalDirectories=roots)
        self.introduce(request, self.enliven(session))

    def enliven(self, session: Session) -> Live:
        live = super().enliven(session)
        mischief.AGENTS[live.stage.peer] = self
        if models := self.script.agent.get("models"):
            state = live.choices.state
            self._models[session.id] = models["currentModelId"]
            live.choices.state = lambda: {  # type: ignore[method-assign]
                **state(),
                "models": {**models, "currentModelId": self._models[session.id]},
            }
        return live

    def _set_model(self, live: Live, model: str) -> None:
        """The old way, with an answer that says nothing."""
        offered = self.script.agent.get("models", {}).get("availableModels", [])
        if model not in [entry["modelId"] for entry in offered]:
            raise UnknownChoice(f"unknown model {model!r}")
        self._models[live.session.id] = model

    def _steer(self, live: Live, prompt: list[Json]) -> bool:
        """A prompt for the turn that is being played; False: none is."""
        turn = live.running
        if self.script.agent["steering"] == "refused":
            return False
        if turn is None or turn.request is None or turn.answered or turn.cancelled:
            return False
        turn.remember(prompt)
        turn.variables["steered"] = text_of(prompt)
        mischief.steered(turn).set()
        return True

    def _cancel(self, id: Any) -> None:
        live = self.live.get(id) if isinstance(id, str) else None
        if live is None or live.running not in mischief.DEAF:
            super()._cancel(id)


def _starts(memory: Memory) -> int:
    """How often a player was started on this directory, this time included."""
    path = os.path.join(memory._directory, "starts")
    with open(path, "ab") as file:
        file.write(b".")
    return os.path.getsize(path)


def _merged(values: Json, changes: Json) -> Json:
    """`values` with `changes` laid over, to any depth; null takes away."""
    merged = dict(values)
    for key, change in changes.items():
        old = merged.get(key)
        if change is None:
            merged.pop(key, None)
        else:
            nested = isinstance(old, dict) and isinstance(change, dict)
            merged[key] = _merged(old or {}, change) if nested else change
    return merged
