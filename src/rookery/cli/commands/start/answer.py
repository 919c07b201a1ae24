"""`answer`: a session's open questions, and your answers."""

import click

from rookery.cli import exits, flags
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.form_fields import form_answer
from rookery.cli.session.open_asks import Asked, how_to_answer, open_asks, write_card
from rookery.cli.session.send import send
from rookery.core.asks.asks import answer_to, once_only
from rookery.core.json import Json, lenient

WORD = "confirm"
"""What is typed to allow a call that cannot be undone."""

DETAILS = {
    "deferred": "Left open. The session may sleep; your answer wakes it: rookery asks",
    "sent again": "The prompt is sent again.",
}
"""What came of an answer that did not end the question."""


@click.command()
@flags.session_argument
@click.argument("option", required=False)
@click.option(
    "--ask", "number", default=1, show_default=True, help="Which question, if there are several."
)
@click.option("--reason", default="", metavar="TEXT", help="Reason to send to the agent.")
@click.option("--confirm", is_flag=True, help="Allow it even if it is destructive.")
@click.option("--defer", is_flag=True, help="Decide later: the turn waits, the agent stops.")
@click.option(
    "--always-allow",
    "always",
    is_flag=False,
    flag_value=1,
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Allow it and add a rule for exactly this action, or the Nth rule listed.",
)
@flags.several(
    "--set", "values", metavar="FIELD=VALUE", help="Fill in a field of a form. Repeatable."
)
def answer(
    session: str,
    option: str | None,
    number: int,
    reason: str,
    confirm: bool,
    defer: bool,
    always: int | None,
    values: tuple[str, ...],
) -> int:
    """List a session's open questions, or answer one. The first answer wins.

    OPTION is an option's number, name, id or kind (allow_once, reject_once, …); for a form:
    accept, decline or cancel. To allow a destructive action, pass --confirm or type a word in the
    terminal. --always-allow also adds a rule for exactly this action; wider rules are listed with
    the question, and --always-allow 2 picks the second (see rookery policy list).

    \b
    rookery answer 3f2a
    rookery answer 3f2a 1
    rookery answer 3f2a --always-allow
    rookery answer 3f2a reject --reason "Use the staging database"
    rookery answer 3f2a accept --set branch=main
    """
    if defer and option is not None:
        raise click.UsageError("--defer cannot be combined with an option.")
    if always and (defer or option is not None):
        raise click.UsageError("--always-allow cannot be combined with an option.")
    screen = standard()
    found = open_asks(session)
    if not found:
        screen.note("No open questions.")
        return exits.DONE if option is None and not defer and not always else exits.FAILED
    if option is None and not defer and not always:
        _list(screen, session, found)
        return exits.DONE
    if not 1 <= number <= len(found):
        raise click.BadParameter(f"there are {len(found)} open questions.", param_hint="--ask")
    asked = found[number - 1]
    command = answer_to(asked.ask)
    if chosen := always or _rule_of(asked, option):
        if danger := clean_line(lenient.text(asked.ask, "danger")):
            raise Unavailable(once_only(danger))
        return _send(screen, session, command | {"always": chosen if chosen > 1 else True})
    if option is None:
        return _send(screen, session, command | {"defer": True})
    command |= _chosen(asked, option, values)
    command |= {"reason": reason} if reason.strip() else {}
    danger = _danger(asked, command)
    if danger and not confirm and not _confirmed(screen, danger, asked):
        return exits.REFUSED
    return _send(screen, session, command | ({"confirm": True} if danger else {}))


def _rule_of(asked: Asked, option: str | None) -> int:
    """The numbers behind the agent's own options are those of our rules; 0: it is none."""
    if not asked.ask.get("always") or option is None or not option.isdecimal():
        return 0
    offered = max(1, min(4, len(lenient.texts(asked.ask, "alwaysChoices"))))
    number = int(option[:4]) - len(asked.options)
    return number if 1 <= number <= offered else 0


def _list(screen: Screen, session: str, found: list[Asked]) -> None:
    for place, asked in enumerate(found, 1):
        if len(found) > 1:
            screen.line(f"--ask {place}")
        write_card(screen, asked)
    screen.note(f"Answer with: {how_to_answer(session, 1, found[0])}")


def _chosen(asked: Asked, option: str, values: tuple[str, ...]) -> Json:
    if asked.ask.get("kind") == "question":
        return form_answer(asked.ask, option, values)
    if values:
        raise click.BadParameter("this question has no form.", param_hint="--set")
    options = asked.options
    if option.isdecimal() and 1 <= int(option) <= len(options):
        return {"option": options[int(option) - 1]["optionId"]}
    wanted = option.lower()
    # "allow" is what is allowed once, also where "Allow always" begins like it; so is "go".
    for word, exact in ((wanted, True), (f"{wanted}_once", True), (wanted, False)):
        found = [each for each in options if _matches(each, word, exact)]
        once = [each for each in found if lenient.text(each, "kind").endswith("_once")]
        if len(found) == 1 or (found and exact):
            return {"option": found[0]["optionId"]}
        if len(once) == 1:
            return {"option": once[0]["optionId"]}
    if wanted == "cancel":
        return {"cancel": True}
    shown = [clean_line(lenient.text(each, "name")) for each in options]
    names = ("; " if any("," in name for name in shown) else ", ").join(shown)
    raise click.BadParameter(f"{option!r} is not one of: {names}.", param_hint="OPTION")


def _matches(option: Json, wanted: str, exact: bool) -> bool:
    names = [lenient.text(option, key).lower() for key in ("optionId", "name", "kind")]
    return wanted in names if exact else any(name.startswith(wanted) for name in names)


def _danger(asked: Asked, command: Json) -> str:
    """Why the chosen option wants a second yes; "" when it does not."""
    danger = clean_line(lenient.text(asked.ask, "danger"))
    chosen = [each for each in asked.options if each["optionId"] == command.get("option")]
    kind = lenient.text(chosen[0], "kind") if chosen else ""
    if danger and kind == "allow_always":
        raise Unavailable(once_only(danger))
    return danger if kind.startswith("allow") else ""


class Unavailable(click.ClickException):
    """An option that is shown as disabled."""

    exit_code = exits.REFUSED


def _confirmed(screen: Screen, danger: str, asked: Asked) -> bool:
    if flags.in_terminal():
        write_card(screen, asked)
    screen.note(screen.paint.in_("failed", f"This {danger}. It cannot be undone."))
    if not flags.in_terminal():
        screen.note("To allow it, pass --confirm.")
        return False
    typed = click.prompt(f'Type "{WORD}" to allow it', default="", show_default=False, err=True)
    if typed.strip().lower() != WORD:
        screen.note("Not answered. The question stays open.")
        return False
    return True


def _send(screen: Screen, session: str, command: Json) -> int:
    outcome = send(session, command).update
    said, detail = clean_line(lenient.text(outcome, "name")), lenient.text(outcome, "detail")
    if outcome.get("sessionUpdate") != "_ask":
        screen.note(DETAILS.get(detail, "Already answered."))
        return exits.DONE if detail in DETAILS else exits.FAILED
    if outcome.get("state") == "answered":
        screen.note(f"Answered: {said}. The agent gets the answer when it asks again.")
    elif outcome.get("dropped"):
        screen.note("Dropped.")
    else:
        screen.note(f"Answered: {said}" if said else "Answered.")
        if rule := clean_line(lenient.text(outcome, "rule")):
            screen.note(f"Rule {rule} allows this from now on: rookery policy list")
            screen.note(f"To undo: rookery policy remove {rule}")
    return exits.DONE
