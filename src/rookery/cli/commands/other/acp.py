"""`acp`: only the help; the command itself runs before any library is loaded (see `main`)."""

import click

from rookery.cli import flags
from rookery.cli.names import complete_agents


@click.command()
@click.option(
    "--agent", metavar="NAME", shell_complete=complete_agents, help="Agent for new sessions."
)
@flags.line
@flags.first_thread
@flags.override
def acp(agent: str | None, line: str | None, resume: str | None, last: bool, override: bool) -> int:
    """Run as an ACP agent on stdio, for editors: each editor thread is a Rookery session.

    Editors start this command. Sessions keep running when the editor closes, and `rookery ps` lists
    them. docs/editors.md has the settings for Zed, JetBrains, Neovim and VS Code.

    \b
    rookery acp --agent claude
    rookery acp --cmd "my-agent --acp"
    """
    from rookery.acp.bridge.door import main

    chosen = {"agent": agent, "cmd": line, "resume": resume}
    return main(flags.spelled(**chosen, last=last, override_with_envs=override))
