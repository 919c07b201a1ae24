"""The sessions that a client has open: creates, loads, forks, closes and prompts them."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rookery import agents
from rookery.agent.conversation.choices import MODE_OF, Choices, wanted_of
from rookery.agent.process import shutdown
from rookery.agent.process.arguments import SETUP, Arguments
from rookery.agent.process.client import Client
from rookery.agent.process.place import Place
from rookery.agent.process.sdk_import import Sdk
from rookery.agent.session.models import Missing, Models, status_of
from rookery.agent.session.prompt import parts_of
from rookery.agent.storage import store
from rookery.agent.translate.calls import SUB_AGENT_ID
from rookery.core.json import Json, lenient
from rookery.core.json.files import Unusable
from rookery.home import mcp, paths
from rookery.log.errors import Busy
from rookery.models.secrets import KNOWN, secrets_in
from rookery.wire import listing
from rookery.wire.choices import UnknownChoice
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming, RpcError
from rookery.wire.mcp import KIND
from rookery.wire.params import (
    AUTH_REQUIRED,
    NOT_FOUND,
    blocks,
    invalid,
    known,
    no_session,
    offers,
    place,
    servers,
    session_id,
)

if TYPE_CHECKING:
    from rookery.agent.session.client_updates import Running
    from rookery.agent.session.session import Session

UNREADABLE = (
    "This conversation cannot be read: it is damaged, or a newer version of OpenHands wrote it."
)
IN_CONTAINER = "An earlier version ran this conversation in a container, where it cannot go on."
LONGEST_REASON = 120


class Sessions:
    def __init__(
        self,
        client: Client,
        sdk: Sdk,
        arguments: Arguments,
        away: "Callable[[], type[Session]]",
    ) -> None:
        """`away` loads the class of sessions that run elsewhere."""
        self._client = client
        self._sdk = sdk
        self._arguments = arguments
        self._away = away
        self._first = True
        self._store = store.Store(store.directory_of(os.environ))
        self._open: dict[str, Session] = {}
        self._models = Models(paths.home(), os.environ, override=arguments.override)
        self._opening = asyncio.Lock()

    async def serve(self, request: Incoming, params: Json) -> None:
        """Answer one request. Raises RpcError."""
        try:
            await self._serve(request, params)
        except Unusable as error:  # names the user's file and line
            raise RpcError(INTERNAL_ERROR, str(error)) from None

    async def _serve(self, request: Incoming, params: Json) -> None:
        match request.method:
            case "session/new":
                await self._new(request, params)
            case "session/load" | "session/resume":
                await self._load(request, params)
            case "session/fork":
                await self._fork(request, params)
            case method:
                request.reply(await self._answer(method, params))

    async def _answer(self, method: str, params: Json) -> Json:
        match method:
            case "authenticate":
                if params.get("methodId") != SETUP:
                    raise invalid("unknown authentication method")
                self._check_model()
            case "auth/status":
                return status_of(self._models.chosen(""))
            case "session/list":
                return await self._list(params)
            case "session/close":
                await self._close(known(self._open, params).record.id)
            case "session/delete":
                id = store.known_form(session_id(params)) or ""
                await self._close(id)
                if id:
                    await self._forget_elsewhere(id)
                    await asyncio.to_thread(self._store.delete, id)
            case "session/set_mode":
                self._choose(known(self._open, params), "mode", params.get("modeId"))
            case "session/set_config_option":
                session = known(self._open, params)
                self._choose(session, str(params.get("configId")), params.get("value"))
                return {"configOptions": session.choices.options()}
            case "session/prompt":
                return await self._prompt(params)
            case "_session/steering":
                session, parts = known(self._open, params), parts_of(blocks(params))
                taken = session.turn is not None and _steered(session, session.turn, parts)
                return {"outcome": "injected" if taken else "promptRequired"}
        return {}

    def cancel(self, id: Any, params: Json | None = None) -> None:
        name, _, child = id.partition(SUB_AGENT_ID) if isinstance(id, str) else ("", "", "")
        if (session := self._open.get(name)) is not None:
            session.cancel(child, _wish(params or {}).get("by"))

    async def end(self) -> None:
        """End all sessions with the process: nothing more is written."""
        shutdown.begin()
        async with asyncio.TaskGroup() as group:
            for session in self._open.values():
                group.create_task(session.end())

    # --- sessions --------------------------------------------------------------------------------

    def _check_model(self) -> None:
        model = self._models.chosen("")
        if isinstance(model, Missing):
            raise RpcError(AUTH_REQUIRED, model.sentence)

    async def _new(self, request: Incoming, params: Json) -> None:
        cwd, roots = _place(params)
        given = servers_of(servers(params, needed=True))
        self._check_model()
        wished, self._first = self._first and self._wished(cwd), False
        if wished:
            record = wished._replace(cwd=cwd, roots=roots)
        else:
            elsewhere = self._elsewhere()
            record = store.Record(store.new_id(), cwd, roots, updated=store.now(), remote=elsewhere)
        if mode := MODE_OF.get(self._arguments.confirm):
            record = record._replace(choices={**record.choices, "mode": mode})
        session = await self._enliven(record, given, made=not wished)
        request.reply({"sessionId": session.record.id, **session.choices.state()})
        if wished:
            await session.replay()
        _tell_commands(session)
        from rookery.agent.session import hooks  # with the SDK

        if not hooks.waits(session):
            session.warm_up()

    def _elsewhere(self) -> Json:
        """Return where new sessions run; empty: here."""
        given = self._arguments
        if not given.remote and not given.cloud:
            return {}
        return Place(given.remote or agents.elsewhere.CLOUD, given.cloud, given.directory).plain()

    def _wished(self, cwd: str) -> store.Record | None:
        """Return the session that the command line names, for the client's first session/new."""
        if self._arguments.last:
            matches = [each for each in self._store.all() if each.cwd == cwd]
            if not matches:
                raise invalid(f"--last: there is no session in {cwd}")
            return matches[0]
        if not self._arguments.resume:
            return None
        record = self._store.read(self._arguments.resume)
        if record is None:
            raise RpcError(NOT_FOUND, f"--resume: there is no session {self._arguments.resume}")
        return record

    async def _stored(self, params: Json) -> store.Record:
        """Return the stored session that a request is about. Raises RpcError."""
        record = await asyncio.to_thread(self._store.read, session_id(params))
        if record is None:
            raise no_session()
        self._check_model()
        return record

    async def _load(self, request: Incoming, params: Json) -> None:
        """Load a session. session/load sends its past before the reply; session/resume does not."""
        cwd, roots = _place(params)
        given = servers_of(servers(params))
        record = await self._stored(params)
        session = self._open.get(record.id)
        try:
            if session is None:
                session = await self._enliven(record._replace(cwd=cwd, roots=roots), given)
            if request.method == "session/load":
                await session.replay()
        except (ValueError, KeyError, FileNotFoundError) as error:  # what the SDK raises
            await self._close(record.id)
            raise RpcError(INTERNAL_ERROR, unreadable(error)) from error
        if request.method == "session/load":
            _tell_commands(session)
            request.reply(session.choices.state())
        else:
            request.reply(session.choices.state())
            _tell_commands(session)

    async def _enliven(
        self, record: store.Record, given: dict[str, Json], *, made: bool = False
    ) -> "Session":
        """Open a session; `made`: it is new. Raises RpcError."""
        await self._sdk.ready()
        kind = self._kind_of(record)
        async with self._opening:
            if record.id in self._open:
                return self._open[record.id]
            booleans = offers(self._client.capabilities, "session", "configOptions", "boolean")
            wanted = wanted_of(record.choices)
            listed = self._models.listed()
            choices = Choices(wanted, listed, booleans=booleans, efforts=self._models.efforts_of)
            try:
                take = self._store.make if made else lambda it: self._store.hold(it.id)
                lock = await asyncio.to_thread(take, record)
            except Busy:
                message = "This session is open in another process. Close it there first."
                raise RpcError(INTERNAL_ERROR, message) from None
            session = kind(self._client, self._store, record, choices, self._models, lock)
            opened = False
            try:
                await session.open(self._all_servers(given))
                opened = True
            finally:
                if not opened:
                    await session.end()
            self._open[record.id] = session
        return session

    async def _forget_elsewhere(self, id: str) -> None:
        record = await asyncio.to_thread(self._store.read, id)
        if record is not None and record.remote:
            await self._sdk.ready()
            kind: Any = self._away()
            await asyncio.to_thread(kind.forget, self._models.home, record)

    def _kind_of(self, record: store.Record) -> "type[Session]":
        if lenient.flag(record.remote, "container"):
            raise RpcError(NOT_FOUND, IN_CONTAINER)
        if record.remote:
            return self._away()
        from rookery.agent.session.session import Session

        return Session

    def _all_servers(self, given: dict[str, Json]) -> dict[str, Json]:
        """Return the servers of the client and mcp.json; if they share a name, the client's
        wins."""
        listed = mcp.load(self._models.home)
        configured = mcp.for_agent(listed, os.environ)
        merged = servers_of(configured.servers) | given
        for each in listed:  # ACP has no field for it
            if each.name in merged and (seconds := mcp.timeout_of(each.entry)):
                merged[each.name] = {**merged[each.name], "timeout": seconds}
        KNOWN.learn(secrets_in(merged))
        return merged

    async def _fork(self, request: Incoming, params: Json) -> None:
        cwd, roots = _place(params)
        given = servers_of(servers(params))
        record = await self._stored(params)
        source = self._open.get(record.id)
        session = source or await self._enliven(record, {})
        before = lenient.integer(_wish(params), "before") or 0
        made = await asyncio.to_thread(session.fork, cwd, roots, before)
        if source is None:
            await self._close(record.id)
        forked = await self._enliven(made, given)
        request.reply({"sessionId": made.id, **forked.choices.state()})
        _tell_commands(forked)

    async def _list(self, params: Json) -> Json:
        cwd, records = params.get("cwd"), await asyncio.to_thread(self._store.all)
        by_key = {(each.updated, each.id): each for each in records if cwd in (None, each.cwd)}
        listed, more = listing.page(params, by_key)
        return {"sessions": [record.entry() for record in listed], **more}

    async def _close(self, id: str) -> None:
        if (session := self._open.pop(id, None)) is not None:
            await session.end()

    # --- prompts ---------------------------------------------------------------------------------

    async def _prompt(self, params: Json) -> Json:
        from rookery.agent.session import planning, slash_commands
        from rookery.agent.session.turn import Turn

        session, wish = known(self._open, params), _wish(params)
        # To continue without a new message: what was left open is asked again.
        parts = None if wish.get("continue") is True else parts_of(blocks(params))
        while (turn := session.turn) is not None:
            command = slash_commands.said_in(parts) if parts else None
            if command and not slash_commands.skill_called(session, command):
                planned = planning.prompt_in(session, command, parts or [])
                if planned is None:
                    turn.command(command)
                    return {"stopReason": "end_turn"}
                parts = planned
            steered = parts is not None and turn.steer(parts)
            await turn.answered.wait()
            if steered:
                return {"stopReason": turn.stop_reason}
        drops = parts is not None and wish.get("drop") is True
        turn = session.turn = Turn(session, judged=wish.get("critic") is not False, drops=drops)
        try:
            return await turn.play(parts)
        finally:
            session.turn = None
            # In the next round of the loop, after the answer to this prompt.
            asyncio.get_running_loop().call_soon(turn.answered.set)

    def _choose(self, session: "Session", option: str, value: Any) -> None:
        try:
            session.choose(option, value)
        except UnknownChoice as error:
            raise invalid(str(error)) from None
        if session.turn is not None:
            session.turn.mode_chosen()


