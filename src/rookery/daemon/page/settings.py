"""The settings screens: one for this page, and one for each part of config.toml."""

import asyncio
import time
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from rookery.build import build, described
from rookery.client.config import in_force
from rookery.client.update.difference import since_start
from rookery.core import units
from rookery.core.refusals import Refused
from rookery.daemon.access.roles import ALL
from rookery.daemon.errors import Problem
from rookery.daemon.page import shell
from rookery.daemon.pieces import forms
from rookery.daemon.state import Daemon, State
from rookery.export.html.text import esc_line, tag
from rookery.forms import catalog
from rookery.forms.catalog import Match
from rookery.forms.sections import FORMS, SECTIONS
from rookery.home.config import ConfigError

router = APIRouter(include_in_schema=False)

THEMES = {"": "As the system", "light": "Light", "dark": "Dark"}


def sections(daemon: State) -> list[tuple[str, str]]:
    """Return the names of the sections, as used in URLs, and their titles; only those that this
    device may see."""
    rows = [("", "This page"), *((name, each.title) for name, each in SECTIONS.items())]
    rows += [("devices", "Devices"), ("trash", "Trash")]
    return rows if daemon.role == ALL else rows[:1]


def frame(daemon: State, section: str, title: str, inner: str) -> HTMLResponse:
    """Render a section of the settings. `inner` is HTML, `title` plain text."""
    find = '<input type="search" placeholder="Search settings" aria-label="Search settings">'
    find = find if daemon.role == ALL else ""
    links = "".join(
        f'<a href="/settings{f"/{name}" if name else ""}"'
        f"{' aria-current="page"' if name == section else ''}>{label}</a>"
        for name, label in sections(daemon)
    )
    note = tag("p", esc_line(daemon.closed), "note") if daemon.closed else ""
    main = (
        f'<div class="screen settings"><div class="around">{find}'
        f'<nav class="sections" aria-label="Settings">{links}</nav></div>'
        f'<div class="section"><h1>{esc_line(title)}</h1>{note}{inner}</div></div>'
    )
    more = ("notify_form.js",) if section in ("", "notify") else ()
    return shell.page(
        daemon,
        title=title,
        main=main,
        here="settings",
        modules=("settings.js", *more),
        styles=("settings.css",),
    )


@router.get("/settings")
async def this_page(daemon: Daemon, request: Request) -> HTMLResponse:
    held = await asyncio.to_thread(_held, daemon.home) if daemon.role == ALL else ""
    notices = NOTICES.format(f'<p class="soft">{WEBHOOKS}</p>' if daemon.role == ALL else "")
    inner = held + _look() + notices + await asyncio.to_thread(_daemon, daemon, request)
    return frame(daemon, "", "Settings", inner)


NOTICES = (
    "<section><h2>Notifications in this browser</h2>"
    '<div id="notify-here" data-notify></div>{}</section>'
)
WEBHOOKS = 'Webhooks and the desktop: <a href="/settings/notify">Notifications</a>.'
IN_BROWSER = '<section class="first" id="notify-here" data-notify></section>'


def _look() -> str:
    choices = "".join(
        f'<label class="choice"><input type="radio" name="theme" '
        f'value="{value}"{" checked" if not value else ""}><span>{label}</span></label>'
        for value, label in THEMES.items()
    )
    return (
        '<section><h2 id="look">Colours, on this device</h2>'
        f'<div class="choices" role="radiogroup" aria-labelledby="look">{choices}</div></section>'
    )


