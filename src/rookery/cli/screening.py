"""The way from the command line to the terminal interface; without a terminal, or without its
library, the list of sessions is printed instead."""

import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from rookery import paths

if TYPE_CHECKING:
    from rookery.core.policy import Interface


def can_open() -> bool:
    """Whether there is a terminal to open it in, and what it is made of."""
    return sys.stdin.isatty() and sys.stdout.isatty() and is_installed()


def is_installed() -> bool:
    return importlib.util.find_spec("textual") is not None


def open_screen(
    agent: str = "",
    session: str = "",
    task: str = "",
    *,
    choose: bool = False,
    confirm: str = "",
    leave_at_once: bool = False,
) -> int:
    _paint_often()
    from rookery.tui.entry import run
    from rookery.tui.shell import Start

    home = paths.ensure_home(paths.home())
    start = Start(
        home,
        paths.work_directory(),
        agent=agent,
        session=session,
        task=task,
        choose=choose,
        taste=_taste(home),
        confirm=confirm,
        leave_at_once=leave_at_once,
    )
    return run(start)


def _paint_often() -> None:
    """Twice as often as Textual would when something changes: a key is seen that much sooner. Its
    library reads this once, and no program that is started from here has to."""
    if "TEXTUAL_FPS" in os.environ:
        return
    os.environ["TEXTUAL_FPS"] = "120"
    importlib.import_module("textual.constants")
    del os.environ["TEXTUAL_FPS"]


def _taste(home: str) -> "Interface | None":
    """How things are shown, before the first picture; a file with a mistake is told there."""
    from rookery import config

    try:
        return config.load(home).interface
    except config.ConfigError:
        return None


def session_of(resume: str | None, last: bool) -> str:
    """The session that is meant; empty where none is. Raises UnknownSession, Ambiguous."""
    from rookery.client.fleet import find, heads

    home = paths.home()
    if last and not resume:
        found = heads(home)
        return str(found[0]["id"]) if found else ""
    return find(home, resume) if resume else ""
