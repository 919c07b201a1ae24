"""`move`: in a terminal, asks first whether to trust programs that the repository needs."""

from typing import Any

from rookery.cli.operation import agreed_result
from rookery.cli.output import clean_line, standard
from rookery.cli.session.git_programs import with_trust
from rookery.cli.session.send import Say
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row


def carry_out(row: Row, session: str, say: Say, given: dict[str, Any]) -> Json | None:
    outcome = with_trust(standard(), lambda: agreed_result(row, session, dict(given)))
    if outcome is not None:
        say(clean_line(outcome["summary"]))
    return outcome
