"""Find, the palette, the side panel and the export."""

from rookery.home.paths import with_tilde
from rookery.tui.actions.find import Find
from rookery.tui.actions.windows import Windows
from rookery.tui.shell import Start
from rookery.tui.widgets.composer import Composer
from rookery.tui.widgets.find_bar import FindBar
from rookery.tui.widgets.side_panel import LEAST, SidePanel


class TranscriptTools(Windows):
    def __init__(self, start: Start) -> None:
        super().__init__(start)
        self.find = Find(self)

    # --- find ----------------------------------------------------------------------------------

    def action_find(self) -> None:
        self.find.open()

    def on_find_bar_changed(self, message: FindBar.Changed) -> None:
        self.find.change(message.words)

    def on_find_bar_moved(self, message: FindBar.Moved) -> None:
        self.find.move(message.step)

    def on_find_bar_closed(self) -> None:
        self.find.close()

    # --- the palette ---------------------------------------------------------------------------

    def action_palette(self) -> None:
        from rookery.tui.windows.search import Entry, PaletteScreen, entries

        def chosen(entry: Entry) -> None:
            if entry.session:
                self.open_session(entry.session)
            elif entry.action:
                self.call_later(self.run_action, f"app.{entry.action}")
            else:
                self._begin_command(entry.slash)

        self.ask(PaletteScreen(entries(self)), chosen)

    def _begin_command(self, name: str) -> None:
        """One of ours that takes no value runs; any other is put into the composer."""
        from rookery.tui.writing import commands

        known = commands.NAMES.get(name)
        if known is not None and not known.hint:
            self.composer.post_message(Composer.Submitted(f"/{name}", self.session))
        else:
            self.composer.put(f"/{name} ")
            self.composer.focus()

    # --- the side panel ------------------------------------------------------------------------

    def action_panel(self) -> None:
        panel = self.below(SidePanel)
        if self.size.width < LEAST:
            self.notify(f"The side panel needs {LEAST} columns.", severity="warning")
        elif not panel.toggle() and not panel.closed:
            self.notify("The side panel opens once there is a plan or a changed file.")

    def on_side_panel_chosen(self, message: SidePanel.Chosen) -> None:
        self.transcript.go_to(message.call, begin=True)
        self.transcript.focus()

    # --- the export ----------------------------------------------------------------------------

    def action_export(self, path: str = "") -> None:
        """Write the whole session to a Markdown file in its directory."""
        from rookery.log.errors import LogError
        from rookery.tui.writing.transcript_export import export

        home, session, cwd = self.start.home, self.session, str(self.window.header["cwd"])

        def write() -> tuple[str, str]:
            try:
                return export(home, session, path, cwd), ""
            except (OSError, LogError) as error:
                return "", str(error)

        def written(found: tuple[str, str]) -> None:
            where, why = found
            if why:
                self.notify(f"Not exported: {why}", severity="error", markup=False)
            else:
                self.notify(f"Exported to {with_tilde(where)}", markup=False)

        self.reader.fetch(write, written)
