"""`rewind`: back to an earlier turn."""

import time

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.send import awaited, header_of, send
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.json.safe_text import count
from rookery.core.turn import rewinding

SHOWN = 200
"""Paths that a dry run prints."""
CANCELLING = 60.0
"""Seconds for a turn to end that is cancelled first."""


@click.command()
@flags.session_argument
@click.argument("turn", type=click.IntRange(min=0), required=False)
@click.option("--files", is_flag=True, help="Only the files of the session's directory.")
@click.option("--conversation", is_flag=True, help="Only the conversation.")
@click.option("--undo", is_flag=True, help="Undo the last rewind.")
@click.option("--list", "listed", is_flag=True, help="List the turns to which you can rewind.")
@click.option("--dry-run", is_flag=True, help="Print which files would change, and change nothing.")
@click.option("--cancel", is_flag=True, help="Cancel a running turn first.")
def rewind(session: str, turn: int | None, **given: bool) -> int:
    """Take a session back to how it was after a turn: its conversation and its files.

    Later turns are hidden, not deleted, and the files that are there now are kept first: --undo
    brings both back. Files that git ignores, and very large ones, are left alone. Turn 0 is the
    beginning.

    \b
    rookery rewind 3f2a --list
    rookery rewind 3f2a 4 --dry-run
    rookery rewind 3f2a 4
    rookery rewind 3f2a 4 --files
    rookery rewind 3f2a --undo
    """
    screen = standard()
    if given["listed"]:
        _list(screen, session)
        return exits.DONE
    if given["undo"] == (turn is not None):
        raise click.UsageError("Name a turn, or use --undo. To see the turns: --list")
    if given["dry_run"]:
        if turn is None:
            raise click.UsageError("--dry-run needs a turn.")
        _preview(screen, session, turn)
        return exits.DONE
    command: Json = {"do": "rewind", "undo": True} if turn is None else {"do": "rewind"}
    command |= {} if turn is None else {"turn": turn}
    if given["files"] != given["conversation"]:
        command |= {"files": given["files"], "conversation": given["conversation"]}
    if given["cancel"]:
        _cancel(session)
    _tell(screen, session, send(session, command))
    return exits.DONE


def _tell(screen: Screen, session: str, outcome: Event) -> None:
    from rookery.core.blocks import rewinds

    update = outcome.update
    words = rewinds.text(update)
    screen.note(clean_line(f"{rewinds.title(update)}. {words}".strip()))
    if update.get("memory") == rewinding.LOST:
        screen.note(f"For a recap to send: rookery recap {session}")
    if update.get("undo") is not True:
        screen.note(f"To undo this: rookery rewind {session} --undo")


def _cancel(session: str) -> None:
    header = header_of(session)
    if header["state"] == "idle":
        return
    with target.rookery().history(session) as log:
        since = log.last_seq()
    send(session, {"do": "cancel"})

    def ended(event: Event) -> bool | None:
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return True if idle else None

    awaited(session, since, ended, CANCELLING)


def _list(screen: Screen, session: str) -> None:
    rows = target.rookery().rewinds(session)
    if not rows:
        screen.note("This session has no turns yet.")
        return
    for row in rows:
        at = time.strftime("%d %b %H:%M", time.localtime(row["at"] / 1000)) if row["at"] else ""
        marks = [] if row["files"] else ["conversation only"]
        marks += ["hidden"] if row["hidden"] else []
        said = f"  ({', '.join(marks)})" if marks else ""
        words = clean_line(lenient.text(row, "prompt"))[:60]
        screen.line(f"{row['turn']:>4}  {at:12}  {words}{said}")


def _preview(screen: Screen, session: str, turn: int) -> None:
    found = target.rookery().rewind_preview(session, turn)
    signs = {"created": "+", "removed": "-", "changed": "~"}
    for kind, path in found[:SHOWN]:
        screen.line(f"{signs.get(kind, '~')} {clean_line(path)}")
    more = len(found) - SHOWN
    if more > 0:
        screen.note(f"… and {count(more, 'more file')}")
    screen.note(f"{count(len(found), 'file')} would change." if found else "No file would change.")
