"""`asks`: prints each open question as a card, with the command that answers it."""

import time
from collections.abc import Iterable

from rookery.cli.flags import results
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.output.skipped import note_skipped
from rookery.cli.session.open_asks import asked_of, for_scripts, how_to_answer, write_card
from rookery.core.json import Json
from rookery.core.units import duration
from rookery.core.view.fleet import NO_TITLE

JSON = results("Print one JSON object per question.")


def show(result: Json, _options: Json) -> Iterable[Json]:
    screen, asks = standard(), result["asks"]
    for number, row in enumerate(asks):
        if number:
            screen.line()
        _write(screen, row)
    if not asks and not screen.as_json:
        screen.note("No open questions.")
    note_skipped(screen, "Questions not listed", result["skipped"])
    return map(for_scripts, asks)


def _write(screen: Screen, row: Json) -> None:
    since = duration(max(0.0, time.time() - row["at"] / 1000))
    title, asked = clean_line(row["title"]) or NO_TITLE, asked_of(row)
    screen.line(screen.paint.faint(f"{row['session']}  {title} · waiting for {since}"))
    write_card(screen, asked)
    answer = how_to_answer(row["session"], row["number"], asked)
    screen.line(screen.paint.faint(f"  {answer}"))
