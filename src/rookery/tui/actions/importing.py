"""`/import`: sessions that were begun with an agent elsewhere, from its own list."""

import asyncio
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from rookery.core.json import Json
from rookery.forms.lists import Row
from rookery.tui.look.runs import clean_line
from rookery.tui.shell import Shell

if TYPE_CHECKING:
    from rookery.client.imports.importing import Found

MOST = 200
"""Rows of the list."""


def choose(app: Shell, given: str) -> None:
    """`given`: the agent; else that of the shown session, or of the next one."""
    shown = str(app.window.header.get("agent") or "") if app.session else ""
    agent = given or shown or app.start.agent
    if not agent:
        app.notify("/import takes the name of an agent: /import claude.", severity="warning")
        return
    cwd = str(app.window.header.get("cwd") or "") if app.session else app.start.cwd
    app.notify(f"{agent} lists its sessions …", markup=False)

    async def find() -> tuple[list[Json], str]:
        from rookery.client.transport.remote import RemoteRookery

        rookery = app.reader.rookery
        if isinstance(rookery, RemoteRookery):
            return await _remote(rookery, agent, "GET", {})
        return await _local(app.start.home, agent, cwd)

    app.reader.run(find, lambda found: _ask(app, agent, *found))


async def _local(
    home: str, agent: str, cwd: str, wanted: Json | None = None
) -> tuple[list[Json], str]:
    from rookery.agents import registry
    from rookery.client.config import in_force
    from rookery.client.guard import FromAgent, require_person
    from rookery.client.imports import importing
    from rookery.client.imports.agent_sessions import CannotImport
    from rookery.core.agent.imported import Listed
    from rookery.home.config import ConfigError
    from rookery.log.errors import LogError

    try:
        require_person(home, "import sessions")
        settings = in_force.load(home)
        known = registry.resolve(agent, settings.agents)
        registry.check_installed(known, os.environ, cwd, settings.node_path)
        if wanted is None:
            rows = await importing.find(home, known, settings, os.environ, cwd)
        else:
            listed = Listed(**{key: str(wanted.get(key) or "") for key in Listed._fields})
            rows = [await importing.bring(home, known, settings, os.environ, listed)]
    except (CannotImport, FromAgent, ConfigError, LogError, OSError) as error:
        return [], str(error)
    except (registry.UnknownAgent, registry.NotInstalled) as error:
        return [], str(error)
    return [_told(row) for row in rows], ""


def _told(found: "Found") -> Json:
    return {**found.session._asdict(), "here": found.here}


async def _remote(rookery: object, agent: str, method: str, body: Json) -> tuple[list[Json], str]:
    from rookery.client.daemon.errors import RemoteError
    from rookery.client.transport.remote import RemoteRookery

    assert isinstance(rookery, RemoteRookery)
    path = f"/api/agents/{quote(agent, safe='')}/sessions"
    try:
        said = await asyncio.to_thread(rookery.door.json, method, path, body or None)
    except RemoteError as error:
        return [], str(error)
    return (list(said["sessions"]) if method == "GET" else [{"here": said["id"]}]), ""


def _ask(app: Shell, agent: str, found: list[Json], why: str) -> None:
    from rookery.tui.windows.choice import ChoiceScreen

    if why or not found:
        words = why or f"{agent} has no sessions of this directory."
        app.notify(clean_line(words, 300), severity="warning", markup=False)
        return
    rows = [
        Row(
            str(each["id"]),
            clean_line(str(each["title"] or each["id"]), 60),
            "here already" if each["here"] else clean_line(str(each["updated"])[:16]),
        )
        for each in found[:MOST]
    ]
    known = {str(each["id"]): each for each in found}
    screen = ChoiceScreen(f"Import from {clean_line(agent)}", rows)
    app.ask(screen, lambda name: _bring(app, agent, known[name]))


def _bring(app: Shell, agent: str, wanted: Json) -> None:
    if wanted["here"]:
        app.open_session(str(wanted["here"]))
        return

    async def bring() -> tuple[list[Json], str]:
        from rookery.client.transport.remote import RemoteRookery

        rookery = app.reader.rookery
        if isinstance(rookery, RemoteRookery):
            body = {key: wanted[key] for key in ("id", "cwd", "title")}
            return await _remote(rookery, agent, "POST", body)
        return await _local(app.start.home, agent, str(wanted["cwd"]), wanted)

    def brought(found: tuple[list[Json], str]) -> None:
        rows, why = found
        if why:
            app.notify(clean_line(why, 300), severity="error", markup=False)
        else:
            app.reader.glance()
            app.open_session(str(rows[0]["here"]))

    app.reader.run(bring, brought)
