"""The first screen: all sessions."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from rookery.daemon.page import shell
from rookery.daemon.state import Daemon

router = APIRouter(include_in_schema=False)


@router.get("/")
async def fleet(daemon: Daemon) -> HTMLResponse:
    empty = '<div class="empty"><p>Choose a session, or begin a new one.</p></div>'
    return shell.page(daemon, title="", main=empty, here="fleet")
