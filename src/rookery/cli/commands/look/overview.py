"""`rookery` alone: what runs now, and the commands to try next."""

import time

from rookery.cli import exits
from rookery.cli.commands.look.ps import write_table
from rookery.cli.output.screen import Screen, standard
from rookery.cli.output.wrap import wrapped
from rookery.client.fleet import heads
from rookery.core.view.fleet import is_hidden
from rookery.home import paths

MOST = 10

FIRST_RUN = """\
Rookery runs coding agents in the background, keeps every turn, and lets you watch and steer.
There are no sessions yet.

  rookery run --agent demo "Show me around"   a tour, no account needed
  rookery setup                               choose a model for Rookery's own agent
  rookery agents                              list known agents
  rookery --help                              every command
"""

NEXT = """\
  rookery run "…"          give an agent a task in this directory
  rookery tail SESSION     follow one of these as it happens
  rookery --help           every command
"""


def overview() -> int:
    screen = standard()
    found = [head for head in heads(paths.home()) if not is_hidden(head, time.time() * 1000)]
    if not found:
        screen.write(_fitted(screen, FIRST_RUN))
        return exits.DONE
    write_table(screen, found, MOST)
    screen.line()
    screen.write(_fitted(screen, NEXT))
    return exits.DONE


def _fitted(screen: Screen, text: str) -> str:
    return wrapped(text, screen.width) if screen.fits else text
