"""What the routes have in common: the errors that any of them may answer with."""

from typing import Any

from fastapi.responses import Response

from rookery.core.json.secrets import encoded
from rookery.daemon.errors import Fault

_WORDS = {
    400: "The request cannot be used.",
    401: "Not logged in.",
    403: "Refused: another site's page, a read-only daemon, or an agent's process.",
    404: "There is no such thing.",
    408: "The request took too long.",
    409: "It cannot be done as things stand.",
    413: "The request is too large.",
    421: "The daemon does not answer to this name.",
    422: "The request is not valid.",
    429: "Too many failed attempts.",
    502: "The session's worker did not start.",
    503: "No more workers may run.",
    507: "No space is left on the disk.",
}
ALWAYS = (401, 403, 421, 422, 429)
"""From any route."""


def faults(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    every = sorted({*ALWAYS, *statuses})
    return {status: {"model": Fault, "description": _WORDS[status]} for status in every}


READS = faults(400, 404, 409)
WRITES = faults(400, 404, 408, 409, 413, 502, 503, 507)


class Masked(Response):
    """JSON with its secrets masked."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encoded(content).encode("ascii")
