"""`new`: creates a session without a prompt."""

from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.output import clean_line, standard
from rookery.cli.session import new_session
from rookery.core import worktree
from rookery.core.json import kind_of, lenient
from rookery.core.policy import modes


@click.command()
@new_session.options
@new_session.picks
@flags.results()
def new(**of_session: Any) -> None:
    """Create a session without a prompt and print its id. Nothing is started yet.

    \b
    id=$(rookery new --agent claude --title "Release notes")
    rookery prompt $id --wait "List what changed since v1.0"
    rookery new --worktree login --title "Rewrite the login"
    """
    screen = standard()
    wanted = new_session.wanted(screen, **of_session)
    if wanted is None:
        return
    session = wanted.create()
    screen.line(session)
    screen.result({"id": session})
    with target.rookery().history(session) as log:
        header = log.header()
        screen.note(
            f"{clean_line(wanted.agent.name)} in {clean_line(header.cwd)}; it starts with the "
            "first prompt"
        )
        if notice := worktree.brief(header.worktree):
            screen.note(
                f"worktree of {clean_line(str((header.worktree or {})['origin']))}: {notice}"
            )
        screen.note(clean_line(modes.sentence(header)))
        if wanted.about:
            screen.note(wanted.about)
        for event in log.page(0):
            if kind_of(event.update) == "_notice":
                screen.note(clean_line(lenient.text(event.update, "text")))
