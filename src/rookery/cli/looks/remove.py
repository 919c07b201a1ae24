"""`remove`: removes several sessions at once, also those in the trash. It asks once for all, and
again about work that was not merged."""

import os
from typing import Any

import click
from click.shell_completion import CompletionItem

from rookery.cli import flags, target
from rookery.cli.agreeing import agreed
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.send import Say
from rookery.client.deletion import went_wrong
from rookery.client.fleet import UnknownSession, named
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.core.view.fleet import NO_TITLE
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import day_of


def _complete(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    items = flags.complete_sessions(context, parameter, incomplete)
    if context.params.get("permanently"):
        items += flags.complete_trashed(context, parameter, incomplete)
    return items


JSON = flags.results()
OPTIONS = ()
ARGUMENTS = {
    "session": click.argument(
        "names", nargs=-1, required=True, metavar="SESSION...", shell_complete=_complete
    )
}
MORE = """If a worktree has work that was not merged, you are asked, or have to pass --force.

With --permanently, also what is in the trash is deleted, and agents that support it are asked to
delete their copy; ROOKERY_DEBUG=1 shows their answer."""


def carry_out(_row: Row, _session: str, _say: Say, given: Any) -> None:
    screen, permanently = standard(), given["permanently"]
    live, trashed = _meant(given["names"], permanently=permanently)
    if given["dry_run"] or not given["yes"]:
        _list(screen, live, trashed)
    if given["dry_run"]:
        screen.note("Dry run: nothing was done. Run it with --yes to go ahead.")
        return
    if not given["yes"]:
        number = len(live) + len(trashed)
        these = "this session" if number == 1 else f"these {number} sessions"
        if permanently:
            flags.confirm(screen, f"Permanently delete {these}?", "delete them")
        else:
            flags.confirm(screen, f"Move {these} to the trash?", "move them to the trash")
    full = False
    for session in live:
        outcome = _removed(screen, session, given)
        _tell(screen, session, outcome)
        full |= outcome.get("full", False)
    for session in trashed:
        _tell(screen, session, agreed("delete-trashed", _was_asked, name=session))
    if full:
        screen.note("The disk is nearly full. To free space: rookery trash --empty")


def _meant(names: tuple[str, ...], *, permanently: bool) -> tuple[list[str], list[str]]:
    """Return the sessions with these names, and those of them that are in the trash. Raises
    UnknownSession, Ambiguous."""
    live, trashed = dict[str, None](), dict[str, None]()
    for name in names:
        try:
            live[target.rookery().find(name)] = None
        except UnknownSession:
            if not permanently:
                raise
            trashed[named(name, flags.trashed())] = None
    return list(live), list(trashed)


def _list(screen: Screen, live: list[str], trashed: list[str]) -> None:
    rookery = target.rookery()
    titles = {row["id"]: row for row in flags.trashed()} if trashed else {}
    for session in live:
        head = rookery.head(session)
        screen.note(f"  {session}  {_title(head)}")
    for session in trashed:
        screen.note(f"  {session}  {_title(titles.get(session))} (in the trash)")


def _title(head: Json | None) -> str:
    return clean_line(head["title"] if head else "") or NO_TITLE


def _removed(screen: Screen, session: str, given: Any) -> Json:
    """Remove a session. In a terminal, unmerged work is removed if the user agrees."""
    how = {"permanently": given["permanently"]}
    try:
        return agreed("remove", _was_asked, session, force=given["force"], **how)
    except Refused as error:
        if error.reason != "unmerged_work" or given["yes"]:
            raise
        screen.note(error.message)
        flags.confirm(screen, f"Remove {session} with that work?", "remove it")
        return agreed("remove", _was_asked, session, force=True, **how)


def _was_asked() -> None:
    """Ask nothing: the user was asked about all of them before the first is removed."""


def _tell(screen: Screen, session: str, outcome: Json) -> None:
    for line in outcome["kept"]:
        screen.note(f"  {clean_line(line)}")
    remark, until = outcome.get("told", ""), outcome.get("until")
    if remark and os.environ.get("ROOKERY_DEBUG") and not went_wrong(remark):
        screen.note(f"  {clean_line(remark)}")
    screen.result({"id": session, "until": until})
    if until is None:
        screen.note(f"Deleted {session}.")
    else:
        how = f"To restore it until {day_of(until)}: rookery restore {session}"
        screen.note(f"{outcome['summary']} {how}")
