"""What a person has seen of the session that is shown: every other list hears of it (row H4)."""

from rookery.core.json import lenient
from rookery.tui.shell import Shell


class Looking:
    """For one app. Only who has the terminal before them has seen anything."""

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
        session, room = app.session, app.room

        def mark() -> None:
            from rookery.home.paths import session_dir
            from rookery.home.seen import mark

            mark(session_dir(room.home, session), news)

        room.fetch(mark, lambda _: room.glance())
