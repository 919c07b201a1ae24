"""`race pick`: asks for the commit message first, and for nothing else if nothing is dropped."""

from typing import Any

from rookery.cli import target
from rookery.cli.looks.merge import asked_message, planned, say_merged
from rookery.cli.operation import agreed_result
from rookery.cli.output import clean_line, standard
from rookery.cli.session.send import Say
from rookery.core.json import Json
from rookery.operations.catalogue.row import Row


def carry_out(row: Row, session: str, say: Say, given: dict[str, Any]) -> Json | None:
    rookery, typed = target.rookery(), bool(given["message"])
    head = rookery.head(session) or {}
    rows = rookery.call("race", race=head["race"])["sessions"] if head.get("race") else []
    if rows and not given["dry_run"]:
        plan = planned(session, given["how"])
        given["message"] = asked_message(standard(), plan, given["message"], yes=given["yes"])
        rest = [each for each in rows if each["session"] != session and each["files"] is not None]
        given["yes"] = given["yes"] or not rest
    outcome = agreed_result(row, session, given)
    if outcome is None:
        return None
    say_merged(say, outcome["merged"], typed=typed)
    agents = {each["session"]: each["agent"] for each in rows}
    for each in outcome["dropped"]:
        say(f"Dropped {each} ({clean_line(agents.get(each, ''))}).")
    return outcome
