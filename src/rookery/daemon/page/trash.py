"""The trash screen: removed sessions, each with buttons to restore or delete it."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from rookery.client.trash import moves
from rookery.core import units
from rookery.core.json import Json
from rookery.core.view.fleet import NO_TITLE
from rookery.daemon.page.settings import frame
from rookery.daemon.state import Daemon
from rookery.export.html.text import esc_line, tag

router = APIRouter(include_in_schema=False)

ABOUT = (
    "Deleted sessions are kept here for 14 days, then deleted permanently; if the disk is full, "
    "the oldest earlier."
)


@router.get("/settings/trash")
async def trash(daemon: Daemon) -> HTMLResponse:
    removed = await asyncio.to_thread(moves.listed, daemon.home)
    read_only = daemon.read_only
    rows = "".join(_row(each, read_only=read_only) for each in removed)
    inner = tag("ul", rows, "saved") if rows else tag("p", "The trash is empty.", "none")
    if rows and not read_only:
        inner += '<p><button data-do="empty-trash">Empty the trash</button></p>'
    return frame(daemon, "trash", "Trash", tag("p", ABOUT, "soft") + inner)


def _row(about: Json, *, read_only: bool) -> str:
    title = esc_line(about["title"] or NO_TITLE)
    until = f'<time data-day="{about["until"]}"></time>'
    facts = [esc_line(about["agent"]), units.size(about["bytes"])]
    if about["branch"]:
        facts.append(f"branch {esc_line(about['branch'])}")
    more = " · ".join(filter(None, facts))
    given = f'data-id="{esc_line(about["id"])}"'
    deeds = (
        ""
        if read_only
        else f'<button data-do="restore" {given} aria-label="Restore: {title}">Restore</button>'
        f'<button class="quiet" data-do="erase" {given} '
        f'aria-label="Delete permanently: {title}">Delete</button>'
    )
    return (
        '<li><span class="sign off" aria-hidden="true">○</span>'
        f'<div class="what"><p class="row-name"><span dir="auto">{title}</span></p>'
        f'<p class="row-more">{more} · kept until {until}</p></div>'
        f'<div class="deeds">{deeds}</div></li>'
    )
