"""`model`: the help of a command that is carried out before any library is loaded (see `main`)."""

import click


@click.command()
@click.argument("file", metavar="FILE|demo")
@click.option("--port", type=click.IntRange(0, 65535), help="Else a free one is taken.")
@click.option("--quiet", is_flag=True, help="Print the address alone.")
def model(file: str, port: int | None, quiet: bool) -> int:
    """Be a model on loopback that plays a script: no account, no cost, always the same.

    It speaks OpenAI's API, and prints the `rookery setup` line that uses it. The demo leaves a note
    about your task. What a script may say: docs/scripted-model.md.

    \b
    rookery model demo
    rookery model answers.json --port 8123
    """
    from rookery.agent.scripted.entry import main

    words = ["--port", str(port)] if port is not None else []
    return main([file, *words, *(["--quiet"] if quiet else [])])
