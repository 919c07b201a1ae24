"""`answer`: lists a session's open questions, and answers one."""

import click

from rookery.cli import exits, flags
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.session.form_fields import form_answer
from rookery.cli.session.open_asks import (
    Asked,
    for_scripts,
    how_to_answer,
    open_asks,
    write_card,
)
from rookery.cli.session.send import perform
from rookery.core.ask import Option, answer_to
from rookery.core.asks.asks import MEANINGS, Refusal, allows, meant, once_only
from rookery.core.json import Json, lenient

WORD = "confirm"
"""The word to type to allow a call that cannot be undone."""

DETAILS = {
    "deferred": "Left open. The session may sleep; your answer wakes it: rookery asks",
    "sent again": "The prompt is sent again.",
}
"""The messages for answers that did not end the question, by the outcome's detail."""


@click.command()
@flags.session_argument
@click.argument("option", required=False)
@click.option(
    "--ask", "number", default=1, show_default=True, help="Which question, if there are several."
)
@click.option(
    "--reason",
    "--and",
    "reason",
    default="",
    metavar="TEXT",
    help="Tell the agent why not, or with y what else to mind.",
)
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
@flags.flag("--alike", help="With y or n: answer all open questions that are like this one.")
@flags.several(
    "--set", "values", metavar="FIELD=VALUE", help="Fill in a field of a form. Repeatable."
)
@flags.results("Print the outcome as JSON; without OPTION: one JSON object per question.")
def answer(
    session: str,
    option: str | None,
    number: int,
    reason: str,
    always: int | None,
    values: tuple[str, ...],
    **more: bool,
) -> int:
    """List a session's open questions, or answer one. The first answer wins.

    OPTION is y (allow once), n (reject), a (always allow: adds the rule that is listed) or d
    (decide later), the same for every agent. It may also be an option's number, name, id or kind
    (allow_once, reject_once, …); for a form: accept, decline or cancel. To allow a destructive
    action, pass --confirm or type a word in the terminal. Wider rules are listed with the question,
    and --always-allow 2 picks the second (see rookery policy list).

    \b
    rookery answer 3f2a
    rookery answer 3f2a y
    rookery answer 3f2a y --and "Then run the tests"
    rookery answer 3f2a n --reason "Use the staging database"
    rookery answer 3f2a accept --set branch=main
    """
    confirm, defer, alike = more["confirm"], more["defer"], more["alike"]
    if defer and option is not None:
        raise click.UsageError("--defer cannot be combined with an option.")
    if always and (defer or option is not None):
        raise click.UsageError("--always-allow cannot be combined with an option.")
    screen = standard()
    asks = open_asks(session)
    if not asks:
        screen.note("No open questions.")
        return exits.DONE if option is None and not defer and not always else exits.FAILED
    if option is None and not defer and not always:
        _list(screen, session, asks)
        return exits.DONE
    if not 1 <= number <= len(asks):
        raise click.BadParameter(f"there are {len(asks)} open questions.", param_hint="--ask")
    asked = asks[number - 1]
    reply: Json = {"defer": True}
    if always or option:
        reply = _always(asked, always) if always else _chosen(asked, option or "", values)
        reply |= {"reason": reason} if reason.strip() and "defer" not in reply else {}
    if alike:
        return _answer_alike(screen, session, asked, reply)
    danger = _danger(asked, reply)
    if danger and not confirm and not _confirmed(screen, danger, asked):
        return exits.REFUSED
    return _send(screen, session, asked.ask.answer | reply | ({"confirm": True} if danger else {}))


def _always(asked: Asked, number: int) -> Json:
    if danger := clean_line(asked.ask.danger):
        raise Unavailable(once_only(danger))
    return {"always": number if number > 1 else True}


def _answer_alike(screen: Screen, session: str, asked: Asked, reply: Json) -> int:
    """Answer all open questions of one tool that one rule would cover. Each is shown."""
    group = lenient.sequence(asked.block, "same")
    verdict = "allow" if allows(asked.ask, reply) else "reject"
    if not group or "option" not in reply or not all(each[verdict] for each in group):
        raise click.UsageError("--alike needs y or n, and several open questions that are alike.")
    for each in group:
        screen.line(f"  {verdict}: {clean_line(each['text'])}")
    if flags.in_terminal() and not click.confirm(f"{verdict.capitalize()} all {len(group)}?"):
        screen.note("Not answered. The questions stay open.")
        return exits.REFUSED
    codes = [
        _send(screen, session, answer_to(each["ask"], each["nonce"]) | {"option": each[verdict]})
        for each in group
    ]
    return max(codes)


