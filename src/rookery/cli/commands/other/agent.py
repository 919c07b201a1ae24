"""`agent`: only the help; the command itself runs before any library is loaded (see `main`)."""

import click

from rookery.cli import flags


@click.command()
@flags.first_thread
@flags.override
@click.option("--setup", is_flag=True, help="Set up a model, like `rookery setup`.")
def agent(resume: str | None, last: bool, override: bool, setup: bool) -> int:
    """Run Rookery's own agent on stdio, for any client that speaks ACP.

    An editor or a worker starts this. docs/agent.md explains what it does and how to set it up. In
    a terminal, use `rookery run "…"` instead.

    \b
    rookery setup
    rookery agent
    """
    if setup:
        from rookery.cli.setup.command import setup as set_up

        return int(set_up.main([], prog_name="rookery setup", standalone_mode=False))
    from rookery.agent.serving import main

    return main(flags.spelled(resume=resume, last=last, override_with_envs=override))
