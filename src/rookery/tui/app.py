"""The app: the sessions, the transcript and the composer, and the actions of their keys.

State belongs to a session, not to this window: leaving, switching and closing stop nothing."""

import asyncio
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Event, Key, Paste

from rookery.build import build
from rookery.tui import actions, messages, widgets
from rookery.tui.actions.focus import Focus
from rookery.tui.actions.transcript_tools import TranscriptTools
from rookery.tui.keys.bindings import EVERYWHERE
from rookery.tui.keys.map import label
from rookery.tui.look.themes import Colourless, themes
from rookery.tui.private import after_this_key
from rookery.tui.record import TasteChosen
from rookery.tui.sheet import SHEET
from rookery.tui.shell import Columns, Start
from rookery.tui.system.garbage_collection import QUIET, GarbageCollection
from rookery.tui.transcript.cursor import Transcript
from rookery.tui.transcript.window import Window
from rookery.tui.widgets.composer import Composer
from rookery.tui.widgets.session_list import Fleet
from rookery.tui.widgets.status import Status

if TYPE_CHECKING:
    from rookery.tui.widgets.chips import Chips
    from rookery.tui.widgets.queue import Queue

KEPT_EACH = 2.0
"""Seconds between two looks whether a draft has changed."""
UPDATE_EACH = 60.0
"""Seconds between two looks whether another build was installed."""


