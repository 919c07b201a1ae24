"""One session that is open in this editor: its events are sent as updates; the editor's prompts and
answers become commands.

All updates of a turn are sent before its prompt is answered: one task, which follows the log, does
both."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from rookery.acp.bridge import login, turns
from rookery.acp.bridge.attachments import checked, staged
from rookery.acp.bridge.editor import buffers
from rookery.acp.bridge.editor.provided import Provided
from rookery.acp.bridge.offered import Offered
from rookery.acp.bridge.prompts import Prompts, queued, steering
from rookery.acp.bridge.questions import Questions
from rookery.acp.bridge.silence import Silence
from rookery.acp.bridge.updates import shapes
from rookery.acp.bridge.updates.children import addressed
from rookery.acp.bridge.updates.events import Sharing
from rookery.client.session import Rejected
from rookery.core import budgets
from rookery.core.ask import Ask, ask_of, asks_of, from_header
from rookery.core.asks import forms, kept_asks
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.refusals import Refused, sentences
from rookery.home import paths
from rookery.home.seen import mark
from rookery.operations.calling.local_session import LocalSession
from rookery.wire.failures import INTERNAL_ERROR, ConnectionClosed, RpcError, TooLarge
from rookery.wire.jsonrpc import HIGH_WATER, Incoming, Peer
from rookery.wire.params import invalid, offers

PAGE = 500
SCREENS_EVERY = 0.1
"""Seconds between two updates of a terminal's text."""
TWICE = 1.0
"""Seconds within which a second cancel is the same one: some editors send it twice."""
CLOSING = 1.0
"""Seconds for a cancelled turn to end before its worker is stopped."""


class Editor(NamedTuple):
    """The client at the other end."""

    peer: Peer
    client: Json
    """Its capabilities."""
    home: str
    group: asyncio.TaskGroup
    error_data: Callable[[str, object], object] = lambda _, data: data
    """The data that goes with an error, by its message."""
    is_remote: bool = False
    """It runs on another machine: neither its files nor its environment are the session's."""


