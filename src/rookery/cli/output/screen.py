"""Where commands write: results go to stdout, hints to stderr, and a terminal has a line on what is
going on.

No control code is written unless stdout is a terminal with colour. With `--json`, stdout has the
objects that are passed to `result`, one per line, and nothing else."""

import os
import re
import sys
from typing import TextIO, override

import click

from rookery.cli.output.paint import SIGNS, Paint
from rookery.cli.output.safe import columns, cut
from rookery.cli.output.wrap import wrapped
from rookery.core.json import Json, dumps

AS_JSON = "rookery.as_json"
"""Set in the command's context if `--json` was given."""
ERASE = "\r\x1b[2K"
SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


class PipeClosed(Exception):
    """Raised if the reader of stdout is gone, as with `| head`."""


class Screen:
    """The output of a command. `live`: the last line may be overwritten, and colour used."""

    as_json = False

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
        """Whether lines are cut to the width: a pipe gets them whole."""
        self._notes = notes
        """Columns of a hint; 0: any."""
        self.paint = Paint(colour=live, signs=signs)
        self._status = ""
        self._growing: list[str] = []

    @property
    def piped(self) -> bool:
        return not self.out.isatty()

    def beside(self) -> "Screen":
        """Return a screen like this one on stderr, for output that is not the result."""
        return _Beside(self.err, self.err, live=False, signs=_has_signs(self.err))

    def write(self, text: str) -> None:
        """Write results to stdout."""
        self._put((ERASE if self._status else "") + text)
        self._status = ""

    def line(self, text: str = "") -> None:
        self.write(text + "\n")

    def result(self, record: Json) -> None:
        """Print an object for scripts; without `--json`, do nothing."""

    def note(self, text: str) -> None:
        """Write to stderr: hints, ids, what is going on."""
        self.status("")
        growing = self._growing
        self.grow([])
        try:
            self.err.write((wrapped(text, self._notes) if self._notes else text) + "\n")
            self.err.flush()
        except BrokenPipeError:
            self.err = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this short process
        self.grow(growing)

    def status(self, text: str) -> None:
        """Show what is going on, on a terminal only; the next output replaces it."""
        if not self.live or text == self._status:
            return
        erase = ERASE if self._status else ""
        self._status = text
        self._put(erase + self.paint.in_("running", cut(text, self.width - 1)))

    def grow(self, rows: list[str]) -> None:
        """Show the end of a text that grows: on a terminal in place of what was shown of it before,
        else when it has settled."""
        before, self._growing = self._growing, rows
        if not self.live or rows == before:
            return
        pairs = zip(before, rows[:-1], strict=False)
        same = next((at for at, (old, new) in enumerate(pairs) if old != new), len(rows) - 1)
        same = max(0, min(same, len(before)), len(before) - self._reach(before))
        erase = self._back(before[same:]) if before else ERASE if self._status else ""
        apart = "\n" if before and same == len(before) else ""
        self._put(erase + apart + "\n".join(rows[same:]))
        self._status = ""

    def settle(self) -> bool:
        """Leave what grew as it is, and go on below it. Return whether there was anything."""
        rows, self._growing = self._growing, []
        if rows:
            self.write("\n" if self.live else "".join(f"{row}\n" for row in rows))
        return bool(rows)

    def _back(self, rows: list[str]) -> str:
        """Return what erases the last rows."""
        up = sum(map(self._height, rows)) - 1
        return ("" if up < 0 else f"\x1b[{up}A\r\x1b[J" if up else "\r\x1b[J") if rows else ""

    def _reach(self, rows: list[str]) -> int:
        """Return how many of the last rows can still be changed: the others scrolled away."""
        room, number = _size(self.out).lines - 1, 0
        for row in reversed(rows):
            room -= self._height(row)
            if room < 0:
                break
            number += 1
        return number

    def _height(self, row: str) -> int:
        """Return the lines that a row takes; several if the terminal has become narrower."""
        return max(1, -(-columns(SEQUENCE.sub("", row)) // _size(self.out).columns))

    def _put(self, text: str) -> None:
        if not text:
            return
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError:
            raise PipeClosed from None
        except OSError as error:  # a full disk, say: name the file
            raise OSError(error.errno, error.strerror, "stdout") from None


class _Beside(Screen):
    """A screen on stderr. That its reader is gone is no error."""

    @override
    def _put(self, text: str) -> None:
        try:
            self.out.write(text)
            self.out.flush()
        except OSError:
            self.out = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this short process


class _ForScripts(Screen):
    """A screen that prints objects in place of results as text; hints stay on stderr."""

    as_json = True

    @override
    def write(self, text: str) -> None:
        pass

    @override
    def result(self, record: Json) -> None:
        self._put(dumps(record) + "\n")


def wants_json() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(AS_JSON))


def standard() -> Screen:
    """Return the screen of this process."""
    kind = _ForScripts if wants_json() else Screen
    # They may be closed.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Letters that the encoding lacks are spelled out.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    out = sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb")
    live = out.isatty() and not plain and not kind.as_json
    width, notes = _width(out), _width(sys.stderr)
    return kind(
        out,
        sys.stderr,
        live=live,
        width=width or 80,
        signs=_has_signs(out),
        fits=width > 0,
        notes=notes,
    )


def _size(stream: TextIO) -> os.terminal_size:
    try:
        return os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return os.terminal_size((80, 24))


def _width(stream: TextIO) -> int:
    """Return the width of the terminal, or COLUMNS; 0 if there is no limit."""
    configured = os.environ.get("COLUMNS", "")
    if configured.isdecimal() and int(configured) > 0:
        return int(configured)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 0


def _has_signs(out: TextIO) -> bool:
    try:
        "".join(sign for sign, _ in SIGNS.values()).encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
