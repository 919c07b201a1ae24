"""The catalogue over HTTP: one route for all operations, their paths and bodies in the OpenAPI
document as if each had a route of its own, and the list from which the page builds its menus."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from rookery.build import build
from rookery.core.json import Json
from rookery.daemon.api import bodies
from rookery.daemon.api.answers import READS, WRITES
from rookery.daemon.errors import Problem
from rookery.daemon.operations.performing import PLAIN, STREAM, answered, session_of
from rookery.daemon.state import SESSION, Daemon, SessionId
from rookery.operations.catalogue import results
from rookery.operations.catalogue.arguments import Argument
from rookery.operations.catalogue.finding import every, find
from rookery.operations.catalogue.row import FINGERPRINT, Row

router = APIRouter(tags=["operations"])

ON_SESSION = "/api/v1/sessions/{session}/{operation}"
ON_ROOKERY = "/api/v1/{operation}"
KEY = "Idempotency-Key"


class Operation(BaseModel):
    name: str = Field(description="Its word: of the address, the command line, slash commands.")
    title: str = Field(description="As menus show it.")
    sentence: str
    more: str = Field(description="What menus say beside the title.")
    kind: str = Field(description="change, command, work or read.")
    on: str = Field(
        description="session; sessions: the command line takes several at once; rookery: none."
    )
    arguments: dict[str, Any] = Field(description="Their JSON schema.")
    when: dict[str, bool] = Field(description="What menus ask of a session before they offer it.")
    listed: bool = Field(description="Whether menus offer it.")
    typed: bool = Field(description="Whether users type it; else it is in the API alone.")
    needless: str = Field(description="Why it is not done again where `when` does not hold.")
    undo: str = Field(description="The operation that undoes it; empty: none.")
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
        kind=row.kind,
        on=traits.on,
        arguments=row.schema,
        when=dict(traits.when),
        listed=traits.listed,
        typed=traits.typed,
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
    """Every operation: the list that menus and commands are made of."""
    tag = f'"{build()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if known == tag:
        return Response(status_code=304, headers=headers)
    listed = Operations(operations=[about(row) for row in every()])
    return JSONResponse(listed.model_dump(), headers=headers)


Name = Annotated[str, Path(max_length=100)]
Given = Annotated[dict[str, Any] | None, Body()]
Key = Annotated[bodies.Id, Header(alias=KEY)]


@router.post(ON_SESSION, responses=WRITES, include_in_schema=False)
async def operate_on_session(
    daemon: Daemon,
    session: Annotated[str, SESSION],
    operation: Name,
    request: Request,
    given: Given = None,
    key: Key = "",
) -> Response:
    """Carry out an operation on a session."""
    row = _row(operation, "POST", on_session=True)
    name = await session_of(daemon, row, session)
    return await answered(daemon, row, name, given or {}, key, request)


@router.get(ON_SESSION, responses=WRITES, include_in_schema=False)
async def read_session(
    daemon: Daemon, session: SessionId, operation: Name, request: Request
) -> Response:
    """Read something of a session."""
    row = _row(operation, "GET", on_session=True)
    return await answered(daemon, row, session, queried(row, request.query_params), "", request)


@router.post(ON_ROOKERY, responses=WRITES, include_in_schema=False)
async def operate(
    daemon: Daemon, operation: Name, request: Request, given: Given = None, key: Key = ""
) -> Response:
    """Carry out an operation."""
    row = _row(operation, "POST", on_session=False)
    return await answered(daemon, row, "", given or {}, key, request)


@router.get(ON_ROOKERY, responses=WRITES, include_in_schema=False)
async def read(daemon: Daemon, operation: Name, request: Request) -> Response:
    """Read something of all sessions, or of the Rookery."""
    row = _row(operation, "GET", on_session=False)
    return await answered(daemon, row, "", queried(row, request.query_params), "", request)


def _row(name: str, method: str, *, on_session: bool) -> Row:
    row = find(name)
    if row is None or row.on_session is not on_session or method != method_of(row):
        message = f"There is no operation {name!r} at this address."
        raise Problem(404, "unknown_operation", message, "GET /api/v1/operations lists them.")
    return row


def method_of(row: Row) -> str:
    return "GET" if row.kind == "read" else "POST"


def queried(row: Row, given: Mapping[str, str]) -> Json:
    """Convert a query's arguments, each to its kind. Lists are comma-separated."""
    kinds = {each.name: each.kind for each in row.arguments}
    return {name: _value(kinds.get(name, ""), text) for name, text in given.items()}


