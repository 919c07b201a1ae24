"""`agents`: the known agents, which are installed, and how to install the rest."""

import os

import click

from rookery.cli import flags, settings
from rookery.cli.checkup.agent_list import listed, with_versions, write_table
from rookery.cli.output.screen import standard
from rookery.core.json.events import dumps


@click.command()
@flags.as_json("Print one JSON object per agent.")
def agents(as_json: bool) -> None:
    """List the known agents: the built-in ones and those in your config.toml.

    Programs are looked up on PATH, then in the folders of nvm, fnm, volta, asdf and mise. Rookery
    installs nothing: it shows the command that installs a missing agent, and why an installed one
    does not start.

    \b
    rookery agents
    rookery agents --json | jq -r 'select(.installed | not).install'
    """
    screen = standard()
    found = with_versions(listed(settings.load()), os.environ)
    if not as_json:
        write_table(screen, found)
        return
    for each in found:
        screen.line(dumps(each))
