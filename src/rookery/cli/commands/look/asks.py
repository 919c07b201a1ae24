"""`asks`: the open questions of all sessions."""

import time

import click

from rookery.cli import flags, target
from rookery.cli.output import Screen, clean_line, standard
from rookery.cli.output.skipped import note_skipped
from rookery.cli.session.open_asks import Asked, how_to_answer, open_asks, write_card
from rookery.core.blocks import Block
from rookery.core.blocks import asks as blocks_asks
from rookery.core.json import Json, dumps, lenient
from rookery.core.units import duration
from rookery.log.errors import LogError

ASK_FIELDS = ("message", "schema", "toolCall", "url")


@click.command()
@flags.as_json("Print one JSON object per question.")
def asks(as_json: bool) -> None:
    """List the open questions of all sessions, how long they have waited and how to answer them.

    Sleeping sessions are included: an answer wakes them.

    \b
    rookery asks
    rookery asks --json | jq -r 'select(.danger == "").session'
    """
    screen = standard()
    found, skipped = list[tuple[Json, int, Asked]](), list[str]()
    for head in target.rookery().heads():
        try:
            asked_here = open_asks(head["id"]) if head["asks"] else []
        except (LogError, OSError):
            skipped.append(head["id"])
            continue
        found += [(head, place, asked) for place, asked in enumerate(asked_here, 1)]
        skipped += [head["id"]] if head.get("damaged") else []
    found.sort(key=lambda each: each[2].ask["at"])
    for number, (head, place, asked) in enumerate(found):
        if as_json:
            screen.line(dumps(ask_as_json(head, place, asked)))
            continue
        if number:
            screen.line()
        _write(screen, head, place, asked)
    if not found and not as_json:
        screen.note("No open questions.")
    note_skipped(screen, "Questions not listed", skipped)


def ask_as_json(head: Json, place: int, asked: Asked) -> Json:
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
    return about | {key: ask[key] for key in ASK_FIELDS if key in ask}


def _about(block: Block) -> Json:
    """What will run, in full; `called`: what the agent calls it, if that differs."""
    items = [
        {"what": item.what, "call": item.call, "text": item.text}
        | ({"old": item.part["old"], "new": item.part["new"]} if item.part else {})
        for item in blocks_asks.items(block)
    ]
    what = items[0]["text"] if items else block["title"]
    return {"what": what, "called": block.get("called", ""), "does": items}


def _write(screen: Screen, head: Json, place: int, asked: Asked) -> None:
    since = duration(max(0.0, time.time() - asked.ask["at"] / 1000))
    title = clean_line(head["title"]) or "(no title)"
    screen.line(screen.paint.faint(f"{head['id']}  {title} · waiting for {since}"))
    write_card(screen, asked)
    screen.line(screen.paint.faint(f"  {how_to_answer(head['id'], place, asked)}"))
