"""The lines under the transcript: state, agent, usage, and the keys."""

from collections.abc import Callable

from textual.binding import Binding
from textual.strip import Strip
from textual.widget import Widget

from rookery.core import units
from rookery.core.asks.kept_asks import unanswered
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.policy import confinement, modes
from rookery.tui.look.key_names import NO_KEY, shown
from rookery.tui.look.palette import Look, look_of
from rookery.tui.look.plain import clean_line, width_of
from rookery.tui.look.runs import Line, strip_of, trimmed, width_of_line
from rookery.tui.system.clock import now

ENDS = {
    "max_tokens": "token limit",
    "max_turn_requests": "request limit",
    "refusal": "refused",
    "orphaned": "went silent",
    "unresponsive": "did not respond",
    "agent_exited": "the agent exited",
}
"""Why a turn ended, in short; the notice in the transcript says more."""


class LineWidget(Widget):
    """Lines painted by a function of their width."""

    def lines(self, width: int) -> list[Line]:  # noqa: ARG002
        return []

    @property
    def look(self) -> Look:
        return look_of(self.app.theme)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self.lines(width)
        line = lines[y] if y < len(lines) else []
        return strip_of(trimmed(line, width)).crop_extend(0, width, base).apply_style(base)


class Status(LineWidget):
    def __init__(self, clock: Callable[[], int] = now, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.header: Json | None = None
        self.agent = ""
        """Of the next session."""
        self.confirm = modes.EVERY
        self._hung = ""
        """The session whose worker does not respond."""

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        if self.header is not None and self.header["state"] != "idle":
            self.refresh()

    def tell(self, header: Json | None) -> None:
        self.header = header
        self.refresh()

    def tell_hung(self, session: str) -> None:
        self._hung = session
        self.refresh()

    def lines(self, width: int) -> list[Line]:
        look = self.look
        if self.header is None:
            agent = self.agent or "demo"
            asked = modes.brief(modes.beginning(agent, self.confirm))
            return [[(" · ".join(filter(None, (f" {agent}", "new session", asked))), look.soft)]]
        state = _state(self.header, look, self._clock())
        if self._hung and self._hung == self.header["id"]:
            state = [(" ✗ does not respond", look.failed)]
        left = [*state, *_who(self.header, look)]
        right = _figures(self.header, look)
        gap = width - width_of_line(left) - width_of_line(right) - 1
        if gap < 1:
            return [trimmed(left, width)]
        return [[*left, (" " * gap, look.plain), *right]]


def _state(header: Json, look: Look, at: int) -> Line:
    """A waiting session never looks busy."""
    elapsed = max(0, at - header["since"]) // 1000
    process = lenient.text(header["process"], "state")
    word, style = "ready", look.soft
    sign = "●"
    if unanswered(header):
        sign, word, style = "▲", "needs you", look.needs
    elif header["state"] == "quiet":
        sign, word, style = "▲", f"quiet · {units.duration(elapsed)}", look.needs
    elif header["state"] == "running" and lenient.text(header, "retrying"):
        sign, word, style = "▲", f"retrying · {units.duration(elapsed)}", look.needs
    elif header["state"] == "running":
        doing = "starting" if process == "starting" else "working"
        sign, word, style = "◐", f"{doing} · {units.duration(elapsed)}", look.accent
    elif header["reason"] == "rate_limited":
        sign, word, style = "▲", "rate limit", look.needs
    elif header["reason"] not in ("", "end_turn", "cancelled", "forced", "waiting"):
        told = clean_line(header["reason"]).replace("_", " ")
        sign, word, style = "✗", ENDS.get(header["reason"], told), look.failed
    elif process == "parked":
        sign, word, style = "✗", "does not start", look.failed
    return [(f" {sign} {word}", style)]


def _who(header: Json, look: Look) -> Line:
    said = [lenient.text(header, key) for key in ("agent", "model", "mode", "effort")]
    said.insert(3, confinement.WORDS.get(lenient.text(header["process"], "guard"), ""))
    said += [modes.brief(header), _refinement(header)]
    said.append("settings need you" if header["settings"]["held"] else "")
    words = " · ".join(clean_line(each) for each in said if each)
    return [(f"  {words}", look.soft)] if words else []


def _refinement(header: Json) -> str:
    critic = lenient.mapping(header, "critic")
    if lenient.text(critic, "state") == "judging":
        return "critic is judging"
    at, of = lenient.integer(critic, "iteration") or 0, lenient.integer(critic, "of") or 0
    return f"refinement {at}/{of}" if of and lenient.text(critic, "state") == "refining" else ""


def _figures(header: Json, look: Look) -> Line:
    usage = header["usage"]
    said: list[str] = []
    used, size = lenient.number(usage, "used"), lenient.number(usage, "size")
    if used is not None:
        said.append(f"{units.tokens(used)} tokens")
        if size:
            said.append(f"{min(used / size, 9.99):.0%} of context")
    amount = lenient.number(lenient.mapping(usage, "cost"), "amount")
    if amount is not None:
        said.append(units.money(amount))
    return [(" · ".join(said) + " ", look.soft)] if said else []


class Keys(LineWidget):
    """The keys that work now, as many as fit."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def lines(self, width: int) -> list[Line]:
        look = self.look
        line: Line = [(" ", look.plain)]
        used = 1
        for key, words in self._keys():
            wide = width_of(key) + width_of(words) + 3
            if used + wide > width:
                break
            line += [(key, look.key), (f" {words}  ", look.soft)]
            used += wide
        return [line]

    def _keys(self) -> list[tuple[str, str]]:
        """The focused widget's first, then the app's."""
        order = [binding.id for binding in self.app.BINDINGS if isinstance(binding, Binding)]
        below = self.app.screen is not self.screen
        bindings = [
            active.binding
            for active in self.screen.active_bindings.values()
            if active.binding.show and active.binding.id and active.binding.key != NO_KEY
            if not (below and active.binding.id == "help")  # a window has its own line
        ]
        bindings.sort(key=lambda each: order.index(each.id) if each.id in order else -1)
        seen: dict[str, tuple[str, str]] = {}
        for each in bindings:
            seen.setdefault(str(each.id), (shown(each.key), each.description))
        return list(seen.values())
