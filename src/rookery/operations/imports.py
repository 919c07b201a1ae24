"""Sessions that were begun with an agent without Rookery: listing and importing them."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, work

if TYPE_CHECKING:
    from rookery.client.imports.importing import Candidate, Importer
    from rookery.core.agent.imported import Listed

IMPORTS = "import sessions"

Agent = Annotated[
    str, Arg("Only this agent's sessions.", max_length=200, how="agent", metavar="NAME")
]
Directory = Annotated[
    str,
    Arg(
        "Only those of this directory; empty: of every one.",
        max_length=4096,
        pattern=r"^[^\x00]*$",
        positional=True,
        wrong="That is no directory's name.",
    ),
]
Ids = Annotated[list[str] | None, Arg("These, by the ids that their agent has for them.")]
All = Annotated[bool, Arg("All that are listed.", typed=False)]
Removed = Annotated[bool, Arg("Also sessions that you removed permanently.")]


class Elsewhere(TypedDict):
    """A session that was begun with an agent outside Rookery."""

    agent: str
    id: str
    cwd: str
    title: str
    updated: Annotated[str, "When it was last used, according to the agent."]
    here: Annotated[str, "The id of the session here, or in the trash; empty: none."]
    state: Annotated[
        Literal["new", "here", "trashed", "removed", "no_directory"],
        "`new`: it can be imported, or was just now. Else why it is not.",
    ]
    why: Annotated[str, "The same as a sentence; empty: it can be imported, or was just now."]


class Importable(TypedDict):
    sessions: Annotated[list[Elsewhere], "The latest first, so far as their agents tell."]
    failed: Annotated[list[str], "Why an agent could not tell all of its sessions."]


class Imported(TypedDict):
    summary: str
    sessions: Annotated[list[Elsewhere], "What became of each."]
    failed: Annotated[list[str], "Why an agent could not tell all of its sessions."]
    missing: Annotated[list[str], "Of the ids, those that no agent lists."]


@work(
    "Sessions begun elsewhere",
    on="rookery",
    person=IMPORTS,
    listed=False,
    typed=False,
    once="harmless",
)
def importable(at: At, agent: Agent = "", directory: Directory = "") -> Importable:
    """List sessions that you began with an agent without Rookery. The agent is started for it."""
    rows: list[Candidate] = []
    failed: list[str] = []

    async def listed() -> None:
        async with aclosing(_pages(at, agent, directory, failed)) as pages:
            async for _, page in pages:
                rows.extend(page)

    asyncio.run(listed())
    for each in rows:
        _LISTED.setdefault((at.home, each.agent), {})[each.session.id] = each.session
    rows.sort(key=lambda each: each.session.updated, reverse=True)
    return {"sessions": [_row(each) for each in rows], "failed": failed}


@work(
    "Import",
    on="rookery",
    person=IMPORTS,
    listed=False,
    examples=("--list", "--agent claude ~/shop", "--agent opencode --session ses_4f2a --all"),
)
def import_(
    at: At,
    agent: Agent = "",
    directory: Directory = "",
    ids: Ids = None,
    all_: All = False,
    removed: Removed = False,
) -> Imported:
    """Import sessions that you began with an agent without Rookery.

    The agent lists its sessions, and each becomes a session here at once. Its history is loaded
    when you open it; your next prompt continues it. Sessions that are here already are left alone,
    so you can run this again. If no agent is named, every installed one is asked.
    """
    from rookery.client.imports.importing import NEW
    from rookery.core.json.safe_text import count

    rows: list[Candidate] = []
    failed: list[str] = []
    missing, made = dict.fromkeys(ids or ()), 0

    async def bring() -> None:
        nonlocal made
        async with aclosing(_pages(at, agent, directory, failed, missing)) as pages:
            async for importer, page in pages:
                meant = [each.session for each in page if all_ or each.session.id in missing]
                rows.extend(await asyncio.to_thread(importer.bring, meant, removed=removed))
                for each in meant:
                    missing.pop(each.id, None)
                made = sum(each.state == NEW for each in rows)
                at.report(f"{made:,} imported …")
                if not missing and not all_:
                    break

    if all_ or missing:
        asyncio.run(bring())
    return {
        "summary": f"Imported {count(made, 'session')}.",
        "sessions": [_row(each) for each in rows],
        "failed": failed,
        "missing": list(missing),
    }


_LISTED: "dict[tuple[str, str], dict[str, Listed]]" = {}
"""The sessions that a home's agents listed in this process: one chosen from them is imported
without starting the agent again."""


async def _pages(
    at: At, agent: str, directory: str, failed: list[str], ids: Iterable[str] = ()
) -> "AsyncGenerator[tuple[Importer, list[Candidate]]]":
    """Yield pages of sessions, one agent after the other. If an agent fails, the others are still
    asked, and what it has listed is used. `ids`: the only sessions wanted. Raises CannotImport,
    NotInstalled, UnknownAgent."""
    from rookery.agents import registry
    from rookery.client.config import in_force
    from rookery.client.imports.agent_sessions import CannotImport
    from rookery.client.imports.importing import Candidate, Importer

    settings, place, any_came = in_force.load(at.home), os.path.expanduser(directory), False
    names = [agent] if agent else _installed(at.home)
    for name in names:
        known = registry.resolve(name, settings.agents)
        registry.check_installed(known, os.environ, place or "/", settings.node_path)
        importer = Importer(at.home, known, settings, os.environ)
        listed = _LISTED.get((at.home, name), {})
        if ids and all(each in listed for each in ids):
            yield importer, [Candidate(name, listed[each]) for each in ids]
            continue
        at.report(f"Asking {name} for its sessions …")
        try:
            async with importer, aclosing(importer.pages(place)) as pages:
                async for page in pages:
                    any_came = True
                    yield importer, page
        except CannotImport as error:
            if len(names) == 1 and not any_came:
                raise
            failed.append(error.sentences)


def _installed(home: str) -> list[str]:
    """Return the installed agents that may have sessions of their own. Raises Refused."""
    from rookery.agents import registry
    from rookery.client.config import in_force
    from rookery.core.refusals import Refused
    from rookery.models.agents import listed

    ours = (registry.OWN, registry.DEMO)  # theirs are here, or are none
    known = listed(home, in_force.load(home), home)
    names = [row["name"] for row in known if row["installed"] and row["name"] not in ours]
    if not names:
        helps = "To see which there are: rookery agents"
        raise Refused("not_installed", "No agent is installed.", helps)
    return names


def _row(entry: "Candidate") -> Elsewhere:
    fields: Any = {**entry.session._asdict(), "agent": entry.agent, "why": entry.why_not()}
    fields |= {"here": entry.here, "state": entry.state}
    shown: Elsewhere = fields
    return shown
