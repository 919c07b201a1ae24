"""Find, the palette, search in all sessions, images, the side panel, the export, and the note about
a worker that is silent."""

from typing import TYPE_CHECKING, Any

from rookery import tui
from rookery.core import blocks
from rookery.core.blocks import Block, Op, make_block
from rookery.core.blocks.parts import kept_pictures, unshown
from rookery.core.json import Json
from rookery.home.paths import with_tilde
from rookery.tui.actions.windows import Windows
from rookery.tui.keys.map import label
from rookery.tui.messages import HungChanged, LinkChanged
from rookery.tui.widgets.composer import Composer
from rookery.tui.widgets.status import Status

if TYPE_CHECKING:
    from rookery.tui.widgets.side_panel import SidePanel

HUNG = "The session's worker does not respond"
HUNG_WORDS = (
    "Its work is saved, and what you send is queued. If it stays like this, end it with "
    "!rookery stop --now {} (the ! runs it from here); the next prompt wakes the session."
)


class TranscriptTools(Windows):
    _hung_block = ""

    def action_find(self) -> None:
        self.find_bar.open()

    def on_link_changed(self, message: LinkChanged) -> None:
        """Show a note that stays until the connection stands again."""
        self.clear_notifications()
        if message.broken:
            text = f"Connection to {self.start.address} lost. Trying again; sessions keep running."
            self.notify(text, severity="warning", markup=False, timeout=86_400)
        else:
            self.notify("Connected again.")

    def on_hung_changed(self, message: HungChanged) -> None:
        if message.session != self.session:
            return
        self.below(Status).hung = message.session if message.hung else ""
        ops: list[Op] = [["drop", self._hung_block]] if self._hung_block else []
        self._hung_block = ""
        if message.hung:
            name = self._hung_block = f"{self.window.header.turn}.hung"
            text = HUNG_WORDS.format(message.session)
            block = make_block(name, "notice", status="warn", title=HUNG, text=text)
            block["actions"] = blocks.failures.helping(blocks.failures.MEANWHILE["hung"])
            ops.append(["put", block])
        if self.window.apply(ops):
            self.transcript.changed()

    # --- the palette ---------------------------------------------------------------------------

    def action_palette(self) -> None:
        def chosen(entry: tui.windows.search.Entry) -> None:
            if entry.session:
                self.open_session(entry.session)
            elif entry.action:
                self.call_later(self.run_action, f"app.{entry.action}")
            else:
                self._begin_command(entry.slash)

        self.ask(tui.windows.search.PaletteScreen(tui.windows.search.entries(self)), chosen)

    def action_search_all(self, query: str = "") -> None:
        def chosen(hit: Json) -> None:
            if hit["session"] != self.session:
                self.open_session(hit["session"])
            word = tui.windows.search_all.word_of(hit)
            self.seeking.begin(tui.actions.seeking.Place(hit["session"], hit["seq"], word))

        self.ask(tui.windows.search_all.EverythingScreen(query), chosen)

    def _begin_command(self, name: str) -> None:
        """Run a command of ours that takes no value; put any other into the composer."""
        known = tui.writing.commands.ours().get(name)
        if known is not None and not known.hint:
            self.composer.post_message(Composer.Submitted(f"/{name}", self.session))
        else:
            self.composer.put(f"/{name} ")
            self.composer.focus()

    # --- outside the terminal ------------------------------------------------------------------

    def open_outside(self, block: Block, text: str, *, link: bool) -> None:
        """Open a link that was clicked; else an image of the block; else its text, in the
        browser."""
        pictures = any(part.get("type") == "image" for part in block["parts"])
        if link:
            self.notify(tui.system.external_programs.follow(text), markup=False)
        elif pictures or block["role"] not in ("answer", "thought") or not text.strip():
            self._show_image(block["parts"])
        else:
            from rookery.export.html.page import of_text

            page = of_text(self.window.header.title, text)
            self.notify(tui.system.external_programs.show(page.encode(), "text/html"), markup=False)

    def _show_image(self, parts: list[dict[str, Any]]) -> None:
        for part in kept_pictures(parts):
            self.reader.blob(self.session, str(part["blob"]), self.show_bytes)
            return
        self.notify("No saved image here.", severity="warning")

    def view_pictures(self, block: Block) -> None:
        """Show the pictures of a block in a window, if the terminal can draw them."""
        images = [part for part in kept_pictures(block["parts"]) if not unshown(part)]
        if not images:
            self._show_image(block["parts"])  # says why not
        elif not self.pictures.can_open:
            text = f"This terminal draws no pictures. {label(self, 'block.show')} opens a viewer."
            self.notify(text, severity="warning", markup=False)
        else:
            screen = tui.windows.picture.PictureScreen(images, self.session, self.pictures)
            self.push_screen(screen)

    # --- the side panel ------------------------------------------------------------------------

    def action_panel(self) -> None:
        panel, least = self.panel, tui.widgets.side_panel.LEAST
        if self.size.width < least:
            self.notify(f"The side panel needs {least} columns.", severity="warning")
        elif not panel.toggle() and not panel.closed:
            self.notify("Nothing for the side panel yet: it shows plans and changed files.")

    def on_side_panel_fitted(self, message: "SidePanel.Fitted") -> None:
        if self.screen_stack:  # the message may come when the application has closed its screens
            self.transcript.fold_plan(beside=message.has_plan)

    def on_side_panel_chosen(self, message: "SidePanel.Chosen") -> None:
        self.transcript.go_to(message.call, begin=True)
        self.transcript.focus()

    # --- the export ----------------------------------------------------------------------------

    def action_export(self, path: str = "") -> None:
        """Write the whole session to a file in its directory: as Markdown, or in the format that
        the file's name implies."""
        if self.is_elsewhere("This session", f"export {self.session}"):
            return
        from rookery.export.files import to_new_file
        from rookery.log.errors import LogError

        home, session, cwd = self.start.home, self.session, str(self.window.header.cwd)

        def write() -> tuple[str, str]:
            try:
                return to_new_file(home, session, path, cwd, now=self.start.clock()), ""
            except (OSError, LogError) as error:
                return "", str(error)

        def written(outcome: tuple[str, str]) -> None:
            where, why = outcome
            if why:
                self.notify(f"Not exported: {why}", severity="error", markup=False)
            else:
                self.notify(f"Exported to {with_tilde(where)}", markup=False)

        self.reader.fetch(write, written)
