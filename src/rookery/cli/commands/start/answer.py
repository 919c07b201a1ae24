"""`asks` and `answer`: the agents' open questions, and your answers."""

import sys
import time
from typing import NamedTuple

import click

from rookery.cli import exits
from rookery.cli.names import session_argument
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen, standard
from rookery.cli.session.form_fields import form_answer
from rookery.cli.session.send import send
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.json.events import Json, dumps
from rookery.home import paths

WORD = "confirm"
"""What is typed to allow a call that cannot be undone."""


class Asked(NamedTuple):
    """An open ask, and the block that shows it."""

    ask: Json
    block: Block | None
    agent: str
    cwd: str

    @property
    def waits(self) -> str:
        """What it waits for, where that is not the user's answer, or not one alone."""
        note = clean_line(lenient.text(self.block, "note")) if self.block else ""
        if self.ask.get("decide"):
            return note
        if name := lenient.text(lenient.mapping(self.ask, "given"), "name"):
            return f"Answered: {clean_line(name)}. Waiting for the agent."
        if self.ask.get("sent"):
            return "The prompt was sent again. Waiting for the agent."
        return note

    @property
    def options(self) -> list[Json]:
        found = lenient.mappings(self.ask, "options")
        return [option for option in found if lenient.text(option, "optionId")]


def open_asks(session: str) -> list[Asked]:
    """The asks of a session, in the order in which they came."""
    from rookery.client.fleet import head_of_session
    from rookery.client.reading.excerpt import excerpt
    from rookery.core.blocks.document import join
    from rookery.log.reader import Reader

    head_of_session(paths.home(), session)  # where its worker died, that is said first
    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        document = excerpt(log).document
        header, blocks = document.header, dict(document.blocks)
        for ask in header["asks"].values():
            if ask["block"] not in blocks:  # of an earlier turn, and kept since
                n = int(ask["block"].partition(".")[0])
                earlier = excerpt(log, log.first_seq(n + 1) - 1).document
                blocks |= join(earlier, document).blocks
    return [
        Asked({**ask, "id": name}, blocks.get(ask["block"]), header["agent"], header["cwd"])
        for name, ask in header["asks"].items()
    ]


# ---------------------------------------------------------------- asks


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per question.")
def asks(as_json: bool) -> int:
    """List open questions from all sessions, with how long they have waited and how to answer.

    Sleeping sessions are included: an answer wakes them.

    \b
    rookery asks
    rookery asks --json | jq -r 'select(.danger == "").session'
    """
    screen = standard()
    from rookery.client.fleet import heads

    waiting = [head for head in heads(paths.home()) if head["asks"]]
    found = [
        (head, place, asked)
        for head in waiting
        for place, asked in enumerate(open_asks(head["id"]), 1)
    ]
    found.sort(key=lambda each: each[2].ask["at"])
    for number, (head, place, asked) in enumerate(found):
        if as_json:
            screen.line(dumps(_as_json(head, place, asked)))
            continue
        if number:
            screen.line()
        _write(screen, head, place, asked)
    if not found and not as_json:
        screen.note("No open questions.")
    return exits.DONE


def _as_json(head: Json, place: int, asked: Asked) -> Json:
    ask, block = asked.ask, asked.block
    disabled = [action.get("disabled", "") for action in block["actions"]] if block else []
    options = [
        {"number": number, "id": option["optionId"], "name": lenient.text(option, "name")}
        | {"kind": lenient.text(option, "kind")}
        | ({"disabled": why} if (why := dict(enumerate(disabled, 1)).get(number)) else {})
        for number, option in enumerate(asked.options, 1)
    ]
    about: Json = {"session": head["id"], "title": head["title"], "agent": asked.agent}
    about |= {"number": place, "ask": ask["id"], "kind": ask.get("kind"), "at": ask["at"]}
    about |= {"danger": lenient.text(ask, "danger"), "options": options}
    about |= {"awake": head["awake"], "answered": "given" in ask}
    about |= {"always": each} if (each := lenient.texts(ask, "alwaysChoices")) else {}
    if block:
        about |= _about(block)
    return about | {key: ask[key] for key in ("message", "schema", "toolCall") if key in ask}


def _about(block: Block) -> Json:
    """What will run, whole; `called`: what the agent calls it, where that is something else."""
    from rookery.core.blocks import asks as blocks_asks

    items = [
        {"what": item.what, "call": item.call, "text": item.text}
        | ({"old": item.part["old"], "new": item.part["new"]} if item.part else {})
        for item in blocks_asks.items(block)
    ]
    what = items[0]["text"] if items else block["title"]
    return {"what": what, "called": block.get("called", ""), "does": items}


def _write(screen: Screen, head: Json, place: int, asked: Asked) -> None:
    from rookery.cli.output.paint import duration

    since = duration(max(0.0, time.time() - asked.ask["at"] / 1000))
    title = clean_line(head["title"]) or "(no title)"
    screen.line(screen.paint.faint(f"{head['id']}  {title} · waiting for {since}"))
    _write_card(screen, asked)
    screen.line(screen.paint.faint(f"  {_how(head['id'], place, asked)}"))


