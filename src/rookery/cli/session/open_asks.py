"""An agent's open questions, as `asks` and `answer` show them."""

from typing import NamedTuple

from rookery.cli import target
from rookery.cli.output import Screen, clean_line
from rookery.cli.output.lines import of_ask
from rookery.client.reading import excerpt
from rookery.core.agent.names import agent_name
from rookery.core.asks import links
from rookery.core.asks.asks import letters, options_of
from rookery.core.blocks.document import Block, join
from rookery.core.json import Json, lenient
from rookery.log.errors import LogError


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
        return options_of(self.ask)


def open_asks(session: str) -> list[Asked]:
    """A session's asks, oldest first. Raises LogError."""
    rookery = target.rookery()
    rookery.head(session)  # a dead worker is logged first
    with rookery.history(session) as log:
        document = excerpt(log).document
        header, blocks = document.header, dict(document.blocks)
        if not header["id"]:
            raise LogError(f"The log of {session} has lost its first event.")
        for ask in header["asks"].values():
            if ask["block"] not in blocks:  # from an earlier turn
                n = int(ask["block"].partition(".")[0])
                earlier = excerpt(log, log.first_seq(n + 1) - 1).document
                blocks |= join(earlier, document).blocks
    return [
        Asked({**ask, "id": name}, blocks.get(ask["block"]), agent_name(header), header["cwd"])
        for name, ask in header["asks"].items()
    ]


def how_to_answer(session: str, place: int, asked: Asked) -> str:
    which = f" --ask {place}" if place > 1 else ""
    if links.is_one(asked.ask):
        return f"rookery answer {session}{which} y once you have opened it (or n, d)"
    if asked.ask.get("kind") == "question":
        return f"rookery answer {session}{which} y --set FIELD=VALUE (or n, d)"
    more = " --confirm" if lenient.text(asked.ask, "danger") else ""
    first, *rest = letters(asked.ask)
    return f"rookery answer {session}{which} {first}{more} (or {', '.join(rest)}, or a number)"


def write_card(screen: Screen, asked: Asked) -> None:
    if asked.block is None:  # its turn is not the last one
        screen.line(clean_line(lenient.text(asked.ask, "message") or str(asked.ask["id"])))
    else:
        lines = of_ask(asked.block, screen.paint, asked.agent, asked.cwd, alone=True)
        screen.line("\n".join(lines))
    if asked.waits:
        screen.line(screen.paint.faint(f"  {asked.waits}"))
