"""Static files of the page: assets, icon, manifest. They can be read without logging in: they
disclose nothing, and the login page needs them."""

import json
from typing import Any

from fastapi import APIRouter, Response

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
async def asset(digest: str, name: str) -> Response:
    body = assets.files().get(name)
    if body is None:
        raise Problem(404, "not_found", "Not found.", "Reload the page.")
    kept = FOR_EVER if digest == assets.digest() else "no-cache"
    return Response(body, media_type=assets.media_type(name), headers={"Cache-Control": kept})


@router.get("/favicon.svg")
async def icon() -> Response:
    return _own("favicon.svg", A_DAY)


@router.get("/manifest.webmanifest")
async def manifest() -> Response:
    kept = {"Cache-Control": A_DAY}
    return Response(json.dumps(MANIFEST), media_type="application/manifest+json", headers=kept)


def _own(name: str, kept: str) -> Response:
    body = assets.files()[name]
    return Response(body, media_type=assets.media_type(name), headers={"Cache-Control": kept})
