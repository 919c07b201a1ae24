"""Operations of the catalogue that work or read: run in the background while the screen shows their
progress. Their effects are agreed to first, and their results shown or opened."""

from collections.abc import Callable
from typing import Any

from rookery.core.json import Json
from rookery.core.refusals import NotAgreed, Refused, sentences
from rookery.operations.catalogue import results
from rookery.operations.catalogue.finding import row_of
from rookery.operations.catalogue.row import SHOW, Row
from rookery.render.runs import clean, clean_line
from rookery.tui.shell import Shell
from rookery.tui.widgets.status import Status
from rookery.tui.windows.parts.modals import PreviewScreen, SureScreen
from rookery.tui.windows.whole import TextScreen

LINES, LETTERS = 6, 400
"""A longer preview may have to be scrolled."""

type Then = Callable[[Json], object]


def perform(
    app: Shell,
    operation: str,
    session: str = "",
    then: Then | None = None,
    *,
    fingerprint: str = "",
    **given: Any,
) -> None:
    """Run an operation. `then` gets its result; without it, the result of a read is opened, and the
    sentence of a work is shown. `fingerprint`: of what was shown already."""
    reader, status, row, key = app.reader, app.below(Status), row_of(operation), object()
    status.report(key, row.traits.title)

    def report(text: str) -> None:
        reader.call(status.report, key, clean_line(text, 200))

    def run() -> Json | Exception:
        about: dict[str, Any] = {"report": report, "fingerprint": fingerprint, **given}
        try:
            return reader.rookery.call(operation, session, **about)
        except (Refused, OSError) as error:
            return error
        finally:
            reader.call(status.report, key, "")

    def done(outcome: Json | Exception) -> None:
        reader.glance()
        if isinstance(outcome, NotAgreed):
            agreed = outcome.fingerprint

            def again() -> None:
                perform(app, operation, session, then, fingerprint=agreed, **given)

            _ask(app, f"{heading(app, row, session)}?", outcome.message, again)
        elif isinstance(outcome, Exception):
            app.notify(sentences(outcome), severity="error", markup=False)
        elif then is not None:
            then(outcome)
        elif row.kind == "read":
            app.push_screen(TextScreen(heading(app, row, session), results.text_of(outcome)))
        else:
            app.notify(clean(results.text_of(outcome)), markup=False)

    reader.fetch(run, done)


def foresee(
    app: Shell,
    operation: str,
    session: str,
    then: Callable[[], object],
    question: str,
    **given: Any,
) -> None:
    """Show what a command would do, for one that is sent with more than its arguments: `then` is
    called once the user has agreed to that."""
    reader = app.reader

    def run() -> Refused | OSError:
        try:
            reader.rookery.call(operation, session, fingerprint=SHOW, **given)
        except (Refused, OSError) as error:
            return error
        raise AssertionError(operation)

    def done(outcome: Refused | OSError) -> None:
        if not isinstance(outcome, NotAgreed):
            app.notify(sentences(outcome), severity="error", markup=False)
        elif outcome.fingerprint:
            _ask(app, question, outcome.message, then)
        else:
            then()

    reader.fetch(run, done)


def heading(app: Shell, row: Row, session: str) -> str:
    """Return the heading of a window: what is done, and to which session."""
    title = row.traits.title
    return f"{title}: “{titled(app, session)}”" if row.on_session else title


def titled(app: Shell, session: str) -> str:
    """Return the session's title, as people know it."""
    listed = [str(each["title"]) for each in app.fleet.sessions if each["id"] == session]
    return clean_line(listed[0] if listed else session, 60)


def _ask(app: Shell, question: str, details: str, then: Callable[[], object]) -> None:
    is_long = len(details) > LETTERS or details.count("\n") > LINES
    screen = (PreviewScreen if is_long else SureScreen)(question, details)
    app.ask(screen, lambda _: then())
