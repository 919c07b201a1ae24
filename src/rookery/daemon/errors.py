"""The error responses of the daemon: each has a reason for programs, a message for people, and a
remedy."""

from collections.abc import Iterable
from typing import Any, override

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Route

from rookery.core.blocks.failures import after_error
from rookery.core.json import Json
from rookery.core.json.secrets import masked
from rookery.core.refusals import KINDS, Kind, Refused, kind_of
from rookery.daemon.pieces.document import trouble


class Problem(Refused):
    """A refusal as an HTTP response: it may have headers, and a status that no kind of
    refusal has."""

    def __init__(
        self, status: int, reason: str, message: str, remedy: str = "", **headers: str
    ) -> None:
        super().__init__(reason, message, remedy, kind_of(status))
        self._status = status
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}

    @property
    @override
    def status(self) -> int:
        return self._status

    def body(self) -> Json:
        about: Json = {"error": self.reason, "kind": self.kind}
        about |= {"message": self.message, "remedy": self.remedy, **self.question}
        actions = after_error(self.reason)
        return about | ({"actions": actions} if actions else {})

    def response(self) -> JSONResponse:
        return JSONResponse(self.body(), self.status, self.headers)


def wants_page(path: str, accept: str) -> bool:
    """Tell whether the request is a browser's navigation."""
    return "text/html" in accept and not path.startswith("/api/")


def answer(request: HTTPConnection, problem: Problem) -> Response:
    """Return the problem as JSON, or as an HTML page for a browser."""
    if not wants_page(request.url.path, request.headers.get("accept", "")):
        return problem.response()
    remedy = "" if ADDRESS in problem.remedy else problem.remedy  # which is for programs
    page = trouble(problem.status, problem.message, remedy)
    return HTMLResponse(page, problem.status, problem.headers)


class Fault(BaseModel):
    """The body of every error."""

    error: str = Field(description="A word for programs.", examples=["unknown_session"])
    kind: str | None = Field(None, description=f"Which kind of refusal: {', '.join(KINDS)}.")
    message: str = Field(description="A sentence for the user.")
    remedy: str = Field(description="What to do; may be empty.")
    fingerprint: str | None = Field(None, description="Send it back to agree, where one may.")
    shown: str | None = Field(None, description="What one would agree to.")
    actions: list[dict[str, Any]] | None = Field(
        None, description="What helps, as buttons; the same as in the transcript."
    )


WORDS = {
    400: ("bad_request", "The request cannot be read.", "See /api/docs for what is expected."),
    404: ("not_found", "Nothing at this address.", "See /api/docs for what there is."),
    405: ("wrong_method", "Method not allowed at this address.", "See /api/docs."),
}


def internal() -> Problem:
    return Problem(500, "internal", "Rookery made an error.", "The daemon's log says which.")


REMEDIES = {
    "unknown_session": "GET /api/sessions lists them.",
    "ambiguous": "Use the session's whole id.",
    "unknown_agent": "GET /api/agents lists them.",
    "not_installed": "GET /api/agents says how to install it.",
    "not_in_trash": "GET /api/trash lists them.",
    "worker_refused": "Restart the session.",
    "disk_full": "Free space, then send it again.",
    "key_reused": "Use a new key for each request.",
    "still_alive": "Try again in a moment.",
    "bad_settings": "Correct the file; nothing was changed.",
    "unreadable_log": "rookery doctor checks the log.",
    "too_many": "Stop a session, or try again later.",
    "starting": "Stop a session, or try again later.",
    "parked": "Send the command `restart`.",
    "changed": "Reload the settings first.",
}
"""Remedies for clients of the API, by a refusal's reason; the command line may have others."""

OF_KIND: dict[Kind, str] = {
    "pending": "Let its disk be written to again; nothing is lost.",
    "failed": "Read the session's worker log.",
}
"""The same, whatever the reason."""
ADDRESS = "/api/"
"""A remedy that contains this is for programs only."""


def problem_of(error: Refused) -> Problem:
    """Convert a refusal into the problem that a client is sent."""
    if isinstance(error, Problem):
        return error
    remedy = OF_KIND.get(error.kind) or error.remedy or REMEDIES.get(error.reason, "")
    problem = Problem(error.status, error.reason, masked(error.message), remedy)
    problem.kind = error.kind
    problem.question = {name: masked(text) for name, text in error.question.items()}
    return problem


def _methods(routes: Iterable[BaseRoute], path: str) -> set[str]:
    """Return all HTTP methods that a path supports."""
    methods = set[str]()
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            methods |= _methods(included.routes, path)
        elif isinstance(route, Route) and route.path_regex.match(path):
            methods |= route.methods or set()
    return methods


def install(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        first: dict[str, Any] = dict(error.errors()[0]) if error.errors() else {}
        place = ".".join(str(each) for each in first.get("loc", ()) if each != "body")
        sentence = f"{place or 'The body'}: {first.get('msg', 'is not valid')}"[:500]
        problem = Problem(422, "invalid", sentence, "See /api/docs for what is expected.")
        return answer(request, problem)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        name, message, remedy = WORDS.get(error.status_code, ("failed", str(error.detail), ""))
        headers = dict(error.headers or {})
        if error.status_code == 405:  # the framework names those of the first route only
            headers["Allow"] = ", ".join(sorted(_methods(app.routes, request.url.path)))
        return answer(request, Problem(error.status_code, name, message, remedy, **headers))

    @app.exception_handler(Exception)
    async def _bug(request: Request, _: Exception) -> Response:
        return answer(request, internal())

    @app.exception_handler(Refused)
    async def _refused(request: Request, error: Refused) -> Response:
        return answer(request, problem_of(error))
