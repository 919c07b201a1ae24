"""Response declarations shared by the routes: the errors that any of them may answer with."""

from typing import Any, override

from fastapi.responses import JSONResponse
from pydantic import BaseModel

from rookery.core.json.secrets import encoded

type Answers = dict[int | str, dict[str, Any]]
"""Responses by status, for the OpenAPI document."""

_WORDS = {
    400: "The request cannot be read.",
    401: "Not logged in.",
    403: "Refused: another site's page, a read-only daemon, or an agent's process.",
    404: "Not found.",
    408: "The request took too long.",
    409: "Not possible in the current state.",
    413: "The request is too large.",
    421: "The daemon does not accept this host name.",
    422: "The request is not valid.",
    502: "The session's worker did not start.",
    503: "The worker limit is reached, or the worker does not respond.",
    507: "No space is left on the disk.",
}
_FAULT = {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}}
ALWAYS = (401, 403, 421, 422)
"""From any route."""


def faults(*statuses: int) -> Answers:
    """Return the error responses of a route. They are referenced in the document rather than given
    as models: FastAPI would build a reader for each status of each route, a tenth of the daemon's
    start."""
    every = sorted({*ALWAYS, *statuses})
    return {status: {"description": _WORDS[status], "content": _FAULT} for status in every}


def reads(shape: type[BaseModel], *statuses: int) -> Answers:
    """Return the responses of a route that sends JSON of this shape unchanged."""
    return {200: {"model": shape, "description": "What was asked for."}, **faults(404, *statuses)}


def with_shape(shape: type[BaseModel], answers: Answers) -> Answers:
    return {200: {"model": shape, "description": "As it is now."}, **answers}


def sends(*kinds: str, **shown: Any) -> Answers:
    """Return the responses of a route that sends bytes of these types."""
    content = {kind: {"schema": {"type": "string", **shown}} for kind in kinds}
    return {200: {"content": content, "description": "What was asked for."}, **faults(404, 409)}


READS = faults()
"""The errors of routes that need no session."""
WRITES = faults(400, 404, 408, 409, 413, 502, 503, 507)


class Masked(JSONResponse):
    """A JSON response in which secrets are masked."""

    @override
    def render(self, content: Any) -> bytes:
        return encoded(content).encode("ascii")
