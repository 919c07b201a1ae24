"""Settings, models, MCP servers, agents and rules: the terminal's own forms over HTTP.

Secrets are taken and never sent back. What loosens the guard of asks is listed first, and saved
only when the same is sent again with `confirm`.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from rookery.client.config import in_force
from rookery.daemon.api.answers import READS, WRITES, faults
from rookery.daemon.api.bodies import LARGEST, Strict
from rookery.daemon.errors import Problem
from rookery.daemon.setup import catalog
from rookery.daemon.setup.catalog import Deed, FormName, ListName
from rookery.daemon.state import Daemon
from rookery.forms.form import Saved, complaint

router = APIRouter(tags=["setup"])

Text = Annotated[str, Field(max_length=20_000)]
Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | float
Value = Text | bool | Number | Annotated[list[Text], Field(max_length=100)] | None
Which = Annotated[
    str, Query(max_length=200, description="Which entry of a list; empty: a new one.")
]


class Drawn(BaseModel):
    """A form: draw its fields, send back what was changed."""

    title: str
    form: dict[str, Any] = Field(description="The fields, as ACP's restricted JSON schema.")
    values: dict[str, Any] = Field(description="The current values, without secrets.")
    tests: bool = Field(description="Whether it can be tested before it is saved.")


class Listed(BaseModel):
    name: str
    title: str
    more: str
    sign: str = Field(description="`on`, `off` or `bad`.")
    tag: str
    login: bool = Field(description="Whether there is a login: the form `login`, `server_login`.")


class Rows(BaseModel):
    rows: list[Listed]
    problem: str = Field(description="What is wrong with the file; may be empty.")


class Held(BaseModel):
    """Settings that were loosened while an agent was running, and do not apply."""

    fingerprint: str = Field(description="Empty: nothing needs confirmation.")
    loosens: list[str]


class Overview(BaseModel):
    forms: dict[str, str] = Field(description="Titles by name.")
    lists: dict[str, str] = Field(description="Titles by name.")
    held: Held


class SetupOutcome(BaseModel):
    done: bool
    words: str = Field(description="What to show.")
    wrong: dict[str, str] = Field(description="By field: a sentence for the user.")
    name: str = Field(description="Its name now.")
    loosens: list[str] = Field(
        description="Not done yet: what would then happen without asking. Send it again with "
        "`confirm`."
    )


class Filled(Strict):
    values: dict[Annotated[str, Field(max_length=200)], Value] = Field(
        max_length=200, description="Omitted fields stay unchanged; null removes a value."
    )
    confirm: bool = Field(False, description="Even if less is asked from then on.")
    untested: bool = Field(False, description="Save a model without testing it.")


class Tried(Strict):
    values: dict[Annotated[str, Field(max_length=200)], Value] = Field(max_length=200)


class Done(Strict):
    do: Deed
    confirm: bool = Field(False, description="Even if less is asked from then on.")


class Taken(Strict):
    fingerprint: str = Field(min_length=1, max_length=100)


@router.get("/api/setup", responses=faults(409))
async def read_setup(daemon: Daemon) -> Overview:
    """What can be set up, and what waits for your word."""
    held = (await asyncio.to_thread(in_force.settings, daemon.home)).held
    waits = Held(
        fingerprint=held.fingerprint if held else "", loosens=list(held.loosens) if held else []
    )
    return Overview(forms=catalog.SETTINGS, lists=catalog.LISTS, held=waits)


@router.post("/api/setup/held", responses=WRITES)
async def confirm_settings(daemon: Daemon, taken: Taken) -> SetupOutcome:
    """Apply settings that were loosened while an agent was running."""
    await asyncio.to_thread(in_force.confirm, daemon.home, taken.fingerprint)
    return _outcome(Saved(True, "The settings apply."))


@router.get("/api/setup/forms/{form}", responses=faults(404, 409))
async def read_form(daemon: Daemon, form: FormName, name: Which = "") -> Drawn:
    """The fields of a form and what is in them."""
    found = await asyncio.to_thread(catalog.form_of, daemon.home, form, name)
    return Drawn(title=found.title, form=found.schema, values=found.values, tests=found.tests)


@router.patch("/api/setup/forms/{form}", responses=WRITES)
async def save_form(
    daemon: Daemon, form: FormName, filled: Filled, name: Which = ""
) -> SetupOutcome:
    """Save what was changed. An answer that is not `done` says what is wrong with which field."""

    def work() -> SetupOutcome:
        found = catalog.form_of(daemon.home, form, name)
        answers = catalog.answers_of(found, filled.values)
        if wrong := found.check(answers):
            return _wrong(found.fields, wrong)
        if not filled.confirm and (loosens := found.loosens(daemon.home, answers)):
            return _outcome(Saved(False, "This allows more than before."), loosens=loosens)
        save = found.keep if filled.untested else found.save
        saved = save(daemon.home, answers)
        return _outcome(saved, found.fields)

    return await _tried(work)


@router.post("/api/setup/forms/{form}/test", responses=WRITES)
async def try_form(daemon: Daemon, form: FormName, filled: Tried, name: Which = "") -> SetupOutcome:
    """Test a model as it is filled in, without saving it."""

    def work() -> SetupOutcome:
        found = catalog.form_of(daemon.home, form, name)
        if not found.tests:
            raise Problem(409, "not_here", "This cannot be tested before it is saved.")
        answers = catalog.answers_of(found, filled.values)
        if wrong := found.check(answers):
            return _wrong(found.fields, wrong)
        return _outcome(found.test(daemon.home, answers), found.fields)

    return await _tried(work)


@router.get("/api/setup/lists/{listed}", responses=READS)
async def read_list(daemon: Daemon, listed: ListName) -> Rows:
    """What is saved."""
    rows, problem = await asyncio.to_thread(catalog.rows_of, daemon.home, listed)
    return Rows(rows=[Listed(**row._asdict()) for row in rows], problem=problem)


@router.post("/api/setup/lists/{listed}", responses=WRITES)
async def change_list(
    daemon: Daemon,
    listed: ListName,
    wanted: Done,
    name: Annotated[str, Query(min_length=1, max_length=200)],
) -> SetupOutcome:
    """Test, remove or turn off something that is saved, or make it the default."""

    def work() -> SetupOutcome:
        if not wanted.confirm and (
            loosens := catalog.loosens(daemon.home, listed, name, wanted.do)
        ):
            return _outcome(Saved(False, "This allows more than before."), loosens=loosens)
        return _outcome(catalog.done(daemon.home, listed, name, wanted.do))

    return await _tried(work)


async def _tried(work: Callable[[], SetupOutcome]) -> SetupOutcome:
    return await asyncio.to_thread(work)


def _outcome(
    saved: Saved, fields: dict[str, Any] | None = None, loosens: list[str] | None = None
) -> SetupOutcome:
    wrong = {
        name: complaint(name, (fields or {}).get(name), why) for name, why in saved.wrong.items()
    }
    return SetupOutcome(
        done=saved.ok, words=saved.words, wrong=wrong, name=saved.name, loosens=loosens or []
    )


def _wrong(fields: dict[str, Any], wrong: dict[str, str]) -> SetupOutcome:
    return _outcome(Saved(False, "Some fields are not valid.", wrong), fields)
