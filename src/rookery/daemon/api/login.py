"""Logging in: a one-time link or the passphrase makes a device, which gets its token once."""

import asyncio
import time
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from rookery.daemon.access.gate import COOKIE, PEER
from rookery.daemon.access.peers import Peer
from rookery.daemon.errors import Problem
from rookery.daemon.options import PASSPHRASE
from rookery.daemon.pieces.document import alone
from rookery.daemon.state import Daemon, State
from rookery.export.html.text import esc

router = APIRouter(tags=["devices"])

YEAR = 365 * 24 * 3600
Code = Annotated[str, Query(max_length=200)]
MOST = 10_000
"""Characters of a form."""


Next = Annotated[str, Query(max_length=1000)]


@router.get("/login", include_in_schema=False)
async def ask(daemon: Daemon, code: Code = "", next: Next = "") -> HTMLResponse:  # noqa: A002
    """The page behind a link: nothing is used up until its button is pressed."""
    return HTMLResponse(_page(daemon, code, next))


@router.post("/login", include_in_schema=False)
async def log_in(
    daemon: Daemon,
    request: Request,
) -> Response:
    given = _read(await request.body())
    code, name = given.get("code", ""), given.get("name", "")
    peer: Peer = request.scope[PEER]
    if code:  # 192 bits are not guessed
        if not daemon.devices.redeem(code, time.monotonic()):
            remedy = "Get a new link: rookery serve --link"
            raise Problem(401, "not_let_in", "This link has expired or was used.", remedy)
    else:
        await _check_passphrase(daemon, request, given.get("passphrase", ""))
    name = name or request.headers.get("user-agent", "")
    _, token = await asyncio.to_thread(daemon.devices.add, name, peer.address)
    if "text/html" in request.headers.get("accept", ""):
        response: Response = RedirectResponse(_own(given.get("next", "")), 303)
        secure = daemon.options.scheme == "https" or daemon.options.behind_proxy
        kept: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": secure}
        response.set_cookie(COOKIE, token, max_age=YEAR, path="/", **kept)
        return response
    return JSONResponse({"token": token})


def _read(body: bytes) -> dict[str, str]:
    """The fields of a form."""
    try:
        fields = parse_qsl(body.decode("ascii")[:MOST], max_num_fields=10)
    except ValueError:
        return {}
    return {name: value[:1000] for name, value in fields}


async def _check_passphrase(daemon: State, request: Request, secret: str) -> None:
    """Behind a proxy the client is the one that the proxy itself names, the last one."""
    peer: Peer = request.scope[PEER]
    options, address = daemon.options, peer.address
    if options.behind_proxy:
        forwarded = ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        address = forwarded[:80] or address
    kept = options.passphrase if options.auth == PASSPHRASE else ""
    await daemon.guesses.check(secret, kept, address, proxied=options.behind_proxy)


def _own(place: str) -> str:
    """A place of this page, never another's."""
    is_own = place.startswith("/") and not place.startswith(("//", "/\\")) and place.isprintable()
    return place if is_own else "/"


def _page(daemon: State, code: str, next_: str) -> str:
    if not code and daemon.options.auth != PASSPHRASE:
        words = "<p>Open a one-time link to log in. This command prints one:</p>"
        return alone("Log in", words + '<pre class="out">rookery serve --link</pre>')
    field = (
        f'<input type="hidden" name="code" value="{esc(code)}">'
        if code
        else '<label>Passphrase <input type="password" name="passphrase" required autofocus '
        'autocomplete="current-password"></label>'
    )
    field += f'<input type="hidden" name="next" value="{esc(_own(next_))}">'
    form = f'<form method="post" action="/login">{field}'
    form += '<button class="primary">Log in on this device</button></form>'
    return alone("Log in", form)
