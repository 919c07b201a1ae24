"""`agent`: the help of a command that is carried out before any library is loaded (see `main`)."""

import click


@click.command()
@click.option("--resume", metavar="ID", help="Continue this session in the first thread.")
@click.option("--last", is_flag=True, help="Continue the latest session of the directory there.")
@click.option(
    "--override-with-envs",
    "override",
    is_flag=True,
    help="LLM_MODEL, LLM_API_KEY and LLM_BASE_URL over what is saved.",
)
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

    words = ["--resume", resume] if resume else []
    words += ["--last"] if last else []
    return main([*words, *(["--override-with-envs"] if override else [])])