def _how(session: str, place: int, asked: Asked) -> str:
    which = f" --ask {place}" if place > 1 else ""
    if asked.ask.get("kind") == "question":
        return f"rookery answer {session}{which} accept --set FIELD=VALUE"
    more = " --confirm" if lenient.text(asked.ask, "danger") else ""
    return f"rookery answer {session}{which} OPTION{more}"


def _write_card(screen: Screen, asked: Asked) -> None:
    from rookery.cli.output.words import of_ask

    if asked.block is None:  # its turn is not the last one
        screen.line(clean_line(lenient.text(asked.ask, "message") or str(asked.ask["id"])))
    else:
        screen.line("\n".join(of_ask(asked.block, screen.paint, asked.agent, asked.cwd)))
    if asked.waits:
        screen.line(screen.paint.faint(f"  {asked.waits}"))


# ---------------------------------------------------------------- answer


@click.command()
@session_argument
@click.argument("option", required=False)
@click.option(
    "--ask",
    "number",
    type=int,
    default=1,
    show_default=True,
    help="Which question, if there are several.",
)
@click.option("--reason", default="", metavar="TEXT", help="Reason, sent to the agent.")
@click.option("--confirm", is_flag=True, help="Allow it even if it is destructive.")
@click.option("--defer", is_flag=True, help="Decide later: the turn waits, the agent stops.")
@click.option(
    "--always-allow",
    "always",
    is_flag=False,
    flag_value=1,
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Allow it and add a rule: for exactly this, or the Nth rule listed.",
)
@click.option("--set", "values", multiple=True, metavar="FIELD=VALUE", help="A field of a form.")
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
    accept, decline or cancel. Destructive actions need --confirm, or a word typed in a terminal.
    --always-allow adds a rule for exactly this action. Wider rules are listed with the question;
    --always-allow 2 picks the second (see rookery policy list).

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
    command: Json = {"do": "answer", "ask": asked.ask["id"]}
    command["nonce"] = lenient.text(asked.ask, "nonce")
    if chosen := always or _rule_of(asked, option):
        if danger := clean_line(lenient.text(asked.ask, "danger")):
            raise Unavailable(f"This {danger}: it can only be allowed once, not always.")
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
        _write_card(screen, asked)
    screen.note(f"Answer with: {_how(session, 1, found[0])}")


def _chosen(asked: Asked, option: str, values: tuple[str, ...]) -> Json:
    if asked.ask.get("kind") == "question":
        return form_answer(asked.ask, option, values)
    if values:
        raise click.BadParameter("this question has no form.", param_hint="--set")
    options = asked.options
    if option.isdecimal() and 1 <= int(option) <= len(options):
        return {"option": options[int(option) - 1]["optionId"]}
    wanted = option.lower()
    # "allow" is what is allowed once, also where "Allow always" begins like it.
    for word, exact in ((wanted, True), (f"{wanted}_once", True), (wanted, False)):
        found = [each for each in options if _matches(each, word, exact)]
        if len(found) == 1 or (found and exact):
            return {"option": found[0]["optionId"]}
    if wanted == "cancel":
        return {"cancel": True}
    names = ", ".join(clean_line(lenient.text(each, "name")) for each in options)
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
        raise Unavailable(f"This {danger}: it can only be allowed once, not always.")
    return danger if kind.startswith("allow") else ""


class Unavailable(click.ClickException):
    """An option that is shown as disabled."""

    exit_code = exits.REFUSED


def _confirmed(screen: Screen, danger: str, asked: Asked) -> bool:
    if sys.stdin is not None and sys.stdin.isatty():
        _write_card(screen, asked)
    screen.note(screen.paint.in_("failed", f"This {danger}. It cannot be undone."))
    if sys.stdin is None or not sys.stdin.isatty():
        screen.note("To allow it, pass --confirm.")
        return False
    typed = click.prompt(f'Type "{WORD}" to allow it', default="", show_default=False, err=True)
    if typed.strip().lower() != WORD:
        screen.note("Not answered. The question stays open.")
        return False
    return True


def _send(screen: Screen, session: str, command: Json) -> int:
    outcome = send(session, command).update
    said = clean_line(lenient.text(outcome, "name"))
    if outcome.get("sessionUpdate") == "_ask" and outcome.get("state") == "answered":
        screen.note(f"Answered: {said}. The agent gets the answer when it asks again.")
        return exits.DONE
    if outcome.get("sessionUpdate") == "_ask" and outcome.get("dropped"):
        screen.note("Dropped.")
        return exits.DONE
    if outcome.get("sessionUpdate") == "_ask":
        screen.note(f"Answered: {said}" if said else "Answered.")
        if rule := clean_line(lenient.text(outcome, "rule")):
            screen.note(f"Rule {rule} allows this from now on: rookery policy list")
            screen.note(f"To undo: rookery policy remove {rule}")
        return exits.DONE
    if lenient.text(outcome, "detail") == "deferred":
        screen.note("Left open. The session may sleep; your answer wakes it: rookery asks")
        return exits.DONE
    if lenient.text(outcome, "detail") == "sent again":
        screen.note("The prompt is sent again.")
        return exits.DONE
    screen.note("Already answered.")
    return exits.FAILED
