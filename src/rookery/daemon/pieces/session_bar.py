"""The bar above a session: its title, its agent and options, its state. `bar.js` fills the menus
when they open, so the bar is small enough to be sent again at every change."""

import json
from zlib import crc32

from rookery.agents import registry
from rookery.core import units, worktree
from rookery.core.agent.names import own_name
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.policy import approvals, modes
from rookery.core.turn import quota
from rookery.core.view import below_asks
from rookery.export.html.text import esc_line, tag
from rookery.home.paths import with_tilde
from rookery.render.local_time import clock_time
from rookery.render.session_state import SessionStatus, status_of
from rookery.render.signs import SIGNS

NO_TITLE = "New session"
MAIN = ("model", "mode", "thought_level")
"""Categories of options that come first, in this order."""

ICONS = {
    "back": '<path d="M10 3 5 8l5 5"/>',
    "changes": '<path d="M8 2.5v6M5 5.5h6M5 13h6"/>',
    "more": '<path stroke-width="2.5" d="M3 8h.01M8 8h.01M13 8h.01"/>',
    "options": '<path d="M2 5h7m4 0h1M2 11h1m4 0h7"/><circle cx="11" cy="5" r="2"/>'
    '<circle cx="5" cy="11" r="2"/>',
}


RUNS = ("starting", "ready")
"""States of an agent whose session is awake: all that is known of it from its events alone."""


def icon(paths: str) -> str:
    return f'<svg class="icon16" viewBox="0 0 16 16" aria-hidden="true">{paths}</svg>'


def rendered(
    header: Header, head: Json | None, now: int, read_only: bool, *, still: bool = False
) -> str:
    """Render the bar. `now` is in milliseconds. `still` leaves clocks to the page, so that equal
    states give equal HTML."""
    status = status_of(header, now, awake=None if head is None else bool(head.get("awake")))
    tree = header.worktree if worktree.exists(header.worktree) else {}
    facts = {
        "state": status.sign,
        "running": header.state != "idle",
        "quiet": header.state == "quiet",
        "steers": header.steers,
        "below": below_asks.notice(header),
        "agent": header.agent,
        "title": agent_title(header),
        "archived": header.archived,
        "snoozed": header.snoozed > now,
        "pinned": header.pinned,
        "queue": len(header.queue),
        "menus": _fingerprint(header),
        "turn": header.turn,
        "worktree": lenient.text(tree, "branch"),
        "awake": head.get("awake") if head else header.process["state"] in RUNS,
        "now": 0 if still else now,
    }
    data = "".join(
        f' data-{key}="{esc_line(str(1 if value is True else value))}"'
        for key, value in facts.items()
        if value
    )
    state = _state(status, 0 if still else now)
    chips = _chips(header, read_only) + _quota(header, now)
    inner = _title(header, read_only) + state + chips + _buttons(read_only)
    return f'<header class="bar"{data}>{inner}</header>'


def agent_title(header: Header) -> str:
    return own_name(header) or registry.title_of(header.agent)


def _fingerprint(header: Header) -> int:
    """Return a checksum that changes when a menu would show something else."""
    values = [[each["id"], each["value"], len(each["choices"])] for each in header.options]
    summary = json.dumps([values, len(header.commands), header.agent], default=str)
    return crc32(summary.encode())


def _title(header: Header, read_only: bool) -> str:
    title = f'<span dir="auto">{esc_line(header.title, 200) or NO_TITLE}</span>'
    if not read_only:
        tip = 'title="Rename this session"'
        title = f'<button type="button" class="quiet" data-do="rename" {tip}>{title}</button>'
    label = 'data-do="back" aria-label="All sessions"'
    back = f'<a class="button quiet icon back" href="/" {label}>{icon(ICONS["back"])}</a>'
    place = esc_line(with_tilde(header.cwd), 300)
    where = f'<span class="place" title="{place}"><bdi>{place}</bdi></span>'
    return f"{back}<h1>{title}</h1>{where}"


# --- the state ---------------------------------------------------------------------------------


def _state(status: SessionStatus, now: int) -> str:
    sign = SIGNS.get(status.sign, SIGNS["idle"])[0]
    mark = f'<i class="sign" aria-hidden="true">{sign}</i>'
    label, colon, why = esc_line(status.label).partition(": ")
    tip = f' title="{label}{colon}{why}"' if why else ""
    more = tag("span", colon + why, "why") if why else ""
    inner = f"{mark}<span{tip}>{label}{more}</span>{_clock(status, now)}"
    return f'<span class="chip now" data-sign="{status.sign}">{inner}</span>'


