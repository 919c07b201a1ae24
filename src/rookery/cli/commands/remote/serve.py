"""`serve`: runs, starts, inspects and stops the daemon."""

import os
import time
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from rookery.cli import exits, flags
from rookery.cli.output.screen import Screen, standard
from rookery.client.daemon import local as daemon
from rookery.core.json import Json, lenient
from rookery.core.units import duration
from rookery.daemon import options
from rookery.daemon.access.roles import ALL, ROLES
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle, startup_messages, units
from rookery.home import paths

USED: dict[str, tuple[str, ...]] = {
    "": (*Options._fields, "background", "qr", "open_"),
    "status": ("json",),
    "install": Options._fields,
    "link": ("role", "person", "qr", "open_", "json"),
    "restart": ("background", "qr", "open_", "json"),
    "stop": ("json",),
}
"""The options that each action takes; "": the daemon is started."""
ASK = "-"
"""For --passphrase without a value."""
STOPPED = {
    "": "No daemon is running.",
    lifecycle.STOPPED: "Stopped. Sessions keep running.",
    lifecycle.FORCED: "Killed: it did not respond. Sessions keep running.",
}


@click.command()
@flags.flag("--background", help="Run detached from this terminal.")
@flags.flag("--stop", help="Stop the daemon; sessions keep running.")
@flags.flag("--status", help="Say whether a daemon is running, and where.")
@flags.flag("--restart", help="Restart a --background daemon with the same options.")
@flags.flag("--link", help="Print a one-time link by which a device logs in.")
@click.option(
    "--role", type=click.Choice(ROLES), help="With --link: what the device may do.  [all]"
)
@click.option("--person", default="", metavar="NAME", help="With --link: who uses the device.")
@flags.flag("--install", help="Start it when you log in: a systemd or launchd service.")
@flags.flag("--qr", help="Print the link as a QR code, for a phone.")
@flags.flag("--open", "open_", help="Open the address in a browser.")
@click.option("--host", default=options.HOST, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=options.PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on (0: a free one).",
)
@click.option("--auth", type=click.Choice(options.AUTHS), help="How devices log in.  [token]")
@click.option(
    "--passphrase",
    is_flag=False,
    flag_value=ASK,
    default="",
    help="Log in by passphrase; without a value you are asked. Or set ROOKERY_PASSPHRASE.",
)
@flags.flag("--read-only", help="Refuse every change.")
@flags.several("--allowed-host", "allowed_hosts", metavar="NAME", help="Answer to this name, too.")
@flags.several("--allowed-origin", "allowed_origins", metavar="ORIGIN", help="Let this page in.")
@flags.flag("--behind-proxy", help="A proxy in front handles login and TLS.")
@click.option("--proxy-user", default="", metavar="USER", help="Whom the proxy runs as.")
@click.option(
    "--trusted-user-header",
    default="",
    metavar="NAME",
    help="Header in which the proxy names the person.",
)
@click.option("--tls-cert", default="", type=click.Path(), help="Certificate, as PEM.")
@click.option("--tls-key", default="", type=click.Path(), help="Its key, as PEM.")
@flags.flag("--hsts", help="Make browsers use https for every port of this host name.")
@flags.results("With --status, --link, --stop, --restart or --background: print JSON.")
def serve(**given: Any) -> int:
    """Serve all sessions to browsers, phones and other machines.

    It listens on 127.0.0.1:7433 and prints a one-time link to log in by. Sessions do not depend on
    it: stop it, and they keep running.

    \b
    rookery serve
    rookery serve --background
    rookery serve --status
    rookery serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
    """
    screen = standard()
    doing = [word for word in ("stop", "status", "restart", "link", "install") if given[word]]
    if len(doing) > 1:
        raise click.UsageError(f"--{doing[0]} and --{doing[1]} cannot be combined.")
    action = doing[0] if doing else ""
    _refuse_ignored(action, background=given["background"])
    return _do(screen, action, given)


