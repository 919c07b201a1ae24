"""The content of the status line for a session: its state, what it is doing, and what it runs with.

If the line is too narrow for everything, the least important fields are dropped first."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from rookery.core import units, worktree
from rookery.core.agent.names import agent_name
from rookery.core.asks.kept_asks import unanswered
from rookery.core.blocks import Block, captions
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.policy import confinement, modes
from rookery.core.turn import quota
from rookery.core.view import states
from rookery.render import session_state
from rookery.render.runs import clean_line, cut, trimmed, width_of, width_of_line
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, Run
from rookery.tui.system.clock import FRAME
from rookery.tui.transcript.window import Window

FRAMES = "◐◓◑◒"
"""The sign of a running session turns."""

NEAR = 40
"""The newest blocks among which a running call is looked for."""
END = 400
"""Characters of a thought's end that are read."""
LEAST, MAX_COLUMNS, PROGRESS = 24, 72, 44
"""Columns for what is done now; at least so many for how far a work has come."""

NAME, PART = 14, 6
"""A name has at least so many columns, and at most this part of the line."""


class Doing(NamedTuple):
    text: str = ""
    grows: bool = False
    """At its end: there is what matters if it has to be cut."""
    least: int = LEAST
    """Columns that it gets before other fields do."""


IDLE = Doing()


class Place(NamedTuple):
    """The place where a session works, as displayed."""

    directory: str = ""
    branch: str = ""

    def text(self, width: int) -> str:
        """Return the branch, or the directory if there is none; the session list shows that,
        too."""
        shown = f"⎇ {self.branch}" if self.branch else self.directory
        return _name(shown, width)


class Field(NamedTuple):
    weight: int
    """The heaviest goes first where there is no room."""
    text: str


class Sides(NamedTuple):
    """The fields at the left, the figures at the right, and the keys after them."""

    left: list[Field]
    right: list[Field]
    keys: list[Field]

    @property
    def width(self) -> int:
        keys = sum(width_of(each.text) + 3 for each in self.keys)
        return _width(self.left) + _width(self.right) + keys


class About(NamedTuple):
    """The things that the line shows besides the header."""

    doing: Doing = IDLE
    place: Place = Place()
    keys: Sequence[tuple[str, str]] = ()
    """Those that matter now, the first one most."""
    hung: bool = False
    """Its worker does not respond."""
    others: int = 0
    """Sessions that work in the same directory."""
    work: Doing = IDLE
    """An operation that is carried out besides: it goes before what the session does."""


def line(header: Header, about: About, look: Look, at: int, width: int) -> Line:
    state = state_of(header, look, at)
    if about.hung:
        sign, style = look.states["hung"]
        state = [(f" {sign} {states.label_of('hung')}", style)]
    doing = IDLE if about.hung or unanswered(header) else about.doing
    doing = about.work if about.work.text else doing
    left = [*_who(header, width), Field(5, about.place.text(width)), *_others(about.others)]
    keys = _keys(about, busy=header.state != "idle" or bool(unanswered(header)))
    return laid_out(state, doing, Sides(left, _figures(header, at), keys), look, width)


def _others(number: int) -> list[Field]:
    return [Field(4, f"{count(number, 'other')} here")] if number else []


def waits(header: Header) -> bool:
    """Tell whether a session waits for an answer."""
    return bool(unanswered(header))


def of_new(agent: str, confirm: str, about: About, look: Look, width: int) -> Line:
    """Render the line for the session that the first prompt will create."""
    new = modes.beginning(agent, confirm)
    place = Field(2, about.place.text(width))
    fields = [Field(1, "new session"), Field(0, modes.label(new)), place]
    state: Line = [(f" {new.agent}", look.soft)]
    return laid_out(state, about.work, Sides(fields, [], _keys(about)), look, width)


def laid_out(state: Line, doing: Doing, sides: Sides, look: Look, width: int) -> Line:
    """Drop fields until the rest fits; what is being done gets the remaining room."""
    columns = min(doing.least, width_of(doing.text)) + 3 if doing.text else 0
    kept = Sides(*([each for each in side if each.text] for side in sides))
    while any(kept) and width_of_line(state) + columns + kept.width + 2 > width:
        heaviest = max((each for side in kept for each in side), key=lambda each: each.weight)
        if not heaviest.weight:
            break
        next(side for side in kept if heaviest in side).remove(heaviest)
    rest = width - width_of_line(state) - kept.width - 2
    now = _now(doing, min(rest - 3, MAX_COLUMNS), look) if doing.text else []
    fields: Line = [(f"  {_joined(kept.left)}", look.soft)] if kept.left else []
    begin = [*state, *now, *fields]
    end: Line = [(_joined(kept.right), look.soft)] if kept.right else []
    for each in kept.keys:
        key, _, word = each.text.partition(" ")
        end += [(f"   {key}" if end else key, look.key), (f" {word}", look.soft)]
    gap = width - width_of_line(begin) - width_of_line(end) - 1
    return [*begin, (" " * gap, look.plain), *end] if gap > 0 else trimmed(begin, width)


