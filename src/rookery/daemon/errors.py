"""Every error that the daemon answers with: a word for programs, a sentence, and what helps."""

from collections.abc import Iterable
from typing import Any

import fastapi
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Route

from rookery.agents.registry import NotInstalled, UnknownAgent
from rookery.client.fleet import Ambiguous, StillAlive, UnknownSession
from rookery.client.guard import FromAgent
from rookery.client.session import Rejected, Trouble
from rookery.client.start import PARKED, STARTING, TOO_MANY, StartError
from rookery.client.trash.store import TrashError
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import refusals
from rookery.core.blocks.failures import after_error
from rookery.core.json import Json
from rookery.daemon.idempotency import KeyReused
from rookery.daemon.pieces.document import trouble
from rookery.home.config import ConfigError
from rookery.home.paths import PathError
from rookery.log.errors import Full, LogError, NoSession
from rookery.wire.frames import Refused


class Problem(fastapi.HTTPException):
    """An answer that is an error."""

    def __init__(
        self, status: int, error: str, message: str, remedy: str = "", **headers: str
    ) -> None:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        super().__init__(status, message, named)
        self.status = status
        self.error = error
        self.message = message
        self.remedy = remedy
        self.question: dict[str, str] = {}
        """Of what can be agreed to: `fingerprint` and `shown`."""

    def body(self) -> Json:
        said: Json = {"error": self.error, "message": self.message, "remedy": self.remedy}
        actions = after_error(self.error)
        return said | self.question | ({"actions": actions} if actions else {})

    def response(self) -> JSONResponse:
        return JSONResponse(self.body(), self.status, self.headers)


def wants_page(path: str, accept: str) -> bool:
    """Whether a person's browser goes there."""
    return "text/html" in accept and not path.startswith("/api/")


def answer(request: HTTPConnection, problem: Problem) -> Response:
    """As JSON, or as a page for a person."""
    if not wants_page(request.url.path, request.headers.get("accept", "")):
        return problem.response()
    remedy = "" if "/api/" in problem.remedy else problem.remedy  # which is for programs
    page = trouble(problem.status, problem.message, remedy)
    return HTMLResponse(page, problem.status, problem.headers)


class Fault(BaseModel):
    """What every error looks like."""

    error: str = Field(description="A word for programs.", examples=["unknown_session"])
    message: str = Field(description="A sentence for people.")
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


type Answer = tuple[int, str, str]
"""Status, word and remedy."""

KNOWN: dict[type[Exception], Answer] = {
    UnknownSession: (404, "unknown_session", "GET /api/sessions lists them."),
    NoSession: (404, "unknown_session", "GET /api/sessions lists them."),
    Ambiguous: (409, "ambiguous", "Use the session's whole id."),
    PathError: (404, "unknown_session", "GET /api/sessions lists them."),
    UnknownAgent: (409, "unknown_agent", "GET /api/agents lists them."),
    NotInstalled: (409, "not_installed", "GET /api/agents says how to install it."),
    FromAgent: (403, "from_the_agent", ""),
    Refused: (409, "worker_refused", "Restart the session."),
    Trouble: (507, "disk_full", "Let its disk be written to again; nothing is lost."),
    Full: (507, "disk_full", "Free space, then send it again."),
    NoWorktree: (409, "no_worktree", ""),
    TrashError: (409, "not_restored", ""),
    KeyReused: (409, "key_reused", "Use a new key for each request."),
    StillAlive: (409, "still_alive", "Try again in a moment."),
    ConfigError: (409, "bad_settings", "Correct config.toml: rookery config edit"),
    LogError: (409, "unreadable_log", "rookery doctor checks the log."),
}
EXPECTED: tuple[type[Exception], ...] = (
    HTTPException,
    refusals.Refused,
    Rejected,
    StartError,
    *KNOWN,
)
"""What `problem_of` knows."""
PASSING = (TOO_MANY, STARTING)


def problem_of(error: Exception) -> Problem | None:
    """What a known error of Rookery's is to a client; None: a bug."""
    match error:
        case Problem():
            return error
        case refusals.Refused():
            problem = Problem(error.status, error.reason, error.message, error.remedy)
            problem.question = error.question
            return problem
        case TrashError(name="not_in_trash"):
            return Problem(404, error.name, str(error), "GET /api/trash lists them.")
        case NoWorktree() | TrashError():
            status = 507 if error.name == "disk_full" else 409
            return Problem(status, error.name, str(error), error.remedy)
        case Rejected():
            return Problem(409, error.reason, error.message)
        case StartError() if error.name in PASSING:
            return Problem(503, error.name, error.message, "Stop a session, or try again later.")
        case StartError() if error.name == PARKED:
            return Problem(409, PARKED, error.message, "Send the command `restart`.")
        case StartError():
            return Problem(502, error.name, error.message, "Read the session's worker log.")
    for kind in type(error).__mro__:
        if kind in KNOWN:
            status, word, remedy = KNOWN[kind]
            return Problem(status, word, str(error), remedy)
    return None


def _methods(routes: Iterable[BaseRoute], path: str) -> set[str]:
    """All that can be done at an address."""
    found = set[str]()
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            found |= _methods(included.routes, path)
        elif isinstance(route, Route) and route.path_regex.match(path):
            found |= route.methods or set()
    return found


def install(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        first: dict[str, Any] = dict(error.errors()[0]) if error.errors() else {}
        place = ".".join(str(each) for each in first.get("loc", ()) if each != "body")
        words = f"{place or 'The body'}: {first.get('msg', 'is not valid')}"[:500]
        problem = Problem(422, "invalid", words, "See /api/docs for what is expected.")
        return answer(request, problem)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        if isinstance(error, Problem):
            return answer(request, error)
        name, message, remedy = WORDS.get(error.status_code, ("failed", str(error.detail), ""))
        headers = dict(error.headers or {})
        if error.status_code == 405:  # the framework names those of the first route only
            headers["Allow"] = ", ".join(sorted(_methods(app.routes, request.url.path)))
        return answer(request, Problem(error.status_code, name, message, remedy, **headers))

    @app.exception_handler(Exception)
    async def _bug(request: Request, _: Exception) -> Response:
        return answer(request, internal())

    for kind in EXPECTED[1:]:

        @app.exception_handler(kind)
        async def _known(request: Request, error: Exception) -> Response:
            problem = problem_of(error)
            assert problem is not None
            return answer(request, problem)