def _held(home: str) -> str:
    """Render the settings that wait for the user's confirmation, with the button for it, or "" if
    there are none."""
    try:
        held = in_force.settings(home).held
    except ConfigError as error:
        inner = tag("h2", "config.toml cannot be used") + tag("p", esc_line(str(error)))
        return tag("section", inner, "held")
    if held is None:
        return ""
    lines = "".join(tag("li", esc_line(each)) for each in held.loosens)
    return (
        '<section class="held"><h2>Settings need your confirmation</h2>'
        "<p>They were loosened while an agent "
        f"was running, and do not apply until you confirm them:</p><ul>{lines}</ul>"
        f'<button data-do="confirm-held" data-held="{esc_line(held.fingerprint)}">Confirm these '
        'changes</button> <span class="soft">To undo them: <code>rookery config edit</code></span>'
        "</section>"
    )


def _daemon(daemon: State, request: Request) -> str:
    since = units.duration(time.time() - daemon.since / 1000)
    rows = {
        "Version": described(build()),
        "Address": f"{daemon.options.scheme}://{request.headers.get('host', '')}",
        "Running for": since,
        "Log in by": {"token": "one-time link", "passphrase": "passphrase or one-time link"}.get(
            daemon.options.auth, "no login"
        ),
        "Changes": "not allowed (--read-only)"
        if daemon.options.read_only
        else daemon.closed or "allowed",
        "Sessions": f"{len(daemon.fleet.heads):,}",
    }
    if daemon.options.auth == "none":
        rows["Log in by"] = "no login: everybody who reaches this address"
    listed = "".join(f"<dt>{key}</dt><dd>{esc_line(value)}</dd>" for key, value in rows.items())
    installed = since_start()
    newer = installed and (
        f'<p class="note">{esc_line(installed)} To run it here: '
        "<code>rookery serve --restart</code></p>"
    )
    help_ = '<p><a href="/api/docs">API</a></p>'
    return f'<section><h2>Rookery</h2>{newer}<dl class="facts">{listed}</dl>{help_}</section>'


@router.get("/settings/{section}")
async def section(daemon: Daemon, section: str) -> HTMLResponse:
    if section not in FORMS:
        raise Problem(404, "not_found", "Nothing at this address.", "See /settings.")
    title = FORMS[section].title
    about = tag("p", esc_line(FORMS[section].about), "soft")
    try:
        form = await asyncio.to_thread(catalog.form_of, daemon.home, section)
    except Refused as error:
        return frame(daemon, section, title, about + tag("p", esc_line(error.message), "wrong"))
    drawn = forms.form(
        form.schema,
        form.values,
        given={"form": section},
        buttons=buttons(daemon, form.save_label),
    )
    slot = IN_BROWSER if section == "notify" else ""
    return frame(daemon, section, title, about + slot + drawn)


@router.get("/pieces/settings")
async def matches(daemon: Daemon, q: Annotated[str, Query(max_length=200)]) -> HTMLResponse:
    """The sections and fields of the settings that a query finds."""
    known = await asyncio.to_thread(catalog.entries, daemon.home)
    rows = "".join(_match(each) for each in catalog.matching(known, q))
    listed = tag("ul", rows, "saved") if rows else tag("p", "No setting matches.", "none")
    return HTMLResponse(f'<h1>Search</h1><div role="status">{listed}</div>')


def _match(match: Match) -> str:
    section = SECTIONS[match.section].title
    chip = f' <span class="chip">{esc_line(section)}</span>' if match.field else ""
    link = f'<a href="{esc_line(match.address)}">{esc_line(match.title)}</a>'
    more = tag("p", esc_line(match.about), "row-more")
    return tag("li", tag("p", link + chip, "row-name") + more, "match")


def buttons(daemon: State, label: str, *, tests: bool = False, back: str = "") -> str:
    if daemon.read_only:
        return ""
    test = '<button type="button" data-do="test-form">Test</button>' if tests else ""
    leave = f'<a class="button quiet" href="{back}">Cancel</a>' if back else ""
    undo = "" if back else '<button type="reset" class="quiet" hidden>Discard</button>'
    return f'<button class="primary" type="submit">{label}</button>{test}{leave}{undo}'


def named(address: str, name: str) -> str:
    return f"{address}?{urlencode({'name': name})}" if name else address
