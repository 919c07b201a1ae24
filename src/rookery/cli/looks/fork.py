"""`fork`: prints the new session's id. The history is loaded first, and programs that the
repository needs may be trusted."""

from typing import Any

from rookery.cli.operation import agreed_result
from rookery.cli.output import clean_line, standard
from rookery.cli.session.git_programs import with_trust
from rookery.cli.session.loading import ensure_loaded
from rookery.cli.session.send import Say
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row


def carry_out(row: Row, session: str, say: Say, given: dict[str, Any]) -> Json | None:
    screen = standard()
    ensure_loaded(screen, session)
    outcome = with_trust(screen, lambda: agreed_result(row, session, dict(given)))
    assert outcome is not None
    screen.line(outcome["id"])
    say(clean_line(outcome["summary"]))
    return outcome
