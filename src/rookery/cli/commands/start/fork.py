"""`fork`: a new session that goes on from a turn of another."""

import click

from rookery.cli import flags, target
from rookery.cli.output import clean_line, standard
from rookery.cli.session.loading import ensure_loaded
from rookery.cli.session.send import header_of


@click.command()
@flags.session_argument
@click.argument("turn", type=click.IntRange(min=0), required=False)
@click.option("--title", default="", metavar="TEXT", help="Title of the new session.")
@flags.flag("--worktree", help="In a git worktree of its own, with the files as they were then.")
@flags.results()
def fork(session: str, turn: int | None, title: str, worktree: bool) -> None:
    """Fork a session: print the id of a new one that begins with its turns, up to TURN or all.

    The two share the directory: what one agent changes, the other sees; with --worktree, each has
    its own. The new session's agent remembers the turns if it can fork its own session; otherwise
    your first prompt brings it a recap. After a rewind, the turn that you see is forked.

    \b
    rookery fork 3f2a
    rookery fork 3f2a 4 --title "The other way"
    rookery fork 3f2a 4 --worktree
    """
    from rookery.cli.session.git_programs import with_trust
    from rookery.core.blocks import rewinds

    screen = standard()
    ensure_loaded(screen, session)
    own = "" if worktree else None

    def say(words: str) -> None:
        screen.note(clean_line(words))

    def act() -> str:
        return target.rookery().fork(session, turn, title, own, say)

    name = with_trust(screen, act)
    screen.line(name)
    screen.result({"id": name})
    header = header_of(name)
    if worktree:
        screen.note(f"Working in {clean_line(header['cwd'])}.")
    else:
        screen.note(f"Working in {clean_line(header['cwd'])}, together with {session}.")
    if header["agentSession"] is None and header["turn"]:
        screen.note(rewinds.LOST)
