"""`import`: sessions that were begun with an agent elsewhere."""

import asyncio
import os
from datetime import UTC, datetime

import click

from rookery.cli import exits, flags, settings, target
from rookery.cli.output import Screen, clean_line, cut, standard, table
from rookery.client.daemon.errors import RemoteError
from rookery.client.imports import anywhere
from rookery.client.imports.agent_sessions import CannotImport
from rookery.client.imports.anywhere import Source
from rookery.client.imports.importing import Found
from rookery.core.agent.imported import Listed
from rookery.core.json import Json, dumps
from rookery.home import paths
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
@flags.as_json("With --list: print one JSON object per session.")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
def import_(
    name: str | None,
    only_list: bool,
    everywhere: bool,
    ids: tuple[str, ...],
    as_json: bool,
    directory: str | None,
) -> int:
    """Import sessions that you began with an agent without Rookery.

    The agent lists its sessions of DIRECTORY (default: the current one) and replays them. Each
    becomes a session here: you can read it, and your next prompt continues it. Sessions that are
    here already are left alone, so you can run this again. Without --agent, every installed agent
    is asked. With --daemon, all of this is about that machine.

    \b
    rookery import --list
    rookery import --agent claude ~/shop
    rookery import --agent opencode --session ses_4f2a --all
    """
    place = "" if everywhere else _place(directory)
    names = [name] if name else [*anywhere.agents(target.rookery())]
    if not names:
        raise click.ClickException("No agent is installed. To see which there are: rookery agents")
    sources = [anywhere.source(target.rookery(), each, place) for each in names]
    return asyncio.run(_run(standard(), sources, place, ids, only_list, as_json))


def _place(directory: str | None) -> str:
    """Of another machine, only what is named."""
    if target.url():
        return directory or ""
    settings.load()  # what it warns of, once
    place = os.path.abspath(directory or paths.work_directory())
    if not os.path.isdir(place):
        raise click.UsageError(f"{clean_line(place)} is not a directory.")
    return place


async def _run(
    screen: Screen,
    sources: list[Source],
    place: str,
    ids: tuple[str, ...],
    only_list: bool,
    as_json: bool,
) -> int:
    try:
        found = await _found(screen, sources, place, ids)
        if only_list:
            _write(screen, [each for _, each in found], as_json=as_json)
            return exits.DONE
        return await _bring_all(screen, found, place)
    finally:
        for source in sources:
            await source.rest()


async def _found(
    screen: Screen, sources: list[Source], place: str, ids: tuple[str, ...]
) -> list[tuple[Source, Found]]:
    found = list[tuple[Source, Found]]()
    for source in sources:
        try:
            rows = await source.find(place)
        except (CannotImport, RemoteError) as error:
            if len(sources) == 1:
                raise click.ClickException(str(error)) from None
            screen.note(clean_line(str(error)))
            continue
        if len(sources) > 1:
            await source.rest()  # one agent at a time
        found += [(source, each) for each in rows if not ids or each.session.id in ids]
    if missing := set(ids) - {each.session.id for _, each in found}:
        words = f"No agent lists the session {sorted(missing)[0]}. To see them: rookery import"
        raise click.ClickException(f"{words} --list --all")
    return found


async def _bring_all(screen: Screen, found: list[tuple[Source, Found]], place: str) -> int:
    failed = 0
    for number, (source, each) in enumerate(found, 1):
        if number > 1 and source is not found[number - 2][0]:
            await found[number - 2][0].rest()
        screen.status(f"{number:,} of {len(found):,}")
        failed += not await _bring(screen, source, each)
    if not found:
        screen.note(f"Nothing to import{f' from {paths.with_tilde(place)}' if place else ''}.")
    return exits.FAILED if failed else exits.DONE


async def _bring(screen: Screen, source: Source, each: Found) -> bool:
    title = clean_line(cut(each.session.title or each.session.id, 60))
    if each.here:
        screen.note(f"{title} is already imported: rookery open {each.here}")
        return True
    try:
        made = await source.bring(each.session)
    except (CannotImport, RemoteError) as error:
        screen.note(clean_line(f"{title} ({each.session.id}) was not imported. {error}"))
        return False
    screen.line(made.here)
    screen.note(f"Imported {title} from {source.agent}. To continue it: rookery prompt {made.here}")
    return True


def _write(screen: Screen, found: list[Found], *, as_json: bool) -> None:
    for each in found if as_json else ():
        screen.line(dumps(_as_json(each)))
    if as_json:
        return
    if not found:
        screen.note("No sessions found.")
        return
    rows = []
    for each in found:
        session = each.session
        cells = (each.agent, session.id, session.title, _last_used(session), session.cwd)
        rows.append([*(clean_line(cell) for cell in cells), each.here])
    table.write(screen, SHAPE, rows)


def _as_json(each: Found) -> Json:
    return {"agent": each.agent, **each.session._asdict(), "here": each.here or None}


def _last_used(session: Listed) -> str:
    """Since it was last used; what the agent says, if that is no time."""
    try:
        at = datetime.fromisoformat(session.updated)
    except ValueError:
        return session.updated[:20]
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return age(at.timestamp() * 1000, datetime.now(UTC).timestamp() * 1000)
