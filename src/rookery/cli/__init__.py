"""The command line. What needs no library is answered here, before one is loaded."""

import gc
import sys

from rookery import __version__

SELDOM = 20_000
"""New objects after which garbage is looked for: what a start imports is none."""


def main() -> None:
    """The script `rookery`. Ends the process with a meaningful status."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("--version", "-V"):
        sys.stdout.write(f"rookery {__version__}\n")
        return
    gc.set_threshold(SELDOM)
    try:
        sys.exit(_carry_out(arguments))
    except KeyboardInterrupt:  # also while modules are being loaded
        sys.exit(130)


def _carry_out(arguments: list[str]) -> int:
    if arguments[:1] == ["play"] and not {"--help", "-h"}.intersection(arguments):
        # An agent's start is waited for: it does not load a library for one word.
        from rookery.acp.player.entry import main as play

        return play(arguments[1:])
    if arguments[:1] == ["acp"] and not {"--help", "-h"}.intersection(arguments):
        from rookery.acp.bridge.door import main as bridge  # an editor waits for its first answer

        return bridge(arguments[1:])
    if arguments[:1] == ["agent"] and not {"--help", "-h", "--setup"}.intersection(arguments):
        from rookery.agent.door import main as agent  # likewise

        return agent(arguments[1:])
    if arguments[:1] == ["model"] and not {"--help", "-h"}.intersection(arguments):
        from rookery.agent.scripted.entry import main as model

        return model(arguments[1:])
    if not arguments:
        # The first picture is waited for: it needs no library for the command line.
        from rookery.cli.tui_launch import can_open, open_screen

        if can_open():
            return open_screen()
    from rookery.cli.app import run

    return run(arguments)