def unreadable(error: Exception) -> str:
    """Return a sentence for the user about a conversation that cannot be loaded."""
    listed: Any = getattr(error, "errors", None)  # pydantic's
    why = listed()[0]["msg"] if callable(listed) else str(error)
    short = why if len(why) <= LONGEST_REASON else f"{why[:LONGEST_REASON]}…"
    return f"{UNREADABLE} ({short})"


def _tell_commands(session: "Session") -> None:
    from rookery.agent.session import slash_commands

    session.tell(slash_commands.advertised(session.running))


def _steered(session: "Session", turn: "Running", parts: list[tuple[str, str]]) -> bool:
    """Tell whether the turn takes this prompt in. A slash command is not taken, which the model
    would not understand, unless it is a prompt in another mode."""
    from rookery.agent.session import planning, slash_commands

    command = slash_commands.said_in(parts)
    if command and not turn.ends and not slash_commands.skill_called(session, command):
        planned = planning.prompt_in(session, command, parts)
        return planned is not None and turn.steer(planned)
    return turn.steer(parts)


def _wish(params: Json) -> Json:
    """Return our own fields of a prompt, or of a fork."""
    return lenient.mapping(lenient.mapping(params, "_meta"), "rookery")


def _place(params: Json) -> tuple[str, tuple[str, ...]]:
    cwd, roots = place(params, exists=True)
    return cwd, tuple(roots)


