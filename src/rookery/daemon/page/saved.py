"""Settings screens for named entries: models, MCP servers, agents, rules, and the devices that are
logged in."""

import asyncio
import json
import time
from collections.abc import Container
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from rookery.core.asks import links
from rookery.core.json.secrets import masked
from rookery.core.json.senders import UNNAMED
from rookery.daemon.access.addresses import for_links, is_here, why_only_here
from rookery.daemon.access.devices import Device
from rookery.daemon.access.journal import Deed, deeds
from rookery.daemon.access.roles import ALL, ANSWER, LOOK, NAMES
from rookery.daemon.api.devices import Wish, linked
from rookery.daemon.errors import Problem
from rookery.daemon.options import PORTS, split_host, url
from rookery.daemon.page.settings import buttons, frame, named
from rookery.daemon.pieces import forms
from rookery.daemon.state import Daemon, State
from rookery.export.html.text import esc, esc_line, tag
from rookery.forms import catalog
from rookery.forms.lists import Row
from rookery.forms.sections import LISTS
from rookery.forms.server_login import ServerLoginForm
from rookery.render import qr
from rookery.render.local_time import ago

router = APIRouter(include_in_schema=False)

NOW = 60_000
"""Milliseconds for which a device that was used counts as here."""

SIGNS = {"on": ("●", "on"), "off": ("○", "off"), "bad": ("✗", "faulty")}
Name = Annotated[str, Query(max_length=200)]


def _is_list(kind: str) -> None:
    if kind not in LISTS:
        raise Problem(404, "not_found", "Nothing at this address.", "See /settings.")


@router.get("/settings/models")
@router.get("/settings/servers")
@router.get("/settings/agents")
@router.get("/settings/rules")
async def saved(daemon: Daemon, request: Request) -> HTMLResponse:
    kind = request.url.path.rpartition("/")[2]
    rows, problem = await asyncio.to_thread(catalog.rows_of, daemon.home, kind)
    own = catalog.own_agents(daemon.home) if kind == "agents" else frozenset()
    ends = {"up": rows[:1], "down": rows[-1:]}
    lines = "".join(
        _line(daemon, kind, row, row.name in own, {do for do in ends if row in ends[do]})
        for row in rows
    )
    list_ = "ol" if kind == "rules" else "ul"
    listed = tag(list_, lines, "saved") if lines else tag("p", LISTS[kind].empty, "none")
    wrong = tag("p", esc_line(problem), "wrong") if problem else ""
    add = f'<p><a class="button primary" href="/settings/{kind}/new">{LISTS[kind].add}</a></p>'
    inner = tag("p", LISTS[kind].about, "soft") + wrong + listed
    inner += "" if daemon.read_only else add
    return frame(daemon, kind, LISTS[kind].title, inner)


def _line(daemon: State, kind: str, row: Row, own: bool, idle: Container[str]) -> str:
    """Render a row; the actions in `idle` would change nothing and are left out."""
    mark, label = SIGNS.get(row.sign, ("", ""))
    tags = "".join(f' <span class="chip">{esc_line(each)}</span>' for each in row.tag.split(", "))
    tags = tags if row.tag else ""
    editable = kind != "agents" or own
    title = f'<span dir="auto">{esc_line(row.title)}</span>'
    if editable and not daemon.read_only:
        place = esc_line(named(f"/settings/{kind}/edit", row.name))
        title = f'<a href="{place}">{title}</a>'
    install = catalog.install_line(row.name) if kind == "agents" and row.sign == "off" else ""
    how = (
        f'<p class="install"><code>{esc_line(install)}</code> <button class="quiet" '
        f'data-do="copy-line" data-text="{esc_line(install)}">Copy</button></p>'
        if install
        else ""
    )
    deeds = "" if daemon.read_only else _deeds(kind, row, own, idle)
    aria = f'role="img" aria-label="{label}"' if kind != "rules" else 'aria-hidden="true"'
    return (
        f'<li><span class="sign {row.sign}" {aria}>{mark}</span>'
        f'<div class="what"><p class="row-name">{title}{tags}</p>'
        f'<p class="row-more" dir="auto">{esc_line(row.more, 300)}</p>{how}</div>'
        f'<div class="deeds">{deeds}</div></li>'
    )