def _refuse_ignored(action: str, *, background: bool) -> None:
    """Raise UsageError for an option that would be ignored: a user who passes --read-only must not
    believe that it is on."""
    context = click.get_current_context()
    for each in context.command.params:
        name, flag = each.name or "", each.opts[0]
        used = {action, *USED[action], *(["json"] if background else [])}
        if name in used or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if not action:
            of = next(word for word, taken in USED.items() if name in taken)
            raise click.UsageError(f"{flag} belongs to --{of}.")
        if action != "restart" or name not in Options._fields:
            raise click.UsageError(f"{flag} has no effect with --{action}.")
        raise click.UsageError(
            f"--restart keeps the daemon's options, so {flag} has no effect. "
            f"To change them: rookery serve --stop, then rookery serve --background {flag} …"
        )


def _do(screen: Screen, doing: str, given: dict[str, Any]) -> int:
    home = paths.home()
    if doing == "status":
        return _status(screen, home)
    lifecycle.check(home)
    match doing:
        case "stop":
            message = STOPPED[lifecycle.stop(home)]
            screen.result({"running": False})
            screen.note(message)
        case "restart":
            _tell(screen, lifecycle.restart(home), given)
        case "link":
            wish = {"role": given["role"] or ALL, "person": given["person"]}
            screen.line(link := new_link(home, wish))
            screen.result({"link": link})
            _show(screen, daemon.record(home) or {}, link, given)
        case "install":
            units.install(home, chosen(given), screen.line)
        case _ if given["background"]:
            _tell(screen, lifecycle.start(home, chosen(given)), given)
        case _:
            lifecycle.run(home, chosen(given), {"open": given["open_"], "qr": given["qr"]})
    return exits.DONE


def chosen(given: dict[str, Any]) -> Options:
    """Return the daemon's options from the command line; ask for a passphrase where none is given.
    Raises Refused."""
    secret = given["passphrase"] or os.environ.get(lifecycle.SECRET, "")
    if given["passphrase"] == ASK:
        secret = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    known: Json = {key: given[key] for key in Options._fields if key not in ("auth", "passphrase")}
    for key in ("tls_cert", "tls_key"):
        known[key] = os.path.abspath(known[key]) if known[key] else ""
    if given["auth"]:
        known["auth"] = given["auth"]
    if secret and given["auth"] not in (None, options.PASSPHRASE):
        secret = ""  # the variable is set, and another way was asked for
    return options.chosen(known, secret)


def new_link(home: str, wish: Json | None = None) -> str:
    """Return a new one-time login link. Raises NoDaemon, ClickException."""
    answer = daemon.request(home, "POST", "/api/devices/link", wish or {})
    reply = answer.json()
    if answer.status != 200:
        raise click.ClickException(f"{reply['message']} {reply['remedy']}".strip())
    return str(reply["link"])


def _tell(screen: Screen, record: Json, given: dict[str, Any]) -> None:
    home, used = paths.home(), options.from_json(record["options"])
    address = startup_messages.announce(home, used, partial(new_link, home), screen.line)
    if screen.as_json:
        screen.result({**(lifecycle.status(home) or {}), "link": address})
    _show(screen, record, address, given)
    screen.note("To stop it: rookery serve --stop")


def _show(screen: Screen, record: Json, link: str, given: dict[str, Any]) -> None:
    used = options.from_json(lenient.mapping(record, "options"))
    startup_messages.show(used, link, screen.line, qr=given["qr"], browser=given["open_"])


def _status(screen: Screen, home: str) -> int:
    status = lifecycle.status(home)
    screen.result(status or {"running": False})
    if status is None:
        screen.note("No daemon is running. To start one: rookery serve --background")
    else:
        age = duration(max(0.0, time.time() - (status["since"] or 0) / 1000))
        since = f", running for {age}" if status["since"] else ""
        screen.line(f"{status['address'] or 'running'}  pid {status['pid']}{since}")
        traits = [f"login by {status['auth']}"] if status["auth"] != options.NONE else ["no login"]
        traits += ["read-only"] if status["readOnly"] else []
        screen.line("  " + ", ".join(traits))
        if not status["responding"]:
            screen.note("It does not respond. To end it: rookery serve --stop")
        elif status["difference"]:
            screen.note(status["difference"])
    return exits.DONE if status and status["responding"] else exits.FAILED