def _clock(status: SessionStatus, now: int) -> str:
    """Render the elapsed or remaining time, which the page keeps ticking."""
    if status.until is not None:
        shown = units.duration(max(0, status.until - now) // 1000) if now else ""
        return f'<time data-until="{status.until}" aria-live="off">{shown}</time>'
    if status.since is None:
        return ""
    shown = units.duration(max(0, now - status.since) // 1000) if now else ""
    return f'<time data-since="{status.since}" aria-live="off">{shown}</time>'


# --- what it runs with -------------------------------------------------------------------------


def _chips(header: Header, read_only: bool) -> str:
    name = esc_line(agent_title(header), 40)
    chips = [_chip("agent", "Agent", tag("b", name), read_only)]
    listed = sorted(header.options, key=_rank)
    chips += [_option(each, header, read_only) for each in listed]
    offered = {each["category"] for each in listed}
    pins = (("model", "model"), ("mode", "mode"), ("effort", "thought_level"))
    for pin, category in pins:  # chosen before the agent said what it offers
        value = lenient.text(header.wanted, pin)
        if value and category not in offered:
            chips.append(_chip(pin, pin.capitalize(), esc_line(value, 40), True))
    if kind := header.sandbox:
        chips.append(_chip("sandbox", "Sandbox", f"in {esc_line(kind, 40)}", True))
    if branch := worktree.brief(header.worktree):
        chips.append(_chip("worktree", "Worktree", esc_line(branch, 60), True))
    if race := esc_line(header.race, 64):
        chips.append(f'<a class="chip" href="/races/{race}" title="Race">race</a>')
    if not worktree.exists(header.worktree):  # bar.js fills it in
        fixed = " disabled" if read_only else ""
        about = f'type="button" class="chip others" data-do="move" hidden{fixed}'
        chips.append(f"<button {about}></button>")
    chips.append(_confirm(header, read_only))
    kind = 'class="chip only-narrow"'  # where there is no room for their own buttons
    if not read_only:
        chips.append(f'<button type="button" {kind} data-do="more">More actions</button>')
    chips.append(f'<button type="button" {kind} data-do="palette">Search</button>')
    return tag("div", "".join(chips) + _figures(header), "chips")


def _rank(option: Json) -> int:
    category = option["category"]
    return MAIN.index(category) if category in MAIN else len(MAIN)


def _option(option: Json, header: Header, read_only: bool) -> str:
    value, name = option["value"], esc_line(str(option["name"]), 60)
    if isinstance(value, bool):
        shown = f"{name}: {'on' if value else 'off'}"
    else:
        named = {each["value"]: each["name"] for each in option["choices"]}
        shown = esc_line(str(named.get(value) or value or name), 40)
    fixed = read_only or not (option["choices"] or isinstance(value, bool))
    kind = "" if option["category"] in MAIN else "other"
    if not modes.is_telling(header, option):  # it can be chosen in the menu of all actions
        kind = "other unset"
        shown = name if shown.lower() == "default" else shown
    return _chip(str(option["id"]), name, shown, fixed, kind)


def _confirm(header: Header, read_only: bool) -> str:
    """Render the chip for how much is asked, with its choices in the terms of this agent."""
    option = modes.option_of(header)
    choices = json.dumps([[c["value"], c["name"], c["description"]] for c in option["choices"]])
    more = (
        f' data-choices="{esc_line(choices, 5000)}" data-value="{esc_line(str(option["value"]))}"'
    )
    label = esc_line(modes.label(header), 60)
    return _chip(modes.OPTION, approvals.TITLE, label, read_only, more=more)


def _chip(
    option: str, label: str, shown: str, fixed: bool, kind: str = "", *, more: str = ""
) -> str:
    """Render a chip; `label` and `shown` must be escaped."""
    kind = f"chip {kind}".strip()
    if fixed:
        return f'<span class="{kind}" title="{label}">{shown}</span>'
    about = f'data-do="pick" data-option="{esc_line(option)}" data-label="{label}"{more}'
    spoken = f'<span class="unseen">{label}: </span>'
    return (
        f'<button type="button" class="{kind}" title="{label}" aria-haspopup="dialog" {about}>'
        f"{spoken}{shown}</button>"
    )


def _figures(header: Header) -> str:
    usage = header.usage
    used, size = lenient.number(usage, "used"), lenient.number(usage, "size")
    cost = lenient.mapping(usage, "cost")
    amount, currency = lenient.number(cost, "amount"), lenient.text(cost, "currency")
    html = ""
    if used is not None and size:
        share = min(100, max(0, round(100 * used / size)))
        tip = f"Context: {units.tokens(used)} of {units.tokens(size)} tokens"
        meter = f'<progress value="{share}" max="100" aria-label="{tip}"></progress>'
        full = " full" if share >= 85 else ""
        html += f'<span class="chip context{full}" title="{tip}">{meter}{share} %</span>'
    elif used is not None:
        html += tag("span", f"{units.tokens(used)} tokens", "chip")
    if amount is not None:
        shown = units.money(amount) if currency in ("", "USD") else f"{amount:.2f} {currency}"
        html += f'<span class="chip" title="Cost so far">{esc_line(shown, 30)}</span>'
    return html


def _quota(header: Header, now: int) -> str:
    """Render the quota only if it is nearly used up, but then also where there is no room for
    chips."""
    window = quota.pressing(header, now)
    if window is None:
        return ""
    when = clock_time(window.resets, now) if window.resets is not None else ""
    tip = esc_line(f"Quota of the agent; resets {when}" if when else "Quota of the agent", 100)
    return f'<span class="chip context full quota" title="{tip}">{esc_line(window.text, 60)}</span>'


def _buttons(read_only: bool) -> str:
    def button(do: str, label: str, kind: str = "") -> str:
        kind = f"quiet icon {kind}".strip()
        about = f'data-do="{do}" aria-label="{label}" title="{label}"'
        return f'<button type="button" class="{kind}" {about}>{icon(ICONS[do])}</button>'

    return tag(
        "div",
        button("options", "Agent, model and figures", "only-narrow")
        + button("changes", "Changes")
        + ("" if read_only else button("more", "More actions")),
        "acts",
    )