def _keys(about: About, *, busy: bool = False) -> list[Field]:
    """Return the keys as fields. The last one leads to all others, so it is dropped last; the first
    one is, if a session is working or waiting."""
    first, last = (1, 2) if busy else (2, 1)
    weights = [first, *[4 if busy else 6] * (len(about.keys) - 2), last]
    pairs = zip(weights, about.keys, strict=False)
    return [Field(weight, " ".join(key)) for weight, key in pairs]


def _name(text: str, width: int) -> str:
    return cut(clean_line(text), max(NAME, width // PART))


def _now(doing: Doing, room: int, look: Look) -> list[Run]:
    if room < 4:
        return []
    text = doing.text
    if doing.grows and width_of(text) > room:
        kept = text
        while width_of(kept) > room - 1:
            kept = kept[max(1, (width_of(kept) - room + 1) // 2) :]
        text = f"…{kept.lstrip()}"
    return [(" · ", look.faint), (cut(text, room), look.ink)]


def _width(fields: list[Field]) -> int:
    return width_of(_joined(fields)) + 2 if fields else 0


def _joined(fields: list[Field]) -> str:
    return " · ".join(each.text for each in fields)


# --- what it does now --------------------------------------------------------------------------


def doing(window: Window) -> Doing:
    """Return the newest running call, or the end of a thought that is streaming."""
    if window.header.state != "running" or not window.pages:
        return IDLE
    newest = islice(reversed(window.pages[-1].blocks.values()), NEAR)
    for place, block in enumerate(newest):
        match block["role"]:
            case "thought" if place == 0:
                return Doing(_last_line(block["text"]), grows=True)
            case "answer" if place == 0:
                return Doing("writing")
            case "tool" | "terminal" if block["status"] == "running":
                return Doing(_call(block, str(window.header.cwd)))
    return IDLE


def _call(block: Block, cwd: str) -> str:
    return " ".join(filter(None, captions.call_words(block, cwd, clean_line)))


def _last_line(text: str) -> str:
    lines = clean_line(text[-END:].rstrip().rpartition("\n")[2]).strip()
    return lines.strip("*_# ") or "thinking"


# --- its parts ---------------------------------------------------------------------------------


def state_of(header: Header, look: Look, at: int) -> Line:
    """Render the state; a waiting session never looks busy."""
    status = session_state.status_of(header, at)
    sign, style = look.states[status.sign]
    sign = sign_at(at) if status.sign == "running" else sign
    return [(f" {sign} {_timed(status, at)}", style)]


def sign_at(at: int) -> str:
    """Return the sign of a running session at a point in time."""
    return FRAMES[at // FRAME % len(FRAMES)]


def _timed(status: session_state.SessionStatus, at: int) -> str:
    if status.until is not None:
        return f"{status.label} in {units.duration((status.until - at + 999) // 1000)}"
    if status.since is None:
        return status.label
    return f"{status.label} · {units.duration(max(0, at - status.since) // 1000)}"


def _who(header: Header, width: int) -> list[Field]:
    guard = lenient.text(header.process, "guard")
    weak = confinement.WORDS[guard] if guard == confinement.WEAK else ""
    kind = header.sandbox
    chosen = {each["category"]: each for each in reversed(header.options)}
    values = {name: _value(header, chosen.get(name)) for name in ("model", "thought_level", "mode")}
    return [
        Field(0, agent_name(header)),
        Field(3, _name(values["model"], width)),
        Field(8, _name(values["thought_level"], width)),
        Field(0, _name(modes.label(header), 200)),
        Field(8, _name(values["mode"], width)),
        Field(1, f"in {clean_line(kind)}") if kind else Field(4, weak),
        Field(3, clean_line(worktree.fate(header.worktree))),
        Field(1, _refinement(header)),
        Field(0, "settings need you" if header.settings["held"] else ""),
    ]


def _value(header: Header, option: Json | None) -> str:
    """Return an option's value if it is worth showing: neither a default, nor the mode that an
    agent starts in, which is the first that it offers."""
    if option is None or not modes.is_telling(header, option):
        return ""
    first = option["choices"][0]["value"] if option["choices"] else ""
    value = str(option["value"] or "")
    return "" if option["category"] == "mode" and value == first else value


def _refinement(header: Header) -> str:
    critic = header.critic
    if lenient.text(critic, "state") == "judging":
        return "critic is judging"
    at, of = lenient.integer(critic, "iteration") or 0, lenient.integer(critic, "of") or 0
    return f"refinement {at}/{of}" if of and lenient.text(critic, "state") == "refining" else ""


def _tokens(number: float) -> str:
    return units.tokens(number).replace(".0", "")


def _figures(header: Header, at: int) -> list[Field]:
    """Return the usage figures; a quota only if it is nearly used up."""
    usage, fields = header.usage, list[Field]()
    if window := quota.pressing(header, at):
        fields.append(Field(2, window.text))
    used, size = lenient.number(usage, "used"), lenient.number(usage, "size")
    if used is not None:
        text = f"{_tokens(used)}/{_tokens(size)}" if size else f"{_tokens(used)} tokens"
        fields.append(Field(5, text))
    amount = lenient.number(lenient.mapping(usage, "cost"), "amount")
    return [*fields, Field(4, units.money(amount) if amount is not None else "")]
