"""`restart`: gives the agent this terminal's environment, and lists the variables that changed."""

from typing import Any

from rookery.cli.session.send import Say, renew_environment, send
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row

OPTIONS = ()


def carry_out(row: Row, session: str, say: Say, _given: Any) -> Json:
    command = row.command({})
    renew_environment(say, session, command)
    outcome = send(session, command)
    say("Restarted.")
    return outcome._asdict()
