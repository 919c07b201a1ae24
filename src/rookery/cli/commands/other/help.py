"""`help`: the same as --help, and the list of every command."""

import click

from rookery.cli.commands import EVERYTHING


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="Also list what editors and tests run.")
@click.pass_context
def help_(context: click.Context, words: tuple[str, ...], everything: bool) -> None:
    """Print the help of a command, or the list of commands.

    \b
    rookery help
    rookery help queue edit
    rookery help --all
    """
    place = context.find_root()
    place.meta[EVERYTHING] = everything
    for word in words:
        group = place.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{place.command_path} has no command {word!r}.")
        name, command, _ = group.resolve_command(place, [word])
        assert command is not None  # an unknown one is an error
        place = click.Context(command, info_name=name, parent=place)
    click.echo(place.get_help())
