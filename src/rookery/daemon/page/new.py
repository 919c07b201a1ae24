"""The screen for a new session. It also works as a plain form, without scripts."""

import asyncio
import os
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError

from rookery.agents.install import is_installable
from rookery.agents.registry import DEMO
from rookery.client.config import in_force
from rookery.core.json import Json, lenient
from rookery.core.policy import planning
from rookery.core.refusals import Refused
from rookery.daemon.api.sessions import New, create_session
from rookery.daemon.branches.api import Start, start_race
from rookery.daemon.errors import Problem, problem_of
from rookery.daemon.page import shell
from rookery.daemon.pieces import new_form
from rookery.daemon.pieces.new_form import Given
from rookery.daemon.state import Daemon, State
from rookery.forms import agent_options
from rookery.models import agents
from rookery.models.choice import default_agent

router = APIRouter(include_in_schema=False)

MAX_FORM_BYTES = 4_000_000
"""The maximum size of a form in bytes."""

TREE = ("branch", "base")
RACED = ("cwd", "prompt", "confirm", "sandbox")

Text = Annotated[str, Query(max_length=4096)]


@router.get("/new")
async def new_screen(
    daemon: Daemon, cwd: Text = "", agent: Text = "", prompt: Text = ""
) -> HTMLResponse:
    """Filled in as the address says, else as the last session was made."""
    return await _screen(daemon, Given(cwd=cwd, agent=agent, prompt=prompt))


@router.post("/new")
async def create(daemon: Daemon, request: Request) -> Response:
    body = await request.body()
    if len(body) > MAX_FORM_BYTES:
        raise Problem(413, "too_large", "The form is too large.", "Send less.")
    try:
        pairs = parse_qsl(body.decode("ascii"), max_num_fields=50)
    except ValueError:
        raise Problem(400, "bad_request", "This is not a form.", "Use the page's form.") from None
    fields = dict(pairs)
    rivals = tuple(value for name, value in pairs if name == "race")
    plain = {name: fields.get(name, "") for name in Given._fields if name != "race"}
    given = Given(**plain, race=rivals)
    try:
        if rivals:
            started = await start_race(daemon, Start.model_validate(_race(given)))
            return RedirectResponse(f"/races/{started.id}", 303)
        own = given.worktree == new_form.OWN_TREE
        tree = {"worktree": given.branch.strip() or True, "base": given.base.strip()}
        wanted: Json = {key: plain[key] for key in plain if key not in ("worktree", *TREE)}
        wanted |= tree if own else {}
        made = await create_session(daemon, New.model_validate(wanted), "")
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return await _screen(daemon, given, 422, (message, ""))
    except Refused as error:
        problem = problem_of(error)
        return await _screen(daemon, given, problem.status, (problem.message, problem.remedy))
    return RedirectResponse(f"/sessions/{made.id}", 303)


def _race(given: Given) -> Json:
    """Return the request for a race between the form's agent and the rivals that are checked."""
    names = list(dict.fromkeys((given.agent, *given.race)))
    if given.confirm == planning.MODE:  # what only plans changes nothing that could be compared
        given = given._replace(confirm="")
    return {"agents": names, **{key: getattr(given, key) for key in RACED}}


async def _screen(
    daemon: State, given: Given, status: int = 200, wrong: tuple[str, str] = ("", "")
) -> HTMLResponse:
    if daemon.read_only:
        main = new_form.framed(f'<p class="soft">{daemon.closed}</p>')
    else:
        known, default = await asyncio.to_thread(_agents, daemon)
        recent = _recent(daemon)
        given = given._replace(
            cwd=given.cwd or next(iter(recent), os.path.expanduser("~")),
            agent=_preselected(daemon, given.agent, known, default),
        )
        offers = await asyncio.to_thread(_offers, daemon, given.agent)
        main = new_form.rendered(given, known, recent, offers, wrong)
    page = shell.page(
        daemon,
        title="New session",
        main=main,
        here="new",
        modules=("new.js",),
        styles=("composer.css", "new.css"),
    )
    page.status_code = status
    return page


def _agents(daemon: State) -> tuple[list[Json], str]:
    settings = in_force.load(daemon.home)
    known = agents.listed(daemon.home, settings, daemon.home)
    for each in known:
        each["installable"] = is_installable(daemon.home, each["name"])
    return known, default_agent(daemon.home, settings.default_agent, os.environ)


def _offers(daemon: State, agent: str) -> dict[str, Json]:
    return agent_options.known(daemon.home, daemon.fleet.heads, agent)


@router.get("/new/options")
async def agent_fields(daemon: Daemon, agent: Text) -> HTMLResponse:
    """The fields that depend on the agent."""
    known = await asyncio.to_thread(_offers, daemon, agent)
    return HTMLResponse(new_form.offered(Given(), known))


def _newest(daemon: State) -> list[Json]:
    return sorted(daemon.fleet.heads, key=lambda head: -int(head["created"]))


def _recent(daemon: State) -> list[str]:
    """Return the directories of sessions that still exist, newest first."""
    heads = _newest(daemon)[:200]
    places = dict.fromkeys(
        lenient.text(head.get("worktree"), "origin") or str(head["cwd"]) for head in heads
    )
    existing = (place for place in places if place and os.path.isdir(place))
    return [place for place, _ in zip(existing, range(new_form.RECENT + 1), strict=False)]


def _preselected(daemon: State, asked: str, known: list[Json], default: str) -> str:
    """Return the agent to preselect: the one asked for, else one that can start: the last
    session's, the default, any of the user's, and the demo agent only if there is no other."""
    there = [each["name"] for each in known if each["installed"]]
    if asked in there:
        return asked
    can = [each["name"] for each in known if new_form.can_start(each)]
    used = (str(head["agent"]) for head in _newest(daemon))
    order = (*used, default, *(name for name in can if name != DEMO), *can)
    return next((name for name in order if name in can), default)
