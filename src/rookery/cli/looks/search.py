"""`search`: prints hits with the matching text, and the command that opens each."""

import time
from collections.abc import Iterable

import click

from rookery.cli import exits, target
from rookery.cli.flags import results
from rookery.cli.operation import values_of
from rookery.cli.output import Screen, clean_line, cut, standard
from rookery.cli.output.skipped import note_skipped
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import NO_TITLE
from rookery.operations.all_sessions import MAX_HITS
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import ago
from rookery.search.texts import OTHER

OPTIONS = ()
JSON = results("Print one JSON object per hit.")
INDENT = "    "


def ask(row: Row, _session: str, options: Json) -> Json:
    """Search until the index is complete: it is updated in steps, each with an answer."""
    screen, given = standard(), values_of(row, options)
    while True:
        result = target.rookery().call("search", **given)
        left = result.get("left", 0)
        if not left or result["busy"] or result["problem"]:
            screen.status("")
            return result
        screen.status(f"Indexing: {count(left, 'session')} to go")


def show(result: Json, options: Json) -> Iterable[Json]:
    screen, now = standard(), time.time() * 1000
    hits = result["hits"]
    for number, hit in enumerate(hits):
        _write(screen, hit, now, first=number == 0)
    _say(screen, result, options["limit"])
    if not hits:
        raise click.exceptions.Exit(exits.FAILED)
    return [hit | {"command": _command(hit)} for hit in hits]


def _command(hit: Json) -> str:
    """Return the command that opens the place of a hit."""
    return f"rookery show {hit['session']} --at {hit['seq']}"


def _write(screen: Screen, hit: Json, now: float, *, first: bool) -> None:
    paint = screen.paint
    title = clean_line(hit["title"]) or NO_TITLE
    agent, role = clean_line(hit["agent"]), hit["role"]
    who = agent if role == OTHER else f"{role} · {agent}"
    about = f"{who} · {ago(hit['at'], now)}"
    about = about if paint.signs else about.replace("·", "-")
    room = max(12, screen.width - len(about) - 2) if screen.fits else len(title) * 2
    screen.line(("" if first else "\n") + paint.in_("strong", cut(title, room)) + f"  {about}")
    screen.line(INDENT + _snippet(screen, hit))
    screen.line(INDENT + paint.faint(_command(hit)))


def _snippet(screen: Screen, hit: Json) -> str:
    text, snippet, place = str(hit["text"]), "", 0
    for begins, ends in hit["marks"]:
        word = text[begins:ends]
        marked = screen.paint.in_("warn", word) if screen.paint.colour else f"*{word}*"
        snippet += text[place:begins] + marked
        place = ends
    return snippet + text[place:]


def _say(screen: Screen, result: Json, limit: int) -> None:
    if result.get("busy"):
        screen.note("Another process is updating the index: the newest words may be missing.")
    note_skipped(screen, "Not searched", result.get("skipped", ()))
    if result["problem"]:
        screen.note(clean_line(result["problem"]))
    elif not result["hits"]:
        screen.note("Nothing found.")
    elif result["more"]:
        screen.note(f"These are the newest {limit:,}. For more: --limit {min(limit * 5, MAX_HITS)}")
