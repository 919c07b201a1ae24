"""The editor's requests about sessions: create, reopen, set, close and delete. A session has the
same id here as everywhere else in Rookery."""

import asyncio
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress

from rookery.acp.bridge import login, prompts, shelf
from rookery.acp.bridge.attached import Attached, Editor
from rookery.acp.bridge.offered import Offered
from rookery.agents import registry
from rookery.agents.elsewhere import own_agent
from rookery.client import fleet, offline
from rookery.client.config import in_force
from rookery.client.create import create_session
from rookery.client.session import Rejected
from rookery.client.start import connectable
from rookery.client.trash import emptying
from rookery.core import argv
from rookery.core.agent.imported import is_unloaded
from rookery.core.json import Draft, lenient
from rookery.core.policy import modes
from rookery.core.refusals import Refused, sentences
from rookery.core.turn.remedies import remedy_for
from rookery.core.vendors import logins
from rookery.home import config, paths
from rookery.log.errors import LogError
from rookery.models.choice import chosen_agent
from rookery.operations.calling.reaching import rookery_at
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming, RpcError, TooLarge
from rookery.wire.params import (
    AUTH_REQUIRED,
    Json,
    blocks,
    invalid,
    known,
    no_session,
    place,
    servers,
    session_id,
)


class Sessions:
    def __init__(self, editor: Editor, given: dict[str, str]) -> None:
        """`given`: the options of the command line: agent, cmd, how much is asked, and, as `resume`
        (its id or title) or `last`, the session that the first session/new answers with."""
        self._editor = editor
        self._given = given
        self._again = bool(given.get("resume") or given.get("last"))
        self._confirm = argv.confirm(given)
        self._attached: dict[str, Attached] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By session: it is attached and detached by one request at a time."""
        shelved = shelf.Shelf(editor.home)
        self._methods: dict[str, Callable[[Incoming, Json], Awaitable[None]]] = {
            "authenticate": self.authenticate,
            "auth/status": self.status,
            "session/new": self.new,
            "session/load": self.reopen,
            "session/resume": self.reopen,
            "session/list": shelved.list,
            "session/close": self.close,
            "session/delete": self.delete,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_option,
            "session/prompt": self.prompt,
            "session/fork": self.fork,
            "session/archive": self.archive,
            "session/unarchive": self.archive,
            "session/status": shelved.status,
            "session/set_title": shelved.set_title,
        }

    async def serve(self, request: Incoming, params: Json) -> None:
        """Carry out a request. Raises RpcError: a full disk or a damaged home fails one request,
        not the bridge."""
        try:
            await self._methods[request.method](request, params)
        except (Refused, OSError, TooLarge) as error:
            raise RpcError(INTERNAL_ERROR, sentences(error)) from error

    # --- logins --------------------------------------------------------------------------------

    async def authenticate(self, request: Incoming, params: Json) -> None:
        settings = self._settings()
        agent = self._agent(settings, "/")
        await login.authenticate(self._editor.home, agent, settings, params.get("methodId"))
        request.reply({})

    async def status(self, request: Incoming, _params: Json) -> None:
        agent = self._agent(self._settings(), "/")
        request.reply(login.state(self._editor.home, agent))

    # --- created and reopened --------------------------------------------------------------------

    async def new(self, request: Incoming, params: Json) -> None:
        (cwd, roots), given = place(params, exists=True), servers(params, needed=True)
        again = self._session_again(cwd)
        if again is not None:
            await self._continue(request, again)
            return
        settings = self._settings()
        agent = self._agent(settings, cwd)
        emptying.before_session(self._editor.home)
        session = create_session(
            self._editor.home,
            agent=agent.name,
            argv=agent.argv if self._has_command else [],
            cwd=cwd,
            roots=roots,
            mcp_servers=given,
            confirm=self._confirm,
        )
        async with self._opening[session]:
            attached = self._attach(session, settings)
            attached.provided.offer(given)
            await self._introduce(request, attached)

    async def _introduce(self, request: Incoming, attached: Attached) -> None:
        """Start the agent of a new session and answer session/new. No update of a session is sent
        before the answer that names it."""
        try:
            await self._start(attached)
            notices = await attached.replay(tell=False)
            state = attached.offered.state(attached.header)
            request.reply({"sessionId": attached.session, **state})
        finally:
            if not request.answered:
                await self._discard(attached)
        attached.tell_state()
        for notice in notices:
            attached.tell(notice)
        attached.follow()

    async def fork(self, request: Incoming, params: Json) -> None:
        (_, roots), given = place(params), servers(params)
        session = await shelf.forked(self._editor.home, params)
        async with self._opening[session]:
            attached = self._attach(session, self._settings())
            await self._surround(attached, {"roots": roots, "mcpServers": given})
            await self._introduce(request, attached)

    async def _continue(self, request: Incoming, session: str) -> None:
        """Answer session/new with an existing session, then send its history."""
        async with self._opening[session]:
            attached = self._attached.get(session) or self._attach(session, self._settings())
            if self._confirm:
                await self._start(attached)
                set_: Json = {"do": "set", "option": modes.OPTION, "value": self._confirm}
                await attached.send(set_)
            state = attached.offered.state(attached.logged())
            request.reply({"sessionId": session, **state})
            await attached.replay(tell=True)
            attached.tell_state()
            attached.follow()

    async def reopen(self, request: Incoming, params: Json) -> None:
        """Open a stored session: session/load sends the history again before its answer;
        session/resume sends none."""
        session, tell = session_id(params), request.method == "session/load"
        (_, roots), given = place(params), servers(params)
        async with self._opening[session]:
            attached = self._attached.get(session) or self._attach(session, self._settings())
            attached.mind_silence()
            try:
                await self._surround(attached, {"roots": roots, "mcpServers": given})
                if is_unloaded(attached.logged()):
                    await self._start(attached)
                await attached.replay(tell=tell)
                if tell:
                    attached.tell_state()
                request.reply(attached.offered.state(attached.header))
            finally:
                if not request.answered:
                    del self._attached[session]
                    await attached.abandon("The session could not be loaded again.")
            if not tell:
                attached.tell_state()
            attached.follow()

    async def _surround(self, attached: Attached, given: Json) -> None:
        """Take over this request's directories and MCP servers, unless a turn is running."""
        attached.provided.offer(given["mcpServers"])
        header = attached.logged()
        changed = given != {"roots": header.roots, "mcpServers": header.mcp_servers}
        if changed and header.state == "idle":
            await self._asleep(attached, {"sessionUpdate": "_session", **given})

    async def _asleep(self, attached: Attached, update: Json) -> None:
        """Log an update that only a worker can take in when it starts, while none is awake."""
        if connectable(paths.socket_path(attached.client.directory)):
            await attached.command({"do": "stop"})
        draft = Draft(update, os.urandom(8).hex(), "acp")
        await asyncio.to_thread(offline.note, attached.client.directory, draft)

    # --- what they share -------------------------------------------------------------------------

    @property
    def _has_command(self) -> bool:
        """Whether the agent's name alone does not say what its sessions run."""
        return bool({"cmd", "remote", "cloud"} & self._given.keys())

    def _settings(self) -> config.Config:
        return settings_of(self._editor.home)

    def _agent(self, settings: config.Config, cwd: str, name: str = "") -> registry.Agent:
        return chosen(self._editor.home, settings, self._given, cwd, name)

    def _attach(self, session: str, settings: config.Config) -> Attached:
        agents = registry.installed(settings.agents, "/", settings.node_path)
        offered = Offered(self._editor.client, [] if self._has_command else agents)
        try:
            attached = Attached(self._editor, session, offered)
        except (LogError, paths.PathError):
            raise no_session() from None
        self._attached[session] = attached
        return attached

    async def _start(self, attached: Attached) -> None:
        """Start the agent, so that its modes and options are known. Raises RpcError."""
        try:
            await attached.client.send({"do": "start"})
        except Rejected as refusal:
            error = lenient.mapping(refusal.update, "error")
            message = refusal.message
            if error:
                helps = remedy_for("failed", error, attached.logged().agent)
                message = f"{prompts.sentence(message)} {helps}".strip()
            if logins.wanted(error):
                data = login.data_of(self._editor.home, attached.logged(), error)
                raise RpcError(AUTH_REQUIRED, message, data) from None
            raise RpcError(INTERNAL_ERROR, message, error.get("data")) from None
        except (Refused, OSError) as error:
            raise RpcError(INTERNAL_ERROR, sentences(error)) from None

    async def _discard(self, attached: Attached) -> None:
        """Delete a session whose agent never started."""
        del self._attached[attached.session]
        await attached.detach()
        with suppress(Refused, OSError):
            await asyncio.to_thread(fleet.remove, self._editor.home, attached.session)

    def _session_again(self, cwd: str) -> str | None:
        """Return the session that --resume or --last names, for the first session/new; None if
        there is none."""
        if not self._again:
            return None
        self._again = False
        home = self._editor.home
        if resumed := self._given.get("resume"):
            try:
                return fleet.find(home, resumed)
            except (fleet.UnknownSession, fleet.Ambiguous) as error:
                raise invalid(f"--resume: {error}") from None
        return next((head["id"] for head in fleet.heads(home) if head["cwd"] == cwd), None)

    # --- used ------------------------------------------------------------------------------------

    async def prompt(self, request: Incoming, params: Json) -> None:
        await known(self._attached, params).prompt(request, blocks(params))

    async def cancel(self, params: Json) -> None:
        id = params.get("sessionId")
        attached = self._attached.get(id) if isinstance(id, str) else None
        if attached is not None:
            await attached.cancel()

    def heard_of_servers(self, params: Json) -> None:
        """Take an editor's notification about a request to one of its MCP servers."""
        for attached in self._attached.values():
            attached.provided.heard(params)

    def take_back(self, request: Incoming) -> None:
        """Handle `$/cancel_request` for a prompt."""
        for attached in self._attached.values():
            attached.take_back(request)

    async def set_mode(self, request: Incoming, params: Json) -> None:
        await self._set(known(self._attached, params), "mode", params.get("modeId"))
        request.reply({})

    async def set_option(self, request: Incoming, params: Json) -> None:
        attached, option = known(self._attached, params), params.get("configId")
        if not isinstance(option, str):
            raise invalid("configId is missing")
        if attached.offered.chooses_agent(attached.header, option):
            await self._choose_agent(attached, params.get("value"))
        else:
            await self._set(attached, option, params.get("value"))
        request.reply({"configOptions": attached.offered.options(attached.header)})

    async def _set(self, attached: Attached, option: str, value: object) -> None:
        """Set an option. The request is answered once the agent has confirmed it, so the agent has
        to be running."""
        if not isinstance(value, str | bool):
            raise invalid("the value is missing")
        await self._start(attached)
        await attached.command({"do": "set", "option": option, "value": value})

    async def _choose_agent(self, attached: Attached, value: object) -> None:
        """Switch to another agent. Before the first prompt, an agent that does not start is not
        chosen; later, it takes over the conversation without knowing it."""
        if not isinstance(value, str):
            raise invalid("the value is missing")
        header = attached.header
        if value == header.agent:
            return
        agent = self._agent(self._settings(), header.cwd, value)
        switch = {"do": "switch", "agent": agent.name}
        await attached.renew(switch)
        if header.turn:
            await attached.command(switch)
            await self._start(attached)
            await attached.reached(attached.client.log.last_seq())
            return
        before, argv = header.agent, header.argv
        try:
            await self._switch(attached, before, agent.name, [])
        except RpcError:
            await self._switch(attached, agent.name, before, argv)
            raise

    async def _switch(self, attached: Attached, old: str, new: str, argv: list[str]) -> None:
        update: Json = {"sessionUpdate": "_agent", "state": "switched", "reason": "manual"}
        update |= {"from": old, "to": new, "name": new, "argv": argv}
        await self._asleep(attached, update)
        await self._start(attached)
        await attached.reached(attached.client.log.last_seq())

    async def detach_all(self) -> None:
        """Detach from all sessions: the editor is gone, and they keep running."""
        for attached in list(self._attached.values()):
            await attached.detach()
        self._attached.clear()

    # --- closed, archived, deleted ---------------------------------------------------------------

    async def close(self, request: Incoming, params: Json) -> None:
        attached = known(self._attached, params)
        async with self._opening[attached.session]:
            if self._attached.pop(attached.session, None) is not None:
                await attached.close(stop=True)
        request.reply({})

    async def archive(self, request: Incoming, params: Json) -> None:
        """Archive or unarchive a session. On archiving, whatever runs in it is cancelled, as by
        session/close."""
        session, do = session_id(params), request.method.rpartition("/")[2]
        home = self._editor.home
        async with self._opening[session]:
            attached = self._attached.pop(session, None) if do == "archive" else None
            if attached is not None:
                await attached.close(stop=False)
            elif do == "archive":
                await shelf.command(home, session, do="cancel")
            await shelf.command(home, session, do=do)
        request.reply({})

    async def delete(self, request: Incoming, params: Json) -> None:
        session = session_id(params)
        async with self._opening[session]:
            attached = self._attached.pop(session, None)
            if attached is not None:
                await attached.close(stop=False)
            try:
                await asyncio.to_thread(rookery_at(self._editor.home).call, "remove", session)
            except (LogError, paths.PathError, fleet.UnknownSession):
                pass
            except Refused as error:  # such as: work that was not merged
                raise RpcError(INTERNAL_ERROR, error.message) from None
        del self._opening[session]
        request.reply({})


def settings_of(home: str) -> config.Config:
    """Load the settings in force. Raises RpcError."""
    try:
        return in_force.load(home)
    except config.ConfigError as error:
        raise RpcError(INTERNAL_ERROR, str(error)) from None


def chosen(
    home: str, settings: config.Config, given: dict[str, str], cwd: str, name: str = ""
) -> registry.Agent:
    """Return the agent that the command line names, else the configuration's. Raises RpcError."""
    try:
        if not name and (own := own_agent(given.get("remote"), cloud="cloud" in given)):
            registry.check_installed(own, os.environ, cwd, settings.node_path)
            return own
        line = "" if name else given.get("cmd", "")
        return chosen_agent(home, settings, cwd, name or given.get("agent", ""), line)
    except ValueError as error:
        raise RpcError(INTERNAL_ERROR, f"--cmd: {error}") from None
    except registry.UnknownAgent as error:
        raise invalid(str(error)) from None
    except registry.NotInstalled as error:
        raise RpcError(INTERNAL_ERROR, str(error)) from None
