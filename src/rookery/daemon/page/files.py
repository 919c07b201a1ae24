"""Static files of the page: assets, icons, manifest. They can be read without logging in: they
disclose nothing, and the login page needs them."""

import json
import re
from typing import Any

from fastapi import APIRouter, Request, Response

from rookery.daemon import assets
from rookery.daemon.errors import Problem

router = APIRouter(include_in_schema=False)

FOR_EVER = "public, max-age=31536000, immutable"
A_DAY = "max-age=86400"
MANIFEST: dict[str, Any] = {
    "name": "Rookery",
    "short_name": "Rookery",
    "description": "Your coding agents, from anywhere",
    "start_url": "/",
    "scope": "/",
    "id": "/",
    "display": "standalone",
    "background_color": "#14171a",
    "theme_color": "#14171a",
    "icons": [
        {"src": "/favicon.svg", "sizes": "any", "type": "image/svg+xml"},
        {"src": "/apple-touch-icon.png", "sizes": "180x180", "type": "image/png"},
        {"src": "/icon-512.png", "sizes": "512x512", "type": "image/png"},
        {"src": "/icon-512.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
    ],
    "shortcuts": [
        {"name": "New session", "url": "/new"},
        {"name": "Inbox", "url": "/inbox"},
    ],
}


@router.get("/assets/{digest}/{name}")
async def asset(request: Request, digest: str, name: str) -> Response:
    return _own(request, name, FOR_EVER if digest == assets.digest() else "no-cache")


@router.get("/favicon.svg")
@router.get("/apple-touch-icon.png")
@router.get("/icon-512.png")
async def icon(request: Request) -> Response:
    """Phones take no SVG as the icon of a page; before they offer to install one, browsers ask for
    a large one."""
    return _own(request, request.url.path.removeprefix("/"), A_DAY)


@router.get("/manifest.webmanifest")
async def manifest() -> Response:
    kept = {"Cache-Control": A_DAY}
    return Response(json.dumps(MANIFEST), media_type="application/manifest+json", headers=kept)


def _own(request: Request, name: str, kept: str) -> Response:
    """Return an asset, compressed if the browser takes it so. Raises Problem."""
    if name not in assets.files():
        raise Problem(404, "not_found", "Not found.", "Reload the page.")
    body, headers = assets.files()[name], {"Cache-Control": kept}
    if not name.endswith(".png"):
        headers["Vary"] = "Accept-Encoding"
        if "gzip" in re.split(r"\s*,\s*", request.headers.get("accept-encoding", "")):
            body, headers["Content-Encoding"] = assets.compressed(name), "gzip"
    return Response(body, media_type=assets.media_type(name), headers=headers)
