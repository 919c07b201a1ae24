"""`rookery` alone: what runs now, and the commands to try next."""

from rookery import paths
from rookery.cli import exits
from rookery.cli.fleet import write_table
from rookery.cli.look.screen import standard
from rookery.client.fleet import heads

MOST = 10

FIRST_RUN = """\
Rookery runs coding agents in the background, keeps every turn, and lets you watch and steer.
There are no sessions yet.

  rookery run --agent demo "Show me around"   a tour, which needs no account
  rookery setup                               the model of Rookery's own agent
  rookery agents                              the agents that are known by name
  rookery --help                              every command
"""

NEXT = """\
  rookery run "…"          give an agent a task in this directory
  rookery tail SESSION     follow one of these as it happens
  rookery --help           every command
"""


def overview() -> int:
    screen = standard()
    found = [head for head in heads(paths.home()) if not head["archived"]]
    if not found:
        screen.write(FIRST_RUN)
        return exits.DONE
    write_table(screen, found, MOST)
    screen.line()
    screen.write(NEXT)
    return exits.DONE
