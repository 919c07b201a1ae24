"""`import`: prints the new sessions' ids, and why others were left out; `--list` prints a table."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import click

from rookery.cli import exits, flags, settings, target
from rookery.cli.output import Screen, clean_line, cut, standard, table
from rookery.cli.session import loading
from rookery.cli.session.send import Say
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.home import paths
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import age

JSON = flags.results("Print one JSON object per session.")
OPTIONS = (
    click.option("--list", "only_list", is_flag=True, help="Only list the sessions."),
    click.option("--all", "everywhere", is_flag=True, help="Sessions of every directory."),
    click.option("--load", is_flag=True, help="Load their history now, several at a time."),
)
ARGUMENTS = {
    "directory": click.argument("directory", required=False, type=click.Path(file_okay=False)),
    "ids": flags.several("--session", "ids", metavar="ID", help="Only this session. Repeatable."),
}
MORE = """Without DIRECTORY or --all, the sessions of the current directory are imported; with
--daemon, those of every directory of that machine."""
SHAPE = (
    table.Column("agent"),
    table.Column("id", least=8),
    table.Column("title", least=12, wish=24),
    table.Column("age", rank=1, right=True),
    table.Column("directory", least=12, rank=2),
    table.Column("here"),
)
LEFT = {
    "here": "already imported.",
    "trashed": "left in the trash. To see them: rookery trash",
    "removed": "left out: you removed them. To import them again: --removed",
    "no_directory": "left out: their directories no longer exist.",
}
"""Why sessions were not imported, by state."""


def carry_out(_row: Row, _session: str, _say: Say, given: Any) -> tuple[None, int]:
    screen, ids = standard(), list(given["ids"])
    place = "" if given["everywhere"] else _place(given["directory"])
    about: Json = {"agent": given["agent"] or "", "directory": place}
    if given["only_list"]:
        response = _asked(screen, "importable", about)
        rows = [each for each in response["sessions"] if not ids or each["id"] in ids]
        _write_table(screen, rows)
        missing = {*ids} - {each["id"] for each in rows}
    else:
        how = {"removed": given["removed"] or bool(ids), **({"ids": ids} if ids else {"all": True})}
        response = _asked(screen, "import", about | how)
        rows, missing = response["sessions"], response["missing"]
        _write(screen, rows, place, chosen=bool(ids))
    for message in response["failed"]:
        screen.note(clean_line(message))
    if missing:
        message = f"No agent lists the session {clean_line(min(missing))}."
        raise click.ClickException(f"{message} To see them: rookery import --list --all")
    failed = bool(response["failed"] and given["agent"])
    if not given["only_list"]:
        failed |= bool(ids) and any(each["state"] == "no_directory" for each in rows)
        made = [each["here"] for each in rows if each["state"] == "new"]
        if given["load"] and made:
            failed |= not asyncio.run(loading.load_all(screen, made))
    return None, exits.FAILED if failed else exits.DONE


def _asked(screen: Screen, operation: str, about: Json) -> Json:
    try:
        return target.rookery().call(operation, report=screen.status, **about)
    finally:
        screen.status("")


def _place(directory: str | None) -> str:
    """Return the directory to import from; on another machine, only one that was named."""
    if target.rookery().address:
        return directory or ""
    settings.load()  # what it warns of, once
    place = os.path.abspath(directory or paths.work_directory())
    if not os.path.isdir(place):
        raise click.UsageError(f"{clean_line(place)} is not a directory.")
    return place


def _write_table(screen: Screen, rows: list[Json]) -> None:
    _results(screen, rows)
    if rows:
        table.write(screen, SHAPE, [_cells(each) for each in rows])
    elif not screen.as_json:
        screen.note("No sessions found.")


def _results(screen: Screen, rows: Iterable[Json]) -> None:
    for each in rows:
        shown = {name: each[name] for name in each if name != "why"}
        screen.result(shown | {"here": each["here"] or None})


def _write(screen: Screen, rows: list[Json], place: str, *, chosen: bool) -> None:
    """Print what was imported. `chosen`: each was named, so what became of it is printed."""
    made = [each for each in rows if each["state"] == "new"]
    _results(screen, rows)
    for each in made:
        title = "" if screen.piped else f"  {clean_line(cut(_title(each), 60))}"
        screen.line(f"{each['here']}{title}")
    if made:
        here = made[0]["here"]
        one = f"To open it: rookery open {here}" if len(made) == 1 else "To see them: rookery ps"
        text = f"Imported {count(len(made), 'session')}. History comes when opened. {one}"
        screen.note(text)
    elif not rows and not chosen:
        where = f" from {paths.with_tilde(place)}" if place else ""
        screen.note(f"Nothing to import{where}.")
    if chosen:
        for each in rows:
            if each["why"]:
                screen.note(clean_line(f"{cut(_title(each), 60)}: {each['why']}"))
        return
    states = Counter(each["state"] for each in rows)
    for state, text in LEFT.items():
        if states[state]:
            screen.note(f"{count(states[state], 'session')} {text}")


def _title(each: Json) -> str:
    return each["title"].strip() or str(each["id"])


def _cells(each: Json) -> list[str]:
    cells = (each["agent"], each["id"], each["title"], _last_used(each["updated"]), each["cwd"])
    return [*(clean_line(cell) for cell in cells), each["here"]]


def _last_used(updated: str) -> str:
    """Return the time since it was last used, or the agent's own text if that is no time."""
    try:
        at = datetime.fromisoformat(updated)
    except ValueError:
        return updated[:20]
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return age(at.timestamp() * 1000, datetime.now(UTC).timestamp() * 1000)