class Attached:
    def __init__(self, editor: Editor, session: str, offered: Offered) -> None:
        """Raises LogError, PathError."""
        self.session = session
        self.offered = offered
        self._editor = editor
        methods = [] if editor.is_remote else buffers.offered(editor.client)
        asked = partial(buffers.ask, editor.peer, session)
        self.client = LocalSession(editor.home, session, "acp", offers=methods, on_call=asked)
        socket = paths.socket_path(self.client.directory)
        self.provided = Provided(editor.peer, editor.group, socket, self.client.name)
        self.questions = Questions(editor.peer, session, editor.client, self.tell)
        self.questions.answer = lambda answer: self._run(self._answer(answer))
        self._fresh()
        self._order = asyncio.Lock()
        """Prompts and cancels reach the worker in the order in which they came."""
        auth = partial(login.data_of, editor.home)
        self._prompts = Prompts(editor.error_data, lambda error: auth(self.logged(), error))
        notices = offers(editor.client, "session", "notices")
        self._silence = Silence(editor.home, session, self.tell, notices=notices)
        self._tells_turns = turns.are_wanted(editor.client)
        self._watching: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._cancelled_at = float("-inf")
        self._screens_due: asyncio.TimerHandle | None = None

    def _fresh(self) -> None:
        self.seq = 0
        self.sharing = Sharing(self._editor.client, self.offered, self.client.log.blob)

    @property
    def header(self) -> Header:
        return self.sharing.header

    def logged(self) -> Header:
        """Return the header as it is in the log now, which may be ahead of the editor."""
        return self.client.log.header()

    # --- the session's events --------------------------------------------------------------------

    async def replay(self, *, tell: bool) -> list[Json]:
        """Take every event so far; with `tell`, send the updates to the editor. Return the notices
        among them, which are not history."""
        await self.pause()
        notices = list[Json]()
        self._fresh()
        while page := self.client.log.read(self.seq, PAGE):
            for event in page:
                notices += self.sharing.notice(event)
                for update in self._take(event, live=False, echo=True):
                    if tell:
                        self.tell(update)
            await self._editor.peer.drain()
            await asyncio.sleep(0)  # other sessions go on meanwhile
        return notices

    def mind_silence(self) -> None:
        """Report to the editor from now on if the worker hangs: it knows the session now."""
        self.client.on_silence = self._silence.say

    def follow(self) -> None:
        """Go on live; show open asks in this editor, too."""
        self.mind_silence()
        for ask in asks_of(self.header).values():
            self._asked(ask)
        name = f"follow {self.session}"
        self._following = self._editor.group.create_task(self._follow(), name=name)

    async def pause(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
            await asyncio.wait({following})
        self.questions.close_all()
        self._moved.set()  # nothing that waits for an event will see it now

    async def _follow(self) -> None:
        peer = self._editor.peer
        try:
            async for event in self.client.follow(self.seq):
                self._silence.heard()
                mine = self._prompts.requests_of(event)
                for update in self._take(event, live=True, echo=not mine or self._tells_turns):
                    self.tell(turns.marked(update, mine))
                self._after(event)
                if peer.buffered >= HIGH_WATER:
                    await peer.drain()
        except ConnectionClosed:
            return
        except (Refused, OSError) as error:
            self._prompts.fail(f"The session can no longer be followed: {sentences(error)}")
            self._moved.set()

    def _take(self, event: Event, *, live: bool, echo: bool) -> list[Json]:
        updates = self.sharing.take(event, live=live, echo=echo)
        self.seq = event.seq
        if self.header.news == event.seq:
            mark(self.client.directory, event.seq)
        if not live:
            self._settle_prompts(event)
        elif self._screens_due is None and kind_of(event.update) == "_terminal":
            loop = asyncio.get_running_loop()
            self._screens_due = loop.call_later(SCREENS_EVERY, self._tell_screens)
        return updates

    def _after(self, event: Event) -> None:
        """Do what waits for an event, now that its updates are sent."""
        self._settle(event)
        update = event.update
        if kind_of(update) == "_ask" and update.get("state") == "asked":
            self._asked(from_header(lenient.text(update, "id"), update))
        elif kind_of(update) == "_ask":
            self.questions.ended(update)
            if budgets.stops(update) and self.header.state == "idle":
                for name, _ in self._prompts.waiting():  # an editor has no key for the queue
                    self._dispatch({"do": "queue", "op": "remove", "item": name})
        if self._tells_turns and (turn := turns.notification_of(event)) is not None:
            self._editor.peer.notify(turns.METHOD, {"sessionId": self.session, **turn})
        self._moved.set()

    def tell(self, update: Json) -> None:
        params = addressed(self.session, update)
        try:
            self._editor.peer.notify("session/update", params)
        except TooLarge:
            small = shapes.shortened(params["update"])
            self._editor.peer.notify("session/update", {**params, "update": small})
        for note in self._prompts.notes(update):
            self.tell(note)

    def tell_state(self) -> None:
        for update in self.sharing.state():
            self.tell(update)

    def _tell_screens(self) -> None:
        self._screens_due = None
        for update in self.sharing.stale():
            self.tell(update)

    async def reached(self, seq: int) -> None:
        """Wait until the updates of event `seq` are sent."""
        while self.seq < seq and self._is_live():
            self._moved.clear()
            await self._moved.wait()

    def _is_live(self) -> bool:
        return self._following is not None and not self._following.done()

    # --- prompts ---------------------------------------------------------------------------------

    async def prompt(self, request: Incoming, given: list[Any]) -> None:
        """Send a prompt; it is answered when its turn has ended. Raises RpcError."""
        blocks = checked(given)
        name = os.urandom(8).hex()
        prompt = self._prompts.add(name, request)
        try:
            async with self._order:
                command = {"do": "prompt", "id": name}
                await self.renew(command)
                laid = staged(blocks, self.client.directory)
                event = await self.send({**command, "prompt": laid, **steering(request.params)})
                prompt.admitted = True
                self._watch()
                await self.reached(event.seq)
                prompt.note = prompt.note or queued(event, request.params, self.header)
                self._tell_notes()
        finally:
            if not prompt.admitted:
                self._prompts.drop(name)

    def _tell_notes(self) -> None:
        for note in self._prompts.notes():
            self.tell(note)

    async def renew(self, command: Json) -> None:
        """Give an agent that the command starts again the environment of this editor: the user may
        have logged in there. Tell the editor, unless it shows notices: then the one in the log
        does."""
        if self._editor.is_remote:
            return
        with suppress(Refused, OSError):
            text = await self.client.renew(command, "editor")
            if text and not offers(self._editor.client, "session", "notices"):
                self.tell(shapes.aside(f"renewed-{self.seq}", text))

    def _watch(self) -> None:
        if self._watching is None or self._watching.done():
            watching = self._silence.watch(lambda: bool(self._prompts))
            self._watching = self._editor.group.create_task(watching, name=f"watch {self.session}")

    def _settle(self, event: Event) -> None:
        """Answer prompts that an event ends, and send the queue on. After a turn that did not end
        well, the queue waits for a key in the terminal. An editor has none, so its prompts go on,
        except those that it cancelled."""
        self._settle_prompts(event)
        update = event.update
        if kind_of(update) == "_turn" and update.get("reason", "end_turn") != "end_turn":
            for name, prompt in self._prompts.waiting():
                if not prompt.cancelled:
                    self._dispatch({"do": "queue", "op": "send", "item": name})

    def _settle_prompts(self, event: Event) -> None:
        """Answer prompts that an event ends. A turn that ended with an open ask is not over for the
        editor: it continues when that is asked again."""
        asked = kept_asks.away(self.header) or budgets.open_ask(self.header)
        kept = bool(asked or budgets.goes_on(event.update))
        self._prompts.settle(event, self.header.agent, kept=kept)
        self._tell_notes()
        if not kept and self.header.state == "idle":
            self._prompts.release(kept_asks.ORIGIN, self.header.agent)

    # --- cancelling ------------------------------------------------------------------------------

    async def cancel(self) -> None:
        """Cancel the running turn, and this editor's prompts in the queue (`session/cancel`)."""
        now = asyncio.get_running_loop().time()
        if self._prompts.cancel() or now - self._cancelled_at > TWICE:
            self._cancelled_at = now
            await self._cancel()

    async def _cancel(self) -> None:
        async with self._order:
            for name, prompt in self._prompts.waiting():
                if prompt.cancelled:
                    await self._attempt({"do": "queue", "op": "remove", "item": name})
            if self.header.state != "idle" or self._prompts.running():
                await self._attempt({"do": "cancel"})

    def take_back(self, request: Incoming) -> None:
        """Cancel that prompt alone, if it is one of this session's."""
        name = self._prompts.name_of(request)
        if name is not None:
            self._run(self._withdraw(name))

    async def _withdraw(self, name: str) -> None:
        async with self._order:
            prompt = self._prompts.get(name)
            if prompt is not None:
                prompt.cancelled = True
                removal = {"do": "queue", "op": "remove", "item": name}
                await self._attempt(removal if prompt.waits else {"do": "cancel"})

    # --- commands --------------------------------------------------------------------------------

    async def command(self, command: Json) -> None:
        """Carry out a command, and send everything that it changed. Raises RpcError."""
        await self.reached((await self.send(command)).seq)

    async def send(self, command: Json) -> Event:
        """Carry out a command; return its event. Raises RpcError."""
        try:
            return await self.client.send(command)
        except Rejected as refusal:
            raise invalid(refusal.message) from None
        except (Refused, OSError) as error:
            raise RpcError(INTERNAL_ERROR, sentences(error)) from None

    async def _attempt(self, command: Json) -> Event | None:
        """Send a command and return its event; if that fails, return None and leave the report to
        the log. Only sending a queued prompt wakes a worker."""
        with suppress(Refused, OSError):
            event = await self.client.send(command, wake=command.get("op") == "send")
            await self.reached(event.seq)
            return event
        return None

    def _dispatch(self, command: Json) -> None:
        self._run(self._attempt(command))

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        self._editor.group.create_task(work, name=f"command {self.session}")

    # --- asks ------------------------------------------------------------------------------------

    def _asked(self, ask: Ask) -> None:
        if ask.ruled or ask.given:  # it is answered already
            return
        if ask.decide:  # another question about the same
            self.questions.closed(ask.id)
        if self.questions.takes(ask):
            call = self.sharing.shown_call(ask) if ask.kind == "permission" else {}
            self.questions.ask(ask, call, self.header)
            return
        mine = self._prompts.running()
        how = f"`rookery answer {self.session}` answers it"
        if mine:  # the user is here, but cannot answer here except in words
            self._dispatch(ask.answer | {"action": "cancel"})
            how = "this editor has no forms: answer in your next prompt"
        choices = forms.listed(ask.schema or {})
        listed = "".join(f"- {line}\n" for line in choices) + "\n" * bool(choices)
        content = {"type": "text", "text": f"_The agent asks: {ask.message}_ ({how})\n\n{listed}"}
        self.tell({"sessionUpdate": "agent_message_chunk", "content": content})

    async def _answer(self, command: Json) -> None:
        taken, problem = False, ""
        # Without an outcome it stays open: another client, or the next load, can answer it.
        with suppress(Refused, OSError):
            try:
                event = await self.client.send(command)
                await self.reached(event.seq)  # what was asked before it is no new question
                taken = True
            except Rejected as refusal:
                problem = refusal.message if refusal.reason == "invalid_form" else ""
        if problem and (ask := ask_of(self.header, command["ask"])):
            self.questions.ask_again(ask, problem)
        self.questions.arrived(command["ask"], taken=taken)

    # --- the end ---------------------------------------------------------------------------------

    async def close(self, *, stop: bool) -> None:
        """Cancel what runs, answer what waits, and detach."""
        self._prompts.cancel()
        await self._cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                while (self.header.state != "idle" or self._prompts) and self._is_live():
                    await self.reached(self.seq + 1)
        if stop:
            await self._attempt({"do": "stop"})
        self._prompts.end()
        await self.detach()

    async def abandon(self, why: str) -> None:
        """Detach without touching what runs."""
        self._prompts.fail(why)
        await self.detach()

    async def detach(self) -> None:
        self.provided.close()
        await self.pause()
        for due in (self._screens_due, self._watching):
            if due is not None:
                due.cancel()
        self.client.close()
