"""The daemon's application: the gate, and behind it the routes."""

from fastapi import FastAPI

from rookery.build import build
from rookery.daemon import errors
from rookery.daemon.access.gate import App, Gate
from rookery.daemon.api import ROUTERS
from rookery.daemon.state import State

DESCRIPTION = (
    "All sessions of one Rookery. Log in first: send a token as `Authorization: Bearer`, or the "
    "cookie that a one-time link sets. Every error has `error`, `message` and `remedy`."
)


def build_app(state: State, control: str) -> App:
    api = FastAPI(
        title="Rookery",
        version=build(),
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        separate_input_output_schemas=False,
        redirect_slashes=False,
    )
    api.state.rookery = state
    errors.install(api)
    for router in ROUTERS:
        api.include_router(router)
    return Gate(api, state.options, state.devices, state.lockout, control)
