"""An agent's open questions, as `asks` and `answer` print them."""

from typing import NamedTuple

from rookery.cli import target
from rookery.cli.output import Screen, clean_line
from rookery.cli.output.commands import Commands
from rookery.cli.output.transcript import view_of
from rookery.core.ask import Ask, from_header
from rookery.core.asks.asks import letters
from rookery.core.blocks import Block
from rookery.core.json import Json, lenient
from rookery.render.lines import block as drawer


class Asked(NamedTuple):
    """An open ask and the block that shows it."""

    ask: Ask
    block: Block | None
    agent: str
    cwd: str
    row: Json
    """As it is listed."""

    @property
    def waits(self) -> str:
        """A sentence on what it waits for, if that is not the user's answer, or not that alone."""
        note = clean_line(lenient.text(self.block, "note")) if self.block else ""
        if self.ask.decide:
            return note
        if self.ask.given and self.ask.given.name:
            return f"Answered: {clean_line(self.ask.given.name)}. Waiting for the agent."
        if self.ask.sent:
            return "The prompt was sent again. Waiting for the agent."
        return note


def open_asks(session: str) -> list[Asked]:
    """Return a session's asks, oldest first. Raises LogError."""
    return list(map(asked_of, target.rookery().call("asks", session)["asks"]))


def asked_of(row: Json) -> Asked:
    return Asked(from_header(row["ask"], row["state"]), row["block"], row["agent"], row["cwd"], row)


def for_scripts(row: Json) -> Json:
    """Return the row as `--json` prints it."""
    return {key: row[key] for key in row if key not in ("state", "block", "cwd")}


def how_to_answer(session: str, place: int, asked: Asked) -> str:
    which = f" --ask {place}" if place > 1 else ""
    if asked.ask.is_link:
        return f"rookery answer {session}{which} y once you have opened it (or n, d)"
    if asked.ask.is_question:
        return f"rookery answer {session}{which} y --set FIELD=VALUE (or n, d)"
    more = " --confirm" if asked.ask.danger else ""
    first, *rest = letters(asked.ask)
    return f"rookery answer {session}{which} {first}{more} (or {', '.join(rest)}, or a number)"


def write_card(screen: Screen, asked: Asked) -> None:
    if asked.block is None:  # its turn is not the last one
        screen.line(clean_line(asked.ask.message or asked.ask.id))
    else:
        view = view_of(screen, asked.agent, asked.cwd, alone=True, controls=Commands())
        for line in drawer.rendered(asked.block, [], view):
            screen.line(screen.paint.line(line))
    if asked.waits:
        screen.line(screen.paint.faint(f"  {asked.waits}"))
