"""`remove`: deletes sessions."""

import os

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import clean_line, standard
from rookery.client.deletion import went_wrong
from rookery.home import paths


@click.command()
@flags.sessions_argument
@flags.yes
@flags.flag("--force", help="Also delete worktrees with work that was not merged.")
def remove(sessions: tuple[str, ...], yes: bool, force: bool) -> int:
    """Delete sessions and all their data. Files changed by agents stay, and so does your prompt
    history (prompts.jsonl). A session's worktree goes with it; if it has work that was not merged,
    you are asked, or have to pass --force.

    Agents that support it are asked to delete their copy, too; ROOKERY_DEBUG=1 shows their answer.
    Conversations of Rookery's own agent are deleted.

    \b
    rookery remove 3f2a
    rookery remove --yes 3f2a 91bc
    """
    screen, rookery = standard(), target.rookery()
    heads = {session: rookery.head(session) for session in sessions}
    if not yes:
        for session, head in heads.items():
            screen.note(f"  {session}  {clean_line(head['title']) if head else ''}")
            if words := _at_stake(session):
                screen.note(f"    its worktree has work that was not merged: {words}")
                force = True
        these = "this session" if len(sessions) == 1 else f"these {len(sessions)} sessions"
        flags.confirm(screen, f"Permanently delete {these}?", "delete them")
    for session in sessions:
        said = rookery.remove(
            session, lambda words: screen.note(f"  {clean_line(words)}"), force=force
        )
        if said and os.environ.get("ROOKERY_DEBUG") and not went_wrong(said):
            screen.note(f"  {clean_line(said)}")
        screen.note(f"Deleted {session}.")
    return exits.DONE


def _at_stake(session: str) -> str:
    """Of a worktree that would go with the session; on another machine, that one says it."""
    if target.url():
        return ""
    from rookery.client.worktrees.drop import unmerged

    return str(unmerged(paths.home(), session) or "")
