"""Gets the user's attention: title, bell, and a notification if the terminal supports it."""

from collections.abc import Callable, Mapping

from rookery.core.blocks import Block
from rookery.render.runs import clean_line, count
from rookery.render.signs import SIGNS

PUSH, POP = "\x1b[22;0t", "\x1b[23;0t"
"""The terminal saves and restores its title."""


class Notifications:
    """Watches the session list. `write` goes to the terminal; `heed` gets every new list."""

    def __init__(self, write: Callable[[str], object], environment: Mapping[str, str]) -> None:
        self._write = write
        self._how = _way(environment)
        self._known: dict[str, str] | None = None
        self._title = ""

    def heed(self, sessions: list[Block], shown: str, focused: bool) -> None:
        now = {str(block["id"]): str(block["status"]) for block in sessions}
        before, self._known = self._known, now
        self._entitle(sessions)
        if before is None:
            return
        for block in sessions:
            name, status = str(block["id"]), str(block["status"])
            if focused and name == shown:
                continue
            if text := _news(before.get(name, ""), status):
                if status == "needs-you" and block.get("paused"):
                    text += ": budget reached"
                self._call(f"{clean_line(block['title'], 80) or 'A session'} {text}")

    def _entitle(self, sessions: list[Block]) -> None:
        needs = sum(block["status"] == "needs-you" for block in sessions)
        runs = sum(block["status"] == "running" for block in sessions)
        title = "rookery"
        if needs:
            many = f"{needs} need you" if needs > 1 else "needs you"
            title = f"{SIGNS['needs-you'][0]} {many} · rookery"
        elif runs:
            title = f"{SIGNS['running'][0]} {count(runs, 'session')} · rookery"
        if title != self._title:
            begin = "" if self._title else PUSH
            self._title = title
            self._write(f"{begin}\x1b]2;{title}\x07")

    def end(self) -> None:
        if self._title:
            self._write(POP)

    def _call(self, text: str) -> None:
        self._write("\x07")
        if self._how:
            self._write(self._how.format(text=text.replace(";", ",")))


def _news(before: str, now: str) -> str:
    if now == "needs-you" and before != now:
        return "needs you"
    if before in ("running", "needs-you") and now in ("idle", "asleep"):
        return "is done"
    if now in ("failed", "limited") and before in ("running", "needs-you"):
        return "failed" if now == "failed" else "hit a rate limit"
    return ""


def _way(environment: Mapping[str, str]) -> str:
    """Return a notification's sequence; "" if unknown, since a terminal might print it."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if "TMUX" in environment or term.startswith(("screen", "tmux", "linux", "dumb")):
        return ""
    if term == "xterm-kitty" or "KITTY_WINDOW_ID" in environment:
        return "\x1b]99;;{text}\x1b\\"
    if program in ("iTerm.app", "WezTerm", "ghostty") or "WT_SESSION" in environment:
        return "\x1b]9;{text}\x07"
    if term.startswith(("foot", "rxvt")):
        return "\x1b]777;notify;rookery;{text}\x07"
    return ""
