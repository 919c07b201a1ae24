"""`remove`: moves sessions to the trash, or deletes them permanently."""

import os
from typing import Any

import click
from click.shell_completion import CompletionItem

from rookery.cli import exits, flags, target
from rookery.cli.agreeing import agreed
from rookery.cli.output import Screen, clean_line, standard
from rookery.client.deletion import went_wrong
from rookery.client.fleet import UnknownSession, named
from rookery.home import paths
from rookery.render.local_time import day_of


def _complete(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    found = flags.complete_sessions(context, parameter, incomplete)
    if context.params.get("permanently"):
        found += flags.complete_trashed(context, parameter, incomplete)
    return found


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION...", shell_complete=_complete)
@flags.flag("--force", help="Also if work was not merged.")
@flags.flag("--permanently", help="Delete permanently, also what is in the trash.")
@flags.yes
@flags.results()
def remove(names: tuple[str, ...], yes: bool, force: bool, permanently: bool) -> int:
    """Move sessions to the trash. For 14 days, rookery restore brings them back with their
    transcript, snapshots, worktree and branch; then they are deleted permanently. Running agents
    are stopped. Files changed by agents stay. If a worktree has work that was not merged, you are
    asked, or have to pass --force.

    With --permanently they are deleted at once, and agents that support it are asked to delete
    their copy; ROOKERY_DEBUG=1 shows their answer. Your prompt history (prompts.jsonl) stays.

    \b
    rookery remove 3f2a
    rookery restore 3f2a
    rookery remove --yes --permanently 3f2a 91bc
    """
    screen = standard()
    live, trashed = _meant(names, permanently=permanently)
    if not yes:
        force = _ask(screen, live, trashed, permanently=permanently) or force
    for session in live:
        if permanently:
            _delete(screen, session, force=force)
        else:
            until = target.rookery().remove(session, force=force)
            screen.result({"id": session, "until": until})
            how = f"To restore it until {day_of(until)}: rookery restore {session}"
            screen.note(f"Moved {session} to the trash. {how}")
    for session in trashed:
        for words in agreed("delete-trashed", lambda: None, name=session)["kept"]:
            screen.note(f"  {clean_line(words)}")
        screen.result({"id": session, "until": None})
        screen.note(f"Deleted {session}.")
    if not permanently and not target.url():
        from rookery.client.trash.emptying import is_low

        if is_low(paths.home()):
            screen.note("The disk is nearly full. To free space: rookery trash --empty")
    if permanently and not target.url():
        from rookery.search.update import drop_deleted

        drop_deleted(paths.home())
    return exits.DONE


def _meant(names: tuple[str, ...], *, permanently: bool) -> tuple[list[str], list[str]]:
    """The sessions, and those in the trash. Raises UnknownSession, Ambiguous."""
    live, trashed = dict[str, None](), dict[str, None]()
    for name in names:
        try:
            live[target.rookery().find(name)] = None
        except UnknownSession:
            if not permanently:
                raise
            trashed[named(name, flags.trashed())] = None
    return list(live), list(trashed)


def _ask(screen: Screen, live: list[str], trashed: list[str], *, permanently: bool) -> bool:
    """Whether what was not merged goes, too."""
    rookery, unmerged = target.rookery(), False
    titles = {row["id"]: row["title"] for row in flags.trashed()} if trashed else {}
    for session in live:
        head = rookery.head(session)
        screen.note(f"  {session}  {clean_line(head['title']) if head else ''}")
        if words := _at_stake(session):
            screen.note(f"    its worktree has work that was not merged: {words}")
            unmerged = True
    for session in trashed:
        screen.note(f"  {session}  {clean_line(titles.get(session, ''))} (in the trash)")
    number = len(live) + len(trashed)
    these = "this session" if number == 1 else f"these {number} sessions"
    if permanently:
        flags.confirm(screen, f"Permanently delete {these}?", "delete them")
    else:
        flags.confirm(screen, f"Move {these} to the trash?", "move them to the trash")
    return unmerged


def _delete(screen: Screen, session: str, *, force: bool) -> None:
    said = target.rookery().delete(session, _stays(screen), force=force)
    if said and os.environ.get("ROOKERY_DEBUG") and not went_wrong(said):
        screen.note(f"  {clean_line(said)}")
    screen.result({"id": session, "until": None})
    screen.note(f"Deleted {session}.")


def _stays(screen: Screen) -> Any:
    return lambda words: screen.note(f"  {clean_line(words)}")


def _at_stake(session: str) -> str:
    """Of a worktree that would go with the session; on another machine, that one says it."""
    if target.url():
        return ""
    from rookery.client.worktrees.drop import unmerged

    return str(unmerged(paths.home(), session) or "")
