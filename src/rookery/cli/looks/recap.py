"""`recap`: first loads a history that only its agent has."""

import click

from rookery.cli import target
from rookery.cli.operation import values_of
from rookery.cli.output import clean, standard
from rookery.cli.session.loading import ensure_loaded
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row


def ask(row: Row, session: str, options: Json) -> Json:
    if options["before"] == 0:
        raise click.BadParameter("events are counted from 1.", param_hint="--before")
    ensure_loaded(standard(), session)
    return target.rookery().call(row.name, session, **values_of(row, options))


def show(result: Json, _options: Json) -> None:
    screen = standard()
    if result["text"]:
        screen.line(clean(result["text"]))
    else:
        screen.note("Nothing to recap.")
