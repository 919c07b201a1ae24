"""`acp`, `agent`, `model` and `play`: only their help; the commands themselves run before any
library is loaded (see `main`)."""

import click

from rookery.acp import bridge
from rookery.cli import flags


@click.command()
@click.option(
    "--agent", metavar="NAME", shell_complete=flags.complete_agents, help="Agent for new sessions."
)
@flags.line
@flags.elsewhere
@flags.first_thread
@flags.approving
@flags.override
@click.option("--url", metavar="URL", help="Connect the editor to this ACP address (wss://…).")
@click.option("--token-file", metavar="FILE", help="Token for --url (default: $ROOKERY_TOKEN).")
@click.option(
    *("--header-env", "variables"),
    multiple=True,
    metavar="NAME=VARIABLE",
    help="A header for --url, from the environment. Repeatable.",
)
@click.option("--login", is_flag=True, help="Log in to the agent, like `rookery agents login`.")
@click.option("--method", metavar="ID", help="How, for --login.")
@click.option("--ca", metavar="FILE", help="Certificates to trust at --url.")
@click.option("--fingerprint", metavar="SHA256", help="The only certificate to trust at --url.")
def acp(
    agent: str | None,
    line: str | None,
    resume: str | None,
    last: bool,
    override: bool,
    variables: tuple[str, ...],
    **more: str | bool | None,
) -> int:
    """Run as an ACP agent on stdio, for editors: each editor thread is a Rookery session.

    Editors start this command. Sessions keep running when the editor closes, and `rookery ps` lists
    them. docs/editors.md has the settings for Zed, JetBrains, Neovim and VS Code.

    \b
    rookery acp --agent claude
    rookery acp --cmd "my-agent --acp"
    rookery acp --remote http://build:8000
    rookery acp --url wss://build.example/acp
    """
    chosen = {"agent": agent, "cmd": line, "resume": resume}
    argv = flags.spelled(**chosen, last=last, override_with_envs=override, **more)
    return bridge.door.main(
        [*argv, *(word for each in variables for word in ("--header-env", each))]
    )


@click.command()
@flags.first_thread
@flags.approving
@flags.override
@click.option("--setup", is_flag=True, help="Set up a model, like `rookery setup`.")
@flags.elsewhere
@click.option("--directory", metavar="DIR", help="Working directory over there.")
@click.option("--container", is_flag=True, hidden=True)
@click.option("--image", hidden=True)
def agent(setup: bool, **given: str | bool | None) -> int:
    """Run Rookery's own agent on stdio, for any client that speaks ACP.

    An editor or a worker starts this. docs/agent.md explains what it does and how to set it up. In
    a terminal, use `rookery run "…"` instead. With --remote or --cloud the conversation, its
    commands and its files are on another machine; `rookery agents add` saves the key for it.

    \b
    rookery setup
    rookery agent
    rookery agent --remote http://build:8000
    """
    if setup:
        from rookery.cli.setup.command import setup as set_up

        return int(set_up.main([], prog_name="rookery setup", standalone_mode=False))
    from rookery.agent.server import main

    given["override_with_envs"] = given.pop("override")
    return main(flags.spelled(**given))


@click.command()
@click.argument("file", metavar="FILE|demo")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (0: a free one).")
@click.option("--quiet", is_flag=True, help="Print only the address.")
def model(file: str, port: int | None, quiet: bool) -> int:
    """Run a scripted model on localhost: no account, no cost, always the same answers.

    It speaks OpenAI's API and prints the `rookery setup` line that uses it. The demo writes a note
    about your task. Script format: docs/contributing/scripted-model.md.

    \b
    rookery model demo
    rookery model answers.json --port 8123
    """
    from rookery.agent.scripted.entry import main

    return main([file, *flags.spelled(port=None if port is None else str(port), quiet=quiet)])


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("file", metavar="FILE|demo")
@click.pass_context
def play(context: click.Context, file: str) -> int:
    """Run an ACP agent on stdio that plays a script, a recorded session, or the demo.

    \b
      --state DIR   where it stores its sessions
      --speed N     N times the recorded speed

    \b
    rookery run --cmd "rookery play script.json" "Begin"
    """
    from rookery.acp.player.entry import main

    return main([file, *context.args])
