"""`agent`: the help of a command that is carried out before any library is loaded (see `main`)."""

import click

from rookery.cli import flags


@click.command()
@flags.again
@flags.override
@click.option("--setup", is_flag=True, help="Set up a model, as `rookery setup` does.")
def agent(resume: str | None, last: bool, override: bool, setup: bool) -> int:
    """Be Rookery's own agent on stdio, for any client that speaks ACP.

    An editor or a worker starts this; docs/agent.md says what it does and how it is set up. In a
    terminal, `rookery run "…"` is what you want.

    \b
    rookery setup
    rookery agent
    """
    if setup:
        from rookery.cli.app import run

        return run(["setup"])
    from rookery.agent.serving import main

    return main(flags.spelled(resume=resume, last=last, override_with_envs=override))
