"""The catalogue over HTTP: one route for all operations, their addresses and bodies in the OpenAPI
document as if each had its own, and the list from which the page makes its menus."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from rookery.build import build
from rookery.core.json import Json
from rookery.daemon.api import bodies
from rookery.daemon.api.answers import READS, WRITES
from rookery.daemon.api.commands import Outcome, sent
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, SessionId
from rookery.operations.catalogue.finding import every, find
from rookery.operations.catalogue.row import Row

router = APIRouter(tags=["operations"])

ADDRESS = "/api/v1/sessions/{session}/{operation}"
KEY = "Idempotency-Key"


class Operation(BaseModel):
    name: str = Field(description="Its word: of the address, the command line, slash commands.")
    title: str = Field(description="As menus show it.")
    sentence: str
    more: str = Field(description="What menus say beside the title.")
    on: str = Field(description="session, or sessions: the command line takes several at once.")
    arguments: dict[str, Any] = Field(description="Their JSON schema.")
    when: dict[str, bool] = Field(description="What menus ask of a session before they offer it.")
    needless: str = Field(description="Why it is not done again where `when` does not hold.")
    undo: str = Field(description="The operation that takes it back; empty: there is none.")
    done: str = Field(description="What is said afterwards, with {} for the session.")
    presets: list[dict[str, Any]] = Field(description="Menu entries that need no form.")
    warns: str = Field(description="What it costs; menus say it, and ask. Empty: nothing.")
    warns_when: dict[str, bool] = Field(description="The facts with which it costs that.")


class Operations(BaseModel):
    operations: list[Operation]


def about(row: Row) -> Operation:
    traits = row.traits
    return Operation(
        name=row.name,
        title=traits.title,
        sentence=row.sentence,
        more=row.more,
        on=traits.on,
        arguments=row.schema,
        when=dict(traits.when),
        needless=traits.needless,
        undo=traits.undo,
        done=traits.done,
        presets=[each._asdict() for each in traits.presets],
        warns=traits.warns,
        warns_when=dict(traits.warns_when),
    )


@router.get("/api/v1/operations", responses=READS, response_model=Operations)
async def list_operations(
    known: Annotated[str, Header(alias="If-None-Match", max_length=200)] = "",
) -> Response:
    """What can be done with a session: the same list that menus and commands are made of."""
    tag = f'"{build()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if known == tag:
        return Response(status_code=304, headers=headers)
    listed = Operations(operations=[about(row) for row in every()])
    return JSONResponse(listed.model_dump(), headers=headers)


@router.post(ADDRESS, responses=WRITES, include_in_schema=False)
async def operate(
    daemon: Daemon,
    session: SessionId,
    operation: Annotated[str, Path(max_length=100)],
    given: Annotated[dict[str, Any] | None, Body()] = None,
    key: Annotated[bodies.Id, Header(alias=KEY)] = "",
) -> Outcome:
    """Carry an operation out."""
    row = find(operation)
    if row is None:
        words = f"There is no operation {operation!r}."
        raise Problem(404, "unknown_operation", words, "GET /api/v1/operations lists them.")
    arguments: Json = given or {}
    if (refusal := row.check(arguments)) is not None:
        remedy = "GET /api/v1/operations has the schema of its arguments."
        raise Problem(422, refusal.reason, refusal.message, remedy)
    command = row.command(arguments) | ({"id": key} if key else {})
    return await sent(daemon, session, command)


def documented(document: Json) -> None:
    """Each operation at its own address in the OpenAPI document."""
    for row in every():
        document["paths"][ADDRESS.format(session="{session}", operation=row.name)] = {
            "post": _said(row)
        }


def _said(row: Row) -> Json:
    first, *rest = row.name.split("-")
    schema = {"schema": row.schema | {"additionalProperties": False}}
    session = {"type": "string", "title": "Session", "description": "Its id, prefix or title."}
    outcome = {"schema": {"$ref": "#/components/schemas/Outcome"}}
    return {
        "tags": ["operations"],
        "summary": row.traits.title,
        "description": "\n\n".join(row.paragraphs),
        "operationId": "".join([first, *(word.capitalize() for word in rest)]),
        "parameters": [
            {"name": "session", "in": "path", "required": True, "schema": session},
            {"name": KEY, "in": "header", "required": False, "schema": _KEY},
        ],
        "requestBody": {
            "content": {"application/json": schema},
            "required": bool(row.schema["required"]),
        },
        "responses": {
            "200": {"description": "The event that came of it.", "content": _json(outcome)},
            **{str(status): said for status, said in WRITES.items()},
        },
    }


def _json(content: Json) -> Json:
    return {"application/json": content}


_KEY: Json = {
    "type": "string",
    "maxLength": 200,
    "pattern": "^[A-Za-z0-9_.:-]*$",
    "title": KEY,
    "description": "Chosen by you: an operation sent twice with the same key runs once.",
}
