"""`acp`: the help of a command that is carried out before any library is loaded (see `main`)."""

import click

from rookery.cli import flags
from rookery.cli.naming import complete_agents


@click.command()
@click.option(
    "--agent", metavar="NAME", shell_complete=complete_agents, help="The agent of new sessions."
)
@flags.line
@flags.again
@flags.override
def acp(agent: str | None, line: str | None, resume: str | None, last: bool, override: bool) -> int:
    """Be an ACP agent on stdio, for editors: their threads are Rookery's sessions.

    An editor starts this. Its sessions go on when it is closed, and are the same that `rookery ps`
    lists; docs/editors.md has the settings for Zed, JetBrains, Neovim and VS Code.

    \b
    rookery acp --agent claude
    rookery acp --cmd "my-agent --acp"
    """
    from rookery.acp.bridge.door import main

    chosen = {"agent": agent, "cmd": line, "resume": resume}
    return main(flags.spelled(**chosen, last=last, override_with_envs=override))
