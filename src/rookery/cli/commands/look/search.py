"""`search`: everything that was ever said, in all sessions."""

import os
import time
from datetime import datetime
from typing import Any, override

import click

from rookery.cli import exits, flags, target
from rookery.cli.flags import complete_agents
from rookery.cli.output import Screen, clean_line, cut, standard
from rookery.cli.output.skipped import note_skipped
from rookery.cli.output.units import AGE
from rookery.core.json import dumps
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import NO_TITLE
from rookery.home import paths
from rookery.render.local_time import ago
from rookery.search.query import LIMIT, MOST_HITS, Answer, Filters, Hit, query
from rookery.search.texts import OTHER, ROLES
from rookery.search.update import Progress, update

PATIENCE = 3.0
"""Seconds for another process that updates the index."""

INDENT = "    "


class Since(click.ParamType[float]):
    """An age, or a local day or time; as seconds of the epoch."""

    name = "time"
    _moment = click.DateTime(["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"])

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            return time.time() - AGE.convert(value, param, ctx)
        except click.BadParameter:
            pass
        try:
            found: datetime = self._moment.convert(value, param, ctx)
            return found.astimezone().timestamp()
        except (click.BadParameter, ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is not a time like 12h, 30d or 2030-01-31.", param, ctx)


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--agent",
    default="",
    shell_complete=complete_agents,
    metavar="NAME",
    help="Sessions of this agent.",
)
@click.option(
    "--in",
    "directory",
    default="",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Sessions that work in this directory or below it.",
)
@click.option("--since", type=Since(), metavar="TIME", help="Not older than: 12h, 30d, 2030-01-31.")
@click.option("--role", type=click.Choice(ROLES), help="Only this kind of text.")
@click.option(
    "--limit",
    default=LIMIT,
    show_default=True,
    type=click.IntRange(1, MOST_HITS),
    metavar="N",
    help="Print at most this many hits.",
)
@flags.as_json("Print one JSON object per hit.")
def search(words: tuple[str, ...], since: float | None, as_json: bool, **wanted: Any) -> int:
    """Search prompts, answers, thoughts, commands, their output and paths in all sessions.

    Finds what has all the words, newest first. Case and accents do not matter. Put words that
    belong together in quotes; end a word with * to find all that begin with it. The exit code is 1
    if nothing is found.

    \b
    rookery search disk full
    rookery search "no space left" --since 7d
    rookery search 'migrat*' --role answer --in ~/src/shop
    rookery search src/main.py --json | jq -r .session
    """
    screen, home, door = standard(), paths.home(), target.door()
    place = wanted["directory"]
    if place and door is None:
        place = os.path.abspath(os.path.expanduser(place))
    filters = Filters(
        agent=wanted["agent"],
        directory=place,
        since=0 if since is None else int(since * 1000),
        role=wanted["role"] or "",
    )
    if door is not None:
        from rookery.search import elsewhere

        progress, answer = elsewhere.query(door, _text(words), filters, wanted["limit"])
    else:
        progress = _updated(screen, home)
        answer = query(home, _text(words), filters, wanted["limit"])
    now = time.time() * 1000
    for number, hit in enumerate(answer.hits):
        if as_json:
            screen.line(dumps(hit.to_json() | {"command": _command(hit)}))
        else:
            _write(screen, hit, now, first=number == 0)
    _say(screen, answer, progress, wanted["limit"])
    return exits.DONE if answer.hits else exits.FAILED


def _text(words: tuple[str, ...]) -> str:
    """As a query: what the shell was given in quotes belongs together."""
    return " ".join(
        f'"{word}"' if " " in word.strip() and '"' not in word else word for word in words
    )


def _updated(screen: Screen, home: str) -> Progress:
    def tell(done: int, every: int) -> None:
        screen.status(f"Indexing: {done:,} of {count(every, 'session')}")

    progress = update(home, wait=PATIENCE, tell=tell)
    screen.status("")
    return progress


def _command(hit: Hit) -> str:
    """Opens the place of a hit."""
    return f"rookery show {hit.session} --at {hit.seq}"


def _write(screen: Screen, hit: Hit, now: float, *, first: bool) -> None:
    paint = screen.paint
    title = clean_line(hit.title) or NO_TITLE
    who = clean_line(hit.agent) if hit.role == OTHER else f"{hit.role} · {clean_line(hit.agent)}"
    about = f"{who} · {ago(hit.at, now)}"
    about = about if paint.signs else about.replace("·", "-")
    room = max(12, screen.width - len(about) - 2) if screen.fits else len(title) * 2
    screen.line(("" if first else "\n") + paint.in_("strong", cut(title, room)) + f"  {about}")
    screen.line(INDENT + _snippet(screen, hit))
    screen.line(INDENT + paint.faint(_command(hit)))


def _snippet(screen: Screen, hit: Hit) -> str:
    text, said, place = hit.snippet.text, "", 0
    for begins, ends in hit.snippet.marks:
        word = text[begins:ends]
        marked = screen.paint.in_("warn", word) if screen.paint.colour else f"*{word}*"
        said += text[place:begins] + marked
        place = ends
    return said + text[place:]


def _say(screen: Screen, answer: Answer, progress: Progress, limit: int) -> None:
    if progress.problem:
        screen.note(f"Some sessions could not be indexed: {clean_line(progress.problem)}")
    elif progress.busy:
        screen.note("Another process is updating the index: the newest words may be missing.")
    note_skipped(screen, "Not searched", progress.skipped)
    if answer.problem:
        screen.note(clean_line(answer.problem))
    elif not answer.hits:
        screen.note("Nothing found.")
    elif answer.more:
        screen.note(
            f"These are the newest {limit:,}. For more: --limit {min(limit * 5, MOST_HITS)}"
        )
