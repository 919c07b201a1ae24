"""`devices`: lists the devices logged in to the daemon, what each may do, and what it did."""

import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import click

from rookery.cli import aliases, exits, flags, target
from rookery.cli.output import table
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.cli.output.table import Column
from rookery.core.json import Json
from rookery.core.json.senders import NAME_MOST
from rookery.core.refusals import Refused
from rookery.daemon.access.roles import ROLES
from rookery.home import paths
from rookery.operations.calling.reaching import asked_of
from rookery.render.local_time import ago

LISTED = (
    Column("ID"),
    Column("NAME", least=10),
    Column("PERSON", least=6, rank=2),
    Column("MAY"),
    Column("ADDRESS", rank=3),
    Column("LAST USED", rank=1),
)
LOGGED = (
    Column("WHEN"),
    Column("WHO", least=12),
    Column("DID", least=16),
    Column("WHERE", least=8, rank=1),
)
OWNER = "this machine"


@click.group(cls=aliases.Verbs, invoke_without_command=True)
@flags.flag("--log", help="Show what devices did: in sessions, with settings, with devices.")
@click.option("--device", default="", metavar="ID", help="With --log: only of this device.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 1000),
    metavar="N",
    help="With --log: print at most this many deeds.",
)
@flags.several("--revoke", "revoked", metavar="ID", help="Log a device out.")
@flags.results("Print one JSON object per device or deed.")
@click.pass_context
def devices(
    context: click.Context,
    log: bool,
    device: str,
    limit: int,
    revoked: tuple[str, ...],
) -> None:
    """List the devices that are logged in to the daemon, and change what they may do.

    A device may look (read sessions and follow them), answer (look, and answer questions, once
    each), or do all. A link can give a role: rookery serve --link --role look

    \b
    rookery devices
    rookery devices --log
    rookery devices role 3fa94c01 answer
    rookery devices rename 3fa94c01 "Anna's phone"
    rookery devices person 3fa94c01 Anna
    rookery devices revoke 3fa94c01
    """
    if context.invoked_subcommand is not None:
        return
    if revoked:
        _revoke(revoked)
        return
    path = f"/api/devices/log?limit={limit}&device={quote(device)}" if log else "/api/devices"
    rows = _ask("GET", path)
    screen = standard()
    if screen.as_json:
        for row in rows:
            screen.result(row)
    elif log:
        _show_log(rows)
    elif rows:
        table.write(screen, LISTED, [_listed(row) for row in rows])
    else:
        screen.note("No device is logged in. To log one in: rookery serve --link")


def _listed(row: Json) -> list[str]:
    used = "expired" if row["expired"] else ago(row["used"], time.time() * 1000)
    named = [clean_line(row[key]) for key in ("name", "person")]
    return [clean_line(row["id"]), *named, row["role"], clean_line(row["address"]), used]


def _show_log(rows: list[Json]) -> None:
    screen = standard()
    if not rows:
        screen.note("Nothing was done by a device yet.")
        return
    table.write(screen, LOGGED, [_logged(row) for row in rows])


def _logged(row: Json) -> list[str]:
    who = ", ".join(filter(None, (row["person"], row["name"]))) or OWNER
    where = " ".join(filter(None, (row["session"][:8], row["title"], row["of"])))
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["at"] / 1000))
    return [when, clean_line(who), clean_line(row["did"]), clean_line(where)]


@devices.command()
@click.argument("device")
@click.argument("name")
@flags.results()
def rename(device: str, name: str) -> int:
    """Give a device another name."""
    return _change(device, "name", name)


@devices.command()
@click.argument("device")
@click.argument("role", type=click.Choice(ROLES))
@flags.results()
def role(device: str, role: str) -> int:
    """Change what a device may do, at once."""
    return _change(device, "role", role)


@devices.command()
@click.argument("device")
@click.argument("name")
@flags.results()
def person(device: str, name: str) -> int:
    """Set who uses a device; "" for no name."""
    return _change(device, "person", name)


@devices.command()
@click.argument("names", metavar="DEVICE...", nargs=-1, required=True)
@flags.results()
def revoke(names: tuple[str, ...]) -> int:
    """Log devices out; what they have open is closed."""
    _revoke(names)
    return exits.DONE


def _revoke(names: Sequence[str]) -> None:
    for name in names:
        _ask("DELETE", _path(name))
        standard().result({"id": name})
        standard().note(f"{clean_line(name)} is logged out.")


def _change(device: str, field: str, value: str) -> int:
    if len(value) > NAME_MOST:
        raise click.UsageError(f"A name may have at most {NAME_MOST} characters.")
    row = _ask("PATCH", _path(device), {field: value})
    standard().result(row)
    of = f" ({row['person']})" if row["person"] else ""
    standard().note(f"{clean_line(row['name'] + of)}: {row['role']}")
    return exits.DONE


def _path(device: str) -> str:
    return f"/api/devices/{quote(device, safe='')}"


def _ask(method: str, path: str, body: Json | None = None) -> Any:
    try:
        return asked_of(paths.home(), target.url(), method, path, body)
    except Refused as error:
        if error.reason == "unknown_device":
            error.remedy = "rookery devices lists them."
        raise
