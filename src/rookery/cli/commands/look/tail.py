"""`tail`: follows a session live, from its last turn on."""

from contextlib import aclosing

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, standard
from rookery.cli.output.transcript import Transcript
from rookery.cli.session.follow import Watch, attend, farewell
from rookery.cli.session.loading import ensure_loaded
from rookery.cli.settings import shows_durations
from rookery.client.reading import excerpt
from rookery.core.blocks import Document
from rookery.core.json import Event, kind_of


@click.command()
@flags.session_argument
@click.option("--since", type=click.IntRange(min=0), metavar="N", help="Start after event N.")
@flags.as_json("Print one JSON event per line.")
def tail(session: str, since: int | None, as_json: bool) -> int:
    """Follow a session live, starting with its last turn. Ctrl-C leaves it running.

    \b
    rookery tail 3f2a
    rookery tail 3f2a --json --since 0
    """
    screen = standard()
    ensure_loaded(screen, session)
    return attend(
        lambda: _follow(screen, session, since, as_json), screen, lambda: farewell(session)
    )


async def _follow(screen: Screen, session: str, since: int | None, as_json: bool) -> int:
    with target.rookery().open(session) as client:
        opened = excerpt(client.log, since, folded=since is not None)
        document, after = opened.document, max(0, opened.first - 1) if since is None else since
        transcript = None if as_json else Transcript(screen, durations=shows_durations())
        if transcript is not None and since is None and opened.above:
            screen.note(f"More above: rookery show {session} --turn {document.header.turn}")
            transcript.feed(document, [["set", name, {}] for name in document.blocks])
        watch = Watch(client, screen, document, transcript)
        known = client.log.last_seq()
        async with aclosing(watch.events(after)) as events:
            async for event in events:
                if transcript is not None:
                    _remark(screen, session, document, event, known)
    return exits.DONE


def _remark(screen: Screen, session: str, document: Document, event: Event, known: int) -> None:
    """Tell the user what can be done now, and that a turn is over. `known` is the last event at the
    beginning: an ask before it may have been answered."""
    update = event.update
    asked = kind_of(update) == "_ask" and update.get("state") == "asked" and event.seq > known
    if document.header.asks and (asked or event.seq == known):
        screen.note(f"Waiting for your answer: rookery answer {session}")
    if kind_of(update) == "_turn" and update.get("reason") == "end_turn":
        screen.note("done")
