"""`restore`: restores several sessions at once; without a name, lists what is in the trash."""

from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.looks import trash
from rookery.cli.output import clean_line, standard
from rookery.cli.session.send import Say
from rookery.operations.catalogue.row import Row

JSON = flags.results("Print JSON.")
OPTIONS = ()
ARGUMENTS = {
    "name": click.argument(
        "names", nargs=-1, metavar="[SESSION]...", shell_complete=flags.complete_trashed
    )
}
MORE = "Without a name, list what is in the trash."


def carry_out(row: Row, _session: str, _say: Say, given: Any) -> None:
    screen = standard()
    if not given["names"]:
        trash.show(screen)
    for name in given["names"]:
        restored = target.rookery().call(row.name, name=name)
        screen.result({"id": restored["id"], "missing": restored["missing"]})
        if screen.as_json:
            continue
        screen.note(f"Restored {restored['id']}.")
        if restored["missing"]:
            screen.note(f"  {clean_line(restored['missing'])}")
