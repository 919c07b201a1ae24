"""`export`: writes sessions to files, in Markdown, JSON lines or HTML."""

import os
import re
import sys
from collections.abc import Iterable

import click

from rookery.cli import target
from rookery.cli.flags import results, sessions_argument
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import PipeClosed, standard
from rookery.cli.session.loading import ensure_loaded
from rookery.export import FORMATS, Turns, files

STDOUT = "-"


def read_turns(
    _context: click.Context | None, _parameter: click.Parameter | None, value: str | None
) -> Turns:
    """Parse `3`, `2-5` or `8-`. Raises click.BadParameter."""
    if not value:
        return Turns()
    match = re.fullmatch(r"(\d{1,9})(?:(-)(\d{0,9}))?", value.strip())
    if match is None:
        raise click.BadParameter("one turn (3), some (2-5), or all from one on (8-).")
    first, to, last = match.groups()
    turns = Turns(int(first), int(last) if last else None if to else int(first))
    if turns.last is not None and turns.last < turns.first:
        raise click.BadParameter(f"{turns.last} comes before {turns.first}.")
    return turns


@click.command()
@sessions_argument
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Default: as the name given with -o ends, otherwise md.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="A file, a directory, or - for stdout. Default: a file here, named after the title.",
)
@click.option(
    "--turns", callback=read_turns, metavar="N|N-M|N-", help="Only these turns (default: all)."
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@results("Print one JSON object per file.")
def export(
    sessions: tuple[str, ...], form: str | None, output: str | None, turns: Turns, force: bool
) -> None:
    """Write sessions to files, and print the files' names.

    md is Markdown, html is one page that needs nothing else and looks like the terminal interface,
    jsonl is every event as it was logged. Secrets with a known shape (API keys, tokens, private
    keys, passwords in addresses) are masked in all three. Read a file before you share it: what has
    no such shape is not found.

    \b
    rookery export 3f2a
    rookery export 3f2a -o review.html
    rookery export 3f2a --turns 4- -o - | less
    rookery export 3f2a 77c1 -f html -o exports/
    """
    form = form or files.form_of(output or "") or "md"
    for session in sessions:
        ensure_loaded(standard(), session)
    if output == STDOUT:
        if len(sessions) > 1 and form != "jsonl":
            raise click.UsageError("With -o -, name one session.")
        if standard().as_json:
            raise click.UsageError("--json cannot be combined with -o -.")
        for session in sessions:
            _print(session, form, turns)
        return
    screen = standard()
    directory = _directory(output, several=len(sessions) > 1)
    taken = set[str]()
    for session in sessions:
        path = output or ""
        if directory is not None:
            name = _name(session, form)
            if name in taken:  # by another session of the same title
                name = f"{name.removesuffix(f'.{form}')}-{session}.{form}"
            taken.add(name)
            path = os.path.join(directory, name)
        _write(session, form, path, turns, force=force)
        screen.line(clean_line(path))
        screen.result({"session": session, "file": path})


def _directory(output: str | None, *, several: bool) -> str | None:
    """Return the directory where files get names of their own, or None if `output` is the file."""
    if output is None:
        return ""
    if output.endswith("/") or os.path.isdir(output):
        os.makedirs(output, exist_ok=True)
        return output
    if several:
        raise click.BadParameter(
            f"for several sessions, name a directory: {output}/", param_hint="-o"
        )
    return None


def _name(session: str, form: str) -> str:
    with target.rookery().history(session) as log:
        return files.name_of(log, session, form)


def _pieces(session: str, form: str, turns: Turns) -> Iterable[bytes]:
    """Return the session's export, piece by piece. Raises LogError, RemoteError."""
    return target.rookery().export(session, form, turns)


def _write(session: str, form: str, path: str, turns: Turns, *, force: bool) -> None:
    try:
        files.keep(path, lambda: _pieces(session, form, turns), force=force)
    except files.Exists:
        raise click.ClickException(f"{path} exists. To replace it: --force") from None


def _print(session: str, form: str, turns: Turns) -> None:
    try:
        for piece in _pieces(session, form, turns):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise PipeClosed from None
