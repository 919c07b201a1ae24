"""The command line. Commands that need no library are answered here, before one is loaded."""

import gc
import os
import sys

from rookery import __version__
from rookery.cli.commands import COMPLETING
from rookery.processes.search_path import leave_directory

SELDOM = 20_000
"""New objects before garbage is collected: imports at the start produce none."""

EARLY = {
    "play": "rookery.acp.player.entry",
    "acp": "rookery.acp.bridge.door",
    "agent": "rookery.agent.door",
    "model": "rookery.agent.scripted.entry",
}
"""Commands whose caller waits for the first answer: they load no library for the command line."""

VERSION = ("--version", "-V", "-v", "version")

ANY_HOME = frozenset({"completions", "doctor", "help", "update"})
"""Commands that run whatever the home's format is: they help to get a build that knows it."""

LOCAL = frozenset({"play", "acp"})
"""Those of them that reach nothing over a network."""


def main() -> None:
    """Run the script `rookery` and end the process with a meaningful exit status."""
    leave_directory()
    arguments = sys.argv[1:]
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: what is said there goes nowhere
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - kept open
    if arguments and arguments[0] in VERSION:
        sys.exit(_print_version())
    gc.set_threshold(SELDOM)
    try:
        sys.exit(_run(arguments))
    except KeyboardInterrupt:  # also while modules are being loaded
        sys.exit(130)


def _print_version() -> int:
    try:
        print(f"rookery {__version__}", flush=True)
    except OSError as error:
        from rookery.cli import errors, exits

        if isinstance(error, BrokenPipeError):
            errors.give_up_stdout()
            return exits.PIPE_CLOSED
        return errors.report(error)
    return 0


def _run(arguments: list[str]) -> int:
    from rookery.home.paths import PathError

    try:
        return _begin(arguments)
    except (OSError, PathError) as error:  # of the home, before anything is loaded
        from rookery.cli.errors import report

        return report(error)


def _begin(arguments: list[str]) -> int:
    from rookery.home import paths

    word = arguments[0] if arguments else ""
    helps = bool({"--help", "-h"}.intersection(arguments[-1:])) or COMPLETING in os.environ
    if word not in ANY_HOME and not helps:
        paths.check_format(paths.home())
    if word in EARLY and not {"--help", "-h", "--setup"}.intersection(arguments):
        from importlib import import_module

        if word in LOCAL:
            from rookery.processes import without_tls

            without_tls.load_asyncio()
        return int(import_module(EARLY[word]).main(arguments[1:]))
    if not arguments and not os.environ.get("ROOKERY_URL"):
        # So is the first picture of the terminal interface.
        from rookery.cli.tui_launch import can_open, open_screen

        if can_open():
            return open_screen()
    from rookery.cli.app import run

    if not sys.flags.dev_mode:
        # A Ctrl+C inside a constructor leaves half an object, and Python tells of its end.
        sys.unraisablehook = lambda _: None
    return run(arguments)
