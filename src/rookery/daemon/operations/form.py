"""Route for the form that asks for an operation's arguments."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse

from rookery.daemon.errors import Problem
from rookery.daemon.pieces import forms
from rookery.operations.catalogue.filling import form_of
from rookery.operations.catalogue.finding import find

router = APIRouter(include_in_schema=False)


@router.get("/pieces/operations/{name}")
async def operation_form(
    name: Annotated[str, Path(max_length=100)], request: Request
) -> HTMLResponse:
    """The query has what is known already."""
    row = find(name)
    if row is None:
        raise Problem(404, "unknown_operation", f"There is no operation {name!r}.")
    form = form_of(row)
    for each in row.arguments:
        if each.about.agrees:
            form["properties"].pop(each.name, None)
    return HTMLResponse(forms.fields(form, dict(request.query_params)))
