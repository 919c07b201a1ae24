"""An ACP agent without a model: it knows the protocol, and plays a script where others think."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rookery.acp.player import calls, mischief, verbs
from rookery.acp.player.choices import Choices
from rookery.acp.player.live import Live
from rookery.acp.player.memory import Memory, Session, info_of
from rookery.acp.player.performance import Stage
from rookery.acp.player.script import Script
from rookery.wire import listing
from rookery.wire.choices import UnknownChoice
from rookery.wire.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    ConnectionClosed,
    Incoming,
    Peer,
    RpcError,
    TooLarge,
)
from rookery.wire.params import (
    AUTH_REQUIRED,
    blocks,
    invalid,
    known,
    no_session,
    offers,
    place,
    servers,
    session_id,
    version,
)
from rookery.wire.pipes import PipeWriter, private_copy

type Json = dict[str, Any]

VERBS = {**verbs.VERBS, **calls.VERBS, **mischief.VERBS}
PAGE = 50
WIND_DOWN = 1.0
"""Seconds after the end of stdin for turns to be answered and for the answers to be written."""
CAPABILITIES: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {
        "list": {},
        "delete": {},
        "resume": {},
        "close": {},
        "additionalDirectories": {},
    },
}
NEEDED = {  # what has to be advertised for a method to exist
    "session/load": ("loadSession",),
    "session/list": ("sessionCapabilities", "list"),
    "session/delete": ("sessionCapabilities", "delete"),
    "session/resume": ("sessionCapabilities", "resume"),
    "session/close": ("sessionCapabilities", "close"),
    "session/fork": ("sessionCapabilities", "fork"),
    "logout": ("auth", "logout"),
}
BLOCKS = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


class ScriptedAgent:
    """Answers every method of protocol 1; what a prompt plays is the script's affair."""

    def __init__(self, script: Script, memory: Memory) -> None:
        self.closed = asyncio.Event()
        self._script = script
        self._memory = memory
        self._live: dict[str, Live] = {}
        self._client: Json | None = None
        self._authenticated = not script.agent.get("authRequired", False)
        self._silent = False
        self._stderr: PipeWriter | None = None
        self._capabilities = _merged(CAPABILITIES, script.agent.get("capabilities", {}))
        self._start = script.start
        if script.start.get("times", 1 << 30) < memory.starts():
            self._start = {}
        self._methods: dict[str, Callable[[Incoming, Json], None]] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "logout": self._logout,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._load,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/set_config_option": self._set_option,
            "session/prompt": self._prompt,
            "_session/steering": self._steer,
        }
        self.peer = Peer.over_stdio(
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_closed=self.closed.set,
            answer_noise=True,
        )

    def begin(self) -> None:
        """The start's own mischief."""
        if "stderr" in self._start:
            self._complain(f"{self._start['stderr']}\n".encode())
        if "raw" in self._start:
            self.peer.write_raw(f"{self._start['raw']}\n".encode())
        if "crash" in self._start and "crash_on" not in self._start:
            self._flush_and_die()

    def _flush_and_die(self) -> None:
        self.peer.flush()
        if self._stderr is not None:
            self._stderr.flush()
        mischief.die(self._start.get("crash", 1))

    def _complain(self, text: bytes) -> None:
        if self._stderr is None:
            self._stderr = PipeWriter(private_copy(2, os.O_WRONLY), lambda _error: None)
        self._stderr.write(text)

    async def wind_down(self) -> None:
        """Stdin has ended: every turn is answered, then all is written, or the time is up."""
        async with asyncio.TaskGroup() as group:
            for live in self._live.values():
                group.create_task(live.wind_down(WIND_DOWN / 2))
        with suppress(TimeoutError, ConnectionClosed):
            async with asyncio.timeout(WIND_DOWN / 2):
                await self.peer.drain(1)
        self.peer.close()

    # --- Requests

    def _on_request(self, request: Incoming) -> None:
        delay = self._start.get("wait", 0) if request.method == "initialize" else 0
        delay = self._start.get("wait_on", {}).get(request.method, delay)
        if delay:
            asyncio.get_running_loop().call_later(delay, self._serve, request)
        else:
            self._serve(request)

    def _serve(self, request: Incoming) -> None:
        if self._silent or self._start.get("silence") == request.method:
            return
        if self._start.get("crash_on") == request.method:
            self._flush_and_die()
        try:
            self._answer(request)
        except RpcError as error:
            request.fail(error.code, error.message, error.data)
        except UnknownChoice as error:
            request.fail(INVALID_PARAMS, str(error))
        except (OSError, TooLarge) as error:
            request.fail(INTERNAL_ERROR, str(error))

    def _answer(self, request: Incoming) -> None:
        method = self._methods.get(request.method)
        if method is None or not self._can(*NEEDED.get(request.method, ())):
            request.unknown()
            return
        wrong = self._start.get(f"{request.method.rpartition('/')[2]}_error")
        if wrong is not None:
            raise verbs.error_of(wrong)
        params = {} if request.params is None else request.params
        if not isinstance(params, dict):
            raise invalid("params is not an object")
        if self._client is None and request.method != "initialize":
            raise RpcError(INVALID_REQUEST, "initialize comes first")
        method(request, params)

    def _can(self, *path: str) -> bool:
        return offers(self._capabilities, *path)

    def _on_notification(self, method: str, params: Any) -> None:
        if method == "session/cancel" and isinstance(params, dict) and not self._silent:
            id = params.get("sessionId")
            live = self._live.get(id) if isinstance(id, str) else None
            if live is not None:
                live.cancel()

    # --- The connection

    def _initialize(self, request: Incoming, params: Json) -> None:
        asked = version(params)
        capabilities = params.get("clientCapabilities")
        self._client = capabilities if isinstance(capabilities, dict) else {}
        agent = self._script.agent
        echo = self._start.get("version", 1)
        info = {
            "name": agent.get("name", "rookery-player"),
            "title": agent.get("title", "Rookery's player"),
            "version": agent.get("version", "1"),
        }
        methods = agent.get("authMethods", [])
        if not offers(self._client, "auth", "terminal"):
            methods = [method for method in methods if method.get("type") != "terminal"]
        answer: Json = {
            "protocolVersion": asked if echo == "echo" else echo,
            "agentCapabilities": self._capabilities,
            "agentInfo": info,
            "authMethods": methods,
        }
        if agent.get("steering"):
            answer["_meta"] = {"steering": {"supported": True}}
        request.reply(answer)

    def _authenticate(self, request: Incoming, params: Json) -> None:
        known = [method["id"] for method in self._script.agent.get("authMethods", [])]
        if params.get("methodId") not in known:
            raise invalid("unknown authentication method")
        self._authenticated = True
        request.reply({})

    def _logout(self, request: Incoming, params: Json) -> None:  # noqa: ARG002 (a method)
        self._authenticated = False
        request.reply({})

    # --- Sessions

    def _new(self, request: Incoming, params: Json) -> None:
        self._check_authenticated()
        cwd, roots = self._place(params)
        names = _names(servers(params, needed=True))
        session = self._memory.create(cwd, roots)
        session.servers = names
        self._introduce(request, session)

    def _fork(self, request: Incoming, params: Json) -> None:
        self._check_authenticated()
        cwd, roots = self._place(params)
        session = self._memory.fork(session_id(params), cwd, roots)
        if session is None:
            raise no_session()
        self._introduce(request, session)

    def _introduce(self, request: Incoming, session: Session) -> None:
        after = [{"commands": news["availableCommands"]} for news in self._commands()]
        after += self._start.get("after_new", [])
        self._enliven(session).introduce(request, self._start.get("before_answer", []), after)

    def _load(self, request: Incoming, params: Json) -> None:
        """session/load tells everything again before its answer; session/resume tells nothing."""
        self._check_authenticated()
        cwd, roots = self._place(params)
        live = self._live.get(session_id(params))
        if live is None:
            session = self._memory.open(session_id(params))
            if session is None:
                raise no_session()
            live = self._enliven(session)
        live.session.set(cwd=cwd, additionalDirectories=roots)
        live.session.servers = _names(servers(params))
        resumes = request.method == "session/resume"
        if resumes:
            request.reply(live.choices.state())
        else:
            live.replay()
        for update in self._commands():
            live.tell(update)
        if not resumes:
            request.reply(live.choices.state())

    def _commands(self) -> list[Json]:
        commands = self._script.agent.get("commands")
        told = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        return [told] if commands else []

    def _list(self, request: Incoming, params: Json) -> None:
        cwd = params.get("cwd")
        found = {
            (f"{about['created']:020}", about["id"]): about
            for about in self._memory.all()
            if cwd in (None, about["cwd"])
        }
        listed, more = listing.page(params, found, self._script.agent.get("pageSize", PAGE))
        request.reply({"sessions": [info_of(about) for about in listed], **more})

    def _close(self, request: Incoming, params: Json) -> None:
        live = known(self._live, params)
        self._live.pop(live.session.id)
        live.end(lambda: request.reply({}))

    def _delete(self, request: Incoming, params: Json) -> None:
        id = session_id(params)
        self._memory.delete(id)
        live = self._live.pop(id, None)
        if live is None:
            request.reply({})
        else:
            live.end(lambda: request.reply({}))

    def _set_mode(self, request: Incoming, params: Json) -> None:
        known(self._live, params).set_mode(str(params.get("modeId")))
        request.reply({})

    def _set_model(self, request: Incoming, params: Json) -> None:
        """The way of old, with an answer that says nothing."""
        known(self._live, params).choices.set_model(str(params.get("modelId")))
        request.reply({})

    def _set_option(self, request: Incoming, params: Json) -> None:
        live = known(self._live, params)
        live.set_option(str(params.get("configId")), params.get("value"))
        request.reply({"configOptions": live.choices.options()})

    # --- Prompts

    def _prompt(self, request: Incoming, params: Json) -> None:
        known(self._live, params).prompt(request, self._script, self._blocks(params))

    def _steer(self, request: Incoming, params: Json) -> None:
        """A prompt for the turn that is being played, where the script says `steering`."""
        if not self._script.agent.get("steering"):
            request.unknown()
            return
        taken = known(self._live, params).steer(self._blocks(params))
        request.reply({"outcome": "injected" if taken else "promptRequired"})

    def _blocks(self, params: Json) -> list[Json]:
        prompt = blocks(params)
        for block in prompt:
            self._check_block(block)
        return prompt

    def _check_block(self, block: Any) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("text", "resource_link"):
            if kind == "text" and not isinstance(block.get("text"), str):
                raise invalid("a text block needs text")
        elif kind not in BLOCKS or not self._can("promptCapabilities", BLOCKS[kind]):
            raise invalid(f"content of type {kind!r} is not taken")

    # --- What they share

    def _fall_silent(self) -> None:
        self._silent = True

    def _enliven(self, session: Session) -> Live:
        agent, client = self._script.agent, self._client or {}
        choices = Choices(
            agent.get("modes"),
            agent.get("configOptions", []),
            booleans=offers(client, "session", "configOptions", "boolean"),
            models=agent.get("models"),
        )
        choices.restore(session.about.get("mode"), session.about.get("values", {}))
        stage = Stage(self.peer, session, client, choices, VERBS, self._fall_silent, self._complain)
        live = self._live[session.id] = Live(stage)
        return live

    def _check_authenticated(self) -> None:
        if not self._authenticated:
            raise RpcError(AUTH_REQUIRED, "Authentication required")

    def _place(self, params: Json) -> tuple[str, list[str]]:
        cwd, roots = place(params)
        return cwd, roots if self._can("sessionCapabilities", "additionalDirectories") else []


def _names(servers: list[Json]) -> str:
    """The player starts none of them."""
    return ", ".join(str(server.get("name")) for server in servers)


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
