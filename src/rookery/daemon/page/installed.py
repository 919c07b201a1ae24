"""Routes for the page as an installed app: its service worker, and what that shows while Rookery
cannot be reached."""

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from rookery.daemon import assets
from rookery.daemon.pieces.document import document
from rookery.export.html.page import MARK

router = APIRouter(include_in_schema=False)

OFFLINE = (
    f'<main class="alone"><p class="brand">{MARK}<span>Rookery</span></p>'
    "<h1>Rookery is not reachable</h1>"
    "<p>Your sessions keep running. Trying again automatically.</p>"
    '<p class="soft" id="tries" role="status"></p>'
    '<p><a class="button" href="">Try now</a></p></main>'
)


@router.get("/sw.js")
async def service_worker() -> Response:
    """Serve the service worker with device.js in it: not every browser lets it import."""
    key = assets.files()["device.js"].replace(b"export ", b"")
    body = key + b"\n" + assets.files()["sw.js"]
    kept = {"Cache-Control": "no-cache"}
    return Response(body, media_type=assets.media_type("sw.js"), headers=kept)


@router.get("/offline")
async def offline() -> HTMLResponse:
    return HTMLResponse(document("Rookery is not reachable", OFFLINE, modules=("offline.js",)))
