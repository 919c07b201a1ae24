"""`model`: only the help; the command itself runs before any library is loaded (see `main`)."""

import click


@click.command()
@click.argument("file", metavar="FILE|demo")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (default: a free one).")
@click.option("--quiet", is_flag=True, help="Print only the address.")
def model(file: str, port: int | None, quiet: bool) -> int:
    """Run a scripted model on localhost: no account, no cost, always the same answers.

    It speaks OpenAI's API and prints the `rookery setup` line that uses it. The demo writes a note
    about your task. Script format: docs/scripted-model.md.

    \b
    rookery model demo
    rookery model answers.json --port 8123
    """
    from rookery.agent.scripted.entry import main

    words = ["--port", str(port)] if port is not None else []
    return main([file, *words, *(["--quiet"] if quiet else [])])
