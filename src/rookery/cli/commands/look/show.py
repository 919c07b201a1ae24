"""`show`: prints a session from its log, as text, as a document, or as events."""

from collections.abc import Iterator
from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.output.transcript import Transcript
from rookery.cli.session.loading import ensure_loaded
from rookery.cli.session.send import head_line
from rookery.cli.settings import shows_durations
from rookery.client.reading import around, excerpt
from rookery.core import worktree
from rookery.core.blocks import Document
from rookery.core.header import Header
from rookery.core.json import Event, dumps, lenient
from rookery.core.json.safe_text import count
from rookery.core.policy import confinement, modes
from rookery.core.settings import held
from rookery.core.turn.clearing import is_folded
from rookery.core.view.reduce import fold
from rookery.home import paths
from rookery.log.history import History


@click.command()
@flags.sessions_argument
@click.option(
    "--turn", type=click.IntRange(min=0), metavar="N", help="Print this turn (0: before the first)."
)
@click.option("--all", "everything", is_flag=True, help="Print every turn (default: the last).")
@click.option(
    "--at",
    type=click.IntRange(min=1),
    metavar="SEQ",
    help="Print what was said around this event: rookery search finds it.",
)
@click.option("--full", is_flag=True, help="Print thoughts, and long outputs in full.")
@click.option("--events", "as_events", is_flag=True, help="Print one JSON event per line.")
@flags.as_json("Print the document (header and blocks) as JSON.")
def show(sessions: tuple[str, ...], **wanted: Any) -> None:
    """Print sessions: the last turn of each, another turn, or all of it.

    If the last turn is very long, only its last 5 MiB are printed. --turn and --all print it all.

    \b
    rookery show 3f2a
    rookery show 3f2a --all | less
    rookery show 3f2a --full
    rookery show 3f2a --at 1200
    rookery show 3f2a --all --events > session.jsonl
    """
    if wanted["everything"] and wanted["turn"] is not None:
        raise click.UsageError("--turn and --all cannot be combined.")
    if wanted["at"] is not None and (wanted["everything"] or wanted["turn"] is not None):
        raise click.UsageError("--at cannot be combined with --turn or --all.")
    if wanted["at"] is not None and wanted["as_events"]:
        raise click.UsageError("--at and --events cannot be combined.")
    if wanted["as_json"] and wanted["as_events"]:
        raise click.UsageError("--json and --events cannot be combined.")
    screen = standard()
    at = wanted.pop("at")
    for place, session in enumerate(sessions):
        if len(sessions) > 1 and not wanted["as_json"] and not wanted["as_events"]:
            head_line(screen, session, first=not place)
        ensure_loaded(screen, session)
        if at is not None:
            _show_around(screen, session, at, full=wanted["full"], as_json=wanted["as_json"])
        else:
            _show(screen, session, **wanted)


def _show_around(screen: Screen, session: str, seq: int, *, full: bool, as_json: bool) -> None:
    with target.rookery().history(session) as log:
        if seq > (last := log.last_seq()):
            raise click.BadParameter(f"the last event is {last}.", param_hint="--at")
        document = around(log, seq)
    if as_json:
        screen.line(dumps(document.to_json()))
    else:
        _print(screen, document, full=full)
        screen.note(f"around event {seq:,} of {last:,}; --turn {document.header.turn} prints all")


def _show(
    screen: Screen,
    session: str,
    *,
    turn: int | None,
    everything: bool,
    full: bool,
    as_json: bool,
    as_events: bool,
) -> None:
    rookery = target.rookery()
    known_seq = lenient.integer(rookery.head(session), "seq") or 0
    with rookery.history(session) as log:
        last = log.turns()
        if turn is not None and turn > last:
            raise click.BadParameter(f"the last turn is {last}.", param_hint="--turn")
        first, final = (
            (0, last) if everything else (turn, turn) if turn is not None else (last,) * 2
        )
        if (lost := known_seq - (seq := log.last_seq())) > 0:
            notice = f"The last {count(lost, 'event')} of this session are gone"
            screen.note(f"{notice}: {paths.LOG}-wal was lost.")
        ends = turn is None and not everything
        if final == last:
            rookery.mark_seen(session, seq)
        if as_events:
            for event in _events(log, first, final):
                screen.line(dumps(event._asdict()))
        elif as_json:
            document = _opened(screen, log, last) if ends else _document(log, first, final)
            screen.line(dumps(document.to_json()))
        else:
            header = log.header_before(last + 1)
            folded = ends and _say_fold(screen, log, header, last)
            if not folded:
                document = _opened(screen, log, last) if ends else _document(log, first, final)
                _print(screen, document, full=full)
            if not last:
                screen.note(f'No prompt yet. To send one: rookery prompt {session} "…"')
            if notice := asking_words(header):
                screen.note(notice)
            if notice := worktree.brief(header.worktree):
                place = paths.with_tilde(clean_line(str((header.worktree or {})["origin"])))
                screen.note(f"worktree of {place}: {clean_line(notice)}")
            if kind := header.sandbox:
                screen.note(f"Runs in a sandbox ({clean_line(kind)}): docs/sandbox.md")
            elif header.process.get("guard") == confinement.WEAK:
                screen.note(f"{clean_line(header.agent)} is not confined: docs/security.md")
            if notice := held.note(header):
                screen.note(notice)
            if final == first and last > 1 and not folded:
                screen.note(f"turn {final} of {last}; --all prints every turn")


def asking_words(header: Header) -> str:
    """Return how much the agent asks, or "" if it asks about everything."""
    return clean_line(modes.sentence(header)) if modes.brief(header) else ""


def _say_fold(screen: Screen, log: History, header: Header, last: int) -> bool:
    """Tell the user what a clear folded away; return whether the last turn is part of it."""
    fold_ = header.fold
    if not fold_ or not fold_["turn"]:
        return False
    turns = count(fold_["turn"], "earlier turn")
    screen.note(f"Cleared: {turns} folded away; --all prints every turn.")
    if last > fold_["turn"]:
        return False

    document = _opened(screen, log, last)
    for name in [name for name in document.blocks if is_folded(fold_, name)]:
        del document.blocks[name]
    Transcript(screen).page(document)
    return True


def _opened(screen: Screen, log: History, last: int) -> Document:
    """Return the end of the last turn, and tell the user if there is more of it."""
    document, _, _, above, cut = excerpt(log)
    if above or cut:
        screen.note(f"This is the end of a long turn. To print all of it: --turn {last}")
    return document


def _document(log: History, first: int, last: int) -> Document:
    return fold(log.header_before(first) if first else None, _events(log, first, last))


def _events(log: History, first: int, last: int) -> Iterator[Event]:
    """Return the events of these turns, read lazily."""
    end = (log.first_seq(last + 1) or log.last_seq() + 1) - 1
    return log.events(log.first_seq(first) - 1, end)


def _print(screen: Screen, document: Document, *, full: bool) -> None:
    Transcript(screen, full=full, durations=shows_durations()).page(document)
