"""`acp`: the help of a command that is carried out before any library is loaded (see `main`)."""

import click

from rookery.cli.naming import complete_agents


@click.command()
@click.option(
    "--agent", metavar="NAME", shell_complete=complete_agents, help="The agent of new sessions."
)
@click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")
@click.option("--resume", metavar="ID", help="Continue this session in the first thread.")
@click.option("--last", is_flag=True, help="Continue the latest session of the directory there.")
@click.option(
    "--override-with-envs",
    "override",
    is_flag=True,
    help="LLM_MODEL, LLM_API_KEY, LLM_BASE_URL go over Rookery's own agent's saved model.",
)
def acp(agent: str | None, line: str | None, resume: str | None, last: bool, override: bool) -> int:
    """Be an ACP agent on stdio, for editors: their threads are Rookery's sessions.

    An editor starts this. Its sessions go on when it is closed, and are the same that `rookery ps`
    lists; docs/editors.md has the settings for Zed, JetBrains, Neovim and VS Code.

    \b
    rookery acp --agent claude
    rookery acp --cmd "my-agent --acp"
    """
    from rookery.acp.bridge.door import main

    given = [("--agent", agent), ("--cmd", line), ("--resume", resume)]
    words = [word for name, value in given if value is not None for word in (name, value)]
    flags = [("--last", last), ("--override-with-envs", override)]
    return main([*words, *(flag for flag, on in flags if on)])
