"""`import`: sessions that were begun with an agent elsewhere."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime

import click

from rookery.cli import exits, flags, settings, target
from rookery.cli.output import Screen, clean_line, cut, standard, table
from rookery.cli.session import loading
from rookery.client.imports.importing import HERE, HOMELESS, NEW, REMOVED, TRASHED, Found
from rookery.core.agent.imported import Listed
from rookery.core.json import Json, dumps
from rookery.core.json.safe_text import count
from rookery.core.refusals import Refused
from rookery.home import paths
from rookery.operations.calling import imports as anywhere
from rookery.operations.calling.imports import Source
from rookery.render.local_time import age

SHAPE = (
    table.Column("agent"),
    table.Column("id", least=8),
    table.Column("title", least=12, wish=24),
    table.Column("age", rank=1, right=True),
    table.Column("directory", least=12, rank=2),
    table.Column("here"),
)


@click.command("import")
@click.option(
    "--agent",
    "name",
    metavar="NAME",
    shell_complete=flags.complete_agents,
    help="Only this agent's sessions.",
)
@click.option("--list", "only_list", is_flag=True, help="Only list the sessions.")
@click.option("--all", "everywhere", is_flag=True, help="Sessions of every directory.")
@flags.several("--session", "ids", metavar="ID", help="Only this session. Repeatable.")
@click.option("--removed", is_flag=True, help="Also sessions that you removed permanently.")
@click.option("--load", is_flag=True, help="Load their history now, several at a time.")
@flags.as_json("Print one JSON object per session.")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
def import_(
    name: str | None,
    only_list: bool,
    everywhere: bool,
    ids: tuple[str, ...],
    removed: bool,
    load: bool,
    as_json: bool,
    directory: str | None,
) -> int:
    """Import sessions that you began with an agent without Rookery.

    The agent lists its sessions of DIRECTORY (default: the current one), and each becomes a session
    here at once. Its history is loaded when you open it, or now with --load; your next prompt
    continues it. Sessions that are here already are left alone, so you can run this again. Without
    --agent, every installed agent is asked. With --daemon, all of this is about that machine.

    \b
    rookery import --list
    rookery import --agent claude ~/shop
    rookery import --agent opencode --session ses_4f2a --all
    rookery import --all --load
    """
    place = "" if everywhere else _place(directory)
    names = [name] if name else [*anywhere.agents(target.rookery())]
    if not names:
        raise click.ClickException("No agent is installed. To see which there are: rookery agents")
    sources = [anywhere.source(target.rookery(), each, place) for each in names]
    run = _Import(standard(), place, set(ids), as_json=as_json, removed=removed or bool(ids))
    return asyncio.run(run.print_list(sources) if only_list else run.bring(sources, load=load))


def _place(directory: str | None) -> str:
    """Of another machine, only what is named."""
    if target.rookery().address:
        return directory or ""
    settings.load()  # what it warns of, once
    place = os.path.abspath(directory or paths.work_directory())
    if not os.path.isdir(place):
        raise click.UsageError(f"{clean_line(place)} is not a directory.")
    return place


class _Import:
    """One run of the command: what it prints, and what went wrong."""

    def __init__(
        self, screen: Screen, place: str, ids: set[str], *, as_json: bool, removed: bool
    ) -> None:
        self._screen, self._place, self._ids = screen, place, ids
        self._as_json, self._removed = as_json, removed
        self._missing = set(ids)
        self._failed = False

    async def print_list(self, sources: Sequence[Source]) -> int:
        rows = list[Found]()
        async for _, page in self._pages(sources):
            rows += page
        rows.sort(key=lambda each: each.session.updated, reverse=True)
        if self._as_json:
            for each in rows:
                self._screen.line(dumps(_as_json(each)))
        elif rows:
            table.write(self._screen, SHAPE, [_cells(each) for each in rows])
        else:
            self._screen.note("No sessions found.")
        return self._code()

    async def bring(self, sources: Sequence[Source], *, load: bool) -> int:
        screen, made, states = self._screen, list[Found](), Counter[str]()
        async for source, page in self._pages(sources):
            wanted = [each.session for each in page if each.state in self._wanted()]
            news = await source.bring(wanted, removed=self._removed) if wanted else []
            left = [each for each in page if each.state not in self._wanted()]
            left += [each for each in news if each.state != NEW]
            fresh = [each for each in news if each.state == NEW]
            made += fresh
            states.update(each.state for each in left)
            self._write(fresh, left)
            screen.status(f"{len(made):,} imported …")
        self._summarize(made, states)
        if load and made:
            self._failed |= not await loading.load_all(screen, [each.here for each in made])
        return self._code()

    async def _pages(self, sources: Sequence[Source]) -> AsyncIterator[tuple[Source, list[Found]]]:
        """One agent at a time; one that fails does not keep the others from being asked."""
        for source in sources:
            self._screen.status(f"Asking {source.agent} for its sessions …")
            try:
                async with aclosing(source.pages(self._place)) as pages:
                    async for page in pages:
                        found = [each for each in page if self._is_meant(each)]
                        self._missing -= {each.session.id for each in found}
                        yield source, found
                        if self._ids and not self._missing:
                            break
            except Refused as error:
                if len(sources) == 1 and not self._ids:
                    raise
                self._screen.note(clean_line(error.sentences))
                self._failed = len(sources) == 1
            finally:
                self._screen.status("")
                await source.rest()

    def _is_meant(self, each: Found) -> bool:
        return not self._ids or each.session.id in self._ids

    def _wanted(self) -> tuple[str, ...]:
        return (NEW, REMOVED) if self._removed else (NEW,)

    def _write(self, made: list[Found], left: list[Found]) -> None:
        if self._as_json:
            for each in (*made, *left):
                self._screen.line(dumps(_as_json(each)))
            return
        for each in made:
            title = "" if self._screen.piped else f"  {clean_line(cut(_title(each), 60))}"
            self._screen.line(f"{each.here}{title}")
        for each in left if self._ids else ():
            self._screen.note(clean_line(f"{cut(_title(each), 60)}: {each.why_not()}"))

    def _summarize(self, made: list[Found], states: Counter[str]) -> None:
        note = self._screen.note
        if made:
            one = (
                f"To open it: rookery open {made[0].here}"
                if len(made) == 1
                else "To see them: rookery ps"
            )
            note(f"Imported {count(len(made), 'session')}. History comes when opened. {one}")
        elif not states and not self._ids:
            where = f" from {paths.with_tilde(self._place)}" if self._place else ""
            note(f"Nothing to import{where}.")
        for state, words in LEFT.items():
            if states[state] and not self._ids:
                note(f"{count(states[state], 'session')} {words}")
        self._failed |= bool(self._ids and states[HOMELESS])

    def _code(self) -> int:
        if self._missing:
            words = f"No agent lists the session {clean_line(min(self._missing))}."
            raise click.ClickException(f"{words} To see them: rookery import --list --all")
        return exits.FAILED if self._failed else exits.DONE


LEFT = {
    HERE: "already imported.",
    TRASHED: "left in the trash. To see them: rookery trash",
    REMOVED: "left out: you removed them. To import them again: --removed",
    HOMELESS: "left out: their directories no longer exist.",
}
"""Of those that were not imported, by state."""


def _title(each: Found) -> str:
    return each.session.title.strip() or each.session.id


def _cells(each: Found) -> list[str]:
    session = each.session
    cells = (each.agent, session.id, session.title, _last_used(session), session.cwd)
    return [*(clean_line(cell) for cell in cells), each.here]


def _as_json(each: Found) -> Json:
    row = each.session._asdict() | {"here": each.here or None, "state": each.state}
    return {"agent": each.agent, **row}


def _last_used(session: Listed) -> str:
    """Since it was last used; what the agent says, if that is no time."""
    try:
        at = datetime.fromisoformat(session.updated)
    except ValueError:
        return session.updated[:20]
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return age(at.timestamp() * 1000, datetime.now(UTC).timestamp() * 1000)
