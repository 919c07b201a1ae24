"""Works and reads of the catalogue: carried out beside the screen, what they would do agreed to,
and what came of them said."""

from collections.abc import Callable
from typing import Any

from rookery.core.json import Json
from rookery.core.refusals import NotAgreed, Refused, sentences
from rookery.operations.catalogue.finding import row_of
from rookery.tui.look.runs import clean_line
from rookery.tui.shell import Shell

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
    """`then` gets what came of it; without it, the result's sentence is shown. `fingerprint`: of
    what was shown already."""
    rookery = app.reader.rookery

    def report(words: str) -> None:
        app.reader.call(_say, app, words)

    def run() -> Json | Exception:
        about: dict[str, Any] = {"report": report, "fingerprint": fingerprint, **given}
        try:
            return rookery.call(operation, session, **about)
        except (Refused, OSError) as error:
            return error

    def done(found: Json | Exception) -> None:
        app.reader.glance()
        if isinstance(found, NotAgreed):
            agreed = found.fingerprint
            _ask(
                app,
                operation,
                found,
                lambda: perform(app, operation, session, then, fingerprint=agreed, **given),
            )
        elif isinstance(found, Exception):
            app.notify(sentences(found), severity="error", markup=False)
        elif then is not None:
            then(found)
        else:
            _say(app, found["summary"])

    app.reader.fetch(run, done)


def _say(app: Shell, words: str) -> None:
    app.notify(clean_line(words, 300), markup=False)


def _ask(app: Shell, operation: str, question: NotAgreed, then: Callable[[], object]) -> None:
    from rookery.tui.windows.parts.modals import SureScreen

    screen = SureScreen(f"{row_of(operation).traits.title}?", question.message)
    app.ask(screen, lambda yes: then() if yes else None)
