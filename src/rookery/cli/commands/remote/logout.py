"""`logout`: ends a login on the daemon of another machine."""

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import clean_line, standard
from rookery.client.daemon import logins
from rookery.client.daemon.errors import RemoteError
from rookery.client.daemon.remote import Door
from rookery.home import paths


@click.command()
@click.argument("url", required=False)
@flags.results()
def logout(url: str | None) -> int:
    """Log out of the daemon of another machine: there, and here.

    \b
    rookery logout https://box.example.org:7433
    """
    screen, home = standard(), paths.home()
    url = url or target.url()
    if not url:
        raise click.UsageError("Name the daemon: rookery logout URL (rookery login lists them)")
    entry = logins.load(home, url)
    if not entry.token:
        screen.note(f"You are not logged in to {entry.url}.")
        return exits.FAILED
    try:
        door = Door(entry)
        device = door.json("GET", "/api/about")["device"]
        door.json("DELETE", f"/api/devices/{device}")
    except RemoteError as error:
        logins.forget(home, url)
        screen.note("The login is forgotten here, and may still be valid there.")
        screen.note(clean_line(error.sentences))
        screen.note("To end it there: rookery devices revoke ID")
        return exits.FAILED
    logins.forget(home, url)
    screen.result({"url": entry.url})
    screen.note(f"Logged out of {entry.url}.")
    return exits.DONE
