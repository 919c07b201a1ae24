"""The screen of a race: its sessions compared side by side, so that one can be picked."""

import asyncio
from collections.abc import Iterable, Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from rookery.agents.registry import AGENTS
from rookery.core import units
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.json.secrets import masked
from rookery.core.view.states import label_of
from rookery.daemon.page import shell
from rookery.daemon.state import Daemon
from rookery.export.html.text import esc_line, tag
from rookery.operations.merging import race as races
from rookery.operations.merging.results import Runner

router = APIRouter(include_in_schema=False)

LOOKS = {"needs-you": "needs", "failed": "failed"}
"""The colours of states that want somebody."""
_UNDECIDED = frozenset({"running", "needs-you", "waiting", "held", "not-begun"})
COLUMNS = ("Agent", "State", "Changes", "Tests", "Cost", "Tokens", "Time", "")


@router.get("/races/{race}")
async def race_screen(daemon: Daemon, race: str, piece: bool = False) -> HTMLResponse:
    """`piece`: without the page around it."""
    table = await asyncio.to_thread(races.table, daemon.home, race)
    name, rows = table["id"], table["sessions"]
    drawn = rendered(name, rows, read_only=daemon.read_only)
    if piece:
        return HTMLResponse(drawn)
    task = masked(_task(daemon.fleet.heads, name))
    heading = tag("p", esc_line(task), "task") if task else ""
    main = f'<div class="screen"><h1>Race {esc_line(name)}</h1>{heading}{drawn}</div>'
    about = {"title": f"{task or name} · Race", "here": shell.RACE, "main": main}
    return shell.page(daemon, **about, modules=("race.js",), styles=("new.css",))


def _task(heads: Iterable[Json], race: str) -> str:
    """Return the task that all runners were given, from their titles, where it follows the agent's
    name."""
    for head in heads:
        name, colon, task = str(head["title"]).partition(": ")
        if head.get("race") == race and colon and name.startswith(str(head["agent"])):
            return task
    return ""


def rendered(race: str, rows: Sequence[Runner], *, read_only: bool) -> str:
    heads = "".join(f'<th scope="col">{each}</th>' if each else "<td></td>" for each in COLUMNS)
    body = "".join(_row(row, read_only=read_only) for row in rows)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    left = [row for row in rows if row["files"] is not None]
    notes = ""
    if left and not any(row["tests"] or row["state"] in _UNDECIDED for row in rows):
        set_up = '<a href="/settings/critic">Set a command</a> to have each judged by it.'
        notes = tag("p", f"No tests ran. {set_up}", "soft")
    if left and not read_only:
        label = count(len(left), "worktree")
        notes += (
            f'<p><button type="button" class="danger" data-do="race-drop" data-label="{label}">'
            "Drop all</button></p>"
        )
    return f'<div class="race" data-race="{esc_line(race)}">{table}{notes}</div>'


def _row(row: Runner, *, read_only: bool) -> str:
    known = AGENTS.get(row["agent"])
    title = esc_line(known.title if known else row["agent"], 60)
    place = f"/sessions/{esc_line(row['session'])}"
    state = esc_line(label_of(row["state"]))
    changed = ""
    if row["files"] is not None:
        label = races.work_of(row)
        changed = f'<a href="{place}/changes">{label}</a>' if row["files"] else _nothing(row)
    cells = [
        f'<a href="{place}">{title}</a>',
        tag("span", state, LOOKS[row["state"]]) if row["state"] in LOOKS else state,
        changed,
        esc_line(row["tests"]),
        esc_line(" ".join(_money(*each) for each in row["cost"].items())),
        units.tokens(row["tokens"]) if row["tokens"] else "",
        units.duration(row["seconds"]) if row["seconds"] else "",
    ]
    about = f' data-session="{esc_line(row["session"])}" data-agent="{title}"'
    button = ""
    if row["files"] and not read_only:
        button = f'<button type="button" data-do="race-pick"{about}>Pick</button> '
        button += f'<button type="button" class="quiet" data-do="race-merge"{about}>Merge</button>'
    named = zip(COLUMNS, [*cells, button], strict=True)
    inner = "".join(f'<td data-name="{name}">{cell}</td>' for name, cell in named)
    left = about if row["files"] is not None else ""
    return f'<tr data-state="{state}"{left}>{inner}</tr>'


def _nothing(row: Runner) -> str:
    return "nothing yet" if row["state"] in _UNDECIDED else "changed nothing"


def _money(currency: str, amount: float) -> str:
    return units.money(amount) if currency == "USD" else f"{amount:.2f} {currency}"
