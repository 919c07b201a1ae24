"""`move`: gives a session a worktree; `merge`: brings its work back; `drop`: throws it away."""

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.here import session_here
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.home import paths

_session = click.argument("session", required=False, shell_complete=flags.complete_sessions)

WAYS = {
    "merge": "Merge its branch (default).",
    "rebase": "Rebase its commits onto the branch.",
    "squash": "Squash its work into one commit.",
    "apply": "Apply the changes without committing.",
}


def ways(command: flags.Command) -> flags.Command:
    for way, words in reversed(WAYS.items()):
        command = click.option(f"--{way}", "how", flag_value=way, help=words)(command)
    return command


keep = flags.flag("--keep", help="Keep the worktree and its branch.")
message = flags.text(
    "-m", "--message", metavar="TEXT", help="Commit message (default: a draft of what changed)."
)


@click.command()
@_session
@ways
@message
@keep
@flags.flag("--ask-agent", help="If it conflicts, have the session's agent resolve that.")
@flags.results()
def merge(session: str | None, how: str | None, message: str, keep: bool, ask_agent: bool) -> int:
    """Merge the work of a session's worktree into the directory it came from.

    Conflicts, and changes of yours that are in the way, are reported before anything is touched.
    Work that the agent did not commit is committed first, with -m, or a draft of what changed: a
    terminal shows it and takes another. Afterwards the worktree and its branch are deleted; the
    session stays.

    Git hooks do not run. If yours must see the commit: --apply, then git commit.

    SESSION: by default, the only one of this directory that has a worktree.

    \b
    rookery merge 3f2a
    rookery merge 3f2a --squash -m "Rewrite the parser"
    rookery merge 3f2a --apply --keep
    rookery merge 3f2a --ask-agent
    """
    screen = standard()
    name = target.rookery().find(session) if session else session_here(with_worktree=True)
    if resolving(screen, name, how or "merge", asked=ask_agent):
        return exits.DONE
    merged(screen, name, how or "merge", message, kept=keep)
    return exits.DONE


def resolving(screen: Screen, session: str, how: str, *, asked: bool) -> bool:
    """Whether the work conflicts and the agent is to resolve it: `asked` by an option, or agreed to
    in a terminal."""
    if not asked and not flags.in_terminal():
        return False
    import asyncio

    from rookery.cli.session.git_programs import with_trust
    from rookery.operations.merging import anywhere

    rookery = target.rookery()
    plan = with_trust(screen, lambda: anywhere.plan(rookery, session, how))
    text = lenient.text(plan, "resolution")  # the daemon of an earlier build has none
    if not text:
        return False
    named = ", ".join(plan["conflicts"][:5])
    screen.note(clean_line(f"Conflict with {plan['into']}: {named}. Nothing was changed."))
    if not asked and not click.confirm("Have the agent resolve it?", default=True, err=True):
        return False

    async def ask() -> None:
        with rookery.open(session) as client:
            await client.send({"do": "prompt", "prompt": [{"type": "text", "text": text}]})

    asyncio.run(ask())
    screen.result({"conflicts": plan["conflicts"]})
    screen.note(f"The agent is resolving it: rookery tail {session}")
    screen.note(f"When it is done: rookery merge {session}")
    return True


def merged(screen: Screen, session: str, how: str, message: str, *, kept: bool) -> None:
    """Merge, and say what came of it."""
    from rookery.cli.session.git_programs import with_trust
    from rookery.operations.merging import anywhere

    def act() -> Json:
        given = asked_message(screen, session, how, message)
        return anywhere.merge(target.rookery(), session, how, given, kept=kept)

    said = with_trust(screen, act)
    screen.result(said)
    say_merged(screen, said, message)


def asked_message(screen: Screen, session: str, how: str, message: str) -> str:
    """The one that was given, or typed in place of the draft that is shown; "": the draft. Raises
    NoWorktree: it cannot be merged."""
    from rookery.operations.merging import anywhere

    if message:
        return message
    plan = anywhere.plan(target.rookery(), session, how)
    draft = lenient.text(plan, "message")  # the daemon of an earlier build has none
    if plan["conflicts"] or plan["in_the_way"] or not draft:
        return ""
    screen.note(clean_line(f"{_size(plan)}, into {plan['into']}. Commit message:"))
    for line in draft.splitlines():
        screen.note(f"  {clean_line(line)}")
    if not flags.in_terminal():
        return ""
    typed = click.prompt("Enter to take it, or type another", "", show_default=False, err=True)
    return typed.strip() or draft


def say_merged(screen: Screen, said: Json, given: str) -> None:
    """What a merge did; and where nobody was asked, what it did not do. `given`: the message."""
    screen.note(clean_line(sentence(said)))
    if flags.in_terminal() or not said["files"]:
        return
    draft = bool(lenient.text(said, "message")) and not given
    other = " Without a terminal you are not asked: -m TEXT gives another message." if draft else ""
    screen.note(f"Git hooks did not run, and nothing was pushed.{other}")


def _size(about: Json) -> str:
    return f"{count(about['files'], 'file')}, +{about['added']} −{about['removed']}"


def sentence(said: Json) -> str:
    """What a merge did."""
    if not said["files"]:
        why = f"{said['into']} has all of it" if said["commits"] else "the session changed nothing"
        words = f"Nothing to merge: {why}"
    else:
        verb = "Applied to" if said["how"] == "apply" else "Merged into"
        words = f"{verb} {said['into']}: {_size(said)}"
        words += f", {said['commit'][:12]}" if said["commit"] else "; not committed"
    return f"{words}. {'The worktree stays.' if said['kept'] else 'The worktree is gone.'}"


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