def _deeds(kind: str, row: Row, own: bool, idle: Container[str]) -> str:
    actions = []
    is_default = "default" in row.tag
    if kind == "models" or (kind == "agents" and row.sign == "on"):
        actions += [] if is_default else [("default", "Make default")]
    if kind in ("models", "servers"):
        actions.append(("test", "Test"))
    if kind == "servers" and row.sign != "bad":
        actions.append(("off", "Turn off") if row.sign == "on" else ("on", "Turn on"))
    if kind == "rules":
        actions += [("up", "Earlier"), ("down", "Later")]
    if kind != "agents" or own:
        actions.append(("remove", "Remove"))
    given = esc(json.dumps({"list": kind, "name": row.name}))
    name = esc_line(row.title, 100)
    login = esc_line(named(f"/settings/{kind}/login", row.name))
    has_login = row.login and (kind == "servers" or row.sign == "on")
    link = f'<a class="button quiet" href="{login}" aria-label="Log in: {name}">Log in</a>'
    return (link if has_login else "") + "".join(
        f'<button class="quiet" data-do="row-deed" data-deed="{do}" data-given="{given}" '
        f'data-name="{name}" aria-label="{label}: {name}">{label}</button>'
        for do, label in actions
        if do not in idle
    )


@router.get("/settings/agents/login")
async def log_in(daemon: Daemon, name: Name = "", session: Name = "") -> HTMLResponse:
    """`session`: where the login was missed, and where the user goes on."""
    back = f"/sessions/{quote(session, safe='')}" if session else "/settings/agents"
    form = await asyncio.to_thread(catalog.form_of, daemon.home, "login", name)
    here = f"{named('/settings/agents/login', name)}&{urlencode({'session': session})}"
    label = form.save_label if form.values else "List its methods"
    drawn = forms.form(
        form.schema,
        form.values,
        given={"form": "login", "name": name},
        buttons=buttons(daemon, label, back=back),
        new=True,
        back=back if form.values else here,
        busy="Logging in …" if form.values else f"Starting {name} …",
    )
    return frame(daemon, "agents", form.title, drawn)


@router.get("/settings/servers/login")
async def log_in_to_server(daemon: Daemon, name: Name = "") -> HTMLResponse:
    """First the button, then the address that it led to; without a script, its text."""
    form = await asyncio.to_thread(catalog.form_of, daemon.home, "server_login", name)
    assert isinstance(form, ServerLoginForm)
    url, back = form.url, "/settings/servers"
    drawn = forms.form(
        form.schema,
        form.values,
        given={"form": "server_login", "name": name},
        buttons=buttons(daemon, "Done" if url else form.save_label, back=back),
        new=True,
        back=back if url else named("/settings/servers/login", name),
        busy="Waiting for the server …" if url else f"Connecting to {name} …",
    )
    return frame(daemon, "servers", form.title, (_opened(url) if url else "") + drawn)


def _opened(url: str) -> str:
    """Show the whole URL, with warnings about anything suspicious in it."""
    warnings = "".join(tag("p", esc_line(each), "wrong") for each in links.warnings_of(url))
    place = esc(url)
    return (
        "<p>Log in at this address, then come back and press Done:</p>"
        f'{warnings}<p class="install"><code class="address">{esc_line(url, 4000)}</code></p>'
        f'<p class="choices"><a class="button primary" target="_blank" rel="noopener noreferrer" '
        f'href="{place}">Open in the browser</a>'
        f'<button type="button" data-do="copy-line" data-text="{place}">Copy the address</button>'
        "</p>"
    )


@router.get("/settings/{kind}/new")
async def new(daemon: Daemon, kind: str) -> HTMLResponse:
    return await _edit(daemon, kind, "")


@router.get("/settings/{kind}/edit")
async def edit(daemon: Daemon, kind: str, name: Name = "") -> HTMLResponse:
    return await _edit(daemon, kind, name)


async def _edit(daemon: State, kind: str, name: str) -> HTMLResponse:
    _is_list(kind)
    form = await asyncio.to_thread(catalog.form_of, daemon.home, kind, name)
    back = f"/settings/{kind}"
    drawn = forms.form(
        form.schema,
        form.values,
        given={"form": kind, "name": name},
        buttons=buttons(daemon, form.save_label, tests=form.tests, back=back),
        new=not name,
        back=back,
    )
    up = f'<p><a href="{back}">‹ {LISTS[kind].title}</a></p>'
    return frame(daemon, kind, form.title, up + drawn)


# --- devices -------------------------------------------------------------------------------------


MAY = {role: NAMES[role].capitalize() for role in (ALL, ANSWER, LOOK)}
RECENT = 20


