"""What the status line says of a session: its state, what it does now, and what it runs with.

Where the line is too narrow for all of it, what matters least goes first.
"""

from itertools import islice
from typing import NamedTuple

from rookery.core import units, worktree
from rookery.core.agent.names import agent_name
from rookery.core.asks.kept_asks import unanswered
from rookery.core.blocks import Block, captions
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.policy import confinement, modes
from rookery.render import session_state
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, Run, clean_line, cut, trimmed, width_of, width_of_line
from rookery.tui.system.clock import FRAME
from rookery.tui.transcript.window import Window

FRAMES = "◐◓◑◒"
"""The sign of a running session turns."""

NEAR = 40
"""The newest blocks among which a running call is looked for."""
END = 400
"""Characters of a thought's end that are read."""
LEAST, MOST = 24, 72
"""Columns for what is done now."""

ASKS_ALL = "asks: every action"


class Doing(NamedTuple):
    words: str = ""
    grows: bool = False
    """At its end: there is what matters if it has to be cut."""


IDLE = Doing()


class Place(NamedTuple):
    """Where a session works, as it is shown."""

    directory: str = ""
    branch: str = ""

    @property
    def words(self) -> str:
        branch = f" ⎇ {clean_line(self.branch, 60)}" if self.branch else ""
        return clean_line(self.directory) + branch if self.directory else ""


class Field(NamedTuple):
    weight: int
    """The heaviest goes first where there is no room."""
    words: str


class About(NamedTuple):
    """What the line says besides the header."""

    doing: Doing = IDLE
    place: Place = Place()
    hint: str = ""
    """Keys that matter now."""
    hung: bool = False
    """Its worker does not respond."""
    others: int = 0
    """Sessions that work in the same directory."""


def line(header: Json, about: About, look: Look, at: int, width: int) -> Line:
    state = state_of(header, look, at)
    if about.hung:
        sign, style = look.states["failed"]
        state = [(f" {sign} does not respond", style)]
    if about.hint:
        state = [*state, (f" · {about.hint}", state[-1][1])]
    doing = IDLE if about.hung or unanswered(header) else about.doing
    left = [*_others(about.others), *_who(header), Field(4, about.place.words)]
    return laid_out(state, doing, left, _figures(header), look, width)


def _others(number: int) -> list[Field]:
    return [Field(1, f"{count(number, 'other')} here")] if number else []


def of_new(agent: str, confirm: str, place: Place, look: Look, width: int) -> Line:
    """Of the session that the first prompt makes."""
    asked = modes.brief(modes.beginning(agent, confirm)) or ASKS_ALL
    fields = [Field(1, "new session"), Field(0, asked), Field(2, place.words)]
    return laid_out([(f" {agent}", look.soft)], IDLE, fields, [], look, width)


def laid_out(
    state: Line, doing: Doing, left: list[Field], right: list[Field], look: Look, width: int
) -> Line:
    """Fields are dropped until all have room; what is done now gets what is left."""
    wanted = min(LEAST, width_of(doing.words)) + 3 if doing.words else 0
    left, right = [each for each in left if each.words], [each for each in right if each.words]
    while left or right:
        used = width_of_line(state) + wanted + _width(left) + _width(right) + 2
        if used <= width:
            break
        heaviest = max((*left, *right), key=lambda each: each.weight)
        if not heaviest.weight:
            break
        (left if heaviest in left else right).remove(heaviest)
    rest = width - width_of_line(state) - _width(left) - _width(right) - 2
    now = _now(doing, min(rest - 3, MOST), look) if doing.words else []
    words: Line = [(f"  {_joined(left)}", look.soft)] if left else []
    begin = [*state, *now, *words]
    end: Line = [(f"{_joined(right)} ", look.soft)] if right else []
    gap = width - width_of_line(begin) - width_of_line(end)
    return [*begin, (" " * gap, look.plain), *end] if gap > 0 else trimmed(begin, width)


