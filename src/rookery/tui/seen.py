"""Marks news of the session that is shown as seen, for every other list."""

from rookery.core.json import lenient
from rookery.tui.shell import Shell


class Looking:
    """Only while the terminal has the focus."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self._told: dict[str, int] = {}

    def look(self) -> None:
        app = self._app
        if not app.session or not app.app_focus:
            return
        news = lenient.integer(app.window.header, "news") or 0
        if news <= self._told.get(app.session, 0) or app.window.header["id"] != app.session:
            return
        self._told[app.session] = news
        session, reader = app.session, app.reader

        def mark() -> None:
            from rookery.home.paths import session_dir
            from rookery.home.seen import mark

            mark(session_dir(reader.home, session), news)

        reader.fetch(mark, lambda _: reader.glance())
