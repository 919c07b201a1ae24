"""Settings over HTTP as they were before /api/v1: what loosens is said in the answer, and done when
the same comes again with `confirm`."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.responses import Response

from rookery.core.json import Json
from rookery.core.refusals import NotAgreed, Refused
from rookery.daemon.api.answers import Masked
from rookery.daemon.operations.performing import perform
from rookery.daemon.state import Daemon, State
from rookery.operations.catalogue.finding import row_of
from rookery.operations.settings import LOOSER

router = APIRouter(include_in_schema=False)

Given = Annotated[dict[str, Any], Body()]
Name = Annotated[str, Query(max_length=200)]


@router.get("/api/setup")
async def read_setup(daemon: Daemon) -> Response:
    return Masked(await perform(daemon, row_of("setup"), "", {}))


@router.post("/api/setup/held")
async def confirm_settings(daemon: Daemon, given: Given) -> Response:
    if not isinstance(given.get("fingerprint"), str):
        raise Refused("invalid", "fingerprint is required.", kind="usage")
    held = {"held": given["fingerprint"]}
    return await _changed(daemon, "confirm-settings", held, {"confirm": True})


@router.get("/api/setup/forms/{form}")
async def read_form(daemon: Daemon, form: str, name: Name = "") -> Response:
    return Masked(await perform(daemon, row_of("settings-form"), "", {"form": form, "name": name}))


@router.patch("/api/setup/forms/{form}")
async def save_form(daemon: Daemon, form: str, given: Given, name: Name = "") -> Response:
    return await _changed(daemon, "save-settings", {"form": form, "name": name}, given)


@router.post("/api/setup/forms/{form}/test")
async def try_form(daemon: Daemon, form: str, given: Given, name: Name = "") -> Response:
    return await _changed(daemon, "try-settings", {"form": form, "name": name}, given)


@router.get("/api/setup/lists/{listed}")
async def read_list(daemon: Daemon, listed: str) -> Response:
    return Masked(await perform(daemon, row_of("settings-list"), "", {"list": listed}))


@router.post("/api/setup/lists/{listed}")
async def change_list(daemon: Daemon, listed: str, given: Given, name: Name) -> Response:
    return await _changed(daemon, "change-settings-list", {"list": listed, "name": name}, given)


async def _changed(daemon: State, operation: str, known: Json, given: Json) -> Response:
    arguments = {**given, **known}
    agreed = arguments.pop("confirm", False)
    if not isinstance(agreed, bool):
        raise Refused("invalid", "confirm must be yes or no.", kind="usage")
    try:
        done = await perform(daemon, row_of(operation), "", arguments, agreed=agreed)
    except NotAgreed as question:
        loosens = question.shown.splitlines()
        return Masked({"done": False, "words": LOOSER, "wrong": {}, "name": "", "loosens": loosens})
    return Masked({"words": done.pop("summary"), **done, "loosens": []})
