"""The screen for a new session. It also works as a plain form, without scripts."""

import asyncio
import os
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import ValidationError

from rookery.client.config import in_force
from rookery.core.json import Json
from rookery.daemon.api.sessions import New, create_session
from rookery.daemon.errors import EXPECTED, Problem, problem_of
from rookery.daemon.page import shell
from rookery.daemon.pieces import new_form
from rookery.daemon.pieces.new_form import Given
from rookery.daemon.state import Daemon, State
from rookery.models import agents
from rookery.models.choice import default_agent

router = APIRouter(include_in_schema=False)

LONGEST = 4_000_000
"""Bytes of a form."""

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
    if len(body) > LONGEST:
        raise Problem(413, "too_large", "The form is too large.", "Send less.")
    try:
        fields = dict(parse_qsl(body.decode("ascii"), max_num_fields=20))
    except ValueError:
        raise Problem(400, "bad_request", "This is not a form.", "Use the page's form.") from None
    given = Given(**{name: fields.get(name, "") for name in Given._fields})
    try:
        wanted = given._asdict() | {"worktree": given.worktree == new_form.OWN_TREE}
        made = await create_session(daemon, New.model_validate(wanted), "")
    except ValidationError as error:
        first = error.errors()[0]
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return await _screen(daemon, given, 422, (words, ""))
    except EXPECTED as error:
        problem = problem_of(error)
        if problem is None:
            raise
        return await _screen(daemon, given, problem.status, (problem.message, problem.remedy))
    return RedirectResponse(f"/sessions/{made.id}", 303)


async def _screen(
    daemon: State, given: Given, status: int = 200, wrong: tuple[str, str] = ("", "")
) -> HTMLResponse:
    if daemon.options.read_only:
        words = "This Rookery only shows: it was started with --read-only."
        main = f'<div class="screen"><h1>New session</h1><p class="soft">{words}</p></div>'
    else:
        known, default = await asyncio.to_thread(_agents, daemon)
        recent = _recent(daemon)
        names = [each["name"] for each in known if each["installed"]]
        given = given._replace(
            cwd=given.cwd or next(iter(recent), os.path.expanduser("~")),
            agent=given.agent if given.agent in names else _last(daemon, names) or default,
        )
        main = new_form.rendered(given, known, recent, wrong)
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
    return known, default_agent(daemon.home, settings.default_agent, os.environ)


def _newest(daemon: State) -> list[Json]:
    return sorted(daemon.fleet.heads, key=lambda head: -int(head["created"]))


def _recent(daemon: State) -> list[str]:
    """Directories of sessions, the newest first, that are still there."""
    places = dict.fromkeys(str(head["cwd"]) for head in _newest(daemon)[:200])
    found = (place for place in places if place and os.path.isdir(place))
    return [place for place, _ in zip(found, range(new_form.RECENT + 1), strict=False)]


def _last(daemon: State, names: list[str]) -> str:
    used = (str(head["agent"]) for head in _newest(daemon))
    return next((name for name in used if name in names), "")
