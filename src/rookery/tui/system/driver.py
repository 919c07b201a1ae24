"""Textual's driver, which also takes the terminal's answers to a question.

An answer (`ESC _ G … ESC \\`) is no key: Textual would type it into the focused widget. While
answers may come, they are cut out of the input and posted as one message each. Before the first
question the input passes untouched.
"""

import re
import time
from collections.abc import Callable, Iterable
from typing import ClassVar, override

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

_WHOLE = re.compile(
    r"\x1b_G[^\x1b]*\x1b\\"  # kitty's graphics
    r"|\x1bP>\|[^\x1b]*\x1b\\"  # the terminal's name
    r"|\x1b\[\?[\d;]*c"  # what it is
    r"|\x1b\[[46];\d*;\d*t"  # sizes
)
_BEGUN = re.compile(
    r"\x1b(_(G[^\x1b]*\x1b?)?|P(>(\|[^\x1b]*\x1b?)?)?|\[(\?[\d;]*|[46](;[\d;]*)?)?)?\Z"
)
_SURE = ("\x1b_G", "\x1bP>|", "\x1b[?")
"""Beginnings that no key has."""
KEY = 0.1
"""Seconds after which what may be an answer's beginning is a key: Esc, for one."""
LATE = 3.0
"""Seconds after which the rest of an answer will not come."""
MAX_ANSWER_LENGTH = 4096


class Answered(Message):
    """The terminal has answered a question."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Parser(XTermParser):
    asked: ClassVar[bool] = False
    """Whether answers may come."""
    soon: ClassVar[bool] = False
    """Whether one may come now: then Esc waits a moment, since it may begin one."""
    _held = ""
    _since = 0.0

    @override
    def feed(self, data: str) -> Iterable[Message]:
        if not Parser.asked or not data:
            yield from super().feed(data)
            return
        text, self._held = self._held + data, ""
        at = 0
        for match in _WHOLE.finditer(text):
            yield from self._typed(text[at : match.start()])
            yield Answered(match[0])
            at = match.end()
        begun = _BEGUN.search(text, at)
        if begun is not None and self._may_be_one(begun[0]):
            self._held, self._since = begun[0], time.monotonic()
            yield from self._typed(text[at : begun.start()])
        else:
            yield from self._typed(text[at:])

    @override
    def tick(self) -> Iterable[Message]:
        """Release input that was held too long: it was a key, or is dropped."""
        waited = time.monotonic() - self._since
        is_sure = self._held.startswith(_SURE)
        if self._held and waited >= (LATE if is_sure else KEY):
            held, self._held = self._held, ""
            yield from self._typed("" if is_sure else held)
        yield from super().tick()

    def _may_be_one(self, text: str) -> bool:
        return len(text) <= MAX_ANSWER_LENGTH and (Parser.soon or text.startswith(_SURE))

    def _typed(self, text: str) -> Iterable[Message]:
        """Parse text as typed. An empty text is skipped: it would end the input."""
        if text:
            yield from super().feed(text)


linux_driver.XTermParser = Parser  # type: ignore[attr-defined]
"""The driver makes its parser by this name, and offers no other way in."""


class Driver(linux_driver.LinuxDriver):
    parting: Callable[[], str] | None = None
    """What the terminal is told before it is left: at the end, after a crash, before Ctrl+Z."""

    @property
    def is_idle(self) -> bool:
        """Whether everything written is on its way to the terminal."""
        return self._writer_thread is not None and self._writer_thread._queue.empty()

    def question(self, text: str) -> None:
        """Ask the terminal; answers come as `Answered`."""
        Parser.asked = Parser.soon = True
        self.write(text)
        self.flush()

    def stop_waiting(self, *, answered: bool) -> None:
        """Stop waiting for answers. `answered`: all of them came; otherwise some may come late."""
        Parser.soon = False
        Parser.asked = not answered

    @override
    def stop_application_mode(self) -> None:
        if self.parting is not None and self._writer_thread is not None:
            self.write(self.parting())
        super().stop_application_mode()