def _rule_of(asked: Asked, option: str) -> int:
    """Return the number of our rule that an option stands for, or 0 if it is none: our rules are
    numbered after the agent's own options."""
    if not asked.ask.always or not option.isdecimal():
        return 0
    offered = max(1, min(4, len(asked.ask.always_choices)))
    number = int(option[:4]) - len(asked.ask.options)
    return number if 1 <= number <= offered else 0


def _list(screen: Screen, session: str, asks: list[Asked]) -> None:
    for place, asked in enumerate(asks, 1):
        screen.result(for_scripts(asked.row))
        if len(asks) > 1:
            screen.line(f"--ask {place}")
        write_card(screen, asked)
    screen.note(f"Answer with: {how_to_answer(session, 1, asks[0])}")
    if group := lenient.sequence(asks[0].block, "same"):
        screen.note(f"All {len(group)} that are alike: rookery answer {session} y --alike, or n")


def _chosen(asked: Asked, option: str, values: tuple[str, ...]) -> Json:
    if number := _rule_of(asked, option):
        return _always(asked, number)
    if (letter := option.lower()) in MEANINGS:
        reply = meant(asked.ask, letter)
        if isinstance(reply, Refusal):
            raise Unavailable(clean_line(reply.message))
        if "action" not in reply:
            return reply
        option = reply["action"]
    if asked.ask.is_question:
        return form_answer(asked.ask, option, values)
    if values:
        raise click.BadParameter("this question has no form.", param_hint="--set")
    options = asked.ask.options
    if option.isdecimal() and 1 <= int(option) <= len(options):
        return {"option": options[int(option) - 1].id}
    wanted = option.lower()
    # "allow" is what is allowed once, also where "Allow always" begins like it; so is "go".
    for word, exact in ((wanted, True), (f"{wanted}_once", True), (wanted, False)):
        matches = [each for each in options if _matches(each, word, exact)]
        once = [each for each in matches if each.kind.endswith("_once")]
        if len(matches) == 1 or (matches and exact):
            return {"option": matches[0].id}
        if len(once) == 1:
            return {"option": once[0].id}
    if wanted == "cancel":
        return {"cancel": True}
    shown = [clean_line(each.name) for each in options]
    names = ("; " if any("," in name for name in shown) else ", ").join(shown)
    raise click.BadParameter(f"{option!r} is not one of: {names}.", param_hint="OPTION")


def _matches(option: Option, wanted: str, exact: bool) -> bool:
    names = [option.id.lower(), option.name.lower(), option.kind.lower()]
    return wanted in names if exact else any(name.startswith(wanted) for name in names)


def _danger(asked: Asked, command: Json) -> str:
    """Return why the chosen option needs a second yes, or "" if it does not."""
    danger = clean_line(asked.ask.danger)
    chosen = [each for each in asked.ask.options if each.id == command.get("option")]
    if danger and chosen and chosen[0].kind == "allow_always":
        raise Unavailable(once_only(danger))
    return danger if chosen and chosen[0].allows else ""


class Unavailable(click.ClickException):
    """Raised for an option that is shown as disabled."""

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
    outcome = perform(session, command).update
    label, detail = clean_line(lenient.text(outcome, "name")), lenient.text(outcome, "detail")
    if outcome.get("sessionUpdate") != "_ask":
        screen.note(DETAILS.get(detail, "Already answered."))
        return exits.DONE if detail in DETAILS else exits.FAILED
    if outcome.get("state") == "answered":
        screen.note(f"Answered: {label}. The agent gets the answer when it asks again.")
    elif outcome.get("dropped"):
        screen.note("Dropped.")
    else:
        also = ", with your words" if command.get("reason") else ""
        screen.note(f"Answered: {label}{also}" if label else "Answered.")
        if rule := clean_line(lenient.text(outcome, "rule")):
            screen.note(f"Rule {rule} allows this from now on: rookery policy list")
            screen.note(f"To undo: rookery policy remove {rule}")
    return exits.DONE
