"""Logging in with a one-time link or the passphrase: a browser registers its public key here, and a
program receives its token, once."""

import asyncio
import re
import time
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from rookery.daemon.access import p256
from rookery.daemon.access.devices import EVERYTHING, Device, Grant
from rookery.daemon.access.gate import EARLIER, PEER
from rookery.daemon.access.names import of_browser
from rookery.daemon.access.peers import Peer
from rookery.daemon.errors import Problem
from rookery.daemon.options import NONE, PASSPHRASE
from rookery.daemon.pieces.document import NEEDS_SCRIPT, alone
from rookery.daemon.state import Daemon, State
from rookery.export.html.text import esc

router = APIRouter(tags=["devices"])

KEY = re.compile(f"[0-9a-f]{{{2 * p256.KEY_BYTES}}}")
EARLIER_COOKIE = "rookery"
UPDATED = (
    '<p class="note">Rookery was updated, and browsers log in in a safer way now. Log in once more '
    "on this device.</p>"
)
USED = (
    "<p>This link was used, or is older than ten minutes. Each works once.</p>"
    '<p>This command prints a new one:</p><pre class="out">rookery serve --link</pre>'
    '<p><a class="button" href="/">Go to Rookery</a></p>'
)
Code = Annotated[str, Query(max_length=200)]
WRONG = '<p id="wrong" role="alert" hidden></p>'
MAX_FORM_LENGTH = 10_000
"""The maximum number of characters of a form."""


Next = Annotated[str, Query(max_length=1000)]


@router.get("/login", include_in_schema=False)
async def ask(
    daemon: Daemon,
    request: Request,
    code: Code = "",
    next: Next = "",  # noqa: A002
) -> Response:
    """The page behind a link: nothing is used up until its button is pressed."""
    if daemon.options.auth == NONE:
        return RedirectResponse(_own(next), 303)
    earlier: bool = request.scope[EARLIER]
    if code and not daemon.devices.is_open(code, time.monotonic()):
        return HTMLResponse(alone("Log in", USED), 410)
    page = HTMLResponse(_page(daemon, code, next, earlier=earlier))
    if earlier:
        page.delete_cookie(EARLIER_COOKIE)
    return page


@router.post("/login", include_in_schema=False)
async def log_in(daemon: Daemon, request: Request) -> Response:
    """A browser brings its key and learns its name; a program gets a token."""
    given = _read(await request.body())
    code, key = given.get("code", ""), given.get("key", "")
    peer: Peer = request.scope[PEER]
    if not key and "text/html" in request.headers.get("accept", ""):
        raise Problem(400, "needs_script", NEEDS_SCRIPT)
    if key and not (KEY.fullmatch(key) and p256.is_key(bytes.fromhex(key))):
        raise Problem(422, "bad_key", "This is no public key of the curve P-256.", "Reload.")
    grant: Grant | None = EVERYTHING
    if code:  # 192 bits are not guessed
        grant = daemon.devices.redeem(code, time.monotonic())
    else:
        await _check_passphrase(daemon, request, given.get("passphrase", ""))
    if grant is None:
        remedy = "Get a new link: rookery serve --link"
        raise Problem(401, "not_let_in", "This link has expired or was used.", remedy)
    name = given.get("name", "") or of_browser(request.headers)
    device, token = await asyncio.to_thread(_add, daemon, name, peer.address, key, grant)
    return JSONResponse({"token": token} if token else {"device": device.id})


def _add(daemon: State, name: str, address: str, key: str, grant: Grant) -> tuple[Device, str]:
    """Add a browser with its key, or a program with its token."""
    if key:
        device, token = daemon.devices.add_browser(name, address, bytes.fromhex(key), grant), ""
    else:
        device, token = daemon.devices.add(name, address, grant)
    daemon.journal.note("logged in", device.sender, role=device.role, address=address)
    return device, token


def _read(body: bytes) -> dict[str, str]:
    """Parse the fields of a form."""
    try:
        fields = parse_qsl(body.decode("ascii")[:MAX_FORM_LENGTH], max_num_fields=10)
    except ValueError:
        return {}
    return {name: value[:1000] for name, value in fields}


async def _check_passphrase(daemon: State, request: Request, secret: str) -> None:
    """Check a passphrase. Behind a proxy the client's address is the last one that the proxy
    lists."""
    peer: Peer = request.scope[PEER]
    options, address = daemon.options, peer.address
    if options.behind_proxy:
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        address = forwarded[:80] or address
    kept = options.passphrase if options.auth == PASSPHRASE else ""
    await daemon.guesses.check(secret, kept, address, proxied=options.behind_proxy)


def _own(place: str) -> str:
    """Return a path of this site; anything else becomes "/"."""
    is_own = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable()
    return place if is_own else "/"


def _page(daemon: State, code: str, next_: str, *, earlier: bool) -> str:
    notice = UPDATED if earlier else ""
    after = f'<input type="hidden" name="next" value="{esc(_own(next_))}">'
    if not code and daemon.options.auth != PASSPHRASE:
        text = "<p>Open a one-time link to log in. This command prints one:</p>"
        text += f'<pre class="out">rookery serve --link</pre>{after}{WRONG}'
        return alone("Log in", notice + text, modules=("login.js",))
    field = (
        f'<input type="hidden" name="code" value="{esc(code)}">'
        if code
        else '<label>Passphrase <input type="password" name="passphrase" required autofocus '
        'autocomplete="current-password"></label>'
    )
    form = f"<noscript><p>{NEEDS_SCRIPT}</p></noscript>"
    form += f'<form id="login" method="post" action="/login">{field}{after}'
    form += '<button class="primary" disabled>Log in on this device</button></form>'
    form += WRONG
    return alone("Log in", notice + form, modules=("login.js",))