def _value(kind: str, text: str) -> Any:
    """Convert the text; if it does not fit its kind it stays a string, which the check then
    refuses."""
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
            case "array":
                return [each.strip() for each in text.split(",") if each.strip()]
    except ValueError:
        pass
    return text


# --- in the OpenAPI document ---------------------------------------------------------------------


def documented(document: Json) -> None:
    """Add each operation to the OpenAPI document under its own path."""
    schemas = document["components"]["schemas"]
    for row in every():
        address = ON_SESSION if row.on_session else ON_ROOKERY
        place = address.format(session="{session}", operation=row.name)
        operation = _described(row, schemas)
        document["paths"].setdefault(place, {})[method_of(row).lower()] = operation


def _described(row: Row, schemas: Json) -> Json:
    first, *rest = row.name.split("-")
    parameters = [_SESSION] if row.on_session else []
    operation: Json = {
        "tags": ["operations"],
        "summary": row.traits.title,
        "description": "\n\n".join(row.paragraphs),
        "operationId": "".join([first, *(word.capitalize() for word in rest)]),
    }
    if row.kind == "read":
        parameters += [_queried(row, each) for each in row.arguments]
    else:
        parameters += [{"name": KEY, "in": "header", "required": False, "schema": _KEY}]
        required = bool(row.schema["required"])
        operation["requestBody"] = {"content": _json(_body(row)), "required": required}
    content = _json(
        {"$ref": "#/components/schemas/Outcome"}
        if row.is_sent
        else results.schema_of(row.body, schemas)
    )
    if row.kind == "work":
        content[STREAM] = {"schema": {"type": "string", "description": _PROGRESS}}
    if row.kind == "read" and row.traits.typed:
        content[PLAIN] = {"schema": {"type": "string", "description": "The same as plain text."}}
    what = "The event that came of it." if row.is_sent else "What came of it."
    answers = {str(status): answer for status, answer in WRITES.items()}
    answers["200"] = {"description": what, "content": content}
    return operation | {"parameters": parameters, "responses": dict(sorted(answers.items()))}


def _body(row: Row) -> Json:
    schema = row.schema | {"additionalProperties": False}
    if row.traits.needs_one:
        schema |= {"anyOf": [_given(row, name) for name in row.traits.needs_one]}
    if row.traits.preview is None:
        return schema
    return schema | {"properties": {**row.schema["properties"], FINGERPRINT: _AGREED}}


def _given(row: Row, name: str) -> Json:
    """Return a schema that requires an argument to be given, and a flag to be true."""
    is_flag = row.schema["properties"][name]["type"] == "boolean"
    return {"required": [name]} | ({"properties": {name: {"const": True}}} if is_flag else {})


def _queried(row: Row, argument: Argument) -> Json:
    schema: Json = row.schema["properties"][argument.name]
    if argument.kind == "array":
        schema = {**schema, "type": "string"} | ({"pattern": "[^ ,]"} if argument.required else {})
    return {"name": argument.name, "in": "query", "required": argument.required, "schema": schema}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


_SESSION: Json = {
    "name": "session",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "title": "Session", "description": "Its id, prefix or title."},
}
_KEY: Json = {
    "type": "string",
    "maxLength": 200,
    "pattern": "^[A-Za-z0-9_.:-]*$",
    "title": KEY,
    "description": "Chosen by you: an operation sent twice with the same key runs once.",
}
_AGREED: Json = {
    "type": "string",
    "title": "Fingerprint",
    "description": "Of what the refusal `preview` showed. Without it, nothing is done.",
}
_PROGRESS = (
    "With `Accept: text/event-stream`: events `progress` with a `message`, then `result` with what "
    "is answered otherwise, or `refusal` with a `status` and the fields of a Fault."
)