def _now(doing: Doing, room: int, look: Look) -> list[Run]:
    if room < 4:
        return []
    words = doing.words
    if doing.grows and width_of(words) > room:
        kept = words
        while width_of(kept) > room - 1:
            kept = kept[max(1, (width_of(kept) - room + 1) // 2) :]
        words = f"…{kept.lstrip()}"
    return [(" · ", look.faint), (cut(words, room), look.ink)]


def _width(fields: list[Field]) -> int:
    return width_of(_joined(fields)) + 2 if fields else 0


def _joined(fields: list[Field]) -> str:
    return " · ".join(each.words for each in fields)


# --- what it does now --------------------------------------------------------------------------


def doing(window: Window) -> Doing:
    """The newest call that runs, or the end of a thought that streams."""
    if window.header["state"] != "running" or not window.pages:
        return IDLE
    newest = islice(reversed(window.pages[-1].blocks.values()), NEAR)
    for place, block in enumerate(newest):
        match block["role"]:
            case "thought" if place == 0:
                return Doing(_last_line(block["text"]), grows=True)
            case "answer" if place == 0:
                return Doing("writing")
            case "tool" | "terminal" if block["status"] == "running":
                return Doing(_call(block, str(window.header["cwd"])))
    return IDLE


def _call(block: Block, cwd: str) -> str:
    return " ".join(filter(None, captions.call_words(block, cwd, clean_line)))


def _last_line(text: str) -> str:
    lines = clean_line(text[-END:].rstrip().rpartition("\n")[2]).strip()
    return lines.strip("*_# ") or "thinking"


# --- its parts ---------------------------------------------------------------------------------


def state_of(header: Json, look: Look, at: int) -> Line:
    """A waiting session never looks busy."""
    found = session_state.said(header, at)
    sign, style = look.states[found.sign]
    if found.sign == "running":
        sign = FRAMES[at // FRAME % len(FRAMES)]
    return [(f" {sign} {_timed(found, at)}", style)]


def _timed(found: session_state.Said, at: int) -> str:
    if found.until is not None:
        return f"{found.words} in {units.duration((found.until - at + 999) // 1000)}"
    if found.since is None:
        return found.words
    return f"{found.words} · {units.duration(max(0, at - found.since) // 1000)}"


def _who(header: Json) -> list[Field]:
    guard = confinement.WORDS.get(lenient.text(header["process"], "guard"), "")
    kind = lenient.text(header, "sandbox")
    asks = modes.brief(header) or (ASKS_ALL if header["confirm"] == modes.EVERY else "")
    return [
        Field(0, agent_name(header)),
        Field(2, clean_line(lenient.text(header, "model"))),
        Field(5, clean_line(lenient.text(header, "mode"))),
        Field(1, f"in {clean_line(kind)}") if kind else Field(4, guard),
        Field(6, clean_line(lenient.text(header, "effort"))),
        Field(3, clean_line(worktree.fate(header["worktree"]))),
        Field(1, asks),
        Field(1, _refinement(header)),
        Field(0, "settings need you" if header["settings"]["held"] else ""),
    ]


def _refinement(header: Json) -> str:
    critic = lenient.mapping(header, "critic")
    if lenient.text(critic, "state") == "judging":
        return "critic is judging"
    at, of = lenient.integer(critic, "iteration") or 0, lenient.integer(critic, "of") or 0
    return f"refinement {at}/{of}" if of and lenient.text(critic, "state") == "refining" else ""


def _tokens(number: float) -> str:
    return units.tokens(number).replace(".0", "")


def _figures(header: Json) -> list[Field]:
    usage, found = header["usage"], list[Field]()
    used, size = lenient.number(usage, "used"), lenient.number(usage, "size")
    if used is not None:
        of = f"of {_tokens(size)}" if size else "tokens"
        found.append(Field(3, f"{_tokens(used)} {of}"))
    amount = lenient.number(lenient.mapping(usage, "cost"), "amount")
    return [*found, Field(2, units.money(amount) if amount is not None else "")]
