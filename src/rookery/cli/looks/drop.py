"""`drop`: asks only if work would be lost. A worktree that a deleted session left is named by the
session's id."""

from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.operation import agreed_result
from rookery.cli.output import clean_line, standard
from rookery.cli.session.send import Say
from rookery.client.fleet import UnknownSession
from rookery.core.json import Json
from rookery.core.refusals import PREVIEW, NotAgreed
from rookery.home import paths
from rookery.operations.catalogue.row import Row


def _named(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> Any:
    return tuple(dict.fromkeys(map(_id, values)))


def _id(name: str) -> str:
    try:
        return target.rookery().find(name)
    except UnknownSession:
        if not paths.is_id(name):
            raise
        return name


SESSION = click.argument(
    "sessions",
    nargs=-1,
    required=True,
    callback=_named,
    shell_complete=flags.complete_sessions,
)


def carry_out(row: Row, session: str, say: Say, given: dict[str, Any]) -> Json | None:
    if given["dry_run"]:
        return agreed_result(row, session, given)
    rookery = target.rookery()
    try:
        outcome = rookery.call(row.name, session, force=given["force"])
    except NotAgreed as question:
        if question.reason != PREVIEW and not given["yes"]:
            _ask(question)
        outcome = rookery.call(row.name, session, fingerprint=question.fingerprint)
    say(outcome["summary"])
    return outcome


def _ask(question: NotAgreed) -> None:
    """Show what would be lost and ask. Raises Abort; without a terminal, the refusal itself."""
    if not flags.in_terminal():
        raise question
    for line in question.message.splitlines():
        standard().note(clean_line(line))
    click.confirm("Delete it?", abort=True, err=True)
