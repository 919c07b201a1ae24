"""`rewind`: back to an earlier turn."""

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.send import awaited, header_of, perform, send
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.json.safe_text import count
from rookery.core.turn import rewind_preview
from rookery.core.turn.rewind_preview import CHANGED, Preview
from rookery.core.turn.rewinding import wants
from rookery.render.local_time import day_and_time

SHOWN = 50
"""Paths that are printed of each kind."""
CANCELLING = 60.0
"""Seconds for a turn to end that is cancelled first."""
SIGNS = {"created": "+", "removed": "-", "changed": "~"}


@click.command()
@flags.session_argument
@click.argument("turn", type=click.IntRange(min=0), required=False)
@click.option("--files", is_flag=True, help="Only the files of the session's directory.")
@click.option("--conversation", is_flag=True, help="Only the conversation.")
@click.option("--undo", is_flag=True, help="Undo the last rewind.")
@click.option("--list", "listed", is_flag=True, help="List the turns to which you can rewind.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
@click.option("--all", "every", is_flag=True, help="Also files that others changed, or commits.")
@click.option("--fingerprint", metavar="HASH", help="Yes to the list that a dry run printed.")
@click.option("--cancel", is_flag=True, help="Cancel a running turn first.")
@flags.yes
@flags.results("Print the outcome, the preview or the turns as JSON.")
def rewind(session: str, turn: int | None, fingerprint: str | None, **given: bool) -> int:
    """Take a session back to how it was after a turn: its conversation and its files.

    It prints what would change and asks first. Only files are rewound that this session alone
    changed: not what you or others changed since, nor what was committed since. For those, too:
    --all, for which --yes is not enough. Later turns are hidden, not deleted, and the files that
    are there now are kept first: --undo brings both back. Files that git ignores, and very large
    ones, are left alone. Turn 0 is the beginning.

    \b
    rookery rewind 3f2a --list
    rookery rewind 3f2a 4 --dry-run
    rookery rewind 3f2a 4
    rookery rewind 3f2a 4 --files --yes
    rookery rewind 3f2a --undo
    """
    screen = standard()
    if given["listed"]:
        _list(screen, session)
        return exits.DONE
    if given["undo"] == (turn is not None):
        raise click.UsageError("Name a turn, or use --undo. To see the turns: --list")
    command: Json = {"do": "rewind", "undo": True} if turn is None else {"do": "rewind"}
    command |= {} if turn is None else {"turn": turn}
    if given["files"] != given["conversation"]:
        command |= {"files": given["files"], "conversation": given["conversation"]}
    asking = flags.in_terminal() and not given["yes"] and not fingerprint
    means_it = asking or fingerprint or (given["yes"] and not given["every"])
    if given["cancel"] and not given["dry_run"] and means_it:
        _cancel(session)
    if fingerprint and not given["dry_run"]:
        _tell(screen, session, perform(session, command | {"fingerprint": fingerprint}))
        return exits.DONE
    while True:
        found = target.rookery().rewind_preview(session, turn, files=wants(command, "files"))
        _show(screen, found, command, every=given["every"])
        if given["dry_run"] or not means_it:
            screen.result(rewind_preview.to_json(found))
            _name_list(screen, session, found, every=given["every"])
        if given["dry_run"]:
            return exits.DONE
        if not found.target and wants(command, "files") and turn is not None:
            raise click.ClickException(found.notes[0])
        if not _would_change(found, command, every=given["every"]):
            screen.note("Nothing to rewind.")
            return exits.DONE
        if not means_it:
            how = "--fingerprint" if given["every"] else "--yes"
            raise flags.Unconfirmed(f"Nothing was rewound. Re-run with {how} to rewind.")
        if asking:
            flags.confirm(screen, _question(found, command, every=given["every"]), "rewind")
        if _rewound(screen, session, command, found, every=given["every"], asking=asking):
            return exits.DONE


def _rewound(
    screen: Screen, session: str, command: Json, found: Preview, *, every: bool, asking: bool
) -> bool:
    """False: files changed meanwhile, and the user is to be asked again."""
    from rookery.client.session import Rejected

    yes = found.fingerprint if every else found.own_fingerprint
    try:
        done = perform(session, command | ({"fingerprint": yes} if found.target else {}))
    except Rejected as error:
        if error.reason != CHANGED or not asking:
            raise
        screen.note(clean_line(error.message))
        return False
    _tell(screen, session, done)
    return True


def _would_change(found: Preview, command: Json, *, every: bool) -> bool:
    if found.undo or (found.total if every else found.own):
        return True
    return wants(command, "conversation") and (found.hides > 0 or found.shows > 0)


def _question(found: Preview, command: Json, *, every: bool) -> str:
    number = found.total if every else found.own
    files = [count(number, "file")] if wants(command, "files") and number else []
    both = files + (["the conversation"] if wants(command, "conversation") else [])
    verb = "Undo the rewind of" if found.undo else "Rewind"
    return f"{verb} {' and '.join(both) or 'nothing'}?"


def _tell(screen: Screen, session: str, outcome: Event) -> None:
    from rookery.core.blocks import rewinds

    update = outcome.update
    words = rewinds.text(update)
    screen.note(clean_line(f"{rewinds.title(update)}. {words}".strip()))
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
        screen.result(row)
        at = day_and_time(row["at"]) if row["at"] else ""
        why = ", passed over" if row.get("passed") else ""
        marks = [] if row["files"] else [f"conversation only{why}"]
        marks += ["hidden"] if row["hidden"] else []
        said = f"  ({', '.join(marks)})" if marks else ""
        words = clean_line(lenient.text(row, "prompt"))[:60]
        screen.line(f"{row['turn']:>4}  {at:12}  {words}{said}")


def _show(screen: Screen, found: Preview, command: Json, *, every: bool) -> None:
    """All that it would do, and what it would not."""
    place = "Undo" if found.undo else f"To {rewind_preview.place(found)}"
    if wants(command, "files"):
        for group in rewind_preview.groups(found):
            stays = "" if every or group.by == rewind_preview.OWN else ", left alone"
            screen.line(f"{clean_line(group.title)}{stays}:")
            for change in group.changes[:SHOWN]:
                screen.line(f"  {SIGNS.get(change.kind, '~')} {clean_line(change.path)}")
            if group.total > SHOWN:
                screen.line(f"  … and {count(group.total - SHOWN, 'more file')}")
        left = [*rewind_preview.left_alone(found)]
        if left:
            screen.line("Never touched:")
            for words in left:
                screen.line(f"  {clean_line(words)}")
        screen.note(f"{place}: {rewind_preview.about_files(found, every=every)}")
    for words in found.notes:
        screen.note(clean_line(words))
    if wants(command, "conversation"):
        screen.note(rewind_preview.about_conversation(found))


def _name_list(screen: Screen, session: str, found: Preview, *, every: bool) -> None:
    """How to say yes to it in a script."""
    where = "--undo" if found.undo else str(found.turn)
    if every and found.target:
        screen.note("To rewind all of these:")
        screen.note(f"  rookery rewind {session} {where} --fingerprint {found.fingerprint}")
    elif found.total > found.own:
        screen.note("To rewind the others, too: --all")
