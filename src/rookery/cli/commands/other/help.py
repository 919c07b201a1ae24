"""`help`: prints the same as --help, and the commands its first page has no room for."""

import click

from rookery.cli.commands import ALL, TOPIC, TOPICS


@click.command("help")
@click.argument("tokens", nargs=-1, metavar="[TOPIC | COMMAND...]")
@click.option("--all", "everything", is_flag=True, hidden=True)  # an earlier word for `all`
@click.pass_context
def help_(context: click.Context, tokens: tuple[str, ...], everything: bool) -> None:
    """Print the help of a command, or a list of commands: sessions, setup, remote or all.

    \b
    rookery help
    rookery help sessions
    rookery help all
    rookery help queue edit
    """
    place = context.find_root()
    if everything or (len(tokens) == 1 and tokens[0] in (ALL, *TOPICS)):
        place.meta[TOPIC] = ALL if everything else tokens[0]
        tokens = ()
    for word in tokens:
        group = place.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{place.command_path} has no command {word!r}.")
        name, command, _ = group.resolve_command(place, [word])
        assert command is not None  # an unknown one is an error
        place = click.Context(command, info_name=name, parent=place)
    click.echo(place.get_help())