def servers_of(given: list[Json]) -> dict[str, Json]:
    """Return MCP servers in the SDK's form, by name. Raises RpcError."""
    by_name: dict[str, Json] = {}
    for server in given:
        if not isinstance(server.get("name"), str):
            raise invalid("an MCP server needs a name")
        by_name[server["name"]] = _server(server)
    return by_name


def _server(server: Json) -> Json:
    kind = server.get("type")
    if kind in ("http", "sse"):
        if not isinstance(server.get("url"), str):
            raise invalid(f"the MCP server {server['name']} needs a url")
        return {"url": server["url"], "transport": kind, "headers": _pairs(server, "headers")}
    if kind == KIND:
        if not isinstance(server.get("serverId"), str):
            raise invalid(f"the MCP server {server['name']} needs a serverId")
        return {"url": f"{KIND}:{server['serverId']}"}
    if not isinstance(server.get("command"), str):
        raise invalid(f"the MCP server {server['name']} needs a command")
    args = [str(word) for word in lenient.sequence(server, "args")]
    return {"command": server["command"], "args": args, "env": _pairs(server, "env")}


def _pairs(server: Json, key: str) -> dict[str, str]:
    pairs = lenient.mappings(server, key)
    return {str(pair.get("name")): str(pair.get("value")) for pair in pairs}