class Rookery(Focus, TranscriptTools):
    CSS = SHEET
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = EVERYWHERE

    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self._drafts: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        """Drafts as their file has them."""
        self._opened_here: set[str] = set()
        self._unfolded: dict[str, dict[str, bool]] = {}
        self.sweeping = GarbageCollection()
        self._early: list[Event] | None = []
        """What was typed before the first paint, when nothing has the focus; None: it is over."""
        self._settled = False
        """Whether it is known what is set up."""
        self.animation_level = "none"
        for theme in themes():
            self.register_theme(theme)
        self.theme = f"rookery-{self.taste.theme}"
        if self.no_color:
            self._filters.append(Colourless())

    # --- the screen ----------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Columns():
            yield Fleet(self.start.clock, id="fleet")
            with Vertical(id="stage"):
                yield Transcript(self.start.clock, id="transcript")
                yield Composer(id="composer")
        yield Status(self.start.clock, id="status")

    def on_mount(self) -> None:
        self.title = "rookery"
        self.transcript.split = self.taste.diff == "split"
        self.fleet.set_compact(self.taste.compact_list)
        self.composer.focus()
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())
        self.show_keys()
        self.call_after_refresh(self._finish_screen)
        self.call_after_refresh(self._begin)
        self.call_after_refresh(self._take_early)

    def _finish_screen(self) -> None:
        self.surroundings.mount()
        self.transcript.asks.write = self.asking.write
        self._show_header()

    async def _take_early(self) -> None:
        while self._early:
            await self._take(self._early.pop(0))
        self._early = None

    def _begin(self) -> None:
        """Start reading files, now that the first paint is done."""
        self.sweeping.wake()
        self.reader.start()
        self.surroundings.begin()
        self.reader.fetch(self.read_drafts, self.take_drafts)
        if self.start.session:
            self.open_session(self.start.session)
            if self.start.at:
                self.seeking.begin(actions.seeking.Place(self.start.session, self.start.at))
            if self.start.confirm:
                self.send(actions.slash_commands.choice(self.start.confirm))
            if self.start.task:
                self.desk.submit(self.start.task, self.session)
        elif self.start.task:
            self.desk.submit(self.start.task, "")
        if self.start.choose:
            self.action_sessions()
        rendering = ("markdown_it", "pygments.lexers", "pygments.lexers.python")
        self.reader.warm(rendering, self.sweeping.settle)
        self.look_around()
        self.desk.begin()
        self.set_interval(QUIET, self.sweeping.sweep)
        self.asking.begin()
        build()  # as it is now: later, the files may be another's
        self._updates = self.set_interval(UPDATE_EACH, self._look_for_update)

    def _look_for_update(self) -> None:
        from rookery.client.update.difference import since_start

        self.reader.fetch(since_start, self._tell_update)

    def _tell_update(self, text: str) -> None:
        if text:
            self._updates.stop()
            self.notify(f"{text} Leave and open Rookery again to use it.", timeout=10)

    def _show_header(self) -> None:
        self.surroundings.tell_header()
        self.show_keys()
        self.surroundings.mark_seen()

    def on_app_focus(self) -> None:
        self.surroundings.mark_seen()
        self.transcript.asks.begin_again()

    def _show_splash(self) -> None:
        self.surroundings.show_first_screen(self.set_up)
        self._show_header()

    # --- sessions ------------------------------------------------------------------------------

    def open_session(self, session: str) -> None:
        """Show a session; the one before it keeps running. An empty name: a new one."""
        self._put_away()
        self.session = session
        self.fleet.mark_shown(session)
        self.composer.session = session
        self.composer.put(self._drafts.pop(session, ""))
        self.desk.show_files()
        if session:
            self.surroundings.new_wanted = False
            self.reader.open(session)
        else:
            self._show_splash()

    def take_drafts(self, saved: dict[str, str]) -> None:
        """Take the drafts of an earlier run, unless something is written already."""
        self._drafts = {**saved, **self._drafts}
        text = self._drafts.get(self.session, "")
        if text and not self.composer.text:
            self.composer.put(self._drafts.pop(self.session))
        self._kept = self._drafts_now()
        self.set_interval(KEPT_EACH, self._keep_drafts)

    def _drafts_now(self) -> dict[str, str]:
        here = {self.session: self.composer.text} if self.composer.text else {}
        others = {name: text for name, text in self._drafts.items() if name != self.session}
        return self.desk.with_pasted({**others, **here})

    def _keep_drafts(self) -> None:
        """Save the drafts, so that none is lost with a terminal that is closed or killed."""
        drafts, shown = self._drafts_now(), {*self._opened_here, self.session}
        if drafts != self._kept:
            self._kept = drafts
            self.reader.fetch(lambda: self.keep_drafts(drafts, shown), lambda _: None)

    def _put_away(self) -> None:
        self._opened_here.add(self.session)
        self._unfolded[self.session] = self.window.opened
        self.asking.left(self.session)
        if self.composer.text:
            self._drafts[self.session] = self.composer.text

    def on_opened(self, message: messages.Opened) -> None:
        if message.session != self.session:
            return
        window = Window(message.header)
        window.add_older(message.pages)
        window.hint = "No messages yet. Write the first one below."
        window.opened = self._unfolded.get(self.session, {})
        self.transcript.show(window)
        self.transcript.ask_older()
        self._show_header()
        self.surroundings.tell_pages()
        self.asking.opened()
        self.seeking.look()

    async def on_event(self, event: Event) -> None:
        if self._early is not None and isinstance(event, Key | Paste):
            self._early.append(event)
        else:
            await self._take(event)

    async def _take(self, event: Event) -> None:
        if isinstance(event, Key):
            self.reader.typed = monotonic()
            self.heed(event)
        await super().on_event(event)
        if isinstance(event, Key):
            after_this_key(self.screen)
            await asyncio.sleep(0)  # its widget comes before the news that wait here

    def on_news(self, message: messages.News) -> None:
        if message.session != self.session:
            return
        began = perf_counter()
        self.sweeping.stir()
        self.call_after_refresh(self._painted, began)
        before = self.window.header
        if self.window.apply(message.ops):
            self.transcript.changed()
        self.surroundings.tell_news(message.ops)
        self.asking.changed()
        if self.window.header is not before:
            self._show_header()

    def _painted(self, began: float) -> None:
        self.reader.frame_took = perf_counter() - began

    def on_older(self, message: messages.Older) -> None:
        fits = message.before == self.window.first  # else it was opened again meanwhile
        if message.session == self.session and message.pages and fits:
            self.window.add_older(message.pages)
            self.transcript.grown()
            self.surroundings.tell_pages()
            self.find_bar.loaded()
            self.transcript.ask_older()
            self.seeking.look()

    def on_scroll_older_wanted(self) -> None:
        self.reader.older(self.session, self.window.first)

    def on_fleet_changed(self, message: messages.FleetChanged) -> None:
        self.fleet.list_sessions(message.sessions)
        self.surroundings.count_others()
        self.asking.listed(message.sessions)
        self.show_keys()
        self.calling.heed(message.sessions, self.session, self.app_focus)
        if not self.session and self._settled:
            self.surroundings.show_first_screen(self.set_up, again=True)

    def on_set_up_found(self, message: messages.SetUpFound) -> None:
        self.set_up = message.set_up
        self._settled = True
        if message.set_up.taste is not None:
            self.take_taste(message.set_up.taste)
        self.take_keys(dict(message.set_up.keys))
        if not self.session:
            self._show_splash()

    def on_made(self, message: messages.Made) -> None:
        self.start.once, self.start.worktree, self.start.sandbox = "", None, ""
        self.open_session(message.session)

    def on_fleet_chosen(self, message: Fleet.Chosen) -> None:
        self.go_back()
        self.open_session(message.session)

    def on_taste_chosen(self, message: TasteChosen) -> None:
        self.keep_taste(**message.changes)

    # --- prompts and commands ------------------------------------------------------------------

    def on_composer_submitted(self, message: Composer.Submitted) -> None:
        self.transcript.to_end()
        self.desk.submit(message.text, message.session, queue=message.queue)

    def on_composer_requested(self, message: Composer.Requested) -> None:
        if message.what != "begin":
            self.desk.want(message.what, message.word)
        elif self._settled:
            self.surroundings.enter(lambda prompt: self.desk.submit(prompt, ""))

    def on_composer_dropped(self, message: Composer.Dropped) -> None:
        self.desk.attach(*message.paths, pasted=message.pasted)

    def on_composer_pasted(self, message: Composer.Pasted) -> None:
        self.desk.hold(message.text)

    def on_chips_clicked(self, message: "Chips.Clicked") -> None:
        self.desk.detach(message.place)

    def on_queue_changed(self, message: "Queue.Changed") -> None:
        self.desk.change_queue(message)

    def on_sent(self, message: messages.Sent) -> None:
        if self.is_told(message):
            return
        self.notify(message.problem, severity="error", markup=False)
        if message.command["do"] == "prompt" and message.session == self.session:
            self.desk.give_back(message.command, message.session, list(message.files))

    def on_trouble(self, message: messages.Trouble) -> None:
        self.notify(message.text, severity="error", markup=False, timeout=12)

    # --- blocks --------------------------------------------------------------------------------

    def on_transcript_acted(self, message: Transcript.Acted) -> None:
        if not self.asking.opens(message.action):
            return
        self.act(message.action)
        self.asking.answered(message.block)

    def on_transcript_requested(self, message: Transcript.Requested) -> None:
        match message.what:
            case "copy":
                self.copy_to_clipboard(message.text)
                self.notify("Copied.")
            case "edit":
                self.edit(message.text)
            case "show" | "follow":
                self.open_outside(message.block, message.text, link=message.what == "follow")
            case "view":
                self.view_pictures(message.block)
            case what:
                self.asking.want(what, message.block)

    # --- keys ----------------------------------------------------------------------------------

    def action_cancel(self) -> None:
        """Go back to the composer; from there, cancel the turn. A second press escalates; typed
        text stays."""
        if self.focused is not self.composer:
            self.go_back()
            return
        if self.desk.shell.leave():
            return
        if self.session and self.window.header.state != "idle":
            self.send({"do": "cancel"})
            again = label(self, "turn.cancel")
            self.notify(f"Cancelling. Press {again} again to stop the agent at once.", timeout=3)

    def action_help_quit(self) -> None:
        """Say which keys leave and cancel: the user pressed Ctrl+C, by habit."""
        leave, cancel = label(self, "quit"), label(self, "turn.cancel")
        self.notify(f"{leave} to leave (nothing stops), {cancel} to cancel the turn.")

    def action_feedback(self, place: int) -> None:
        answer = self.feedback.say(place)
        if answer is not None:
            home = self.start.home
            self.reader.run(lambda: asyncio.to_thread(widgets.feedback.keep, home, answer))

    def action_new(self) -> None:
        self.surroundings.want_new()
        self.open_session("")
        self.composer.focus()

    def action_switch(self, step: int) -> None:
        if name := self.fleet.neighbour(step):
            self.open_session(name)

    def action_theme(self) -> None:
        names = [theme.name for theme in themes()]
        at = names.index(self.theme) if self.theme in names else 0
        self.theme = names[(at + 1) % len(names)]
        self.transcript.settle()
        self.keep_taste(theme=self.theme.removeprefix("rookery-"))

    async def action_quit(self) -> None:
        left = actions.leaving.left_in(self)
        if not any(left) or self.start.leave_at_once:
            self._leave()
        else:
            self.ask(actions.leaving.LeaveScreen(left), lambda _: self._leave())

    def _leave(self) -> None:
        self._put_away()
        self.keep_drafts(self.desk.with_pasted(self._drafts), self._opened_here)
        self.desk.shell.end()
        self.reader.stop()
        self.calling.end()
        left = actions.leaving.left_in(self)
        self.exit(actions.leaving.farewell(self.session, left, self.fleet.sessions))
