"""Where words go: results to stdout, hints to stderr, and in a terminal one line on what goes on.

No control code leaves here unless stdout is a terminal that is allowed colour.
"""

import os
import sys
from typing import TextIO, override

from rookery.cli.output.paint import Paint
from rookery.cli.output.safe import cut
from rookery.cli.output.wrap import wrapped

ERASE = "\r\x1b[2K"


class PipeClosed(Exception):
    """Nobody reads stdout any more, as after `| head`."""


class Screen:
    """`live`: whether the last line may be written again, and colour be used."""

    def __init__(
        self,
        out: TextIO,
        err: TextIO,
        *,
        live: bool,
        width: int = 80,
        signs: bool = True,
        fits: bool | None = None,
        notes: int = 0,
    ) -> None:
        self.out = out
        self.err = err
        self.live = live
        self.width = width
        self.fits = live if fits is None else fits
        """Whether lines are kept within the width: a pipe gets them whole."""
        self._notes = notes
        """Columns of a hint; 0: it is not broken."""
        self.paint = Paint(colour=live, signs=signs)
        self._status = ""

    @property
    def piped(self) -> bool:
        """Whether stdout is read by a program, not by a person at a terminal."""
        return not self.out.isatty()

    def beside(self) -> "Screen":
        """The same on stderr: for what is not the result."""
        return _Beside(self.err, self.err, live=False, signs=_has_signs(self.err))

    def write(self, text: str) -> None:
        """Results."""
        self._put((ERASE if self._status else "") + text)
        self._status = ""

    def line(self, text: str = "") -> None:
        self.write(text + "\n")

    def note(self, text: str) -> None:
        """Hints, ids, what is going on: whoever reads stdout does not want it."""
        self.status("")
        try:
            self.err.write((wrapped(text, self._notes) if self._notes else text) + "\n")
            self.err.flush()
        except BrokenPipeError:
            self.err = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this short process

    def status(self, text: str) -> None:
        """What goes on just now, on a terminal; the next word that is written replaces it."""
        if not self.live or text == self._status:
            return
        erase = ERASE if self._status else ""
        self._status = text
        self._put(erase + self.paint.in_("running", cut(text, self.width - 1)))

    def _put(self, text: str) -> None:
        if not text:
            return
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError:
            raise PipeClosed from None
        except OSError as error:  # a full disk, say: whose fault it is has to be told
            raise OSError(error.errno, error.strerror, "stdout") from None


class _Beside(Screen):
    """Nobody has to read it."""

    @override
    def _put(self, text: str) -> None:
        try:
            self.out.write(text)
            self.out.flush()
        except OSError:
            self.out = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this short process


def standard() -> Screen:
    """The screen of this process."""
    # Who closed them wants to read nothing.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # What the encoding cannot say is spelled out; printing never fails for it.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    out = sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb")
    live = out.isatty() and not plain
    width, notes = _width(out), _width(sys.stderr)
    return Screen(
        out,
        sys.stderr,
        live=live,
        width=width or 80,
        signs=_has_signs(out),
        fits=width > 0,
        notes=notes,
    )


def _width(stream: TextIO) -> int:
    """Of the terminal behind it, or what COLUMNS says; 0: as wide as anybody likes."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 0


def _has_signs(out: TextIO) -> bool:
    try:
        "✓▸○◆■∴▌│─…−".encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
