"""Where commands write: results go to stdout, hints to stderr, and a terminal has a line on what is
going on.

No control code is written unless stdout is a terminal with colour. With `--json`, stdout has the
objects that are passed to `result`, one per line, and nothing else."""

import os
import sys
from typing import TextIO, override

import click

from rookery.cli.output.paint import SIGNS, Paint
from rookery.cli.output.safe import cut
from rookery.cli.output.wrap import wrapped
from rookery.core.json import Json, dumps

AS_JSON = "rookery.as_json"
"""Set in the command's context if `--json` was given."""
ERASE = "\r\x1b[2K"


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
        try:
            self.err.write((wrapped(text, self._notes) if self._notes else text) + "\n")
            self.err.flush()
        except BrokenPipeError:
            self.err = open(os.devnull, "w")  # noqa: SIM115 - for the rest of this short process

    def status(self, text: str) -> None:
        """Show what is going on, on a terminal only; the next output replaces it."""
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