@router.get("/settings/devices")
async def devices(daemon: Daemon) -> HTMLResponse:
    now = time.time() * 1000
    rows = "".join(_device(daemon, each, now) for each in reversed(daemon.devices.all()))
    listed = tag("ul", rows, "saved") if rows else tag("p", "No device is logged in.", "none")
    add = (
        ""
        if daemon.read_only
        else f'<p class="new-device"><label>New device may {_roles(ALL, 'id="grant"')}</label> '
        '<button class="primary" data-do="new-link">Log in another device</button></p>'
        '<div id="link" aria-live="polite"></div>'
    )
    note = "Each has a key or a token of its own. Revoking one logs it out at once."
    entries = await asyncio.to_thread(deeds, daemon.home, daemon.fleet.heads, "", RECENT)
    done = "".join(_deed(each, now) for each in entries)
    log = (
        tag("section", tag("h2", "What devices did") + tag("ul", done, "deeds-log")) if done else ""
    )
    return frame(daemon, "devices", "Devices", tag("p", note, "soft") + listed + add + log)


def _roles(chosen: str, attributes: str) -> str:
    options = "".join(
        f'<option value="{role}"{" selected" if role == chosen else ""}>{label}</option>'
        for role, label in MAY.items()
    )
    return f"<select {attributes}>{options}</select>"


def _device(daemon: State, device: Device, now: float) -> str:
    mine = daemon.device is not None and device.id == daemon.device.id
    chip = ' <span class="chip">this device</span>' if mine else ""
    seen = "here now" if now - device.used < NOW else f"last here {ago(device.used, now)}"
    if daemon.devices.is_expired(device):
        seen = f"logged out: not used for {daemon.devices.idle_days} days"
    facts = [device.person, seen, device.address, device.id]
    name = esc_line(_named(device.name))
    about = f'data-device="{esc_line(device.id)}" data-name="{name}"'
    ask = "You will be logged out here." if mine else "It is logged out at once."
    deed = (
        tag("span", MAY[device.role], "soft")
        if daemon.read_only
        else _roles(device.role, f'data-role-of="{esc_line(device.id)}" aria-label="{name} may"')
        + f'<button class="quiet" data-do="name-device" {about} '
        f'data-person="{esc_line(device.person)}" aria-label="Rename: {name}">Rename</button>'
        f'<button class="quiet" data-do="revoke" {about} data-words="{ask}" '
        f'aria-label="Revoke: {name}">Revoke</button>'
    )
    return (
        '<li><span class="sign on" aria-hidden="true">●</span>'
        f'<div class="what"><p class="row-name"><span dir="auto">{name}</span>{chip}</p>'
        f'<p class="row-more">{esc_line(" · ".join(filter(None, facts)))}</p></div>'
        f'<div class="deeds">{deed}</div></li>'
    )


def _named(name: str) -> str:
    return "Unnamed device" if name == UNNAMED else name


def _deed(deed: Deed, now: float) -> str:
    who = ", ".join(filter(None, (deed.person, _named(deed.name)))) or "This machine"
    where = esc_line(masked(deed.title or deed.session[:8]), 80)
    link = f' <a href="/sessions/{esc_line(deed.session)}">{where}</a>' if where else ""
    of = f" ({esc_line(_named(deed.of))})" if deed.of else ""
    did = esc_line(masked(deed.did), 200)
    when = tag("span", esc_line(ago(deed.at, now)), "soft")
    return tag("li", f'{when} <span dir="auto">{esc_line(who)}</span>: {did}{of}{link}')


@router.post("/settings/devices/link")
async def link(daemon: Daemon, request: Request, wish: Wish | None = None) -> HTMLResponse:
    """A one-time link at the address by which this page was reached, or where that is this
    machine's own, at the one that others reach; with its QR code, if there is one."""
    options, link = daemon.options, linked(daemon, wish or Wish(role="all"))
    host, port = split_host(request.headers.get("host", ""))
    why = ""
    if is_here(host):
        why = why_only_here(options)
    else:
        scheme = "https" if options.behind_proxy else options.scheme
        link = url(scheme, host, port or PORTS[scheme]) + link.removeprefix(for_links(options))
    near = tag("p", esc_line(why), "note") if why else ""
    inner = (
        f"{near}<p>Open this on the other device. It works once, within ten minutes:</p>"
        f'<p class="install"><code class="address">{esc_line(link)}</code> '
        f'<button class="quiet" data-do="copy-line" data-text="{esc_line(link)}">Copy</button>'
        "</p>"
    )
    return HTMLResponse(f"<div>{inner}{'' if why else _qr(link)}</div>")


def _qr(text: str) -> str:
    """Render a QR code, dark on light in every theme, since cameras need that."""
    try:
        rows = qr.code(text, border=4)
    except qr.TooLong:
        return ""
    size = len(rows)
    path = "".join(
        f"M{column} {row}h1v1h-1z"
        for row, line in enumerate(rows)
        for column, dark in enumerate(line)
        if dark
    )
    return (
        f'<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR code of the link" '
        f'shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size}v{size}H0z"/>'
        f'<path fill="#000" d="{path}"/></svg>'
    )
