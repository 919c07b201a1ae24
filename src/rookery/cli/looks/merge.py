"""`merge`: in a terminal, asks for the commit message and offers to give conflicts to the agent.
Without a session's name it takes the one of this directory."""

from typing import Any

import click

from rookery.cli import flags, target
from rookery.cli.operation import agreed_result
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.git_programs import with_trust
from rookery.cli.session.here import session_here
from rookery.cli.session.send import Say, send
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.operations.catalogue.row import Row

OPTIONS = (
    flags.flag("--ask-agent", help="If it conflicts, have the session's agent resolve that."),
)


def _named(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    return target.rookery().find(value) if value else session_here(with_worktree=True)


SESSION = click.argument(
    "session", required=False, callback=_named, shell_complete=flags.complete_sessions
)


def carry_out(row: Row, session: str, say: Say, given: dict[str, Any]) -> Json | None:
    asks, typed = given.pop("ask_agent"), bool(given["message"])
    if given["dry_run"]:
        return agreed_result(row, session, given)
    screen = standard()
    plan = with_trust(screen, lambda: planned(session, given["how"]))
    if plan["conflicts"] and _resolving(screen, session, plan, asked=asks):
        return {"conflicts": plan["conflicts"]}
    given["message"] = asked_message(screen, plan, given["message"], yes=given["yes"])
    outcome = with_trust(
        screen, lambda: agreed_result(row, session, dict(given), plan["fingerprint"])
    )
    assert outcome is not None
    say_merged(say, outcome, typed=typed)
    return outcome


def planned(session: str, how: str | None) -> Json:
    """Return what a merge would do."""
    given: dict[str, Any] = {"how": how} if how else {}
    return target.rookery().call("merge-plan", session, **given)


def _resolving(screen: Screen, session: str, plan: Json, *, asked: bool) -> bool:
    """Tell whether the agent is to resolve the conflicts: `asked` by an option, or agreed to in a
    terminal."""
    if not asked and not flags.in_terminal():
        return False
    named = ", ".join(plan["conflicts"][:5])
    screen.note(clean_line(f"Conflict with {plan['into']}: {named}. Nothing was changed."))
    if not asked and not click.confirm("Have the agent resolve it?", default=True, err=True):
        return False
    send(session, {"do": "prompt", "prompt": [{"type": "text", "text": plan["resolution"]}]})
    screen.note(f"The agent is resolving it: rookery tail {session}")
    screen.note(f"When it is done: rookery merge {session}")
    return True


def asked_message(screen: Screen, plan: Json, message: str, *, yes: bool) -> str:
    """Return the message that was given, or one typed in place of the draft that is shown; ""
    stands for the draft."""
    draft = plan["message"]
    if message or plan["conflicts"] or plan["in_the_way"] or not draft:
        return message
    size = f"{count(plan['files'], 'file')}, +{plan['added']} −{plan['removed']}"
    screen.note(clean_line(f"{size}, into {plan['into']}. Commit message:"))
    for line in draft.splitlines():
        screen.note(f"  {clean_line(line)}")
    if yes or not flags.in_terminal():
        return ""
    typed = click.prompt("Enter to take it, or type another", "", show_default=False, err=True)
    return typed.strip() or draft


def say_merged(say: Say, outcome: Json, *, typed: bool) -> None:
    """Report what a merge did and, if the user was not asked, what it did not do. `typed`: the user
    gave the message."""
    say(clean_line(outcome["summary"]))
    if flags.in_terminal() or not outcome["files"]:
        return
    draft = outcome["message"] and not typed
    other = " Without a terminal you are not asked: -m TEXT gives another message." if draft else ""
    say(f"Git hooks did not run, and nothing was pushed.{other}")
