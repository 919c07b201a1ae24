"""The daemon's ASGI application: the gate, and behind it the routes."""

from typing import Any, override

from fastapi import Depends, FastAPI
from fastapi.requests import HTTPConnection
from fastapi.routing import APIRoute

from rookery.build import build
from rookery.daemon import acp, errors
from rookery.daemon.access.gate import App, Gate
from rookery.daemon.access.journal import journalled
from rookery.daemon.api import ROUTERS
from rookery.daemon.branches import api as branches
from rookery.daemon.operations import aliases, api_versions, form
from rookery.daemon.operations import api as operations
from rookery.daemon.page import ROUTERS as SCREENS
from rookery.daemon.state import State

DESCRIPTION = (
    "All sessions of one Rookery. Log in first, and send the token as `Authorization: Bearer`. "
    "Every error has `error`, `message` and `remedy`."
)
TAGS = {
    "sessions": "Listed, created, changed, deleted.",
    "operations": "What can be done with a session, each at an address of its own.",
    "commands": "Commands to a session. Each is answered with the resulting event.",
    "history": "What happened in a session.",
    "work tree": "The directory that a session works in.",
    "stream": "Live updates. `/api/stream` is a WebSocket for any number of topics; "
    "docs/api.md explains its frames.",
    "devices": "Who is logged in, and which browsers get notifications.",
    "daemon": "The daemon itself.",
}
PARAMETERS = 100
"""The maximum number of query parameters."""
SECURITY: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer"},
}


def build_app(state: State, control: str) -> App:
    api = build_api()
    api.state.rookery = state
    gate = Gate(journalled(api, state.home), state.options, state.devices, control)
    return api_versions.Versions(gate, api.routes)


def build_api() -> FastAPI:
    """Build the API with its routes, without the gate in front of them."""
    api = _Api(
        title="Rookery",
        version=build(),
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        separate_input_output_schemas=False,
        redirect_slashes=False,
        dependencies=[Depends(_once)],
        generate_unique_id_function=_name,
        openapi_tags=[
            {"name": name, "description": description} for name, description in TAGS.items()
        ],
    )
    errors.install(api)
    for router in (
        *ROUTERS,
        operations.router,
        aliases.router,
        form.router,
        branches.router,
        *SCREENS,
        acp.router,
    ):
        api.include_router(router)
    return api


def _once(request: HTTPConnection) -> None:
    """Refuse a query that gives a parameter twice: who checks one value may use the other."""
    if request.scope["query_string"].count(b"&") >= PARAMETERS:
        message = f"A query may have at most {PARAMETERS} parameters."
        raise errors.Problem(422, "invalid", message, "Give fewer.")
    seen = set[str]()
    for name, _ in request.query_params.multi_items():
        if name in seen:
            raise errors.Problem(422, "invalid", f"{name[:100]}: is given twice", "Give it once.")
        seen.add(name)


class _Api(FastAPI):
    @override
    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        operations.documented(document)
        api_versions.documented(document)
        schemas = document["components"]["schemas"]
        schemas["Fault"] = errors.Fault.model_json_schema()
        document["components"]["schemas"] = dict(sorted(schemas.items()))
        document["components"]["securitySchemes"] = SECURITY
        document["security"] = [{name: []} for name in SECURITY]
        return document


def _name(route: APIRoute) -> str:
    """Return the operation id, which a generated client uses as a name: `listSessions`."""
    first, *rest = route.name.split("_")
    return first + "".join(word.capitalize() for word in rest)
