"""`rewind`: shows what would change, and does it only if the user agrees."""

from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.send import Say, awaited, header_of, send
from rookery.client.session import Rejected
from rookery.core.blocks import rewinds
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.json.safe_text import count
from rookery.core.turn import rewind_preview
from rookery.core.turn.rewind_preview import CHANGED, Preview
from rookery.core.turn.rewinding import wants
from rookery.operations.branches import CANCEL
from rookery.operations.catalogue.row import Row
from rookery.render.local_time import day_and_time

CANCELLING = 60.0
"""Seconds for a turn to end that is cancelled first."""
OPTIONS = (
    flags.flag("--list", "listed", help="List the turns to which you can rewind."),
    click.option("--fingerprint", metavar="HASH", help="Yes to the list that a dry run printed."),
    flags.flag("--cancel", help=CANCEL),
)


JSON = flags.results("Print the outcome, the preview or the turns as JSON.")


def carry_out(row: Row, session: str, _say: Say, given: Any) -> Json | None:
    """Rewind, after a preview. Prints the turns and the preview itself, as JSON, too."""
    screen, turn, every = standard(), given["turn"], given["all"]
    if given["listed"]:
        _list(screen, session)
        return None
    if given["undo"] == (turn is not None):
        raise click.UsageError("Name a turn, or use --undo. To see the turns: --list")
    command = row.command(row.given(given))
    asking = flags.in_terminal() and not given["yes"] and not given["fingerprint"]
    means_it = asking or given["fingerprint"] or (given["yes"] and not every)
    if given["cancel"] and not given["dry_run"] and means_it:
        _cancel(session)
    if given["fingerprint"] and not given["dry_run"]:
        return _sent(screen, session, command | {"fingerprint": given["fingerprint"]})
    while True:
        asked = ({} if turn is None else {"turn": turn}) | {"files": wants(command, "files")}
        response = target.rookery().call("rewind-preview", session, **asked)
        preview = rewind_preview.from_json(response)
        _show(screen, preview, command, every=every)
        if given["dry_run"] or not means_it:
            screen.result(response)
            _name_list(screen, session, preview, every=every)
        if given["dry_run"]:
            return None
        if not preview.target and wants(command, "files") and turn is not None:
            raise click.ClickException(preview.notes[0])
        if not _would_change(preview, command, every=every):
            screen.note("Nothing to rewind.")
            return None
        if not means_it:
            how = "--fingerprint" if every else "--yes"
            raise flags.Unconfirmed(f"Nothing was rewound. Re-run with {how} to rewind.")
        if asking:
            flags.confirm(screen, _question(preview, command, every=every), "rewind")
        yes = preview.fingerprint if every else preview.own_fingerprint
        agreed = command | ({"fingerprint": yes} if preview.target else {})
        if (done := _rewound(screen, session, agreed, asking=asking)) is not None:
            return done


def _rewound(screen: Screen, session: str, command: Json, *, asking: bool) -> Json | None:
    """Rewind; return None if files changed meanwhile, so that the user is asked again."""
    try:
        return _sent(screen, session, command)
    except Rejected as error:
        if error.reason != CHANGED or not asking:
            raise
        screen.note(clean_line(error.message))
        return None


def _sent(screen: Screen, session: str, command: Json) -> Json:
    outcome = send(session, command)
    _tell(screen, session, outcome)
    return outcome._asdict()


def _show(screen: Screen, preview: Preview, command: Json, *, every: bool) -> None:
    files, conversation = wants(command, "files"), wants(command, "conversation")
    for line in rewind_preview.listed(preview, every=every) if files else ():
        screen.line(line)
    parts = {"files": files, "conversation": conversation}
    for sentence in rewind_preview.summed(preview, every=every, **parts):
        screen.note(sentence)


def _would_change(preview: Preview, command: Json, *, every: bool) -> bool:
    if preview.undo or (preview.total if every else preview.own):
        return True
    return wants(command, "conversation") and (preview.hides > 0 or preview.shows > 0)


def _question(preview: Preview, command: Json, *, every: bool) -> str:
    number = preview.total if every else preview.own
    files = [count(number, "file")] if wants(command, "files") and number else []
    both = files + (["the conversation"] if wants(command, "conversation") else [])
    verb = "Undo the rewind of" if preview.undo else "Rewind"
    return f"{verb} {' and '.join(both) or 'nothing'}?"


def _tell(screen: Screen, session: str, outcome: Event) -> None:
    update = outcome.update
    text = rewinds.text(update)
    screen.note(clean_line(f"{rewinds.title(update)}. {text}".strip()))
    if update.get("undo") is not True:
        screen.note(f"To undo this: rookery rewind {session} --undo")


def _cancel(session: str) -> None:
    header = header_of(session)
    if header.state == "idle":
        return
    with target.rookery().history(session) as log:
        since = log.last_seq()
    send(session, {"do": "cancel"})

    def ended(event: Event) -> bool | None:
        idle = kind_of(event.update) == "_turn" and event.update.get("state") == "idle"
        return True if idle else None

    awaited(session, since, ended, CANCELLING)


def _list(screen: Screen, session: str) -> None:
    rows = target.rookery().call("rewinds", session)["turns"]
    if not rows:
        screen.note("This session has no turns yet.")
        return
    for row in rows:
        screen.result(row)
        at = day_and_time(row["at"]) if row["at"] else ""
        why = ", passed over" if row.get("passed") else ""
        marks = [] if row["files"] else [f"conversation only{why}"]
        marks += ["hidden"] if row["hidden"] else []
        suffix = f"  ({', '.join(marks)})" if marks else ""
        excerpt = clean_line(lenient.text(row, "prompt"))[:60]
        screen.line(f"{row['turn']:>4}  {at:12}  {excerpt}{suffix}")


def _name_list(screen: Screen, session: str, preview: Preview, *, every: bool) -> None:
    """Print how a script can agree to it."""
    where = "--undo" if preview.undo else str(preview.turn)
    if every and preview.target:
        screen.note("To rewind all of these:")
        screen.note(f"  rookery rewind {session} {where} --fingerprint {preview.fingerprint}")
    elif preview.total > preview.own:
        screen.note("To rewind the others, too: --all")
