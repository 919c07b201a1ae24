"""`login`: logs in to the daemon of another machine, and keeps the login for --daemon."""

import socket
import sys
from urllib.parse import parse_qs, urlencode, urlsplit

import click

from rookery.cli import exits, flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.client import guard
from rookery.client.daemon import logins
from rookery.client.daemon.errors import Untrusted
from rookery.client.daemon.logins import Login
from rookery.client.daemon.remote import Door, refusal
from rookery.home import paths
from rookery.wire.websocket.address import BadAddress, pinned

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKEN = "rk_"  # noqa: S105 - how one begins
MAX_SECRET_LENGTH = 2000


@click.command()
@click.argument("url", required=False)
@click.option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    metavar="FILE",
    help="Trust certificates of this file (PEM) instead of the system's.",
)
@click.option(
    "--fingerprint",
    default="",
    metavar="sha256:…",
    help="Trust this one certificate, and no other.",
)
@flags.flag("--allow-http", help="Send the token in the clear, where others could read it.")
@flags.flag("--passphrase", help="Log in with the daemon's passphrase instead of a link.")
@click.option("--name", default="", help="Name of this device in `rookery devices` there.")
@flags.results("Print the outcome as JSON; without URL: one JSON object per login.")
def login(
    url: str | None, ca: str | None, fingerprint: str, allow_http: bool, passphrase: bool, name: str
) -> int:
    """Log in to the daemon of another machine; without URL, list where you are logged in.

    You are asked for a one-time link, which `rookery serve --link` prints on that machine, or for a
    token. Both can also come from stdin. The token is saved in logins.json of Rookery's home, which
    only you can read.

    Then `rookery --daemon URL` opens that machine's sessions, and commands work on them:
    `rookery --daemon URL ps`. ROOKERY_URL does the same as --daemon.

    \b
    rookery login https://box.example.org:7433
    ssh box rookery serve --link | rookery login https://box.example.org:7433
    rookery login https://10.0.0.5:7433 --fingerprint sha256:9f86d0…
    """
    screen, home = standard(), paths.home()
    url = url or target.url()
    if not url:
        return _list(screen, home)
    try:
        wanted = Login(logins.normal(url), "", ca or "", pinned(fingerprint), allow_http)
    except BadAddress as error:
        raise click.BadParameter(str(error), param_hint="--fingerprint") from None

    guard.require_person(home, "log in on another machine")
    wanted = _trusted(screen, wanted)
    secret = _secret("Passphrase" if passphrase else "One-time link or token")
    entry = wanted._replace(token=_token(wanted, secret, name, by_passphrase=passphrase))
    about = Door(entry).json("GET", "/api/about")
    logins.save(home, entry)
    shown = {key: about[key] for key in ("sessions", "device", "role", "read_only")}
    screen.result({"url": entry.url, **shown})
    screen.note(f"Logged in to {entry.url}: {about['sessions']} sessions.")
    if about["read_only"]:
        screen.note("The daemon is read-only: you can look, but not change anything.")
    screen.note(f"To open them: rookery --daemon {entry.url}")
    return exits.DONE


def _list(screen: Screen, home: str) -> int:
    known = logins.urls(home)
    for each in known:
        screen.line(each)
        screen.result({"url": each})
    if not known:
        screen.note("You are not logged in anywhere. To log in: rookery login URL")
    return exits.DONE


def _trusted(screen: Screen, wanted: Login) -> Login:
    """Return the login, with the fingerprint of a certificate that no authority vouches for if the
    user says it is the right one. Raises Untrusted."""
    try:
        Door(wanted).ask("GET", "/login")
    except Untrusted as error:
        known = wanted.fingerprint or wanted.ca or not error.fingerprint
        if known or not flags.in_terminal():
            raise
        screen.note(f"No authority vouches for the certificate of {wanted.url}. It is")
        screen.note(f"  sha256:{error.fingerprint}")
        screen.note("Compare it there: openssl x509 -in CERT.pem -noout -fingerprint -sha256")
        if not click.confirm("Is it the same?", err=True):
            raise click.Abort from None
        return wanted._replace(fingerprint=error.fingerprint)
    return wanted


def _secret(what: str) -> str:
    """Return a secret typed without being shown, or one line of stdin."""
    if flags.at_keyboard():
        secret = click.prompt(what, hide_input=True, err=True)
    else:
        secret = sys.stdin.readline(MAX_SECRET_LENGTH) if sys.stdin is not None else ""
    if not secret.strip():
        raise click.UsageError(
            "Nothing was given: paste a one-time link (rookery serve --link prints one there)."
        )
    return str(secret).strip()


def _token(wanted: Login, secret: str, name: str, *, by_passphrase: bool) -> str:
    """Exchange the secret for a token. Raises RemoteError."""
    if secret.startswith(TOKEN) and not by_passphrase:
        return secret
    form = {"name": name or f"rookery on {socket.gethostname()}"}
    if by_passphrase:
        form["passphrase"] = secret
    else:
        code = parse_qs(urlsplit(secret).query).get("code") if "://" in secret else [secret]
        if not code:
            raise click.UsageError("This is not a login link: it has no code.")
        form["code"] = code[0]
    answer = Door(wanted).send("POST", "/login", urlencode(form).encode("ascii"), FORM)
    if answer.status >= 400:
        raise refusal(wanted.url, "/login", answer)
    return clean_line(str(answer.json()["token"]))
