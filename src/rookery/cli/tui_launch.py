"""Opening the terminal interface from the command line."""

import gc
import importlib
import importlib.util
import os
import re
import sys
from typing import Any

from rookery import tui
from rookery.cli import target
from rookery.core.limits import INTERFACES, BadValue, Interface, checked
from rookery.home import paths
from rookery.processes import without_tls

WAITS = 600.0
"""Seconds for which what is sent waits for a connection that broke."""


def can_open() -> bool:
    """Tell whether there is a terminal, and the library is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and is_installed()


def is_installed() -> bool:
    return importlib.util.find_spec("textual") is not None


def why_not(session: str = "") -> str:
    """Return why it cannot be opened, and what to use instead."""
    if not is_installed():
        from rookery.agents.registry import missing_extra

        return missing_extra("The terminal interface", "tui")
    sentence = "The terminal interface needs a terminal."
    if session:
        return f"{sentence} Elsewhere, use rookery show {session} or rookery tail {session}."
    return f"{sentence} In a script, use rookery run or --headless."


def open_screen(**asked: Any) -> int:
    """Open the interface and return the exit code. `asked`: what tui.shell.Start takes."""
    gc.disable()  # what is loaded stays: a tenth of the start would go into sweeping it
    without_tls.load_asyncio()  # a session's socket is a file; what calls a model loads its own
    _paint_often()
    home = paths.ensure_home(paths.home())
    other = target.other(WAITS)
    cwd = other.directory() if other else paths.work_directory()  # the first picture needs no more
    return tui.entry.run(tui.shell.Start(home, cwd, taste=taste_of(home), rookery=other, **asked))


def _paint_often() -> None:
    """Paint twice as often as Textual's default, so that a key is seen sooner. Textual reads the
    variable once; programs started from here should not."""
    if "TEXTUAL_FPS" in os.environ:
        return
    os.environ["TEXTUAL_FPS"] = "120"
    importlib.import_module("textual.constants")
    del os.environ["TEXTUAL_FPS"]


def taste_of(home: str) -> Interface:
    """Return the display settings for the first picture, read from the plain lines of config.toml
    alone: a TOML parser takes too long to load. The file is read properly afterwards."""
    try:
        with open(os.path.join(home, "config.toml"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return Interface()
    values: dict[str, Any] = {}
    table = ""
    for line in text.splitlines():
        if heading := _TABLE.match(line):
            table = f"{heading[1]}."
        elif (match := _LINE.match(line)) and f"{table}{match['key']}".startswith(_OURS):
            name = f"{table}{match['key']}".removeprefix(_OURS)
            values[name] = (
                match["flag"] == "true" if match["flag"] else match["text"] or match["bare"]
            )
    return Interface(**{name: value for name, value in values.items() if _is_sound(name, value)})


_OURS = "interface."
_TABLE = re.compile(r"\s*\[+\s*([\w.]+)\s*\]")
_LINE = re.compile(
    r"""\s*(?P<key>[\w.]+)\s*=\s*("(?P<text>[^"\\]*)"|'(?P<bare>[^']*)'|(?P<flag>true|false))\s*(\#|$)"""
)


def _is_sound(name: str, value: object) -> bool:
    known = {each.name: each for each in INTERFACES}
    try:
        return name in known and bool(checked(known[name], value) == value)
    except BadValue:
        return False


def session_of(resume: str | None, last: bool) -> str:
    """Return the session to open, or "" for none. Raises UnknownSession, Ambiguous."""
    rookery = target.rookery()
    if last and not resume:
        heads = rookery.heads()
        return str(heads[0]["id"]) if heads else ""
    return rookery.find(resume) if resume else ""
