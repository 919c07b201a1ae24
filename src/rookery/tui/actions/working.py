"""Works and reads of the catalogue: carried out beside the screen, which shows how far they have
come; what they would do agreed to, and what came of them said or opened."""

from collections.abc import Callable
from typing import Any

from rookery.core.json import Json
from rookery.core.refusals import NotAgreed, Refused, sentences
from rookery.operations.catalogue import results
from rookery.operations.catalogue.finding import row_of
from rookery.operations.catalogue.row import SHOW, Row
from rookery.tui.look.runs import clean, clean_line
from rookery.tui.shell import Shell
from rookery.tui.widgets.status import Status

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
    """`then` gets what came of it; without it, what was read is opened, and the sentence of a work
    is shown. `fingerprint`: of what was shown already."""
    reader, status, row, key = app.reader, app.below(Status), row_of(operation), object()
    status.report(key, row.traits.title)

    def report(words: str) -> None:
        reader.call(status.report, key, clean_line(words, 200))

    def run() -> Json | Exception:
        about: dict[str, Any] = {"report": report, "fingerprint": fingerprint, **given}
        try:
            return reader.rookery.call(operation, session, **about)
        except (Refused, OSError) as error:
            return error
        finally:
            reader.call(status.report, key, "")

    def done(found: Json | Exception) -> None:
        reader.glance()
        if isinstance(found, NotAgreed):
            agreed = found.fingerprint

            def again() -> None:
                perform(app, operation, session, then, fingerprint=agreed, **given)

            _ask(app, f"{heading(app, row, session)}?", found.message, again)
        elif isinstance(found, Exception):
            app.notify(sentences(found), severity="error", markup=False)
        elif then is not None:
            then(found)
        elif row.kind == "read":
            from rookery.tui.windows.whole import TextScreen

            app.push_screen(TextScreen(heading(app, row, session), results.text_of(found)))
        else:
            app.notify(clean(results.text_of(found)), markup=False)

    reader.fetch(run, done)


def foresee(
    app: Shell,
    operation: str,
    session: str,
    then: Callable[[], object],
    question: str,
    **given: Any,
) -> None:
    """What a command would do, for one that is sent with more than its arguments: `then` is called
    once that was agreed to."""
    reader = app.reader

    def run() -> Refused | OSError:
        try:
            reader.rookery.call(operation, session, fingerprint=SHOW, **given)
        except (Refused, OSError) as error:
            return error
        raise AssertionError(operation)

    def done(found: Refused | OSError) -> None:
        if not isinstance(found, NotAgreed):
            app.notify(sentences(found), severity="error", markup=False)
        elif found.fingerprint:
            _ask(app, question, found.message, then)
        else:
            then()

    reader.fetch(run, done)


def heading(app: Shell, row: Row, session: str) -> str:
    """Of a window: what is done, and to which session."""
    title = row.traits.title
    return f"{title}: “{titled(app, session)}”" if row.on_session else title


def titled(app: Shell, session: str) -> str:
    """As people know it."""
    listed = [str(each["title"]) for each in app.fleet.sessions if each["id"] == session]
    return clean_line(listed[0] if listed else session, 60)


def _ask(app: Shell, question: str, words: str, then: Callable[[], object]) -> None:
    from rookery.tui.windows.parts.modals import PreviewScreen, SureScreen

    is_long = len(words) > LETTERS or words.count("\n") > LINES
    screen = (PreviewScreen if is_long else SureScreen)(question, words)
    app.ask(screen, lambda _: then())
