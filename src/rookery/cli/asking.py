"""`answer`, and the answers that a policy gives: always one of the agent's own options."""

import asyncio
from typing import Any, NamedTuple

import click

from rookery import paths
from rookery.cli import exits
from rookery.cli.look.safe import clean_line
from rookery.cli.look.screen import Screen, standard
from rookery.cli.naming import session_argument
from rookery.core import loose
from rookery.core.events import Json


class Answer(NamedTuple):
    command: Json
    """Without `do`, `ask` and an id."""
    rejects: bool = False
    note: str = ""


ALLOWS = ("allow_once", "allow_always")
REJECTS = ("reject_once", "reject_always")


def rule_answer(ask: Json, *, approve: bool) -> Answer:
    """What a policy says to an ask. It never leaves one open: nobody is there to answer."""
    nonce = {"nonce": loose.text(ask, "nonce")}
    if ask.get("kind") == "question":
        return _rule_question(ask, nonce, approve)
    options = list(loose.mappings(ask, "options"))
    for kind in ALLOWS if approve else REJECTS:
        for option in options:
            if option.get("kind") == kind and loose.text(option, "optionId"):
                return Answer(nonce | {"option": option["optionId"]}, rejects=not approve)
    note = f"The agent offers no way to {'allow' if approve else 'reject'} this: it is cancelled."
    return Answer(nonce | {"cancel": True}, rejects=True, note=note)


def _rule_question(ask: Json, nonce: Json, approve: bool) -> Answer:
    if approve and not loose.texts(loose.mapping(ask, "schema"), "required"):
        return Answer(nonce | {"action": "accept", "content": {}})
    note = "The agent asks a question that only a person can answer: it is declined."
    return Answer(nonce | {"action": "decline"}, rejects=not approve, note=note)


# ---------------------------------------------------------------- the command


@click.command()
@session_argument
@click.argument("option", required=False)
@click.option("--ask", "number", type=int, default=1, show_default=True, help="Which of several.")
@click.option("--set", "values", multiple=True, metavar="FIELD=VALUE", help="A field of a form.")
def answer(session: str, option: str | None, number: int, values: tuple[str, ...]) -> int:
    """List what a session's agent asks, or answer it. The first answer wins.

    OPTION is an option's number, name, id or kind (allow_once, reject_once, …); for a question:
    accept, decline or cancel.

    \b
    rookery answer 3f2a
    rookery answer 3f2a 1
    rookery answer 3f2a accept --set branch=main
    """
    screen = standard()
    asks, agent = _open_asks(session)
    if not asks:
        screen.note("Nothing is being asked.")
        return exits.DONE if option is None else exits.FAILED
    if option is None:
        _list(screen, session, asks, agent)
        return exits.DONE
    if not 1 <= number <= len(asks):
        raise click.BadParameter(f"there are {len(asks)} open.", param_hint="--ask")
    command = _chosen(asks[number - 1], option, values)
    return asyncio.run(_send(screen, session, command))


def _open_asks(session: str) -> tuple[list[Json], str]:
    from rookery.client.fleet import head_of_session
    from rookery.log.reader import Reader

    head_of_session(paths.home(), session)  # a worker that died asks nothing any more
    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        header = log.header_before(log.turns() + 1)
    return [{**ask, "id": name} for name, ask in header["asks"].items()], header["agent"]


def _list(screen: Screen, session: str, asks: list[Json], agent: str) -> None:
    from rookery.cli.look.words import of_ask
    from rookery.core.reduce import fold
    from rookery.log.reader import Reader

    with Reader.open(paths.session_dir(paths.home(), session)) as log:
        document = fold(*log.tail())
    for place, ask in enumerate(asks, 1):
        block = document.blocks.get(ask["block"])
        if len(asks) > 1:
            screen.line(f"--ask {place}")
        shown = of_ask(block, screen.paint, agent) if block else [clean_line(str(ask["id"]))]
        screen.line("\n".join(shown))
    screen.note(f"Answer with: rookery answer {session} OPTION")


def _chosen(ask: Json, option: str, values: tuple[str, ...]) -> Json:
    base: Json = {"do": "answer", "ask": ask["id"], "nonce": loose.text(ask, "nonce")}
    if ask.get("kind") == "question":
        return base | _form_answer(ask, option, values)
    options = [each for each in loose.mappings(ask, "options") if loose.text(each, "optionId")]
    if option.isdecimal() and 1 <= int(option) <= len(options):
        return base | {"option": options[int(option) - 1]["optionId"]}
    wanted = option.lower()
    for exact in (True, False):
        found = [each for each in options if _matches(each, wanted, exact)]
        if len(found) == 1 or (found and exact):
            return base | {"option": found[0]["optionId"]}
    if wanted == "cancel":
        return base | {"cancel": True}
    names = ", ".join(clean_line(loose.text(each, "name")) for each in options)
    raise click.BadParameter(f"{option!r} is none of: {names}.", param_hint="OPTION")


def _matches(option: Json, wanted: str, exact: bool) -> bool:
    names = [loose.text(option, key).lower() for key in ("optionId", "name", "kind")]
    return wanted in names if exact else any(name.startswith(wanted) for name in names)


def _form_answer(ask: Json, option: str, values: tuple[str, ...]) -> Json:
    if option not in ("accept", "decline", "cancel"):
        message = "a question is answered with accept, decline or cancel."
        raise click.BadParameter(message, param_hint="OPTION")
    if option != "accept":
        return {"action": option}
    schema = loose.mapping(ask, "schema")
    fields = loose.mapping(schema, "properties")
    content: Json = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or name not in fields:
            message = f"{value!r}: give FIELD=VALUE with one of {', '.join(fields)}."
            raise click.BadParameter(message, param_hint="--set")
        content[name] = _typed(loose.text(fields[name], "type"), text, name)
    missing = [name for name in loose.texts(schema, "required") if name not in content]
    if missing:
        raise click.UsageError(f"These are required: --set {'=… --set '.join(missing)}=…")
    return {"action": "accept", "content": content}


def _typed(kind: str, text: str, name: str) -> Any:
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
            case "array":
                return [item for item in text.split(",") if item]
    except (ValueError, KeyError):
        raise click.BadParameter(f"{name} wants a {kind}.", param_hint="--set") from None
    return text


async def _send(screen: Screen, session: str, command: Json) -> int:
    from rookery.client.session import SessionClient

    client = SessionClient(paths.home(), session)
    try:
        outcome = await client.send(command)
    finally:
        client.close()
    if outcome.update.get("sessionUpdate") != "_ask":
        screen.note("It was answered already.")
        return exits.FAILED
    said = clean_line(loose.text(outcome.update, "name"))
    screen.note(f"Answered: {said}" if said else "Answered.")
    return exits.DONE
