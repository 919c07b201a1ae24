"""Everything shown besides a session's transcript: the first screen, the status line, the queue,
the critic's feedback, the side panel. It also tracks which news were seen."""

from collections.abc import Callable

from textual.widget import Widget

from rookery.core import worktree
from rookery.core.blocks import Op
from rookery.core.view.fleet import others_here
from rookery.home.paths import with_tilde
from rookery.tui.keys.map import label
from rookery.tui.sheet import PARTS
from rookery.tui.shell import Shell
from rookery.tui.splash import SetUp, Way, way_in, window_of
from rookery.tui.widgets.chips import Chips
from rookery.tui.widgets.feedback import Feedback
from rookery.tui.widgets.find_bar import FindBar
from rookery.tui.widgets.queue import Queue
from rookery.tui.widgets.shell_panel import ShellPanel
from rookery.tui.widgets.side_panel import SidePanel
from rookery.tui.widgets.status import Status
from rookery.tui.widgets.status_line import Place, doing
from rookery.tui.widgets.suggestions import Suggestions


class Surroundings:
    """The parts around the transcript of the session that is shown."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self._known = ("", "")
        """The directory and the state for which the branch was read."""
        self._seen: dict[str, int] = {}
        self._way: Way | None = None
        """Where the first screen's key leads."""
        self.new_wanted = False
        """A new session was asked for, by its key."""
        self._shown: object = None
        """What the first screen says."""

    def mount(self) -> None:
        """Mount the parts that show nothing at first, after the first paint."""
        self._app.stylesheet.add_source(PARTS, read_from=("parts", ""))
        stage = self._app.screen_stack[0].query_one("#stage")
        above = (FindBar(id="find"), Feedback(id="feedback"), ShellPanel(id="shell"))
        lists = (Queue(id="queue"), Suggestions(id="suggestions"), Chips(id="chips"))
        stage.mount(*above, *lists, before="#composer")
        panel = SidePanel(id="panel")
        assert isinstance(stage.parent, Widget)
        stage.parent.mount(panel)
        panel.fit()

    def begin(self) -> None:
        """Start reading: the reader can be used from now on."""
        self._known = ("", "")
        self._find_place()

    def want_new(self) -> None:
        self.new_wanted = True
        self._app.reader.begin_another()

    def show_first_screen(self, set_up: SetUp, *, again: bool = False) -> None:
        """Show the first screen. `again`: only if its content has changed."""
        app, sessions = self._app, self._app.fleet.sessions
        confirm = app.start.confirms(set_up.confirm)
        self._way = way_in(set_up.agent, sessions, new=self.new_wanted)
        set_up = set_up._replace(sessions=len(sessions), confirm=confirm)
        before, self._shown = self._shown, (set_up, self._way)
        if again and self._shown == before:
            return
        app.transcript.show(window_of(set_up, lambda name: label(app, name), self._way))
        app.below(Status).agent, app.below(Status).confirm = set_up.agent, confirm

    def enter(self, begin: Callable[[str], object]) -> None:
        """Do what the first screen says of its key. `begin`: starts a session with a prompt."""
        if self._app.session or self._way is None:
            return
        if self._way.session:
            self._app.open_session(self._way.session)
        else:
            begin(self._way.prompt)

    def tell_header(self) -> None:
        app = self._app
        header = app.window.header if app.session else None
        app.below(Status).header = header
        app.below(Queue).tell(header)
        app.below(Feedback).tell(header)
        app.transcript.end_live()
        self.count_others()
        if not app.session:
            app.below(SidePanel).load(app.window)
        self._find_place()

    def tell_news(self, ops: list[Op]) -> None:
        """Update the parts after a change of the transcript."""
        app = self._app
        app.below(Status).doing = doing(app.window)
        app.below(SidePanel).heed(app.window, ops)

    def tell_pages(self) -> None:
        """Update the parts after another session was shown, or older pages were loaded."""
        app = self._app
        app.below(Status).doing = doing(app.window)
        app.below(SidePanel).load(app.window)

    def count_others(self) -> None:
        """Count the sessions that work where the shown session works, too."""
        app, header = self._app, self._app.window.header
        rows = ((each["id"], each["cwd"], each["status"]) for each in app.fleet.sessions)
        alone = not app.session or header.state == "idle" or worktree.exists(header.worktree)
        count = 0 if alone else others_here(app.session, header.cwd, rows)
        app.below(Status).others = count

    def _find_place(self) -> None:
        """Read the branch when a turn begins or ends."""
        app = self._app
        cwd = str(app.window.header.cwd) if app.session else app.start.cwd
        known = (cwd, app.window.header.state if app.session else "")
        if known == self._known:
            return
        self._known = known

        def show(branch: str) -> None:
            if self._known == known:
                app.below(Status).place = Place(with_tilde(cwd), branch)

        app.reader.fetch(lambda: app.branch_of(cwd), show)

    def mark_seen(self) -> None:
        """Mark the news of the shown session as seen, for every other list, while the terminal has
        the focus."""
        session, reader, header = self._app.session, self._app.reader, self._app.window.header
        news = header.news or 0
        is_here = session and self._app.app_focus and header.id == session
        if not is_here or news <= self._seen.get(session, 0):
            return
        self._seen[session] = news

        def mark() -> None:
            reader.rookery.mark_seen(session, news)

        reader.fetch(mark, lambda _: reader.glance())
