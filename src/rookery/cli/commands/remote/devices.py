"""`devices`: which devices are logged in to the daemon."""

import time
from urllib.parse import quote

import click

from rookery.cli import exits, target
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.client.daemon import local as daemon
from rookery.core.units import duration
from rookery.home import paths


@click.command()
@click.argument("revoked", metavar="[ID]...", nargs=-1)
@click.option("--revoke", is_flag=True, help="Log these devices out.")
def devices(revoked: tuple[str, ...], revoke: bool) -> int:
    """List the devices that are logged in to the daemon, or log some out.

    \b
    rookery devices
    rookery devices --revoke 3fa94c01
    """
    if revoke != bool(revoked):
        raise click.UsageError("To log a device out: rookery devices --revoke ID")
    screen, door = standard(), target.door()

    def ask(method: str, path: str) -> daemon.Answer:
        return door.ask(method, path) if door else daemon.request(paths.home(), method, path)

    try:
        if revoke:
            for name in revoked:
                answer = ask("DELETE", f"/api/devices/{quote(name, safe='')}")
                if answer.status != 200:
                    raise click.ClickException(answer.json()["message"])
                screen.note(f"{clean_line(name)} is logged out.")
            return exits.DONE
        answer = ask("GET", "/api/devices")
        if answer.status != 200:
            raise click.ClickException(answer.json()["message"])
        rows = answer.json()
    except daemon.NoDaemon as error:
        raise click.ClickException(str(error)) from error
    if not rows:
        screen.note("No device is logged in. To log one in: rookery serve --link")
    for row in rows:
        ago = duration(max(0.0, time.time() - row["used"] / 1000))
        screen.line(f"{row['id']}  {clean_line(row['name'])}  {row['address']}  {ago} ago")
    return exits.DONE
