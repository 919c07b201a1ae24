"""The routes that operations had before /api/v1, mapped to the operations of the catalogue. At
these routes only settings that loosen something needed confirmation. They are left out of the
OpenAPI document."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Body, Header, Request
from fastapi.responses import PlainTextResponse, Response

from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked
from rookery.core.refusals import NotAgreed, Refused
from rookery.daemon.api import bodies
from rookery.daemon.api.answers import Masked
from rookery.daemon.errors import Problem
from rookery.daemon.operations.api import KEY, queried
from rookery.daemon.operations.performing import perform, session_of
from rookery.daemon.state import Daemon
from rookery.operations.catalogue.finding import row_of
from rookery.operations.catalogue.results import SUMMARY
from rookery.operations.catalogue.row import FINGERPRINT, Row
from rookery.operations.settings import LOOSER

router = APIRouter(tags=["operations"])

LOG_PLACE = "Rookery-Log-Place"


_SESSION = "/api/sessions/{session}"


class Alias(NamedTuple):
    method: str
    path: str
    """A part in braces is an argument; `session`: the session that it is done to."""
    operation: str
    names: Mapping[str, str] = MappingProxyType({})
    """Arguments that had another name there, by that name."""
    shape: Callable[[Json], Any] = dict
    """The result as it was, or the whole answer where that was no JSON."""
    status: int = 200
    reads: Callable[[Json], Json] = dict
    """A request's body as arguments, where more than names was another."""
    asks: bool = False
    """Whether what has to be agreed to was answered, and done when it came with `confirm`."""
    body_has_key: bool = False
    """Whether the key was the body's `id`."""


_TRASHED = {"session": "name"}


def _without_words(result: Json) -> Json:
    return {key: result[key] for key in result if key != SUMMARY}


def _removed(result: Json) -> Json:
    return {"kept": result["kept"], "until": result.get("until")}


def _own_worktree(given: Json) -> Json:
    """Convert the old `worktree`: true, or the name of its branch."""
    own = given.pop("worktree", False)
    return given | ({"branch": own} if isinstance(own, str) else {"worktree": own})


def _one(given: Json) -> Json:
    return {"ids": [lenient.text(given, "id")], "directory": given.get("cwd", ""), "removed": True}


def _id_of(result: Json) -> Json:
    row = next(iter(result["sessions"]), {"state": "missing", "why": "Its agent does not list it."})
    if row["state"] not in ("new", "here"):
        raise Problem(409, "cannot_import", row["why"])
    return {"id": row["here"]}


def _many(given: Json) -> Json:
    ids = [lenient.text(each, "id") for each in lenient.mappings(given, "sessions")]
    return {"ids": ids, "removed": given.get("removed", False)}


def _recap(result: Json) -> Response:
    return PlainTextResponse(masked(result["text"]))


def _logs(result: Json) -> Response:
    return PlainTextResponse(masked(result["text"]), headers={LOG_PLACE: result["place"]})


def _saved(result: Json) -> Json:
    return {"words": result[SUMMARY], **_without_words(result), "loosens": []}


def _by_path(given: Json) -> Json:
    """Convert the files of a commit, which were a list of objects."""
    try:
        return {**given, "files": {each["path"]: each["digest"] for each in given["files"]}}
    except (KeyError, TypeError):
        return given  # which is refused


