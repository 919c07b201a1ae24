"""`clear`: reports how many turns are folded away."""

from typing import Any

from rookery.cli.session.send import Say, header_of, send
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row

OPTIONS = ()


def carry_out(row: Row, session: str, say: Say, _given: Any) -> Json:
    outcome = send(session, row.command({}))
    turns = (header_of(session).fold or {"turn": 0})["turn"]
    folded = f" {turns} {'turn is' if turns == 1 else 'turns are'} folded away." if turns else ""
    say(f"Cleared.{folded}")
    return outcome._asdict()
