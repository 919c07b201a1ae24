"""An ACP agent without a model: it implements the protocol, and plays a script in place of
thinking."""

import asyncio
from typing import Any

from rookery.acp.player import calls, verbs
from rookery.acp.player.choices import Choices
from rookery.acp.player.memory import Memory, Session, info_of
from rookery.acp.player.performance import Live, Stage, Verbs
from rookery.acp.player.script import Script, check_keys, check_offers
from rookery.wire import greeting, listing, reception
from rookery.wire.choices import UnknownChoice
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming, RpcError
from rookery.wire.params import (
    Json,
    blocks,
    invalid,
    known,
    no_session,
    offers,
    place,
    servers,
    session_id,
)

VERBS: Verbs = {**verbs.VERBS, **calls.VERBS}
BLOCKS = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


class ScriptedAgent(reception.Reception):
    name = "rookery-player"
    capabilities = greeting.CAPABILITIES | {
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True}
    }
    verbs = VERBS

    @staticmethod
    def check(script: Script) -> None:
        """Raise ScriptError for a setting that this agent does not have."""
        named = {"name", "title", "version", "commands", "modes", "configOptions"}
        check_keys(script.agent, named, "agent: ")
        check_offers(script.agent)
        check_keys(script.start, {"after_new"}, "start: ")

    page_size = 50

    def __init__(self, script: Script, memory: Memory, group: asyncio.TaskGroup) -> None:
        super().__init__(group)
        self.script = script
        self.memory = memory
        self.live: dict[str, Live] = {}

    def welcome(self) -> Json:
        own = {"name": self.name, "title": "Rookery's player", "version": "1"}
        overrides = {key: self.script.agent[key] for key in own if key in self.script.agent}
        return {"agentInfo": own | overrides, "authMethods": []}

    async def carry_out(self, request: Incoming, params: Json) -> None:
        try:
            self.answer(request, params)
        except UnknownChoice as error:
            raise invalid(str(error)) from None
        except OSError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from None

    def answer(self, request: Incoming, params: Json) -> None:
        match request.method:
            case "session/new":
                names = _names(servers(params, needed=True))
                session = self.memory.create(*self.place(params))
                session.servers = names
                self.introduce(request, self.enliven(session))
            case "session/load" | "session/resume":
                self._load(request, params)
            case "session/list":
                request.reply(self._list(params))
            case "session/close":
                live = known(self.live, params)
                self.live.pop(live.session.id)
                live.end(lambda: request.reply({}))
            case "session/delete":
                self._delete(request, session_id(params))
            case "session/set_mode":
                known(self.live, params).set_mode(str(params.get("modeId")))
                request.reply({})
            case "session/set_config_option":
                live = known(self.live, params)
                live.set_option(str(params.get("configId")), params.get("value"))
                request.reply({"configOptions": live.choices.options()})
            case "session/prompt":
                known(self.live, params).prompt(request, self.script, self.blocks(params))

    def cancel(self, params: Json) -> None:
        asyncio.get_running_loop().call_soon(self._cancel, params.get("sessionId"))

    def _cancel(self, id: Any) -> None:
        live = self.live.get(id) if isinstance(id, str) else None
        if live is not None:
            live.cancel()
            return
        for each in self.live.values():
            each.cancel_child(str(id))

    def take_back(self, request: Incoming, params: Json) -> None:  # noqa: ARG002 (a method)
        for live in self.live.values():
            asyncio.get_running_loop().call_soon(live.cancel, request)

    async def wind_down(self, seconds: float = reception.WIND_DOWN) -> None:
        """Answer every turn and write it all, or until the time is up: stdin has ended."""
        async with asyncio.TaskGroup() as group:
            for live in self.live.values():
                group.create_task(live.wind_down(seconds / 2))
        await super().wind_down(seconds / 2)

    # --- Sessions

    def introduce(self, request: Incoming, live: Live) -> None:
        """Answer the request that created a session, before any update of it."""
        request.reply({"sessionId": live.session.id, **live.choices.state()})
        self.after_answer(live)

    def after_answer(self, live: Live) -> None:
        after = [{"commands": news["availableCommands"]} for news in self._commands()]
        after += self.script.start.get("after_new", [])
        if after:
            live.perform(after, "after session/new")

    def _load(self, request: Incoming, params: Json) -> None:
        """Open a stored session: session/load sends the history before its answer; session/resume
        sends none."""
        cwd, roots = self.place(params)
        live = self.live.get(session_id(params))
        if live is None:
            session = self.memory.open(session_id(params))
            if session is None:
                raise no_session()
            live = self.enliven(session)
        live.session.set(cwd=cwd, additionalDirectories=roots)
        live.session.servers = _names(servers(params))
        if request.method == "session/resume":
            request.reply(live.choices.state())
        else:
            live.replay()
        for update in self._commands():
            live.tell(update)
        if not request.answered:
            request.reply(live.choices.state())

    def _commands(self) -> list[Json]:
        commands = self.script.agent.get("commands")
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        return [update] if commands else []

    def _list(self, params: Json) -> Json:
        cwd = params.get("cwd")
        entries = {
            (f"{about['created']:020}", about["id"]): about
            for about in self.memory.all()
            if cwd in (None, about["cwd"])
        }
        listed, more = listing.page(params, entries, self.page_size)
        return {"sessions": [info_of(about) for about in listed], **more}

    def _delete(self, request: Incoming, id: str) -> None:
        self.memory.delete(id)
        live = self.live.pop(id, None)
        if live is None:
            request.reply({})
        else:
            live.end(lambda: request.reply({}))

    # --- What they share

    def blocks(self, params: Json) -> list[Json]:
        prompt = blocks(params)
        for block in prompt:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and not isinstance(block.get("text"), str):
                raise invalid("a text block needs text")
            able = kind in BLOCKS and self._can("promptCapabilities", BLOCKS[kind])
            if not able and kind not in ("text", "resource_link"):
                raise invalid(f"content of type {kind!r} is not supported")
        return prompt

    def _can(self, *path: str) -> bool:
        return offers(self.capabilities, *path)

    def enliven(self, session: Session) -> Live:
        agent, client = self.script.agent, self.client or {}
        choices = Choices(
            agent.get("modes"),
            agent.get("configOptions", []),
            booleans=offers(client, "session", "configOptions", "boolean"),
        )
        choices.restore(session.about.get("mode"), session.about.get("values", {}))
        live = self.live[session.id] = Live(Stage(self.peer, session, client, choices, self.verbs))
        return live

    def place(self, params: Json) -> tuple[str, list[str]]:
        cwd, roots = place(params)
        return cwd, roots if self._can("sessionCapabilities", "additionalDirectories") else []


def _names(servers: list[Json]) -> str:
    """Return the names of MCP servers; the player starts none of them."""
    return ", ".join(str(server.get("name")) for server in servers)