BRANCHES = (
    Alias("GET", f"{_SESSION}/merge", "merge-plan"),
    Alias("POST", f"{_SESSION}/merge", "merge", shape=_without_words),
    Alias("POST", f"{_SESSION}/drop", "drop", shape=lambda result: {"dropped": result["dropped"]}),
    Alias("POST", f"{_SESSION}/move", "move", shape=_without_words),
    Alias("GET", "/api/races/{race}", "race"),
    Alias("POST", "/api/races/pick", "pick", shape=_without_words),
    Alias("POST", "/api/races/drop", "drop-race", shape=_without_words),
)
COMMANDS = (
    Alias("POST", f"{_SESSION}/prompt", "prompt", body_has_key=True),
    Alias("POST", f"{_SESSION}/answer", "answer", body_has_key=True),
)
READS: tuple[Alias, ...] = (
    Alias("GET", "/api/usage", "usage"),
    Alias("GET", "/api/limits", "limits"),
    Alias("GET", "/api/search", "search"),
    Alias("GET", "/api/directories", "directories"),
    *(
        Alias("GET", f"{_SESSION}/{name}", name)
        for name in ("document", "events", "header", "part", "turns")
    ),
    Alias("GET", f"{_SESSION}/recap", "recap", shape=_recap),
    Alias("GET", f"{_SESSION}/logs/{{of}}", "logs", shape=_logs),
    Alias("GET", f"{_SESSION}/diff", "diff"),
    Alias("GET", f"{_SESSION}/changes", "changes"),
    Alias("GET", f"{_SESSION}/files", "files"),
    Alias("GET", f"{_SESSION}/files/known", "known-files"),
    Alias("GET", f"{_SESSION}/file", "file"),
)
TRASH = (
    Alias("DELETE", _SESSION, "remove", shape=_removed),
    Alias("GET", "/api/trash", "trash"),
    Alias("DELETE", "/api/trash", "empty-trash", shape=_without_words),
    Alias("DELETE", "/api/trash/{session}", "delete-trashed", _TRASHED, _removed),
    Alias("POST", "/api/trash/{session}/restore", "restore", _TRASHED, _without_words),
)
SESSIONS = (
    Alias(
        *("POST", f"{_SESSION}/fork", "fork"),
        reads=_own_worktree,
        shape=lambda result: {"id": result["id"]},
        status=201,
    ),
    Alias("POST", f"{_SESSION}/kill", "kill", shape=_without_words),
    Alias("GET", f"{_SESSION}/rewind", "rewinds"),
    Alias("GET", f"{_SESSION}/rewind/undo", "rewind-preview"),
    Alias("GET", f"{_SESSION}/rewind/{{turn}}", "rewind-preview"),
)
_FORM, _LIST = "/api/setup/forms/{form}", "/api/setup/lists/{listed}"
_LISTED = {"listed": "list"}
SETTINGS = (
    Alias("GET", "/api/setup", "setup"),
    Alias("POST", "/api/setup/held", "confirm-settings", {FINGERPRINT: "held"}, _saved),
    Alias("GET", _FORM, "settings-form"),
    Alias("PATCH", _FORM, "save-settings", shape=_saved, asks=True),
    Alias("POST", f"{_FORM}/test", "try-settings", shape=_saved, asks=True),
    Alias("GET", _LIST, "settings-list", _LISTED),
    Alias("POST", _LIST, "change-settings-list", _LISTED, _saved, asks=True),
)
WORK_TREE = (
    Alias("POST", f"{_SESSION}/changes/undo", "undo-change", shape=_without_words),
    Alias("POST", f"{_SESSION}/changes/put-back", "put-back-change", shape=_without_words),
    Alias("POST", f"{_SESSION}/changes/commit", "commit-changes", reads=_by_path),
    Alias("GET", "/api/directories/files", "directory-files"),
    Alias("GET", "/api/directories/branches", "branches"),
)
_INSTALL = "/api/agents/{agent}/install"
AGENTS = (
    Alias("GET", "/api/agents", "agents"),
    Alias("GET", _INSTALL, "installation"),
    Alias("POST", _INSTALL, "install-agent", status=202),
    Alias("DELETE", _INSTALL, "cancel-installation"),
)
_ELSEWHERE = "/api/agents/{agent}/sessions"
IMPORTS = (
    Alias("POST", f"{_ELSEWHERE}/list", "importable", {"cwd": "directory"}),
    Alias("POST", _ELSEWHERE, "import", shape=_id_of, reads=_one),
    Alias("POST", f"{_ELSEWHERE}/import", "import", shape=_without_words, reads=_many),
)
_UNSAVED: Json = {"done": False, "words": LOOSER, "wrong": {}, "name": ""}
ALIASES = (
    *COMMANDS,
    *BRANCHES,
    *READS,
    *TRASH,
    *SESSIONS,
    *SETTINGS,
    *WORK_TREE,
    *AGENTS,
    *IMPORTS,
)


def _endpoint(alias: Alias) -> Callable[..., Awaitable[Response]]:
    row = row_of(alias.operation)

    async def endpoint(
        daemon: Daemon,
        request: Request,
        given: Annotated[dict[str, Any] | None, Body()] = None,
        key: Annotated[bodies.Id, Header(alias=KEY)] = "",
    ) -> Response:
        in_path, given, session = dict(request.path_params), dict(given or {}), ""
        if row.on_session:
            named = in_path.pop("session", None) or str(given.pop("session", ""))
            session = await session_of(daemon, row, named)
        if alias.body_has_key:
            key = _checked_id(given.pop("id", key))
        query = {**request.query_params, **in_path}
        query = {alias.names.get(name, name): text for name, text in query.items()}
        given = alias.reads(given)
        agreed = given.pop("confirm", False) if alias.asks else True
        if not isinstance(agreed, bool):
            raise Refused("invalid", "confirm must be yes or no.", kind="usage")
        arguments = {alias.names.get(name, name): value for name, value in given.items()}
        arguments |= queried(row, query)
        if alias.method == "GET":  # what a query had besides was passed over
            arguments = row.given(arguments)
        if alias in SETTINGS or alias.body_has_key:
            _require(row, arguments, alias.names)
        try:
            result = await perform(daemon, row, session, arguments, key, agreed=agreed)
        except NotAgreed as question:
            if not alias.asks:
                raise
            return Masked(_UNSAVED | {"loosens": question.shown.splitlines()})
        return await asyncio.to_thread(_answer, alias, result)

    return endpoint


def _checked_id(key: Any) -> str:
    if isinstance(key, str) and len(key) <= 200 and re.fullmatch(bodies.ID, key):
        return key
    message = "id may have at most 200 letters, digits and the signs _ . : -."
    raise Refused("invalid", message, kind="usage")


def _require(row: Row, given: Json, names: Mapping[str, str]) -> None:
    """Raise Refused if an argument is missing, under the name that it had at the old route."""
    old = {new: name for name, new in names.items()}
    for each in row.arguments:
        if each.required and each.name not in given:
            message = f"{old.get(each.name, each.name)} is required."
            raise Refused("invalid", message, kind="usage")


def _answer(alias: Alias, result: Json) -> Response:
    shaped = alias.shape(result)
    return shaped if isinstance(shaped, Response) else Masked(shaped, alias.status)


@router.get(_ELSEWHERE, include_in_schema=False)
async def refuse_listing(agent: str) -> None:
    """Earlier clients list them so; but a GET starts no agent."""
    raise Problem(
        409,
        "starts_agent",
        f"Listing the sessions of {agent} starts it, and a GET request starts nothing.",
        "Update this client, or reload the page. In a script: POST /api/v1/importable",
    )


for _alias in ALIASES:
    router.add_api_route(
        _alias.path,
        _endpoint(_alias),
        methods=[_alias.method],
        name=_alias.operation,
        include_in_schema=False,
    )
