"""`move`: gives a session a worktree; `drop`: throws it away."""

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.home import paths


@click.command()
@click.argument("session", shell_complete=flags.complete_sessions)
@flags.text("--name", metavar="NAME", help="Branch name, after rookery/ (default: the id).")
@flags.flag("--cancel", help="Cancel a running turn first.")
@flags.results()
def move(session: str, name: str, cancel: bool) -> int:
    """Move a session to a git worktree of its own, away from others in its directory.

    The files that it changed are copied into the worktree; they stay in the old directory, too.
    The session goes on there with its next prompt. `rookery merge` brings its work back.

    \b
    rookery move 3f2a
    rookery move 3f2a --cancel --name parser
    """
    from rookery.cli.session.git_programs import with_trust
    from rookery.operations.merging import anywhere

    screen, rookery = standard(), target.rookery()
    found = rookery.find(session)
    said = with_trust(screen, lambda: anywhere.move(rookery, found, name, cancel=cancel))
    screen.result(said)
    screen.note(clean_line(moved(said)))
    return exits.DONE


def moved(said: Json) -> str:
    """What a move did."""
    words = f"The session works in {paths.with_tilde(said['directory'])} now ({said['branch']})."
    if said["files"]:
        copied = count(len(said["files"]), "changed file")
        words += f" {copied} copied there; the old directory still has them, too."
    return words


@click.command()
@click.argument("sessions", nargs=-1, required=True, shell_complete=flags.complete_sessions)
@flags.flag("--force", help="Also if work was not merged.")
@flags.results()
def drop(sessions: tuple[str, ...], force: bool) -> int:
    """Delete the worktrees and branches of sessions without merging them. The sessions stay.

    If there is work that was not merged, a terminal asks; a script has to pass --force.

    \b
    rookery drop 3f2a
    rookery drop --force 3f2a 91bc
    """
    from rookery.client.fleet import UnknownSession
    from rookery.operations.merging import session as branch

    screen = standard()
    for given in sessions:
        try:
            session = target.rookery().find(given)
        except UnknownSession:
            if target.url() or not paths.is_id(given):
                raise
            _confirm(screen, given, force)
            if not branch.drop_orphan(paths.home(), given, force=True):
                raise
        else:
            dropped(screen, session, force=force)
        screen.result({"session": given, "dropped": True})
        screen.note(f"Dropped the worktree of {given}.")
    return exits.DONE


def dropped(screen: Screen, session: str, *, force: bool) -> None:
    """Raises Abort: the user does not want it."""
    from rookery.operations.merging import anywhere

    asked = False if target.url() else _confirm(screen, session, force)
    anywhere.drop(target.rookery(), session, force=force or asked)


def _confirm(screen: Screen, session: str, force: bool) -> bool:
    """Whether the user was asked and agreed; a script is refused later."""
    from rookery.client.worktrees.drop import Unmerged, unmerged

    work = unmerged(paths.home(), session)
    if force or not work:
        return False
    if not flags.in_terminal():
        raise Unmerged(session, work)
    screen.note(f"The worktree of {session} has work that was not merged: {work}.")
    click.confirm("Delete it?", abort=True, err=True)
    return True
